"""Blender and the rasteriser agree; without Blender, the error says what to install."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh, join, make_mesh
from lie_ssl.objects.shapes import ball, box, lathe, tube
from lie_ssl.render import RenderSettings, View, render
from lie_ssl.render.blender import composite, silenced_stdout
from lie_ssl.render.view import axis_rotation

HAS_BLENDER = importlib.util.find_spec("bpy") is not None
VIEWS = [
    View(),
    View(rotation=axis_rotation(2, 40) @ axis_rotation(0, 40) @ axis_rotation(1, 40)),
    View(rotation=axis_rotation(1, 180), light=60),
    View(hue=120, scale=0.7, elevation=20),
]


def mug() -> Mesh:
    wall = lathe([(0, -0.5), (0.4, -0.5), (0.45, 0.5), (0.4, 0.5), (0.35, -0.4), (0, -0.4)])
    handle = tube([(0.4, 0.3, 0), (0.75, 0.2, 0), (0.7, -0.2, 0), (0.4, -0.3, 0)], 0.06)
    return (wall.paint((0.2, 0.6, 0.3), 0.8) + handle.paint((0.8, 0.7, 0.2))).mesh().normalised()


def table() -> Mesh:
    leg = box(0.08, 0.8, 0.08).at(0.5, -0.4, 0.35).mirror("x").mirror("z")
    return (box(1.2, 0.08, 0.9) + leg + ball(0.2).at(y=0.24)).paint((0.6, 0.4, 0.2)).mesh().normalised()


def picture_and_glass() -> Mesh:
    """A square with a texture that has a hole, and a half-transparent one with reversed winding."""
    texture = np.full((8, 8, 4), 255, np.uint8)
    texture[:4, :4, :3], texture[:4, 4:, :3], texture[4:, :4, :3] = (230, 40, 40), (40, 200, 40), (40, 40, 220)
    texture[4:, 4:, 3] = 0
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float64)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    square = make_mesh(corners, faces, uv=corners[faces][..., :2] / 2 + 0.5, texture=0, textures=[texture])
    glass = make_mesh(corners * 0.8 + [0, 0, 0.5], faces[:, ::-1], opacity=0.5, colours=(0.2, 0.3, 0.9))
    return join([square, glass]).normalised()


def test_it_renders_or_says_what_to_install() -> None:
    settings = RenderSettings(size=16, background=(0.9, 0.5, 0.1))
    if not HAS_BLENDER:
        with pytest.raises(UserError, match=r"pip install 'lie_ssl\[blender\]'") as caught:
            render(mug(), [View()], settings, backend="blender")
        assert "\n" not in str(caught.value)
        return
    frames = render(mug(), [View()], settings, backend="blender")
    assert frames.shape == (1, 16, 16, 3)
    assert frames.dtype == np.uint8
    assert np.array_equal(frames[0, 0, 0], render(mug(), [View()], settings)[0, 0, 0])


def test_composite_has_the_background_of_the_rasteriser() -> None:
    empty = np.zeros((4, 4, 4), np.float32)
    far = [View(scale=1e-3)]
    for settings in (RenderSettings(size=4, background=(0.9, 0.5, 0.1)), RenderSettings(size=4, grey=True)):
        for dtype in ("uint8", "float32"):
            expected = render(mug(), far, settings, dtype=dtype)[0, 0, 0]
            assert np.array_equal(composite(empty, settings, dtype)[2, 2], expected)


def test_composite_mixes_in_linear_light() -> None:
    pixels = np.full((1, 1, 4), 0.5, np.float32)  # white with a coverage of one half
    settings = RenderSettings(size=1, background=(0.0, 0.0, 0.0))
    assert composite(pixels, settings, "uint8")[0, 0, 0] == 188  # sRGB of one half


def test_output_of_c_code_is_suppressed(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before\n")
    with silenced_stdout():
        os.write(1, b"chatter\n")
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "before\nafter\n"


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BLENDER, reason="bpy is not installed")
@pytest.mark.parametrize("make", [mug, table, picture_and_glass])
def test_silhouettes_and_colours_agree_with_the_rasteriser(make: Callable[[], Mesh]) -> None:
    settings = RenderSettings(size=128, background=(0.9, 0.95, 1.0))
    ours = render(make(), VIEWS, settings)
    theirs = render(make(), VIEWS, settings, backend="blender")
    background = ours[0, 0, 0]
    for a, b in zip(ours, theirs, strict=True):
        inside, also = (a != background).any(-1), (b != background).any(-1)
        assert (inside & also).sum() / (inside | also).sum() > 0.97
        difference = np.abs(a[inside & also].astype(int) - b[inside & also])
        assert difference.mean() < 25  # shadows and noise; another hue or light would give far more


@pytest.mark.slow
@pytest.mark.skipif(not HAS_BLENDER, reason="bpy is not installed")
def test_it_is_deterministic_and_cleans_up() -> None:
    import bpy

    settings = RenderSettings(size=32, grey=True)
    first = render(mug(), VIEWS, settings, backend="blender", dtype="float32")
    before = {name: len(getattr(bpy.data, name)) for name in ("scenes", "objects", "meshes", "materials", "images")}
    assert np.array_equal(first, render(mug(), VIEWS, settings, backend="blender", dtype="float32"))
    assert before == {name: len(getattr(bpy.data, name)) for name in before}
    assert first.shape == (4, 32, 32, 1)
