"""Rail vehicles: train. They drive to the right (+x), so that the viewer sees the side and the nose."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lie_ssl.objects.shapes.curves import cross_section
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import COAL, LAMP, STEEL, TAIL_LIGHT
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, lathe, loft, quad, rod, slab, tube


@shape("train")
def train(draw: Draw) -> Part:
    """A train engine: steam, diesel, high-speed or tram, with or without a carriage and a piece of track."""
    kind = draw.pick("kind", ["steam", "diesel", "fast", "tram"], [3, 2, 2, 2])
    half, width = draw.number("length", 4.6, 6.4) / 2, draw.number("width", 1.25, 1.6)
    top, paint, second = draw.number("height", 1.7, 2.2), draw.colour(), draw.colour()
    if kind == "steam":
        engine = _steam_engine(draw, half, width, top, paint, second)
    elif kind == "diesel":
        engine = _diesel(draw, half, width, top, paint, second)
    else:
        engine = _rail_car(draw, kind == "fast", half, width, top, paint, second)
    if draw.chance("carriage", 0.45):
        length = draw.number("carriage_length", 1.6, 2.6)
        engine += _carriage(draw, length, width * 0.95, top, paint, second).at(x=-half - length / 2 - 0.25)
    if draw.chance("track"):
        low, high = engine.bounds()
        length = float(high[0] - low[0])
        rail = box(length, 0.1, 0.1).at(z=width * 0.36).mirror("z").paint(STEEL, 0.7)
        sleeper = box(0.22, 0.08, width * 1.15).at(y=-0.08).row(round(length / 0.55), dx=0.55)
        engine += (rail + sleeper.paint(draw.colour("wood"))).at(float(high[0] + low[0]) / 2, -0.05)
    return engine


def _rail_wheels(places: ArrayLike, radius: float, width: float, colour: Colour) -> Part:
    wheel = lathe([(0, -0.05), (1, -0.05), (0.9, 0.05), (0.75, 0.05), (0.7, 0.02), (0, 0.02)], 10)
    wheel = wheel.size(radius, 1, radius).rot(x=90).paint(COAL, 0.4)
    spoke = box(radius * 1.5, radius * 0.14, 0.1)
    wheel += (disc(radius * 0.2, 0.16, 6) + spoke + spoke.rot(z=90)).paint(colour)
    return joined(wheel.at(x, radius, width * 0.36) for x in np.asarray(places)).mirror("z")


def _steam_engine(draw: Draw, half: float, width: float, top: float, paint: Colour, second: Colour) -> Part:
    """Boiler with chimney and domes, driving wheels with a coupling rod, a cab at the back."""
    boiler, axis, cab = draw.number("boiler", 0.42, 0.56), top * 0.58, draw.number("cab", 1.0, 1.4)
    barrel = lathe([(0, 0), (boiler, 0), (boiler, 1), (boiler * 0.8, 1.06), (0, 1.06)], 18)
    barrel = barrel.size(1, 2 * half - cab - 0.25, 1).rot(z=-90).at(-half + cab, axis).paint(paint, 0.5)
    bands = cylinder(boiler + 0.025, 0.07, n=18).rot(z=90).row(3, dx=0.75).at(0.25, axis).paint(second, 0.7)
    door = cylinder(boiler * 0.75, 0.1, n=14).rot(z=90).at(half - 0.15, axis).paint(COAL, 0.4)
    door += cylinder(0.08, 0.2, n=6).rot(z=90).at(half - 0.08, axis).paint(second, 0.7)
    height, mouth = draw.number("chimney", 0.4, 0.8), draw.number("chimney_mouth", 0.14, 0.34)
    stack = lathe(
        [(0, 0), (0.15, 0), (0.14, height * 0.6), (mouth, height), (mouth * 0.8, height + 0.05), (0, height)], 14
    )
    stack = stack.at(half - 0.6, axis + boiler - 0.08).paint(COAL, 0.3)
    dome = lathe([(0, 0), (0.22, 0), (0.2, 0.25), (0.1, 0.36), (0, 0.38)], 12)
    dome = dome.row(draw.whole("domes", 1, 2), dx=0.7).at(-0.05, axis + boiler - 0.07).paint(second, 0.7)
    deck = box(2 * half, 0.14, width).at(y=axis - boiler + 0.05).paint(COAL)
    wall, mid = top * 0.98 - axis + boiler, -half + cab / 2
    house = box(cab, wall, width * 0.94).at(mid, axis - boiler + wall / 2).paint(paint, 0.4)
    roof = box(cab + 0.3, 0.1, width * 1.1).at(mid, top).paint(second)
    window = box(cab * 0.5, wall * 0.3, width * 0.98).at(mid, top - wall * 0.3).paint(draw.colour("glass"), 0.6)
    window += box(cab + 0.06, wall * 0.25, 0.25).at(mid, top - wall * 0.25, width * 0.33).mirror("z").paint(COAL)
    radius = draw.number("driver", 0.36, 0.46)
    places = np.linspace(-half + 0.6, 0.25, draw.whole("drivers", 2, 3))
    wheels = _rail_wheels(places, radius, width * 1.1, second)
    wheels += _rail_wheels([half - 0.95, half - 0.4], radius * 0.55, width, second)
    link = box(float(np.ptp(places)) + 0.2, 0.09, 0.06).at(float(places.mean()), radius * 0.8, width * 0.46)
    catcher = slab([(0, 0), (0.55, -0.35), (0, -0.35)], width * 0.8).at(half - 0.05, axis - boiler).paint(second)
    lamp = cylinder(0.12, 0.16, n=8).rot(z=90).at(half - 0.1, axis + boiler + 0.02).paint(LAMP, 0.7)
    body = barrel + bands + door + stack + dome + deck + house + roof + window
    return body + wheels + link.mirror("z").paint(STEEL, 0.7) + catcher + lamp


def _bogies(half: float, width: float, low: float) -> Part:
    frame = box(1.2, 0.16, width * 0.8).at(y=low - 0.1).row(2, dx=2 * half - 1.7).paint(COAL)
    places = [s * (half - 0.85) + d for s in (-1, 1) for d in (-0.36, 0.36)]
    return frame + _rail_wheels(places, 0.24, width * 1.05, STEEL)


def _rail_car(draw: Draw, fast: bool, half: float, width: float, top: float, paint: Colour, second: Colour) -> Part:
    """A smooth motor coach with a long or an upright nose, side windows, doors and a pantograph."""
    blunt, nose = (0.45, draw.number("nose", 1.2, 2.0)) if fast else (0.85, draw.number("tram_nose", 0.2, 0.4))
    low, windows, height = 0.34, draw.whole("windows", 4, 7), top - 0.34
    sections = [cross_section(-half, low, top, width, 0.25), cross_section(half - nose, low, top, width, 0.25)]
    for t in (0.4, 0.75, 1.0):
        shrink = (1 - blunt) * t**1.7
        peak, wide = top - height * 0.95 * shrink, width * (1 - 0.7 * shrink)
        sections.append(cross_section(half - nose + nose * t, low, peak, wide, 0.2))
    shell = loft(sections).paint(paint, 0.5)
    step = (2 * half - nose - 0.9) / windows
    pane = box(step * 0.82, height * 0.34, width + 0.05).row(windows, dx=step).at(-nose / 2, low + height * 0.65)
    edge, z = top - 0.2 * (1 - blunt) - 0.16, width * 0.38
    if not fast:
        screen = box(0.1, height * 0.38, width * 0.74).at(half - 0.02, low + height * 0.62)
    else:
        y1, x0, x1 = edge - height * 0.28, half - nose * 0.38, half - nose * 0.72
        screen = quad([(x0, y1, -z * 0.75), (x0, y1, z * 0.75), (x1, edge + 0.03, z), (x1, edge + 0.03, -z)], 0.22)
    door = box(0.42, height * 0.75, width + 0.07).row(2, dx=2 * half - nose - 0.75).at(-nose / 2, low + height * 0.46)
    band = box(2 * half - nose, 0.16, width + 0.03).at(-nose / 2, low + height * 0.3)
    lamp = box(0.14, 0.1, 0.16).at(half - 0.05 - nose * 0.04, low + 0.22, width * (0.1 + 0.24 * blunt))
    tail = box(0.06, 0.12, 0.16).at(-half, low + 0.3, width * 0.36).mirror("z").paint(TAIL_LIGHT)
    roof = _pantograph(draw.number("pantograph", 0.3, 0.55)).at(-half * 0.3, top)
    body = shell + (pane + screen).paint(draw.colour("glass"), 0.8) + (door + band).paint(second, 0.4) + roof
    return body + lamp.mirror("z").paint(LAMP, 0.8) + tail + _bogies(half, width, low)


def _pantograph(rise: float) -> Part:
    arm = tube([(0.4, 0, 0.2), (-0.1, rise / 2, 0.2), (0.3, rise, 0.2)], 0.035, 5)
    bow = box(0.12, 0.05, 1.0).at(0.3, rise)
    return (arm.mirror("z") + bow + box(0.8, 0.1, 0.7).at(0.2, 0.03)).paint(COAL, 0.5)


def _diesel(draw: Draw, half: float, width: float, top: float, paint: Colour, second: Colour) -> Part:
    """A bonneted locomotive: a cab near the front, long engine hoods with grilles, railings and exhaust stacks."""
    low, cab, height = 0.42, draw.number("cab", 0.9, 1.2), top - 0.42
    hood, place = draw.number("hood", 0.62, 0.78), half * draw.number("cab_place", 0.1, 0.5)
    frame = box(2 * half, 0.24, width).at(y=low + 0.05).paint(second)
    hood_top, high = low + height * hood, height * 0.32
    engine = box(2 * half - 0.3, height * hood, width * 0.7).at(y=low + height * hood / 2).paint(paint, 0.4)
    house = box(cab, top - low, width * 0.94).at(place, (top + low) / 2).paint(paint, 0.4)
    roof = box(cab + 0.16, 0.1, width).at(place, top).paint(second)
    panes = box(cab * 0.36, high, width).row(2, dx=cab * 0.45).at(place, top - high * 0.75)
    panes += box(cab + 0.06, high * 0.6, width * 0.3).at(place, top - high * 0.55, width * 0.22).mirror("z")
    grille = box(0.3, height * 0.4, width * 0.74).row(3, dx=0.42).at(-half * 0.55, low + height * 0.35)
    stack = cylinder(0.12, 0.3, n=8).row(draw.whole("stacks", 1, 3), dx=0.4).at(-half * 0.5, hood_top + 0.1)
    rail = rod((-half + 0.1, low + 0.55, width * 0.47), (half - 0.1, low + 0.55, width * 0.47), 0.03, n=4)
    rail += box(0.05, 0.5, 0.05).row(5, dx=(2 * half - 0.3) / 4).at(0, low + 0.35, width * 0.47)
    nose = box(0.1, 0.16, width * 0.9).at(half, low + 0.06).paint(draw.colour("bright"))
    lamp = cylinder(0.1, 0.1, n=8).rot(z=90).at(half - 0.12, hood_top - 0.2, 0.22).mirror("z").paint(LAMP, 0.8)
    tank = box(half * 0.7, 0.22, width * 0.75).at(y=0.24)
    dark = (rail.mirror("z") + stack + tank + grille).paint(COAL, 0.4)
    body = frame + engine + house + roof + panes.paint(draw.colour("glass"), 0.8)
    return body + nose + lamp + dark + _bogies(half, width, low)


def _carriage(draw: Draw, length: float, width: float, top: float, paint: Colour, second: Colour) -> Part:
    """A short carriage or goods wagon with a coupling in front."""
    frame = box(length, 0.16, width).at(y=0.46).paint(COAL)
    frame += box(0.5, 0.1, 0.2).at(length / 2 + 0.15, 0.46).paint(COAL)
    wheels = _rail_wheels([-length * 0.3, length * 0.3], 0.25, width, STEEL)
    if draw.pick("wagon", ["windows", "tank"]) == "tank":
        tank = cylinder(width * 0.44, length * 0.92, n=16).rot(z=90).at(y=0.5 + width * 0.44).paint(second, 0.6)
        return frame + wheels + tank + cylinder(0.18, 0.16, n=8).at(y=0.55 + width * 0.88).paint(COAL)
    house = box(length, top - 0.65, width).at(y=0.5 + (top - 0.65) / 2).paint(paint, 0.4)
    panes = box(length * 0.2, (top - 0.5) * 0.4, width + 0.05).row(3, dx=length * 0.3).at(y=top * 0.63)
    house += panes.paint(draw.colour("glass"), 0.7)
    return frame + wheels + house + box(length + 0.15, 0.12, width * 1.05).at(y=top - 0.12).paint(second)
