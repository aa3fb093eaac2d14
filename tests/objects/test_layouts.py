"""Mesh folders: all layouts, the models that are left out, and the orientation of models."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.objects.duplicates import drop_duplicates
from lie_ssl.objects.sources import Catalogue, CatalogueEntry
from lie_ssl.objects.sources.folder import MeshFolder
from lie_ssl.objects.synsets import SYNSETS

AXES = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-y": (0, -1, 0), "-z": (0, 0, -1)}


def spike(path: Path, size: float = 1.0, up: str = "y", front: str = "z") -> Path:
    """A pyramid that is highest along `up` and has a nose along `front`; `size` makes its shape unique."""
    path.parent.mkdir(parents=True, exist_ok=True)
    top, nose = 3 * np.array(AXES[up]), 2 * size * np.array(AXES[front])
    side = 0.5 * np.cross(top, nose) / np.linalg.norm(np.cross(top, nose))
    points = np.array([top, nose, side, -side]).astype(float)
    faces = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    if path.suffix == ".off":
        rows = [*(" ".join(map(str, p)) for p in points), *(f"3 {a} {b} {c}" for a, b, c in faces)]
        path.write_text("\n".join(["OFF", "4 4 0", *rows]))
    else:
        rows = [*("v " + " ".join(map(str, p)) for p in points), *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces)]
        path.write_text("\n".join(rows))
    return path


def labels(catalogue: Catalogue) -> list[str]:
    return [f"{e.class_name}/{e.instance}" for e in catalogue.entries]


def is_upright(source: MeshFolder, entry: CatalogueEntry) -> bool:
    """Whether the highest point is the top and the foremost point the nose."""
    mesh = source.mesh(entry)
    top, nose = mesh.vertices[0], mesh.vertices[1]
    return int(mesh.vertices[:, 1].argmax()) == 0 and int(mesh.vertices[:, 2].argmax()) == 1 and bool(top[1] > nose[1])


def test_plain_layout_in_sorted_order(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "b.obj", 1.1)
    spike(tmp_path / "mug" / "a.off", 1.2)
    spike(tmp_path / "chair" / "red" / "anything.obj", 1.3)
    spike(tmp_path / "chair" / "red" / "collision.off", 1.35)
    spike(tmp_path / "chair" / ".hidden.obj", 1.4)
    (tmp_path / "chair" / "readme.txt").write_text("no mesh")
    source = MeshFolder(str(tmp_path), licence="CC0-1.0")
    catalogue = source.catalogue()
    assert labels(catalogue) == ["chair/red", "mug/a", "mug/b"]
    assert [e.key for e in catalogue.entries] == ["chair/red/anything.obj", "mug/a.off", "mug/b.obj"]
    assert {e.licence for e in catalogue.entries} == {"CC0-1.0"}
    assert [d.key for d in catalogue.dropped] == ["chair/red/collision.off"]
    mesh = pickle.loads(pickle.dumps(source)).mesh(catalogue.entries[0])
    assert np.linalg.norm(mesh.vertices, axis=1).max() == pytest.approx(1, abs=1e-5)
    assert is_upright(source, catalogue.entries[0])


def test_models_with_the_same_name_are_renamed(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "a.obj", 1.1)
    spike(tmp_path / "mug" / "a.off", 1.2)
    assert labels(MeshFolder(str(tmp_path)).catalogue()) == ["mug/mug_a.obj", "mug/mug_a.off"]


def test_broken_models_and_empty_folders_are_dropped_by_name(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "good.obj")
    (tmp_path / "mug" / "bad.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "nothing").mkdir()
    source = MeshFolder(str(tmp_path))
    catalogue = source.catalogue()
    why = {d.key: d.why for d in catalogue.dropped}
    assert labels(catalogue) == ["mug/good"]
    assert sorted(why) == ["mug/bad.obj", "nothing"]
    assert "not finite" in why["mug/bad.obj"]
    assert "no mesh" in why["nothing"]
    with pytest.raises(UserError, match=r"bad\.obj"):
        source.catalogue(strict=True)


def test_copies_within_and_across_classes_are_dropped(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "a.obj", 1.1)
    spike(tmp_path / "mug" / "b.off", 1.1)  # the same shape in another format
    spike(tmp_path / "mug" / "c.obj", 1.5)
    spike(tmp_path / "cup" / "d.obj", 1.5)
    spike(tmp_path / "cup" / "e.obj", 1.7)
    catalogue = MeshFolder(str(tmp_path)).catalogue()
    assert labels(catalogue) == ["cup/e", "mug/a"]
    why = {d.key: d.why for d in catalogue.dropped}
    assert sorted(why) == ["cup/d.obj", "mug/b.off", "mug/c.obj"]
    assert "mug/a" in why["mug/b.off"]
    assert "ambiguous" not in why["mug/b.off"]
    assert "mug/c" in why["cup/d.obj"]
    assert "cup/d" in why["mug/c.obj"]
    assert "ambiguous" in why["mug/c.obj"]


def test_three_copies_in_two_classes_are_all_dropped() -> None:
    entries = [
        CatalogueEntry("a", "1", "", "a1"),
        CatalogueEntry("a", "2", "", "a2"),
        CatalogueEntry("b", "3", "", "b3"),
        CatalogueEntry("b", "4", "", "b4"),
    ]
    kept, dropped = drop_duplicates(entries, ["x", "x", "x", "y"])
    assert kept == [entries[3]]
    assert [d.key for d in dropped] == ["a1", "a2", "b3"]
    assert all("b/3" in d.why for d in dropped[:2])
    assert "a/1" in dropped[2].why


def test_shapenet_versions_class_names_and_orientation(tmp_path: Path) -> None:
    spike(tmp_path / "03001627" / "abc" / "models" / "model_normalized.obj", 1.1, front="-z")
    spike(tmp_path / "02691156" / "def" / "model.obj", 1.2, front="x")
    (tmp_path / "02691156" / "ghi").mkdir()
    (tmp_path / "taxonomy.json").write_text("[]")
    source = MeshFolder(str(tmp_path))
    catalogue = source.catalogue()
    assert labels(catalogue) == ["airplane/def", "chair/abc"]
    assert [d.key for d in catalogue.dropped] == ["02691156/ghi"]
    assert all(is_upright(source, entry) for entry in catalogue.entries)
    assert not is_upright(MeshFolder(str(tmp_path), up="y"), catalogue.entries[0])


def test_the_synset_table() -> None:
    assert len(SYNSETS) == 55 == len(set(SYNSETS.values()))
    assert all(len(key) == 8 and key.isdigit() for key in SYNSETS)
    assert SYNSETS["04379243"] == "table"
    assert SYNSETS["02958343"] == "car"


def test_modelnet_is_z_up(tmp_path: Path) -> None:
    spike(tmp_path / "bed" / "train" / "bed_0001.off", 1.1, up="z", front="-y")
    spike(tmp_path / "bed" / "test" / "bed_0002.off", 1.2, up="z", front="-y")
    source = MeshFolder(str(tmp_path))
    catalogue = source.catalogue()
    assert labels(catalogue) == ["bed/bed_0001", "bed/bed_0002"]
    assert all(is_upright(source, entry) for entry in catalogue.entries)


def gso(root: Path, name: str, size: float) -> Path:
    spike(root / name / "meshes" / "model.obj", size, up="z", front="-y")
    return root / name


def test_google_scanned_objects(tmp_path: Path) -> None:
    (gso(tmp_path, "Boot_1", 1.1) / "metadata.pbtxt").write_text('name: "Boot_1"\ncategories {\n  first: "Shoe"\n}\n')
    (gso(tmp_path, "Mug_2", 1.2) / "metadata.json").write_text('{"categories": ["Mug"]}')
    gso(tmp_path, "Toy_3", 1.3)
    gso(tmp_path, "Thing_4", 1.4)
    (tmp_path / "classes.csv").write_text("object,class\nToy_3,toy\n")
    source = MeshFolder(str(tmp_path))
    catalogue = source.catalogue()
    assert labels(catalogue) == ["mug/Mug_2", "object/Thing_4", "shoe/Boot_1", "toy/Toy_3"]
    assert all(is_upright(source, entry) for entry in catalogue.entries)


def test_texture_of_google_scanned_objects(tmp_path: Path) -> None:
    folder = tmp_path / "Mug"
    (folder / "meshes").mkdir(parents=True)
    (folder / "materials" / "textures").mkdir(parents=True)
    Image.new("RGB", (3, 3), (1, 2, 3)).save(folder / "materials" / "textures" / "texture.png")
    (folder / "meshes" / "model.mtl").write_text("newmtl m\nmap_Kd texture.png\n")
    body = "mtllib model.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"
    (folder / "meshes" / "model.obj").write_text(body)
    source = MeshFolder(str(tmp_path))
    assert source.mesh(source.catalogue().entries[0]).textures[0][0, 0, :3].tolist() == [1, 2, 3]


def test_the_up_axis_can_be_given(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "a.obj", up="z", front="-y")
    source = MeshFolder(str(tmp_path), up="z")
    entry = source.catalogue().entries[0]
    assert is_upright(source, entry)
    assert not is_upright(MeshFolder(str(tmp_path)), entry)


def test_rotation_also_rotates_the_normals(tmp_path: Path) -> None:
    spike(tmp_path / "mug" / "a.obj", up="z", front="-y")
    mesh = MeshFolder(str(tmp_path), up="z").mesh(CatalogueEntry("mug", "a", "", "mug/a.obj"))
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    assert (np.abs((mesh.normals[:, 0] * flat).sum(axis=1)) > 0.9).all()


def test_user_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder"):
        MeshFolder(str(tmp_path / "nowhere")).catalogue()
    with pytest.raises(UserError, match="no mesh file"):
        MeshFolder(str(tmp_path)).catalogue()
    spike(tmp_path / "loose.obj")
    with pytest.raises(UserError, match=r"(?s)no known layout.*plain.*shapenet.*modelnet.*gso"):
        MeshFolder(str(tmp_path)).catalogue()
    with pytest.raises(UserError, match="modelnet"):
        MeshFolder(str(tmp_path), layout="modelnet").catalogue()
    with pytest.raises(UserError, match="no layout 'tree'"):
        MeshFolder(str(tmp_path), layout="tree")
    with pytest.raises(UserError, match="up is"):
        MeshFolder(str(tmp_path), up="x")
