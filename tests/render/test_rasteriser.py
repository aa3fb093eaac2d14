"""The rasteriser against a slow, independent ray caster, and its properties."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh, make_mesh
from lie_ssl.objects.shapes import ball, box, make_instance
from lie_ssl.render import RenderSettings, View, render
from lie_ssl.render.rasteriser import srgb_to_linear
from lie_ssl.render.view import axis_rotation, camera_matrix, hue_matrix, light_direction


def cast_rays(mesh: Mesh, view: View, s: RenderSettings) -> NDArray[np.float64]:
    """(size, size, 3) sRGB from one ray through the middle of each pixel: Moeller-Trumbore in float64."""
    points = mesh.vertices.astype(np.float64) @ camera_matrix(view).T
    a, b, c = (points[mesh.faces[:, i]] for i in range(3))
    eye = np.array([0, 0, s.distance])
    middle = (np.arange(s.size) + 0.5) / s.size * 2 - 1
    picture = np.tile(np.array(s.background, np.float64), (s.size, s.size, 1))
    for row, y in enumerate(-middle):
        for column, x in enumerate(middle):
            ray = np.array([x, y, -s.focal])
            cross = np.cross(ray, c - a)
            det = np.einsum("fi,fi->f", b - a, cross)
            with np.errstate(divide="ignore", invalid="ignore"):
                u = np.einsum("fi,fi->f", eye - a, cross) / det
                other = np.cross(eye - a, b - a)
                v = other @ ray / det
                t = np.einsum("fi,fi->f", c - a, other) / det
                hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
            if hit.any():
                f = int(np.argmin(np.where(hit, t, np.inf)))
                weights = np.array([1 - u[f] - v[f], u[f], v[f]])
                picture[row, column] = _lit(mesh, view, f, weights, np.cross(b - a, c - a)[f], ray)
    return picture


def _lit(
    mesh: Mesh, view: View, f: int, weights: NDArray[np.float64], outward: NDArray[np.float64], ray: NDArray[np.float64]
) -> NDArray[np.float64]:
    turned = camera_matrix(view) / view.scale
    normal = turned @ (weights @ mesh.normals[f].astype(np.float64))
    normal /= np.linalg.norm(normal)
    towards = outward if outward @ ray < 0 else -outward
    normal = normal if normal @ towards >= 0 else -normal
    colour = hue_matrix(view.hue) @ (weights @ srgb_to_linear(mesh.colours[f]).astype(np.float64))
    light = light_direction(view.light)
    half = (light + [0, 0, 1]) / np.linalg.norm(light + [0, 0, 1])
    lit = 0.34 + 0.12 * normal[1] + 0.8 * max(normal @ light, 0)
    root = np.sqrt(0.6 * mesh.shine[f]) * max(normal @ half, 0) ** 16
    lit, root = (np.floor(x * 96 + 0.5) / 96 for x in (lit, root))  # brightness is quantised
    linear = np.maximum(colour, 0) * lit + root**2
    linear = np.minimum(linear, 1)
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


@pytest.mark.parametrize(
    "view",
    [
        View(),
        View(axis_rotation(2, 75)),
        View(axis_rotation(0, 130) @ axis_rotation(1, 130) @ axis_rotation(2, 130), light=70, scale=0.7),
        View(axis_rotation(1, 200), elevation=40, hue=140),
    ],
)
@pytest.mark.parametrize("name", ["chair", "mug"])
def test_agrees_with_a_ray_caster(name: str, view: View) -> None:
    mesh, _ = make_instance(name, 0)
    s = RenderSettings(size=28, supersample=1, background=(0.2, 0.4, 0.9))
    expected = cast_rays(mesh, view, s) * 255
    error = np.abs(render(mesh, [view], s)[0] - expected).max(axis=2)
    # Pixels on a silhouette may fall on either side; everything else agrees up to one step of 8 bits.
    assert (error <= 1.01).mean() > 0.99
    assert (expected != expected[0, 0]).any(axis=2).sum() > 60


def test_frames_are_identical_in_another_process() -> None:
    code = (
        "import hashlib\nfrom lie_ssl.objects.shapes import make_instance\nfrom lie_ssl.render import View, render\n"
        "from lie_ssl.render.view import axis_rotation\n"
        "frames = render(make_instance('bicycle', 1)[0], [View(axis_rotation(2, a)) for a in range(0, 360, 40)])\n"
        "print(hashlib.sha256(frames.tobytes()).hexdigest())"
    )
    here = render(make_instance("bicycle", 1)[0], [View(axis_rotation(2, a)) for a in range(0, 360, 40)])
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert hashlib.sha256(here.tobytes()).hexdigest() == there


def test_a_frame_does_not_depend_on_the_previous_one() -> None:
    mesh, _ = make_instance("airplane", 0)
    views = [View(axis_rotation(2, a)) for a in (0, 90, 180)]
    together = render(mesh, views)
    alone = np.concatenate([render(mesh, [v]) for v in views])
    assert np.array_equal(together, alone)


def test_the_unit_sphere_just_fits_and_has_no_holes() -> None:
    mesh = ball(1.0, 64).mesh().normalised()
    for size, supersample in ((64, 1), (64, 3), (33, 2)):
        settings_ = RenderSettings(size=size, supersample=supersample, background=(0, 1, 0))
        frame = render(mesh, [View(axis_rotation(0, 33))], settings_)[0].astype(int)
        mask = ~((frame[..., 1] > 250) & (frame[..., 0] < 5))
        y, x = np.mgrid[:size, :size] + 0.5 - size / 2
        inside = np.hypot(x, y) < size / 2 - 1.5
        outside = np.hypot(x, y) > size / 2 + 1.0
        assert mask[inside].all()
        assert not mask[outside].any()


def test_both_sides_look_alike() -> None:
    mesh = ball(1.0, 20).mesh().normalised()
    inside_out = replace(mesh, faces=mesh.faces[:, ::-1], normals=-mesh.normals[:, ::-1])
    only_winding = replace(mesh, faces=mesh.faces[:, ::-1], normals=mesh.normals[:, ::-1])
    frame = render(mesh, [View()]).astype(int)
    for other in (inside_out, only_winding):
        difference = np.abs(render(other, [View()]) - frame)
        # On the silhouette, front and back are equally near, and either may win.
        assert difference.max() <= 12
        assert (difference > 1).mean() < 0.005


@settings(max_examples=15)
@given(st.integers(0, 3), st.integers(0, 359))
def test_rotating_the_object_rotates_the_silhouette(quarter: int, angle: int) -> None:
    mesh, _ = make_instance("guitar", 0)
    s = RenderSettings(size=48, supersample=1)
    first, second = render(mesh, [View(axis_rotation(2, angle)), View(axis_rotation(2, angle + 90 * quarter))], s)
    difference = (np.rot90(first, quarter) < 255).any(axis=2) != (second < 255).any(axis=2)
    assert difference.mean() < 0.01


def test_the_light_moves_with_the_camera() -> None:
    mesh = box(1, 1, 1).mesh().normalised()
    upright, upside_down = render(mesh, [View(), View(axis_rotation(2, 180))]).astype(float)
    assert np.abs(np.rot90(upright, 2) - upside_down).max() > 20


def test_grey_is_the_luminance_in_linear_light() -> None:
    mesh, _ = make_instance("car", 2)
    colour = render(mesh, [View()], RenderSettings(supersample=1), dtype="float32")[0]
    grey = render(mesh, [View()], RenderSettings(supersample=1, grey=True), dtype="float32")[0, ..., 0]
    luminance = srgb_to_linear(colour) @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    assert np.abs(srgb_to_linear(grey) - luminance).max() < 1e-3


def test_float_and_byte_pictures_agree() -> None:
    mesh, _ = make_instance("piano", 0)
    byte, real = render(mesh, [View()]), render(mesh, [View()], dtype="float32")
    assert byte.dtype == np.uint8
    assert real.dtype == np.float32
    assert np.abs(real * 255 - byte).max() <= 0.51


def test_hue_rotates_colours_and_preserves_grey() -> None:
    red = ball(1.0).paint((0.8, 0.1, 0.1), 0).mesh().normalised()
    grey = ball(1.0).paint((0.5, 0.5, 0.5), 0).mesh().normalised()
    plain, third, whole = render(red, [View(), View(hue=120), View(hue=360)]).astype(int)
    assert np.array_equal(plain, whole)
    assert np.abs(plain[..., [2, 0, 1]] - third).max() <= 1  # red has become green
    a, b = render(grey, [View(), View(hue=77)]).astype(int)
    assert np.abs(a - b).max() <= 1


def quad(texture: NDArray[np.uint8] | None = None, opacity: float = 1.0) -> Mesh:
    """A square that faces the camera in the typical view."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * 0.7
    corners = corners @ camera_matrix(View())  # reverses the typical view
    uv = np.array([[[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]], np.float32)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    return make_mesh(
        corners, faces, colours=(1, 1, 1), shine=0, opacity=opacity, uv=uv,
        texture=-1 if texture is None else 0, textures=[] if texture is None else [texture],
    )  # fmt: skip


def test_textures_are_upright() -> None:
    picture = np.zeros((2, 2, 4), np.uint8)
    picture[..., 3] = 255
    picture[0, 0, 0] = picture[0, 1, 1] = picture[1, 0, 2] = 255  # red, green above; blue, black below
    frame = render(quad(picture), [View()], RenderSettings(size=64, background=(1, 1, 1)))[0].astype(int)
    top_left, top_right, low_left, low_right = frame[22, 22], frame[22, 42], frame[42, 22], frame[42, 42]
    assert top_left.argmax() == 0
    assert top_right.argmax() == 1
    assert low_left.argmax() == 2
    assert low_right.max() < 60


def test_transparent_texels_are_holes() -> None:
    picture = np.full((8, 8, 4), 255, np.uint8)
    picture[:4, :, 3] = 0  # the top half
    frame = render(quad(picture), [View()], RenderSettings(size=64, background=(0, 0, 0)))[0]
    assert (frame[12:30, 20:44] == 0).all()
    assert (frame[34:50, 20:44] > 100).all()


@pytest.mark.parametrize("supersample", [2, 3, 4])
def test_opacity_mixes_with_what_is_behind(supersample: int) -> None:
    s = RenderSettings(size=32, supersample=supersample, background=(0, 0, 0))
    levels = [float(srgb_to_linear(render(quad(opacity=o), [View()], s)[0, 16, 16] / 255)[0]) for o in (0, 0.5, 1)]
    assert levels[0] == 0
    assert levels[1] == pytest.approx(levels[2] / 2, rel=0.12)
    flat = render(quad(opacity=0.5), [View()], s)[0, 12:20, 12:20]
    assert (flat == flat[0, 0]).all()  # no pattern


def test_scale_and_background() -> None:
    mesh = ball(1.0, 32).mesh().normalised()
    s = RenderSettings(size=96, background=(0.2, 0.4, 0.6))
    whole, half = ((f != f[0, 0]).any(axis=2).sum() for f in render(mesh, [View(), View(scale=0.5)], s))
    assert half / whole == pytest.approx(0.25, rel=0.1)
    assert render(mesh, [View()], s)[0, 0, 0].tolist() == [51, 102, 153]


@pytest.mark.parametrize("bad", [{"size": 0}, {"supersample": 9}, {"background": (2, 0, 0)}, {"field_of_view": 0}])
def test_bad_settings(bad: dict[str, object]) -> None:
    with pytest.raises(UserError, match=next(iter(bad))):
        RenderSettings(**bad)  # type: ignore[arg-type]


def test_unknown_renderer_and_dtype() -> None:
    mesh = box(1, 1, 1).mesh().normalised()
    with pytest.raises(UserError, match="use raster or blender"):
        render(mesh, [View()], backend="opengl")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="a list of views"):
        render(mesh, View())  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"shape \(4, 4\)"):
        View(np.eye(4))
    with pytest.raises(UserError, match="scale is 0"):
        View(scale=0)
    with pytest.raises(UserError, match="uint8 or float32"):
        render(mesh, [View()], dtype="int64")  # type: ignore[arg-type]
