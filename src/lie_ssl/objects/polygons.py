"""Triangulates polygons of any size, including concave ones.

Shape letters: P polygons, n corners per polygon, K corners in total, F triangles.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError

MAX_CORNERS = 20_000
Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


def triangulate(points: Doubles, sizes: Ints) -> tuple[Ints, Ints]:
    """Triangulates polygons. Those with fewer than three corners are skipped.

    Args:
        points: (K, 3) corners of all polygons, one polygon after the other.
        sizes: (P,) number of corners of each polygon; their sum is K.

    Returns:
        (F, 3) triangles as indices into `points`, and (F,) the polygon of each, in the order of the polygons.
    """
    if len(sizes) and sizes.max() > MAX_CORNERS:
        raise UserError(f"a face has {sizes.max():,} corners, more than {MAX_CORNERS:,}")
    starts = np.cumsum(sizes) - sizes
    triangles: list[Ints] = [np.zeros((0, 3), np.int64)]
    owners: list[Ints] = [np.zeros(0, np.int64)]
    for n in np.unique(sizes[sizes >= 3]):
        polygons = np.flatnonzero(sizes == n)
        local, which = _same_size(points[starts[polygons, None] + np.arange(n)])
        triangles.append(starts[polygons[which], None] + local)
        owners.append(polygons[which])
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(triangles)[order], owner[order]


def _same_size(corners: Doubles) -> tuple[Ints, Ints]:
    """(P, n, 3) corners -> (F, 3) triangles with indices from 0 to n - 1, and (F,) their polygons."""
    count, n = corners.shape[:2]
    if n == 3:
        return np.tile(np.arange(3), (count, 1)), np.arange(count)
    fan = np.stack([np.zeros(n - 2, np.int64), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    normals = np.cross(corners, np.roll(corners, -1, axis=1)).sum(
        axis=1
    )  # Newell's method, correct for any flat outline
    convex = _is_convex(corners, normals)
    triangles = [np.tile(fan, (int(convex.sum()), 1))]
    owners = [np.repeat(np.flatnonzero(convex), n - 2)]
    for polygon in np.flatnonzero(~convex):
        cut = _earcut(corners[polygon], normals[polygon])
        cut = fan if cut is None else cut
        triangles.append(cut)
        owners.append(np.full(len(cut), polygon))
    return np.concatenate(triangles), np.concatenate(owners)


def _is_convex(corners: Doubles, normals: Doubles) -> NDArray[np.bool_]:
    """(P,) whether each polygon (P, n, 3) is convex, seen along its normal (P, 3)."""
    edges = np.roll(corners, -1, axis=1) - corners
    turns = np.einsum("pni,pi->pn", np.cross(np.roll(edges, 1, axis=1), edges), normals)
    scale = (normals**2).sum(axis=1, keepdims=True)
    return np.asarray((turns >= -1e-9 * scale).all(axis=1))


def _earcut(corners: Doubles, normal: Doubles) -> Ints | None:
    """Triangulates one outline (n, 3) in its own plane into (F, 3); None if it has no area."""
    length = float(np.linalg.norm(normal))
    if not np.isfinite(length) or length == 0:
        return None
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    across = np.cross(helper, normal / length)
    across /= np.linalg.norm(across)
    flat = (corners - corners[0]) @ np.stack([across, np.cross(normal / length, across)], axis=1)  # (n, 2)
    # Scaled to unit size, because earcut has absolute tolerances.
    flat /= max(float(np.abs(flat).max()), 1e-300)
    import mapbox_earcut  # comes with the extra `render`

    cut = mapbox_earcut.triangulate_float64(np.ascontiguousarray(flat), np.array([len(flat)], np.uint32))
    triangles = np.asarray(cut, np.int64).reshape(-1, 3)
    return triangles if len(triangles) else None
