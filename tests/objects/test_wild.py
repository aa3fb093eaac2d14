"""Meshes as found in public repositories: without material files, with collision meshes, with another up axis."""

from __future__ import annotations

import logging
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.objects.files import load_mesh
from lie_ssl.objects.mesh_warnings import MeshWarning, summarise
from lie_ssl.objects.sources.folder import MeshFolder

RED = (220, 20, 30)
QUADS = ((1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4))


def box(path: Path, tall: float = 3.0, library: str = "material.mtl", *, uv: bool = True, colours: str = "") -> Path:
    """A box with height `tall` along z and texture coordinates on every side."""
    path.parent.mkdir(parents=True, exist_ok=True)
    points = [(x, y, tall * z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    rows = [f"mtllib {library}"] if library else []
    rows += [f"v {x} {y} {z} {colours}" for x, y, z in points]
    rows += ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1", "usemtl material_0"]
    rows += ["f " + " ".join(f"{v}/{i}" if uv else f"{v}" for i, v in enumerate(quad, 1)) for quad in QUADS]
    path.write_text("\n".join(rows) + "\n")
    return path


def picture(path: Path, colour: tuple[int, int, int] = RED) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), colour).save(path)
    return path


def converted(folder: Path, tall: float, collisions: int = 3) -> Path:
    """An object of Google Scanned Objects as converted for simulators."""
    picture(folder / "texture.png")
    for i in range(collisions):
        box(folder / f"model_collision_{i}.obj", tall + 0.1 * i, "", uv=False)
    return box(folder / "model.obj", tall)


def original(folder: Path, tall: float) -> Path:
    """An object of Google Scanned Objects as published, but without its material file."""
    picture(folder / "materials" / "textures" / "texture.png")
    return box(folder / "meshes" / "model.obj", tall)


def make(root: Path, out: Path, *flags: str) -> FrameSet:
    common = ["--source", "folder", "--path", str(root), "--out", str(out), "--size", "16", "--step", "90"]
    main(["data", "make", "demo", *common, "--workers", "1", *flags])
    return FrameSet(out)


@pytest.mark.parametrize("place", ["texture.png", "Texture.JPG", "../materials/textures/texture.png"])
@pytest.mark.parametrize(
    ("library", "message"), [("a.mtl", r"a\.mtl of .* is missing"), ("", "names no material file")]
)
def test_a_texture_replaces_a_missing_material_file(tmp_path: Path, place: str, library: str, message: str) -> None:
    path = box(tmp_path / "meshes" / "model.obj", library=library)
    picture(path.parent / place)
    with pytest.warns(MeshWarning, match=rf"{message}; the texture .*(?i:texture)\.\w+ is used") as caught:
        mesh = load_mesh(path)
    assert len(caught) == 1
    assert set(mesh.texture.tolist()) == {0}
    assert mesh.colours.min() == 1
    np.testing.assert_allclose(mesh.textures[0][0, 0, :3].astype(int), RED, atol=3)


def test_a_known_material_is_never_overridden(tmp_path: Path) -> None:
    path = box(tmp_path / "model.obj", library="a.mtl")
    (tmp_path / "a.mtl").write_text("newmtl material_0\nKd 0 0 1\n")
    picture(tmp_path / "texture.png")
    mesh = load_mesh(path)
    assert set(mesh.texture.tolist()) == {-1}
    np.testing.assert_allclose(mesh.colours[0, 0], [0, 0, 1])
    (tmp_path / "a.mtl").write_text("newmtl another\nKd 0 0 1\n")  # the file exists, so the texture is not used
    assert set(load_mesh(path).texture.tolist()) == {-1}


