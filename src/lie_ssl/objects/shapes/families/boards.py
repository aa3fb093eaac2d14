"""Boards on wheels: skateboard. It rolls to the right (+x)."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import CHROME
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, lathe, loft, plate, rod, slab


@shape("skateboard")
def skateboard(draw: Draw) -> Part:
    """A skateboard: street, long, cruiser or old-school deck with kicked ends, trucks and wheels, and a deck print."""
    kind = draw.pick("kind", ["street", "long", "cruiser", "old"])
    half = {"street": 0.8, "long": 1.05, "cruiser": 0.6, "old": 0.75}[kind] * draw.number("length", 0.9, 1.1)
    width = {"street": 0.2, "long": 0.23, "cruiser": 0.16, "old": 0.25}[kind] * draw.number("width", 0.9, 1.15)
    tail = draw.number("tail_kick", 0.1, 0.2)
    nose = draw.number("nose_kick", 0.04, 0.2) * (0.3 if kind != "street" else 1)
    taper = draw.number("taper", 0.55, 0.8) if kind in ("long", "old") else draw.number("taper", 0.9, 1.0)
    dish, radius = draw.number("concave", 0.0, 0.04), draw.number("wheel", 0.065, 0.1)
    stations = np.linspace(-1, 1, 17)
    rise = np.where(stations < 0, tail, nose) * np.clip(np.abs(stations) - 0.55, 0, 1) ** 1.4 / 0.45**1.4
    blunt = draw.pick("nose", ["round", "square", "pointed"])
    power = {"round": 3.0, "square": 6.0, "pointed": 1.7}[blunt]
    reach = np.where(stations < 0, 4.0, power)
    rounded = np.maximum((1 - np.abs(stations) ** reach) ** 0.5, 0.12)
    widths = width * rounded * np.where(stations > 0, 1 - (1 - taper) * stations, 1)

    def layer(bottom: float, top: float, inset: float) -> Part:
        across = np.linspace(-1, 1, 5)
        sections = []
        for s, y, w in zip(stations, rise, widths, strict=True):
            z, curl = (w - inset) * across, dish * across**2
            low = np.column_stack([np.full(5, s * (half - inset)), y + bottom + curl, z])
            sections.append(np.concatenate([low, low[::-1] + np.array([0, top - bottom, 0])]))
        return loft(sections)

    deck = layer(0, 0.045, 0).paint(draw.colour(), 0.4)
    tape = draw.colour("black") if draw.chance("black_grip") else draw.colour()
    board = deck + layer(0.04, 0.056, 0.018).paint(tape, 0.05) + _deck_print(draw, half, width)
    truck, wheel = _truck(width, radius, draw.colour("metal")), _board_wheel(width, radius, draw.colour("paint"))
    place = half * draw.number("truck_place", 0.55, 0.66)
    return board + (truck + wheel).at(x=place) + (truck + wheel).at(x=-place)


def _deck_print(draw: Draw, half: float, width: float) -> Part:
    """Stripes, a disc or a block of colour on both faces, off the middle."""
    motif, size = draw.pick("print", ["stripes", "disc", "arrow", "band"]), draw.number("print_size", 0.8, 1.15)
    place = half * draw.number("print_place", -0.25, 0.25)
    if motif == "stripes":
        picture = box(half * 0.7, 0.12, width * 0.22 * size).row(3, dz=width * 0.45)
    elif motif == "disc":
        picture = cylinder(width * 0.7 * size, 0.12, n=16).size(1.5, 1, 1)
    elif motif == "arrow":
        arrow = [(-0.3, -0.1), (0.1, -0.1), (0.1, -0.25), (0.4, 0), (0.1, 0.25), (0.1, 0.1), (-0.3, 0.1)]
        picture = plate(arrow, 0.12).size(half, 1, width * 2.6 * size)
    else:
        picture = box(half * 0.4 * size, 0.12, width * 1.7).rot(y=20)
    return picture.size(1, 0.72, 1).at(place, 0.026).paint(draw.colour("bright"), 0.2)


def _truck(width: float, radius: float, colour: Colour) -> Part:
    base = box(0.26, 0.05, 0.14).at(y=-0.02)
    hanger = slab([(-0.09, 0), (0.09, 0), (0.03, -0.16), (-0.03, -0.16)], width * 0.9).at(y=-0.03)
    axle = rod((0, -0.14, -width * 1.05), (0, -0.14, width * 1.05), 0.03, n=6)
    return (base + hanger + axle).paint(colour, 0.7)


def _board_wheel(width: float, radius: float, colour: Colour) -> Part:
    steps = [(0, -0.06), (0.8, -0.06), (1, -0.03), (1, 0.03), (0.8, 0.06), (0, 0.06)]
    tyre = lathe([(radius * r, y) for r, y in steps], 14)
    core = disc(radius * 0.45, 0.15, 8).paint(CHROME, 0.7)
    return (tyre.rot(x=90).paint(colour, 0.4) + core).at(0, -0.14, width * 0.9).mirror("z")
