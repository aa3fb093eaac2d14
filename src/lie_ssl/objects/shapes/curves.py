"""Curves and outlines for solids. Outlines are (N, 2) in the x-y plane, anticlockwise, without repeating a point."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Point = tuple[float, float, float]


def spline(points: ArrayLike, n: int = 24, closed: bool = False) -> Array:
    """(K, 2 or 3) control points -> (n, 2 or 3) points on the Catmull-Rom spline through them."""
    p = np.asarray(points, np.float64)
    k = len(p)
    if closed:
        padded = np.concatenate([p[-1:], p, p[:2]])
        u = np.linspace(0, k, n, endpoint=False)
    else:
        padded = np.concatenate([2 * p[:1] - p[1:2], p, 2 * p[-1:] - p[-2:-1]])
        u = np.linspace(0, k - 1, n)
    i = np.minimum(u.astype(int), k - 1 if closed else k - 2)
    f = (u - i)[:, None]
    a, b, c, d = padded[i], padded[i + 1], padded[i + 2], padded[i + 3]
    curve: Array = 0.5 * (2 * b + (c - a) * f + (2 * a - 5 * b + 4 * c - d) * f**2 + (3 * b - a - 3 * c + d) * f**3)
    return curve


def mirrored_spline(right: Sequence[tuple[float, float]], n: int) -> Array:
    """A closed smooth outline, given its right half from the bottom middle to the top middle."""
    left = [(-x, y) for x, y in right[-2:0:-1]]
    return spline([*right, *left], n, closed=True)


def arc(radius: float, start: float, end: float, n: int = 12) -> Array:
    """(n, 2) points on a circle about the origin, from angle `start` to `end` in degrees, anticlockwise from +x."""
    angles = np.radians(np.linspace(start, end, n))
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def ellipse(width: float, height: float, n: int = 24) -> Array:
    """(n, 2) outline of an ellipse with the given full width and height."""
    angles = np.arange(n) * (2 * math.pi / n)
    return np.stack([np.cos(angles) * width / 2, np.sin(angles) * height / 2], axis=1)


def rectangle(width: float, height: float, round: float = 0.0, n: int = 4) -> Array:
    """Outline of a rectangle about the origin; `round` is the radius of its corners, `n` the steps per corner."""
    r = min(round, width / 2, height / 2)
    if r <= 0:
        x, y = width / 2, height / 2
        return np.array([[x, -y], [x, y], [-x, y], [-x, -y]], np.float64)
    corners = [(width / 2 - r, -height / 2 + r), (width / 2 - r, height / 2 - r)]
    corners += [(-x, -y) for x, y in corners]
    return np.concatenate([arc(r, -90 + 90 * i, 90 * i, n + 1) + np.array(corner) for i, corner in enumerate(corners)])


def polygon(radius: float, n: int, start: float = 90.0) -> Array:
    """(n, 2) regular polygon; the first corner is at angle `start` (degrees)."""
    return arc(radius, start, start + 360 * (n - 1) / n, n)


def lift(points: ArrayLike, z: ArrayLike = 0.0) -> Array:
    """(N, 2) points in the x-y plane -> (N, 3), at depth `z`."""
    p = np.asarray(points, np.float64)
    return np.column_stack([p, np.broadcast_to(np.asarray(z, np.float64), (len(p),))])


def lying(outline: Array, y: ArrayLike = 0.0) -> Array:
    """(N, 2) outline -> (N, 3), horizontal at height `y`; its top points to the back."""
    return np.column_stack([outline[:, 0], np.broadcast_to(np.asarray(y, np.float64), (len(outline),)), -outline[:, 1]])


def standing(outline: Array, x: float, y: float = 0.0) -> Array:
    """(N, 2) outline (up, front) -> (N, 3), perpendicular to the x axis at `x`, raised by `y`."""
    return np.column_stack([np.full(len(outline), x), outline[:, 0] + y, outline[:, 1]])


def cross_section(x: float, low: float, high: float, width: float, round: float) -> Array:
    """(K, 3) rounded rectangle, the cross-section of a vehicle at `x` between two heights."""
    return standing(rectangle(high - low, width, round, n=3), x, (low + high) / 2)


def symmetric(half: ArrayLike, middle: Sequence[ArrayLike] = (), axis: int = 0) -> Array:
    """A symmetric path: the points of `half` and `middle`, then `half` mirrored and reversed."""
    p = np.asarray(half, np.float64)
    back = p[::-1].copy()
    back[:, axis] *= -1
    return np.concatenate([p, np.asarray(middle, np.float64).reshape(-1, p.shape[1]), back])


def bent(points: Sequence[Sequence[float]], radius: float) -> Array:
    """A path of straight segments with rounded corners, like a bent steel tube."""
    p = np.asarray(points, np.float64)
    path = [p[0]]
    for before, corner, after in zip(p[:-2], p[1:-1], p[2:], strict=True):
        a, b = before - corner, after - corner
        a, b = (v / np.linalg.norm(v) * min(radius, 0.45 * float(np.linalg.norm(v))) for v in (a, b))
        path += [corner + a * (1 - t) ** 2 + b * t**2 for t in (0.0, 0.33, 0.67, 1.0)]
    return np.array([*path, p[-1]])