@pytest.mark.parametrize("case", ["no coordinates", "vertex colours", "another name", "no picture"])
def test_cases_in_which_the_texture_is_not_used(tmp_path: Path, case: str) -> None:
    colours = "0 1 0" if case == "vertex colours" else ""
    path = box(tmp_path / "model.obj", uv=case != "no coordinates", colours=colours)
    if case == "no picture":
        (tmp_path / "texture.png").write_text("no picture")
    else:
        picture(tmp_path / ("wood.png" if case == "another name" else "texture.png"))
    with pytest.warns(MeshWarning) as caught:
        mesh = load_mesh(path)
    assert "material.mtl" in str(caught[-1].message)
    assert "is missing; faces without a colour are drawn grey" in str(caught[-1].message)
    assert len(caught) == 1 + (case == "no picture")
    assert set(mesh.texture.tolist()) == {-1}
    np.testing.assert_allclose(mesh.colours[0, 0], [0, 1, 0] if colours else [0.7] * 3, rtol=1e-6)


def test_faces_without_coordinates_stay_grey_next_to_textured_ones(tmp_path: Path) -> None:
    path = box(tmp_path / "model.obj")
    path.write_text(path.read_text() + "f 1 2 8\n")
    picture(tmp_path / "texture.png")
    with pytest.warns(MeshWarning, match="is used"):
        mesh = load_mesh(path)
    assert mesh.texture.tolist() == [0] * 12 + [-1]
    np.testing.assert_allclose(mesh.colours[:, 0, 0], [1] * 12 + [0.7], rtol=1e-6)


@pytest.mark.parametrize("layout", [converted, original])
@pytest.mark.parametrize("sorted_by_class", [False, True])
def test_scanned_objects_are_upright_and_textured(
    tmp_path: Path, layout: object, sorted_by_class: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "meshes of mine"
    for i in range(3):
        layout(root / ("mug" if sorted_by_class else "") / f"Mug_{i}", 4.0 + i)  # type: ignore[operator]
    frames = make(root, tmp_path / "d")
    assert frames.classes == ["mug" if sorted_by_class else "object"]
    assert sorted(frames.index["instance"].unique()) == ["Mug_0", "Mug_1", "Mug_2"]
    shown = frames.read([0])[0].astype(int)
    drawn = shown[(shown.max(axis=2) - shown.min(axis=2)) > 100]
    assert len(drawn) > 16
    assert (drawn[:, 0] > 2 * drawn[:, 1:].max(axis=1)).all()  # red
    rows, columns = np.nonzero(shown.min(axis=2) < 200)
    assert np.ptp(rows) > 2 * np.ptp(columns)  # tall
    out = capsys.readouterr().out
    assert "note: assumed that the z axis of 3 meshes points up; change it with --up y\n" in out
    assert "note: the material file is missing, so the texture next to the mesh is used: 3 meshes (first: " in out
    assert frames.card["notes"][0].startswith("assumed that the z axis")


def test_a_plain_folder_with_one_object_that_looks_scanned_stays_plain(tmp_path: Path) -> None:
    converted(tmp_path / "mug", 2.0)
    for i in range(3):
        box(tmp_path / "cup" / f"{i}.obj", 3.0 + i)
    assert [e.class_name for e in MeshFolder(str(tmp_path)).catalogue().entries] == ["cup"] * 3 + ["mug"]


def test_collision_meshes_are_left_out_in_every_layout(tmp_path: Path) -> None:
    trees = {
        "plain": ["mug/a.obj", "mug/a_Collision.obj", "mug/b/visual/m.obj", "mug/b/vhacd/m_collision_0.obj"],
        "shapenet": ["03001627/a/models/model_normalized.obj", "03001627/a/models/model_normalized_collision.obj"],
        "gso": ["a/meshes/model.obj", "a/meshes/collision.obj"],
        "modelnet": ["bed/train/bed.off", "bed/train/bed_collision.off"],
    }
    for layout, names in trees.items():
        for i, name in enumerate(names):
            path = tmp_path / layout / name
            box(path, 2.0 + i)
            if path.suffix == ".off":
                trimesh.creation.box((1, 2, 3 + i)).export(path)
        catalogue = MeshFolder(str(tmp_path / layout)).catalogue()
        assert [e.key for e in catalogue.entries] == [n for n in names if "collision" not in n.lower()]
        assert {d.key for d in catalogue.dropped} == {n for n in names if "collision" in n.lower()}
        assert {d.why for d in catalogue.dropped} == {"is a collision mesh"}
    converted(tmp_path / "flat" / "mug", 2.0)
    assert [d.key for d in MeshFolder(str(tmp_path / "flat")).catalogue().dropped] == [
        f"mug/model_collision_{i}.obj" for i in range(3)
    ]


def test_a_folder_with_only_collision_meshes_uses_the_first(tmp_path: Path) -> None:
    for i in range(2):
        box(tmp_path / "mug" / "a" / f"collision_{i}.obj", 2.0 + i)
    catalogue = MeshFolder(str(tmp_path)).catalogue()
    assert [e.key for e in catalogue.entries] == ["mug/a/collision_0.obj"]
    assert [d.why for d in catalogue.dropped] == ["collision_0.obj is used as the mesh of this folder"]


def test_the_assumed_up_axis_is_reported(tmp_path: Path) -> None:
    converted(tmp_path / "mug" / "a", 2.0)
    converted(tmp_path / "mug" / "b", 3.0)
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "mug" / "c.glb")
    mixed = MeshFolder(str(tmp_path)).catalogue().notes[0]
    assert mixed == "assumed that the z axis of 2 meshes points up, y of 1; change it with --up y or --up z"
    plain = MeshFolder(str(tmp_path), layout="plain").catalogue().notes[0]
    assert plain == "assumed that the y axis of 3 meshes points up; change it with --up z"
    for up in ("y", "z"):
        assert not any("axis" in note for note in MeshFolder(str(tmp_path), up=up).catalogue().notes)


