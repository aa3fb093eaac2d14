"""Wheels in the x-y plane about the origin, for cars, buses, bicycles and motorbikes."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import CHROME, COAL, RUBBER
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.solids import box, cylinder, disc, hoop, lathe, rod


def tyre_wheel(radius: float, width: float, rim: Part) -> Part:
    """A tyre with a rim on its outer face (+z); `rim` has unit radius."""
    tyre = [(0, -0.5), (0.8, -0.5), (1, -0.3), (1, 0.3), (0.8, 0.5), (0.66, 0.42), (0, 0.42)]
    rubber = lathe([(r * radius, y * width) for r, y in tyre], 16).rot(x=90).paint(RUBBER, 0.1)
    return rubber + rim.size(radius, radius, width)


def wheel_rim(draw: Draw, colour: Colour) -> Part:
    """A wheel rim of unit radius: a plain disc, spokes, or a disc with holes."""
    style = draw.pick("rim", ["disc", "spokes", "holes"])
    hub = disc(0.18, 0.3, 8).at(z=0.48)
    if style == "spokes":
        n = draw.whole("rim_spokes", 4, 7)
        return (hub + box(0.66, 0.16, 0.16).at(0.33, 0, 0.47).ring(n, "z")).paint(colour, 0.7)
    cover = disc(0.62, 0.12).at(z=0.46)
    if style == "disc":
        return cover.paint(colour, 0.7) + hub.paint(COAL, 0.4)
    hole = box(0.18, 0.18, 0.1).at(0.4, 0, 0.5).ring(5, "z")
    return (cover + hub).paint(colour, 0.7) + hole.paint(COAL)


def wire_wheel(radius: float, tyre: float, spokes: int, rim: Colour) -> Part:
    """A wire wheel: tyre, rim, hub, and spokes to alternating sides of the hub."""
    wires = joined(
        rod((0, 0, 0.05 * (-1) ** i), (radius * math.cos(a), radius * math.sin(a), 0), 0.007, n=3)
        for i, a in enumerate(np.arange(spokes) * (2 * math.pi / spokes))
    )
    hub = disc(0.045, 0.14, 6)
    rubber = hoop(radius - tyre, tyre, 5).paint(RUBBER, 0.1)
    return rubber + hoop(radius - 2.2 * tyre, tyre * 0.6, 4).paint(rim, 0.6) + (wires + hub).paint(CHROME, 0.6)


def cast_wheel(draw: Draw, radius: float, tyre: float) -> Part:
    """A fat tyre with cast or wire spokes and a brake disc."""
    profile = [(radius * 0.66, -tyre * 0.8), (radius * 0.85, -tyre), (radius, -tyre * 0.4), (radius, tyre * 0.4)]
    profile += [(radius * 0.85, tyre), (radius * 0.66, tyre * 0.8), (radius * 0.66, -tyre * 0.8)]
    rubber = lathe(profile, 20).rot(x=90).paint(RUBBER, 0.1)
    n = draw.pick("wheel_spokes", [3, 5, 12])
    spoke = box(radius * 0.7, 0.06 if n < 12 else 0.018, 0.05).at(radius * 0.35).ring(n, "z")
    hub = cylinder(radius * 0.22, tyre * 1.8, n=8) + cylinder(radius * 0.42, 0.02, n=12).at(y=tyre * 0.9)
    return rubber + (spoke + hub.rot(x=90)).paint(draw.colour("metal"), 0.7)
