"""Solids, centred at the origin unless noted otherwise.

The resolution is low on purpose: a whole object should have fewer than about 3,000 triangles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, rectangle
from lie_ssl.objects.shapes.part import Part, Piece

Array = NDArray[np.float64]


def box(width: float, height: float, depth: float, round: float = 0.0) -> Part:
    """A box; `round` > 0 rounds the four edges along z (about 60 triangles instead of 12)."""
    return slab(rectangle(width, height, round, n=3), depth)


def ball(radius: float, n: int = 14) -> Part:
    """A sphere with `n` steps around it (about n^2 triangles); use ``.size`` for ellipsoids."""
    angles = np.linspace(-math.pi / 2, math.pi / 2, max(3, n // 2 + 1))
    return lathe(np.stack([np.cos(angles), np.sin(angles)], axis=1) * radius, n)


def cylinder(radius: float, height: float, top: float | None = None, n: int = 18) -> Part:
    """A closed cylinder along y; `top` is the radius of the upper end (0 for a cone)."""
    r = radius if top is None else top
    return lathe([(0, -height / 2), (radius, -height / 2), (r, height / 2), (0, height / 2)], n)


def disc(radius: float, thickness: float, n: int = 14) -> Part:
    """A flat cylinder that faces the front, for dials, buttons and hubs."""
    return cylinder(radius, thickness, n=n).rot(x=90)


def lathe(profile: ArrayLike, n: int = 22, crease: float = 40.0) -> Part:
    """A surface of revolution about the y axis, with a (K, 2) profile of (radius, y) from bottom to top.

    Start and end with radius 0 for a closed solid; go up outside and down inside for a vessel with a wall.
    """
    p = np.asarray(profile, np.float64)
    angles = np.arange(n) * (2 * math.pi / n)
    rings = np.stack(
        [np.outer(np.sin(angles), p[:, 0]).T, np.repeat(p[:, 1:], n, axis=1), np.outer(np.cos(angles), p[:, 0]).T],
        axis=2,
    )
    return _skin(rings, closed_around=True, crease=crease)


def tube(path: ArrayLike, radius: float | Sequence[float], n: int = 8, closed: bool = False, flat: float = 1.0) -> Part:
    """A tube along a (K, 3) path; `radius` may vary along it. `flat` < 1 makes the cross-section an ellipse."""
    p = np.asarray(path, np.float64)
    radii = np.broadcast_to(np.asarray(radius, np.float64), (len(p),))
    ahead = np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0) if closed else np.gradient(p, axis=0)
    ahead = ahead / np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-12)
    across, up = _frames(ahead)
    angles = np.arange(n) * (2 * math.pi / n)
    rings = (
        p[:, None]
        + (radii[:, None] * np.cos(angles))[..., None] * across[:, None]
        + (flat * radii[:, None] * np.sin(angles))[..., None] * up[:, None]
    )
    if closed:
        return _skin(np.concatenate([rings, rings[:1]]), closed_around=True)
    return _skin(rings, closed_around=True, caps=True)


def hoop(radius: float, thick: float, n: int = 6, steps: int = 24) -> Part:
    """A torus about z: `radius` to the middle of the wire, `n` steps around the wire, `steps` around the ring."""
    return tube(lift(ellipse(2 * radius, 2 * radius, steps)), thick, n, closed=True)


def rod(start: ArrayLike, end: ArrayLike, radius: float, top: float | None = None, n: int = 8) -> Part:
    """A straight, closed rod between two points; `top` is the radius at its end."""
    return tube(np.array([start, end], np.float64), [radius, radius if top is None else top], n)


def slab(outline: ArrayLike, thickness: float, holes: Sequence[ArrayLike] = (), crease: float = 40.0) -> Part:
    """A (K, 2) outline in the x-y plane, extruded along z and centred at z = 0; `holes` are outlines to cut out."""
    loops = [_anticlockwise(np.asarray(outline, np.float64))]
    loops += [_anticlockwise(np.asarray(h, np.float64))[::-1] for h in holes]
    points = np.concatenate(loops)
    ends = np.cumsum([len(loop) for loop in loops])
    import mapbox_earcut  # comes with the extra `render`

    flat = mapbox_earcut.triangulate_float64(points, ends.astype(np.uint32)).reshape(-1, 3).astype(np.int32)
    front = np.column_stack([points, np.full(len(points), thickness / 2)])
    back = front * np.array([1.0, 1.0, -1.0])
    flat = _facing_up(flat, points)
    faces = [flat, flat[:, ::-1] + np.int32(len(points))]
    for end, loop in zip(ends, loops, strict=True):
        i = np.arange(end - len(loop), end)
        j = np.roll(i, -1)
        k = len(points)
        faces += [np.stack([i + k, j + k, j], axis=1), np.stack([i + k, j, i], axis=1)]
    return Part((Piece(np.concatenate([front, back]), np.concatenate(faces).astype(np.int32), crease=crease),))


def plate(outline: ArrayLike, thickness: float) -> Part:
    """A horizontal slab: the y axis of the outline becomes z (towards the front), the thickness is along y."""
    return slab(outline, thickness).rot(x=90)


def arch(width: float, height: float, thickness: float) -> Part:
    """A door or window with a round top; the origin is in the middle of its lower edge."""
    top = arc(width / 2, 0, 180, 7) + np.array([0, height - width / 2])
    return slab(np.concatenate([[(width / 2, 0.0)], top, [(-width / 2, 0.0)]]), thickness)


def quad(corners: ArrayLike, thickness: float = 0.05) -> Part:
    """A flat pane with four corners in space (4, 3), thickened on both sides."""
    p = np.asarray(corners, np.float64)
    normal = np.cross(p[1] - p[0], p[3] - p[0])
    step = normal / np.linalg.norm(normal) * thickness / 2
    return loft([p - step, p + step])


def loft(sections: Sequence[ArrayLike], caps: bool = True, crease: float = 40.0) -> Part:
    """A surface through closed sections, each (K, 3) with the same K, for hulls, fuselages, blades and seats."""
    return _skin(np.stack([np.asarray(s, np.float64) for s in sections]), closed_around=True, caps=caps, crease=crease)


def sheet(points: ArrayLike, crease: float = 40.0) -> Part:
    """An open, two-sided surface through a (R, C, 3) grid of points, for sails, cloth and leaves."""
    return _skin(np.asarray(points, np.float64), closed_around=False, crease=crease)


def _skin(rings: Array, closed_around: bool, caps: bool = False, crease: float = 40.0) -> Part:
    """(R, C, 3) grid of points -> two triangles per cell, without degenerate ones (at poles)."""
    rows, columns = rings.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    if closed_around:
        index = np.concatenate([index, index[:, :1]], axis=1)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
    vertices = rings.reshape(-1, 3)
    if caps:
        for row, order in ((0, -1), (rows - 1, 1)):
            ring = index[row, :columns][::order]
            middle = np.full(columns, len(vertices))
            faces = np.concatenate([faces, np.stack([middle, ring, np.roll(ring, -1)], axis=1)])
            vertices = np.concatenate([vertices, rings[row].mean(axis=0, keepdims=True)])
    p, q, r = (vertices[faces[:, i]] for i in range(3))
    solid = np.linalg.norm(np.cross(q - p, r - p), axis=1) > 1e-12
    return Part((Piece(vertices, faces[solid].astype(np.int32), crease=crease),))


def _frames(ahead: Array) -> tuple[Array, Array]:
    """(K, 3) unit tangents -> two (K, 3) perpendicular fields that rotate as little as possible along the path."""
    across = np.empty_like(ahead)
    least = np.eye(3)[np.argmin(np.abs(ahead[0]))]
    previous = np.cross(ahead[0], least)
    for k, tangent in enumerate(ahead):
        previous = previous - tangent * (previous @ tangent)
        previous = previous / max(float(np.linalg.norm(previous)), 1e-12)
        across[k] = previous
    return across, np.cross(ahead, across)


def _anticlockwise(loop: Array) -> Array:
    x, y = loop.T
    return loop if (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() >= 0 else loop[::-1]


def _facing_up(triangles: NDArray[np.int32], points: Array) -> NDArray[np.int32]:
    a, b, c = (points[triangles[:, i]] for i in range(3))
    clockwise = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) < (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    return np.where(clockwise[:, None], triangles[:, ::-1], triangles)