def test_the_command_line_shows_no_warnings(tmp_path: Path) -> None:
    """Including those of other libraries and of worker processes."""
    for i in range(3):
        box(tmp_path / "m" / "mug" / f"{i}.obj", 2.0 + i)
    (tmp_path / "m" / "mug" / "lost.mtl").write_text("newmtl material_0\nmap_Kd a.png\nmap_Ks b.png\n")
    box(tmp_path / "m" / "mug" / "lost.obj", 7.0, "lost.mtl")
    Image.new("1", (9500, 9500)).save(tmp_path / "m" / "mug" / "huge.png")  # so large that PIL warns
    (tmp_path / "m" / "mug" / "huge.mtl").write_text("newmtl material_0\nmap_Kd huge.png\n")
    box(tmp_path / "m" / "mug" / "huge.obj", 8.0, "huge.mtl")
    flags = ["--source", "folder", "--path", str(tmp_path / "m"), "--size", "16", "--step", "90", "--workers", "2"]
    command = [sys.executable, "-m", "lie_ssl", "data", "make", "demo", "--out", str(tmp_path / "d"), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "Warning" not in done.stdout
    grey = "the material file is missing, so faces without a colour are drawn grey: 3 meshes (first: mug/0.obj)"
    lost = "a texture is left out because it is missing: 1 mesh (mug/lost.obj)"
    assert f"note: {grey}\n" in done.stdout
    assert f"note: {lost}\n" in done.stdout


def test_logs_of_trimesh_are_not_printed(tmp_path: Path) -> None:
    """A missing picture would be logged with a traceback."""
    code = "import logging, lie_ssl.objects.scenes; logging.getLogger('trimesh').warning('unable to load image!')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert logging.getLogger("trimesh").propagate  # a logger of the user still receives them


def test_in_python_a_mesh_warns_but_a_catalogue_does_not(tmp_path: Path) -> None:
    path = box(tmp_path / "mug" / "a.obj")
    with pytest.warns(MeshWarning, match=r"material\.mtl"):
        load_mesh(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        catalogue = MeshFolder(str(tmp_path)).catalogue()
    assert len(catalogue.notes) == 2


def test_warnings_are_counted_by_reason() -> None:
    assert summarise([]) == []
    pairs = [(f"mug/{i}.obj", "a texture is missing") for i in range(1200)] + [("cup/a.obj", "it is blue")]
    assert summarise(pairs) == [
        "a texture is missing: 1,200 meshes (first: mug/0.obj)", "it is blue: 1 mesh (cup/a.obj)",
    ]  # fmt: skip
