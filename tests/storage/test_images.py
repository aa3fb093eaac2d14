"""No picture can start a program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames.pictures import load_picture
from lie_ssl.objects.files import load_mesh
from lie_ssl.storage.images import open_image
from tests.bad_input.cases import POSTSCRIPT

GLTF = """{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
 "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
 "textures": [{"source": 0}], "images": [{"uri": "IMAGE"}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
               {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"}],
 "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
 "buffers": [{"uri": "points.bin", "byteLength": 60}]}"""


@pytest.fixture
def ghostscript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `gs` that records its execution."""
    program, mark = tmp_path / "bin" / "gs", tmp_path / "ran"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)
    return mark


def test_a_photograph_does_not_start_ghostscript(ghostscript: Path) -> None:
    with pytest.raises(UserError, match=r"a\.png"):
        load_picture(POSTSCRIPT.encode(), "a.png", 16)
    assert not ghostscript.exists()


def test_a_texture_does_not_start_ghostscript(tmp_path: Path, ghostscript: Path) -> None:
    (tmp_path / "t.png").write_text(POSTSCRIPT)
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd t.png\n")
    lines = ["mtllib a.mtl", "v 0 0 0", "v 1 0 0", "v 0 1 0", "vt 0 0", "vt 1 0", "vt 0 1", "usemtl m", "f 1/1 2/2 3/3"]
    (tmp_path / "a.obj").write_text("\n".join(lines))
    with pytest.warns(UserWarning, match=r"t\.png"):
        load_mesh(tmp_path / "a.obj")
    assert not ghostscript.exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("image", ["t.png", "/dev/zero", "../../../../../../dev/zero"])
def test_a_scene_does_not_start_ghostscript(image: str, tmp_path: Path, ghostscript: Path) -> None:
    (tmp_path / "t.png").write_text(POSTSCRIPT)
    (tmp_path / "points.bin").write_bytes(
        b"\0\0\0\0" * 3 + b"\0\0\x80?" * 3 + b"\0\0\0\0\0\0\x80?\0\0\0\0" + b"\0" * 24
    )
    (tmp_path / "a.gltf").write_text(GLTF.replace("IMAGE", image))
    assert len(load_mesh(tmp_path / "a.gltf").faces) == 1
    assert not ghostscript.exists()


def test_usual_pictures_are_opened(tmp_path: Path) -> None:
    from PIL import Image

    for name in ("a.png", "a.jpg", "a.bmp", "a.webp", "a.ppm", "a.tif", "a.gif", "a.tga"):
        Image.new("RGB", (4, 4), "red").save(tmp_path / name)
        with open_image(tmp_path / name) as image:
            assert image.size == (4, 4)
