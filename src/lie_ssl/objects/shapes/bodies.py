"""Parts of furniture: padding and crossed legs."""

from __future__ import annotations

import math

from lie_ssl.objects.shapes.curves import lying, rectangle
from lie_ssl.objects.shapes.part import Part
from lie_ssl.objects.shapes.solids import box, loft


def cushion(width: float, height: float, depth: float, edge: float, dome: float = 0.0) -> Part:
    """A padded block: all edges are rounded by about `edge`, and the middle of the top is raised by `dome`."""
    edge = min(edge, 0.49 * min(width, height, depth))
    levels = [(-1, 90), (-1, 40), (-1, 0), (1, 0), (1, 40), (1, 90)]
    rings = []
    for side, angle in levels:
        inset = edge * (1 - math.cos(math.radians(angle)))
        y = side * (height / 2 - edge + edge * math.sin(math.radians(angle)))
        rings.append(lying(rectangle(width - 2 * inset, depth - 2 * inset, 1.3 * edge - inset, n=2), y))
    for share, rise in ((0.8, 0.6), (0.4, 1.0)) if dome else ():
        inner = rectangle((width - 2 * edge) * share, (depth - 2 * edge) * share, edge * 0.6, n=2)
        rings.append(lying(inner, height / 2 + dome * rise))
    return loft(rings, crease=50)


def crossed_beams(x: float, height: float, depth: float, thick: float, apart: float, share: float = 1.0) -> Part:
    """Two beams that form an X, at `x` and `x + apart`; `share` is their length relative to the full diagonal."""
    tilt, length = math.degrees(math.atan2(height, depth)), math.hypot(height, depth) * share
    beam = box(thick, thick, length)
    return beam.rot(x=tilt).at(x) + beam.rot(x=-tilt).at(x + apart)
