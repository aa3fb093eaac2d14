"""Rockets. They stand upright."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import DARK
from lie_ssl.objects.shapes.part import Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, rod, slab


@shape("rocket")
def rocket(draw: Draw) -> Part:
    """A rocket on its tail: storybook, stepped launcher, or launcher with boosters; nose, fins, bands vary."""
    kind = draw.pick("kind", ["storybook", "stepped", "boosters"], [3, 2, 2])
    height = draw.number("height", 1.5, 2.0) * (1.0 if kind == "storybook" else 1.2)
    radius, paint, second = draw.number("girth", 0.24, 0.38), draw.colour(), draw.colour()
    radius *= 1.1 if kind == "storybook" else 0.8
    top = radius * (draw.number("step", 0.5, 0.75) if kind == "stepped" else draw.number("shoulder", 0.7, 0.95))
    neck = height * draw.number("neck", 0.5, 0.68)
    if kind == "storybook":
        wall = spline([(radius * 0.6, 0), (radius * 0.92, height * 0.2), (radius, height * 0.45), (top, height)], 9)
    else:
        wall = np.array([(radius, 0), (radius, neck), (top, neck + radius * 0.5), (top, height)])
    hull = lathe([(0, 0), *[(float(r), float(y)) for r, y in wall], (0, height)], 20).paint(paint, 0.5)
    body = (
        hull
        + _nose(draw, top, radius * draw.number("nose", 1.4, 2.8)).at(y=height).paint(second, 0.5)
        + _nozzles(draw, radius)
    )
    body += _fins(draw, radius * (0.8 if kind == "storybook" else 1.0), height).paint(second, 0.4)
    body += _portholes(draw, height, radius, height * 0.68 if kind == "storybook" else neck * 0.85)
    if draw.chance("bands", 0.6):
        r, y = (radius * 0.95, height * 0.24) if kind == "storybook" else (radius, neck * draw.number("band", 0.6, 0.9))
        body += cylinder(r + 0.012, height * 0.05, n=20).at(y=y).paint(draw.colour("bright"), 0.4)
    if kind == "boosters":
        size, length = radius * draw.number("booster", 0.45, 0.65), height * draw.number("booster_length", 0.45, 0.65)
        steps = [
            (0, 0),
            (size * 1.1, 0),
            (size, 0.15),
            (size, length),
            (size * 0.5, length + size),
            (0, length + size * 1.8),
        ]
        tanks = lathe(steps, 12).at(x=radius + size * 0.9).ring(draw.pick("booster_count", [2, 4]), "y")
        body += tanks.at(y=-0.05).paint(draw.colour(), 0.4)
    return body


def _nose(draw: Draw, radius: float, length: float) -> Part:
    """Cone, ogive or round nose, some with a spike."""
    form = draw.pick("nose_form", ["cone", "ogive", "round"])
    t = np.linspace(0, 1, 2 if form == "cone" else 7)
    power = {"cone": 1.0, "ogive": 1.8, "round": 2.6}[form]
    profile = [(0.0, 0.0)] + [(radius * 1.02 * (1 - v**power), length * v * (0.7 if form == "round" else 1)) for v in t]
    cap = lathe(profile, 20)
    if draw.chance("spike"):
        cap += rod((0, profile[-1][1] - 0.06, 0), (0, profile[-1][1] + 0.22, 0), 0.024, 0.012, n=6)
    return cap


def _nozzles(draw: Draw, radius: float) -> Part:
    """One or several bells below, with or without a flame."""
    n, size = draw.pick("nozzles", [1, 3, 4]), radius * draw.number("nozzle", 0.5, 0.75)
    steps = [(0, 0.02), (0.5, 0.02), (0.6, -0.15), (1, -0.7), (0.9, -0.7), (0.4, -0.2), (0, -0.2)]
    bell = lathe(steps, 12).paint((0.25, 0.25, 0.28), 0.6)
    if draw.chance("flame", 0.3):
        bell += lathe([(0, -2.0), (0.5, -1.3), (0.75, -0.8), (0.4, -0.5), (0, -0.5)], 10).paint((0.95, 0.6, 0.15), 0.0)
    return bell.size(size) if n == 1 else bell.size(size * 0.6).at(x=radius * 0.5).ring(n, "y")


def _fins(draw: Draw, radius: float, height: float) -> Part:
    """Three or four fins: swept down as legs, triangular, or clipped."""
    form, drop = draw.pick("fin_form", ["swept", "triangle", "clipped"]), draw.number("fin_drop", 0.05, 0.25)
    span, high = draw.number("fin_span", 0.2, 0.36), height * draw.number("fin_height", 0.2, 0.36)
    leg = [(0, high), (span * 0.7, high * 0.5), (span, -drop), (span * 0.8, -drop), (span * 0.4, 0.05), (0, 0.08)]
    outlines = {
        "swept": spline(leg, 12),
        "triangle": np.array([(0, 0.0), (span, -0.02), (0, high)]),
        "clipped": np.array([(0, 0.02), (span, -0.06), (span, high * 0.4), (0, high)]),
    }
    fin = slab(outlines[form] + np.array([radius - 0.06, 0]), 0.05)
    return fin.ring(draw.whole("fins", 3, 4), "y").rot(y=draw.number("fin_turn", 0, 60))


def _portholes(draw: Draw, height: float, radius: float, high: float) -> Part:
    """Round windows and a hatch on the front, and a flag on the side."""
    size = radius * draw.number("porthole", 0.35, 0.55)
    rim = lathe([(0, 0), (size, 0), (size, 0.05), (size * 0.78, 0.06), (0, 0.04)], 12).rot(x=90)
    glass = disc(size * 0.74, 0.05, 12).at(z=0.04)
    window = rim.paint(draw.colour("metal"), 0.7) + glass.paint(draw.colour("glass"), 0.8)
    n, step = draw.whole("portholes", 1, 2), height * 0.22
    parts = window.row(n, dy=step).at(0, high - (n - 1) * step / 2, radius * 0.93)
    hatch = slab(rectangle(radius * 0.7, height * 0.2, radius * 0.3), 0.06).paint(draw.colour(), 0.4)
    knob = ball(0.025, 6).at(radius * 0.22, 0, 0.04).paint(DARK)
    parts += (hatch + knob).at(0, height * 0.22, radius * 0.93)
    mark = box(0.05, height * 0.1, radius * 0.6).paint(draw.colour("bright"))
    mark += box(0.06, height * 0.035, radius * 0.62).paint(draw.colour("white"))
    return parts + mark.at(radius * 0.97, height * 0.45)
