"""Corner normals: smooth across flat edges, sharp across creases."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.compiled import compiled


def crease_normals(
    vertices: NDArray[np.float32], faces: NDArray[np.int32], crease: float = 40.0
) -> NDArray[np.float32]:
    """Computes corner normals.

    The normal of a corner is the area-weighted mean over the faces at its point whose angle to its own face is below
    `crease` degrees. Points are matched by position, not by index, because files often split vertices at texture seams.

    Args:
        vertices: (V, 3).
        faces: (F, 3).
        crease: Degrees.

    Returns:
        (F, 3, 3) unit normals.
    """
    corner_point = corner_points(vertices, faces)
    order = np.argsort(corner_point.reshape(-1), kind="stable")
    starts = np.searchsorted(corner_point.reshape(-1)[order], np.arange(corner_point.max() + 2))
    a, b, c = (vertices[faces[:, i]].astype(np.float64) for i in range(3))
    area_normals = np.cross(b - a, c - a)
    normals: NDArray[np.float32] = _gather(
        corner_point, order // 3, starts, area_normals, math.cos(math.radians(crease))
    )
    return normals


def corner_points(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> NDArray[np.int64]:
    """(F, 3) index of the point in space at every corner; vertices in the same position share a point."""
    extent = max(float(np.ptp(vertices[np.unique(faces)], axis=0).max()), 1e-30)
    grid = np.rint(np.nan_to_num(vertices.astype(np.float64)) / (extent * 1e-5)).astype(np.int64)
    # One integer per point sorts much faster than three columns; only unused vertices can be out of range.
    grid = np.clip(grid - grid[np.unique(faces)].min(axis=0), 0, 2**20)
    _, point = np.unique((grid[:, 0] << 42) + (grid[:, 1] << 21) + grid[:, 2], return_inverse=True)
    return point.reshape(-1)[faces].astype(np.int64)


@compiled()
def _gather(corner_point, face_of, starts, area_normals, cos_crease):  # type: ignore[no-untyped-def]
    n = len(corner_point)
    out = np.empty((n, 3, 3), np.float32)
    length = np.empty(n)
    for f in range(n):
        v = area_normals[f]
        length[f] = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for f in range(n):
        own = area_normals[f]
        for i in range(3):
            x, y, z = 0.0, 0.0, 0.0
            point = corner_point[f, i]
            for j in range(starts[point], starts[point + 1]):
                g = face_of[j]
                other = area_normals[g]
                dot = own[0] * other[0] + own[1] * other[1] + own[2] * other[2]
                if g == f or dot > cos_crease * length[f] * length[g]:
                    x += other[0]
                    y += other[1]
                    z += other[2]
            norm = math.sqrt(x * x + y * y + z * z)
            if norm > 0.0:
                out[f, i, 0], out[f, i, 1], out[f, i, 2] = x / norm, y / norm, z / norm
            else:
                out[f, i, 0], out[f, i, 1], out[f, i, 2] = 0.0, 1.0, 0.0
    return out
