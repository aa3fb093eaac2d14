"""Renders meshes on the CPU, in about a millisecond per frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.mesh import Mesh
from lie_ssl.render import kernels
from lie_ssl.render.surfaces import hidden_backs, smooth_surfaces
from lie_ssl.render.view import RenderSettings, View, camera_matrix, hue_matrix, light_direction

DType = Literal["uint8", "float32"]
TABLE = 8192  # entries of the table from linear light to sRGB; finer than 8 bits everywhere


def srgb_to_linear(colour: NDArray[Any]) -> NDArray[np.float32]:
    """Converts sRGB in [0, 1] to linear light; any shape."""
    c = np.asarray(colour, np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((np.maximum(c, 0) + 0.055) / 1.055) ** 2.4).astype(np.float32)


@lru_cache
def encoding_table(dtype: DType) -> NDArray[Any]:
    """(TABLE,) sRGB values of evenly spaced linear light, as bytes or floats."""
    c = np.linspace(0, 1, TABLE)
    s = np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055)
    return np.rint(s * 255).astype(np.uint8) if dtype == "uint8" else s.astype(np.float32)


class Rasteriser:
    """Draws frames of one mesh and reuses its buffers."""

    def __init__(self, mesh: Mesh, settings: RenderSettings, dtype: DType = "uint8") -> None:
        self.mesh, self.settings = mesh, settings
        samples = settings.size * settings.supersample
        self._depth = np.zeros((samples, samples), np.float32)
        self._visible = np.zeros((samples, samples), np.int32)
        self._extent = np.array([0, -1, 0, -1], np.int64)
        self._screen = np.empty((len(mesh.vertices), 3))
        self._planes = np.zeros((len(mesh.faces), 10))
        self._work = np.empty(7 * kernels.CAP, np.float32)
        self._corners, self._kinds = _corner_rows(mesh)
        self._surfaces = smooth_surfaces(mesh)
        self._sides = np.zeros(len(mesh.faces) + 1, np.int32)
        self._hidden_back = hidden_backs(mesh)
        self._atlas, self._texels = _pack(mesh.textures)
        has_holes = np.array([bool((t[..., 3] < 128).any()) for t in mesh.textures] + [False])
        self._cutout = has_holes[mesh.texture]  # the last entry is for texture -1
        self._background = srgb_to_linear(np.array(settings.background))
        self._encode = encoding_table(dtype)
        # Copying a whole picture is many times faster than filling it with one pixel.
        self._empty = np.broadcast_to(
            self._background_pixel(), (settings.size, settings.size, settings.channels)
        ).copy()

    def draw(self, view: View, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Draws a frame (size, size, channels)."""
        s, m = self.settings, self.mesh
        if out is None:
            out = np.empty((s.size, s.size, s.channels), self._encode.dtype)
        np.copyto(out, self._empty)
        kernels.draw(
            m.vertices, m.faces, self._hidden_back, self._surfaces, m.opacity, self._cutout, m.uv, m.texture,
            self._atlas, self._texels, self._corners, self._kinds, camera_matrix(view), view.scale,
            _directions(view.light), hue_matrix(view.hue), view.hue % 360 != 0, s.distance, s.focal, s.supersample,
            self._background, self._screen, self._planes, self._sides, self._depth, self._visible, self._extent,
            self._work, self._encode, out,
        )  # fmt: skip
        return out

    def _background_pixel(self) -> NDArray[Any]:
        linear = self._background
        if self.settings.grey:
            linear = np.array([0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]])
        pixel: NDArray[Any] = self._encode[(linear * (TABLE - 1) + 0.5).astype(int)]
        return pixel


def rasterise(mesh: Mesh, views: Sequence[View], settings: RenderSettings, dtype: DType = "uint8") -> NDArray[Any]:
    """Draws frames (len(views), size, size, channels) of a mesh."""
    rasteriser = Rasteriser(mesh, settings, dtype)
    out = np.empty((len(views), settings.size, settings.size, settings.channels), dtype)
    for view, frame in zip(views, out, strict=True):
        rasteriser.draw(view, frame)
    return out


def _corner_rows(mesh: Mesh) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Arrays for shading: (F, 25) normals, linear colours, uv and square root of the highlight; (F,) kinds of faces.

    Surfaces are two-sided, so normals are flipped to the front of their face here, and to the camera when drawn.
    """
    n = len(mesh.faces)
    a, b, c = (mesh.vertices[mesh.faces[:, i]].astype(np.float64) for i in range(3))
    behind = np.einsum("fki,fi->fk", mesh.normals, np.cross(b - a, c - a)) < 0
    normals = np.where(behind[..., None], -mesh.normals, mesh.normals)
    columns = [normals, srgb_to_linear(mesh.colours), mesh.uv, np.sqrt(kernels.HIGHLIGHT * mesh.shine)]
    corners = np.concatenate([np.asarray(x, np.float32).reshape(n, -1) for x in columns], axis=1)
    flat = (mesh.normals == mesh.normals[:, :1]).all(axis=(1, 2))
    plain = (mesh.colours == mesh.colours[:, :1]).all(axis=(1, 2))
    kinds = np.where(plain, np.where(flat, kernels.ONE_COLOUR, kernels.CURVED), kernels.VARYING)
    return np.ascontiguousarray(corners), np.where(mesh.texture >= 0, kernels.TEXTURED, kinds).astype(np.uint8)


@lru_cache(maxsize=64)
def _directions(degrees: float) -> NDArray[np.float64]:
    """(3, 3) unit vectors towards the light, halfway between light and camera, and up, in camera axes."""
    light = light_direction(degrees)
    half_way = light + np.array([0.0, 0.0, 1.0])
    return np.stack([light, half_way / np.sqrt((half_way**2).sum()), np.array([0.0, 1.0, 0.0])])


def _pack(textures: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """(T, 3) start, height and width of each texture, and the texels of all textures (linear light and alpha)."""
    if not textures:
        return np.zeros((1, 3), np.int64), np.zeros((1, 4), np.float32)
    starts = np.cumsum([0, *(t.shape[0] * t.shape[1] for t in textures)])
    atlas = np.array([[start, *t.shape[:2]] for start, t in zip(starts[:-1], textures, strict=True)], np.int64)
    texels = np.concatenate([t.reshape(-1, 4) for t in textures]).astype(np.float32) / np.float32(255)
    texels[:, :3] = srgb_to_linear(texels[:, :3])
    return atlas, texels
