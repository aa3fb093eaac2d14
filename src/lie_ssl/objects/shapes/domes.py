"""Ellipsoidal domes for helmets and caps: points, patches and lined shells. `size` is the three semi-axes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lie_ssl.objects.shapes.curves import Point
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.solids import loft, sheet

Rim = Callable[[float], float]


def on_dome(turn: float, height: float, size: Point) -> Point:
    """A point on a dome, `turn` degrees from the front to the right and `height` degrees above the middle."""
    t, h = math.radians(turn), math.radians(height)
    return (size[0] * math.cos(h) * math.sin(t), size[1] * math.sin(h), size[2] * math.cos(h) * math.cos(t))


def scaled(size: Point, factor: float) -> Point:
    """Scales the semi-axes of a dome, for parts that lie slightly above or below it."""
    return (size[0] * factor, size[1] * factor, size[2] * factor)


def dome_patch(
    size: Point, turns: tuple[float, float], heights: tuple[float, float], n: int = 6, rows: int = 3
) -> Part:
    """A patch of a dome between two turns and two heights."""
    grid = [[on_dome(t, h, size) for t in np.linspace(*turns, n)] for h in np.linspace(*heights, rows)]
    return sheet(grid, crease=60)


def dome_shell(size: Point, rim: Rim, paint: Colour, lining: Colour, shine: float = 0.5, thick: float = 0.92) -> Part:
    """A shell from the crown down to `rim` (height in degrees for each turn), with a lining."""
    turns = np.arange(0.0, 360.0, 15.0)

    def shell(s: Point) -> list[list[Point]]:
        return [[on_dome(t, 90 - k * (90 - rim(t)), s) for t in turns] for k in np.linspace(0.0, 1.0, 9)]

    outer, inner = shell(size), shell(scaled(size, thick))
    edge = loft([outer[-1], inner[-1]], caps=False)
    return (loft(outer, caps=False, crease=60) + edge).paint(paint, shine) + loft(inner, caps=False).paint(lining, 0.05)


def dome_rim(front: float, side: float, back: float) -> Rim:
    """A smooth rim with the given heights at the front, the ears and the back."""

    def rim(turn: float) -> float:
        c = math.cos(math.radians(turn))
        return side + (front - side) * max(c, 0.0) ** 2 + (back - side) * max(-c, 0.0) ** 2

    return rim
