"""Every format loads with its materials, and every broken file raises an error that names it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.objects.files import EXTENSIONS, load_mesh
from lie_ssl.objects.mesh import Mesh

QUAD = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
# An arrow-shaped outline; a triangle fan from its first corner would cover too much.
ARROW = np.array([[0.0, 0], [4, -1], [2, 0.5], [4, 3], [-1, 2]])


def area(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def shoelace(outline: NDArray[np.float64]) -> float:
    x, y = outline.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def picture(path: Path, colour: tuple[int, ...] = (200, 10, 20), size: tuple[int, int] = (4, 2)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGBA" if len(colour) == 4 else "RGB", size, colour).save(path)
    return path


def obj(folder: Path, body: str, material: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.mtl").write_text(f"newmtl a\n{material}\n")
    path = folder / "m.obj"
    path.write_text(f"mtllib m.mtl\n{body}")
    return path


def textured(folder: Path, material: str) -> Mesh:
    return load_mesh(obj(folder, f"{QUAD}usemtl a\nf 1/1 2/2 3/3 4/4\n", material))


def test_a_texture_in_another_folder_is_multiplied_with_kd(tmp_path: Path) -> None:
    picture(tmp_path / "images" / "x.png")
    mesh = textured(tmp_path / "models", "Kd 0.5 0.6 0.7\nmap_Kd ../images/x.png")
    assert mesh.n_faces == 2
    assert set(mesh.texture.tolist()) == {0}
    assert mesh.textures[0].shape == (2, 4, 4)
    assert mesh.textures[0][0, 0].tolist() == [200, 10, 20, 255]
    np.testing.assert_allclose(mesh.colours[0, 0], [0.5, 0.6, 0.7], rtol=1e-6)
    corner = mesh.vertices[mesh.faces[0, 2]]
    np.testing.assert_allclose(mesh.uv[0, 2], corner[:2] / [2, 1])


def test_black_kd_with_a_texture_means_white(tmp_path: Path) -> None:
    picture(tmp_path / "x.png")
    assert textured(tmp_path, "Kd 0 0 0\nmap_Kd x.png").colours.min() == 1


@pytest.mark.parametrize(
    "line",
    ["-s 2 3 1 -o 0.5 0 0 my wood.png", '-s 2 3 -o 0.5 -clamp on "my wood.png"', "-bm 1 -s 2 3 -o 0.5 MY WOOD.PNG"],
)
def test_texture_options_and_spaces_in_names(tmp_path: Path, line: str) -> None:
    picture(tmp_path / "my wood.png")
    mesh = textured(tmp_path, f"map_Kd {line}")
    np.testing.assert_allclose(mesh.uv.reshape(-1, 2).max(axis=0), [2.5, 3])
    np.testing.assert_allclose(mesh.uv.reshape(-1, 2).min(axis=0), [0.5, 0])


def test_a_large_texture_is_downscaled(tmp_path: Path) -> None:
    picture(tmp_path / "x.png", size=(2100, 30))
    assert textured(tmp_path, "map_Kd x.png").textures[0].shape == (15, 1024, 4)


def test_an_opacity_map_becomes_the_alpha_channel(tmp_path: Path) -> None:
    picture(tmp_path / "x.png")
    picture(tmp_path / "hole.png", (40, 40, 40))
    mesh = textured(tmp_path, "map_Kd x.png\nmap_d hole.png")
    assert set(mesh.textures[0][..., 3].ravel().tolist()) == {40}


@pytest.mark.parametrize(
    ("material", "opacity"),
    [("d 0.25", 0.25), ("Tr 0.75", 0.25), ("d 0.25\nTr 0.25", 0.25), ("d -halo 0.5", 0.5), ("", 1)],
)
def test_transparency(tmp_path: Path, material: str, opacity: float) -> None:
    np.testing.assert_allclose(textured(tmp_path, material).opacity, opacity)


def test_a_completely_invisible_model_is_made_solid(tmp_path: Path) -> None:
    assert textured(tmp_path, "Tr 1.0").opacity.tolist() == [1, 1]


def test_shine_follows_ks_and_ns(tmp_path: Path) -> None:
    matt = textured(tmp_path / "a", "Ks 0 0 0\nNs 100").shine[0]
    some = textured(tmp_path / "b", "Ks 0.3 0.3 0.3\nNs 100").shine[0]
    much = textured(tmp_path / "c", "Ks 0.9 0.9 0.9\nNs 400").shine[0]
    assert matt == 0 < some < much <= 1


@pytest.mark.parametrize("turn", [0, 2, 4])
def test_concave_polygon_keeps_its_area(tmp_path: Path, turn: int) -> None:
    lines = [f"v {x} {0.3 * x} {y}" for x, y in np.roll(ARROW, turn, axis=0)]  # in a slanted plane
    mesh = load_mesh(obj(tmp_path, "\n".join([*lines, "f 1 2 3 4 5"])))
    assert area(mesh) == pytest.approx(shoelace(ARROW * [np.hypot(1, 0.3), 1]), rel=1e-5)


def test_negative_indices_count_backwards(tmp_path: Path) -> None:
    body = "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.5 0.25\nf -3/-1 -2/-1 -1/-1\nv 5 5 5\n"
    mesh = load_mesh(obj(tmp_path, body))
    assert sorted(map(tuple, mesh.vertices[mesh.faces[0]].tolist())) == [(0, 0, 0), (0, 1, 0), (1, 0, 0)]
    np.testing.assert_allclose(mesh.uv[0], [[0.5, 0.25]] * 3)


def test_materials_per_face_and_an_unknown_one(tmp_path: Path) -> None:
    body = f"{QUAD}usemtl a\nf 1 2 3\nusemtl nowhere\nf 1 3 4\n"
    mesh = load_mesh(obj(tmp_path, body, "Kd 1 0 0\nnewmtl unused\nmap_Kd missing.png"))
    np.testing.assert_allclose(mesh.colours[:, 0], np.array([[1, 0, 0], [0.7, 0.7, 0.7]]), rtol=1e-6)


def test_vertex_colours_of_an_obj(tmp_path: Path) -> None:
    mesh = load_mesh(obj(tmp_path, "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n"))
    np.testing.assert_allclose(mesh.colours[0], np.eye(3))


def test_valid_normals_of_the_file_are_used(tmp_path: Path) -> None:
    body = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0.6 0.8\nvn 0 0 0\nf 1//1 2//1 3//1\nf 1//2 2//2 4//2\n"
    mesh = load_mesh(obj(tmp_path, body))
    np.testing.assert_allclose(mesh.normals[0], [[0, 0.6, 0.8]] * 3, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(mesh.normals[1], axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("damage", ["missing", "cut off", "not a picture"])
def test_a_missing_texture_is_a_warning(tmp_path: Path, damage: str) -> None:
    if damage != "missing":
        data = picture(tmp_path / "x.png", size=(300, 300)).read_bytes()
        (tmp_path / "x.png").write_bytes(data[: len(data) // 2] if damage == "cut off" else b"hello")
    with pytest.warns(UserWarning, match=r"x\.png of .*m\.obj") as caught:
        mesh = textured(tmp_path, "Kd 0.1 0.2 0.3\nmap_Kd x.png")
    assert len(caught) == 1
    assert mesh.texture.tolist() == [-1, -1]
    np.testing.assert_allclose(mesh.colours[0, 0], [0.1, 0.2, 0.3], rtol=1e-6)


def test_a_missing_texture_without_a_colour_gives_grey(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"x\.png"):
        np.testing.assert_allclose(textured(tmp_path, "map_Kd x.png").colours, 0.7, rtol=1e-6)


def test_a_missing_material_file_is_a_warning(tmp_path: Path) -> None:
    path = obj(tmp_path, f"{QUAD}usemtl a\nf 1 2 3\n")
    (tmp_path / "m.mtl").unlink()
    with pytest.warns(UserWarning, match=r"m\.mtl"):
        assert load_mesh(path).n_faces == 1


def test_coff_colours_at_vertices(tmp_path: Path) -> None:
    path = tmp_path / "a.off"
    path.write_text("COFF\n3 1 0\n0 0 0 255 0 0 255\n1 0 0 0 255 0 255\n0 1 0 0 0 255 0\n3 0 1 2\n")
    mesh = load_mesh(path)
    np.testing.assert_allclose(mesh.colours[0], np.eye(3))
    np.testing.assert_allclose(mesh.opacity, 2 / 3, rtol=1e-6)


@pytest.mark.parametrize("header", ["OFF\n# made by hand\n5 1 0", "OFF 5 1 0", "OFF5 1 0", "off\n5 1 0 # counts"])
def test_off_headers_polygons_and_face_colours(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.off"
    points = "\n".join(f"{x} {y} 0" for x, y in ARROW)
    path.write_text(f"{header}\n{points}\n\n5 0 1 2 3 4 0 128 255\n")
    mesh = load_mesh(path)
    assert area(mesh) == pytest.approx(shoelace(ARROW), rel=1e-5)
    np.testing.assert_allclose(mesh.colours[0, 0], [0, 128 / 255, 1], rtol=1e-6)


def glb(path: Path, image: Image.Image | None, factor: list[float], **kwargs: object) -> Path:
    quad = np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], float)
    material = trimesh.visual.material.PBRMaterial(baseColorFactor=factor, baseColorTexture=image, **kwargs)
    visual = trimesh.visual.TextureVisuals(uv=quad[:, :2] / [2, 1], material=material)
    part = trimesh.Trimesh(quad, [[0, 1, 2], [0, 2, 3]], visual=visual, process=False)
    scene = trimesh.Scene()
    scene.add_geometry(part, transform=trimesh.transformations.translation_matrix([0, 0, 5]))
    scene.add_geometry(part, transform=trimesh.transformations.scale_matrix(2))
    scene.export(path)
    return path


def test_glb_with_texture_and_transforms(tmp_path: Path) -> None:
    image = Image.new("RGBA", (4, 4), (200, 10, 20, 0))
    image.paste((0, 0, 255, 0), (0, 0, 4, 2))  # the top half
    mesh = load_mesh(glb(tmp_path / "a.glb", image, [1.0, 1.0, 1.0, 0.3], roughnessFactor=0.25))
    assert area(mesh) == pytest.approx(2 + 8)
    assert sorted(set(mesh.vertices[:, 2].tolist())) == [0, 5]
    # 'OPAQUE', the default of the format, ignores alpha.
    assert mesh.opacity.min() == 1
    assert mesh.textures[0][..., 3].min() == 255
    assert mesh.textures[0][0, 0, :3].tolist() == [0, 0, 255]
    top = np.isclose(mesh.vertices[mesh.faces][..., 1], mesh.vertices[mesh.faces][..., 1].max(axis=1, keepdims=True))
    assert (mesh.uv[..., 1][top] == 1).all()
    assert mesh.shine[0] > 0.3


def test_glb_colours_are_linear_and_blend(tmp_path: Path) -> None:
    mesh = load_mesh(glb(tmp_path / "a.glb", None, [0.2140411, 1.0, 0.0, 0.5], alphaMode="BLEND"))
    np.testing.assert_allclose(mesh.colours[0, 0], [0.5, 1, 0], atol=0.005)
    np.testing.assert_allclose(mesh.opacity, 0.5, atol=0.01)


def test_gltf_with_a_missing_texture(tmp_path: Path) -> None:
    glb(tmp_path / "a.gltf", Image.new("RGB", (4, 4), (9, 9, 9)), [1.0, 1.0, 1.0, 1.0])
    scene = json.loads((tmp_path / "a.gltf").read_text())
    scene["images"] = [{"uri": "my%20wood.png"}]
    (tmp_path / "a.gltf").write_text(json.dumps(scene))
    with pytest.warns(UserWarning, match=r"my wood\.png of .*a\.gltf is left out: it is missing"):
        assert load_mesh(tmp_path / "a.gltf").n_faces == 4


def test_ply_with_vertex_colours(tmp_path: Path) -> None:
    colours = np.array([[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]], np.uint8)
    trimesh.Trimesh(np.eye(3), [[0, 1, 2]], vertex_colors=colours, process=False).export(tmp_path / "a.ply")
    np.testing.assert_allclose(load_mesh(tmp_path / "a.ply").colours[0], np.eye(3))


def test_ply_with_a_concave_polygon(tmp_path: Path) -> None:
    header = ["ply", "format ascii 1.0", "element vertex 5", *(f"property float {a}" for a in "xyz")]
    header += [*(f"property uchar {c}" for c in ("red", "green", "blue")), "element face 1"]
    header += ["property list uchar int vertex_indices", "end_header"]
    points = [f"{x} {y} 0 255 0 51" for x, y in np.roll(ARROW, 1, axis=0)]
    (tmp_path / "a.ply").write_text("\n".join([*header, *points, "5 0 1 2 3 4\n"]))
    mesh = load_mesh(tmp_path / "a.ply")
    assert area(mesh) == pytest.approx(shoelace(ARROW), rel=1e-5)
    np.testing.assert_allclose(mesh.colours[0, 0], [1, 0, 0.2], rtol=1e-6)


@pytest.mark.parametrize("kind", ["stl", "stl_ascii"])
def test_stl(tmp_path: Path, kind: str) -> None:
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "a.stl", file_type=kind)
    mesh = load_mesh(str(tmp_path / "a.stl"))
    assert area(mesh) == pytest.approx(22)
    assert mesh.n_faces == 12
    np.testing.assert_allclose(mesh.colours, 0.7, rtol=1e-6)


BROKEN = {
    "nan.obj": "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "inf.off": "OFF\n3 1 0\n0 0 inf\n1 0 0\n0 1 0\n3 0 1 2\n",
    "points.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
    "flat.obj": "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n",
    "index.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "zero.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n",
    "cut.obj": "v 0 0 0\nv 1 0 0\nv 0 1\nf 1 2 3\n",
    "words.obj": "v a b c\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "corner.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n",
    "cut.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n",
    "counts.off": "OFF\n",
    "face.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n",
    "index.off": "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n",
    "cloud.ply": "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
    "end_header\n0 0 0\n",
    "nan.ply": "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n",
    "text.glb": "this is no model",
    "empty.gltf": "{}",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_raise_a_user_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(BROKEN[name])
    with pytest.raises(UserError, match=name) as caught:
        load_mesh(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert "remove it" in str(caught.value)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("content", [b"", b"hello\n", bytes(range(256)) * 8, b"\xff\xfe\x00\x01" * 50])
def test_garbage_with_every_extension(tmp_path: Path, extension: str, content: bytes) -> None:
    path = tmp_path / f"garbage{extension}"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UserError, match="garbage"):
            load_mesh(path)


@pytest.mark.parametrize("extension", ["glb", "ply", "stl"])
def test_truncated_binary_files(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a.{extension}"
    trimesh.creation.icosphere(subdivisions=2).export(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UserError, match="a\\." + extension):
        load_mesh(path)


def test_unknown_extension_and_missing_file(tmp_path: Path) -> None:
    (tmp_path / "a.fbx").write_bytes(b"x")
    with pytest.raises(UserError, match=r"a\.fbx.*obj, glb"):
        load_mesh(tmp_path / "a.fbx")
    with pytest.raises(UserError, match="no file"):
        load_mesh(tmp_path / "b.obj")
