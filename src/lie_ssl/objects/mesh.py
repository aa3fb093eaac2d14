"""The triangle mesh that all sources produce and all renderers accept.

Shape letters: V vertices, F faces, T textures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Indexed triangles; normals, colours and texture coordinates are stored per face corner.

    Axes: x right, y up, z towards the viewer; objects face +z.
    """

    vertices: Floats  # (V, 3)
    faces: NDArray[np.int32]  # (F, 3)
    normals: Floats  # (F, 3, 3), unit length
    colours: Floats  # (F, 3, 3), sRGB in [0, 1]; multiplied with the texture if there is one
    shine: Floats  # (F,), strength of the highlight, from 0 (matt) to 1 (mirror-like)
    opacity: Floats  # (F,), from 0 (invisible) to 1 (solid)
    uv: Floats  # (F, 3, 2), v points up; any value, as textures repeat
    texture: NDArray[np.int32]  # (F,), index of the texture, -1 for none
    textures: tuple[NDArray[np.uint8], ...] = ()  # T pictures (H, W, 4), RGBA, top row first

    @property
    def n_faces(self) -> int:
        return len(self.faces)

    def normalised(self) -> Mesh:
        """Centres the bounding box at the origin and scales the farthest vertex to the unit sphere."""
        points = self.vertices[np.unique(self.faces)].astype(np.float64)
        centre = (points.min(axis=0) + points.max(axis=0)) / 2
        radius = float(np.sqrt(((points - centre) ** 2).sum(axis=1).max()))
        vertices = (self.vertices.astype(np.float64) - centre) / radius
        return replace(self, vertices=vertices.astype(np.float32))

    def clay(self) -> Mesh:
        """The same shape in matt light grey without textures; opacity is unchanged."""
        return replace(
            self,
            colours=np.full_like(self.colours, 0.75),
            shine=np.zeros_like(self.shine),
            texture=np.full_like(self.texture, -1),
            textures=(),
        )

    def geometry_hash(self) -> str:
        """A hash of the triangles that ignores order, winding and colour, and size and position of the mesh."""
        points = self.normalised().vertices[self.faces]  # (F, 3, 3)
        # Corners within a face and the faces themselves are sorted, so that their order does not matter.
        grid = np.rint(points.astype(np.float64) * 1000).astype(np.int64)
        keys = np.sort((grid[..., 0] * 4001 + grid[..., 1]) * 4001 + grid[..., 2], axis=1)
        keys = np.unique(keys, axis=0)
        return hashlib.sha256(keys.tobytes()).hexdigest()[:32]


def make_mesh(
    vertices: NDArray[np.floating],
    faces: NDArray[np.integer],
    *,
    colours: NDArray[np.floating] | Sequence[float] = (0.7, 0.7, 0.7),
    normals: NDArray[np.floating] | None = None,
    shine: NDArray[np.floating] | float = 0.2,
    opacity: NDArray[np.floating] | float = 1.0,
    uv: NDArray[np.floating] | None = None,
    texture: NDArray[np.integer] | int = -1,
    textures: Sequence[NDArray[np.uint8]] = (),
    crease: float = 40.0,
) -> Mesh:
    """Validates the arrays and builds a :class:`Mesh`. Faces without area are dropped.

    Args:
        vertices: (V, 3).
        faces: (F, 3) indices of vertices.
        colours: (3,), (F, 3) or (F, 3, 3), sRGB in [0, 1].
        normals: (F, 3, 3); by default computed and smoothed across edges below `crease` degrees.
        shine, opacity, uv, texture, textures: As in :class:`Mesh`.
        crease: Edges with a larger angle (in degrees) stay sharp.

    Raises:
        UserError: The mesh has no visible face, or an index or a vertex is invalid.
    """
    from lie_ssl.objects.normals import crease_normals  # needs numba, which comes with the extra `render`

    vertices = np.ascontiguousarray(vertices, np.float32)
    triangles: NDArray[np.int32] = np.ascontiguousarray(faces, np.int32)
    if triangles.size == 0 or vertices.size == 0:
        raise UserError("the mesh has no faces")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise UserError(f"the mesh has {len(vertices)} vertices, but a face refers to vertex {int(triangles.max())}")
    if not np.isfinite(vertices[np.unique(triangles)]).all():
        raise UserError("the mesh has vertices that are not finite numbers")
    n = len(triangles)
    corner_colours = np.asarray(colours, np.float32)
    corner_colours = corner_colours[:, None] if corner_colours.ndim == 2 else corner_colours
    a, b, c = (vertices[triangles[:, i]].astype(np.float64) for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    extent = float(np.ptp(vertices[np.unique(triangles)], axis=0).max())
    keep = area > 1e-12 * extent**2
    if not keep.any():
        raise UserError("the mesh has no face with an area")
    normals = crease_normals(vertices, triangles, crease) if normals is None else _unit(np.asarray(normals, np.float32))
    return Mesh(
        vertices=vertices,
        faces=triangles[keep],
        normals=np.ascontiguousarray(normals[keep], np.float32),
        colours=np.ascontiguousarray(np.broadcast_to(corner_colours, (n, 3, 3))[keep]),
        shine=np.ascontiguousarray(np.broadcast_to(np.asarray(shine, np.float32), (n,))[keep]),
        opacity=np.ascontiguousarray(np.broadcast_to(np.asarray(opacity, np.float32), (n,))[keep]),
        uv=np.zeros((int(keep.sum()), 3, 2), np.float32) if uv is None else np.ascontiguousarray(uv[keep], np.float32),
        texture=np.ascontiguousarray(np.broadcast_to(np.asarray(texture, np.int32), (n,))[keep]),
        textures=tuple(textures),
    )


def join(meshes: Sequence[Mesh]) -> Mesh:
    """Joins meshes into one; each keeps its own textures."""
    first_vertex = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    first_texture = np.cumsum([0, *(len(m.textures) for m in meshes)])
    return Mesh(
        vertices=np.concatenate([m.vertices for m in meshes]),
        faces=np.concatenate([m.faces + np.int32(o) for m, o in zip(meshes, first_vertex[:-1], strict=True)]),
        normals=np.concatenate([m.normals for m in meshes]),
        colours=np.concatenate([m.colours for m in meshes]),
        shine=np.concatenate([m.shine for m in meshes]),
        opacity=np.concatenate([m.opacity for m in meshes]),
        uv=np.concatenate([m.uv for m in meshes]),
        texture=np.concatenate(
            [
                np.where(m.texture < 0, -1, m.texture + o).astype(np.int32)
                for m, o in zip(meshes, first_texture[:-1], strict=True)
            ]
        ),
        textures=tuple(t for m in meshes for t in m.textures),
    )


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0, vectors / np.maximum(length, 1e-20), np.array([0, 1, 0], np.float32)).astype(np.float32)
