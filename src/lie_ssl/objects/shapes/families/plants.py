"""Plants in pots. They stand on y = 0."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import lift, spline, symmetric
from lie_ssl.objects.shapes.draw import Draw, distinct
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, rod, sheet, tube
from lie_ssl.objects.shapes.walls import Wall

GOLDEN_ANGLE = 137.5


def _leaf(length: float, width: float, fold: float = 0.25, droop: float = 0.3) -> Part:
    """A leaf from the origin outwards along z, its tip drooping."""
    t, u = np.linspace(0, 1, 6)[:, None], np.array([-1.0, 0.0, 1.0])[None]
    half = width / 2 * np.sin(math.pi * (0.04 + 0.96 * t) ** 0.8)
    y = length * (0.2 * t - droop * t**2) + fold * half * np.abs(u)
    return sheet(np.stack([half * u, y, length * t + 0 * u], axis=-1))


def _cactus(draw: Draw, green: Colour) -> Part:
    """A ribbed column with up to three arms and flowers."""
    high, radius = draw.number("plant height", 0.5, 1.0), draw.number("plant width", 0.16, 0.26)
    t = np.linspace(0, 1, 9)
    dome = np.sqrt(np.maximum(1 - ((t - 0.75) / 0.25) ** 2, 0))
    outline = radius * np.where(t < 0.75, 0.85 + 0.2 * np.sin(2 * t), dome)
    # Twenty-four steps around and twelve waves: every other step is a rib.
    plant = Wall(np.column_stack([outline, high * t]), waves=12, swell=0.13).solid()
    for i in range(draw.whole("arms", 0, 3)):
        reach, up = radius + 0.2, high * (0.35 + 0.15 * i)
        bend = spline([(0, up), (reach - 0.06, up + 0.02), (reach, up + 0.1), (reach, up + 0.24 + 0.05 * i)], 8)
        arm = tube(lift(bend), 0.55 * radius, 8) + ball(0.55 * radius, 8).at(*bend[-1])
        plant += arm.rot(y=(10, 190, 100)[i])
    flower = ball(0.09, 8).at(0.03, high + 0.02, 0.05) + ball(0.06, 8).at(0.6 * radius, 0.9 * high, 0.5 * radius)
    return plant.paint(green, 0.2) + flower.paint(draw.colour("bright"), 0.2)


def _tree(high: float, size: float, draw: Draw, green: Colour) -> Part:
    """A bonsai: a bent trunk with three cushions of leaves."""
    knots = [(0, 0, 0), (0.14, 0.25 * high, 0), (-0.05, 0.5 * high, 0.03), (0.1, 0.85 * high, 0)]
    wood = tube(spline(knots, 8), np.linspace(0.08, 0.04, 8).tolist(), 7)
    crown = ball(0.3 * size, 12).size(1.15, 0.75, 1.0).at(0.12, 0.95 * high)
    for x, y in ((-0.3, 0.62), (0.38, 0.7)):
        wood += rod((0, 0.45 * high, 0), (x, y * high, 0.05), 0.03, n=5)
        crown += ball(0.21 * size, 10).size(1.2, 0.75, 1.0).at(x, y * high, 0.05)
    return wood.paint(draw.colour("wood"), 0.1) + crown.paint(green, 0.1)


def _foliage(kind: str, draw: Draw, green: Colour) -> Part:
    """The plant, from y = 0 up: blades, a rosette, a palm, a small tree, flowers, or leaves on stems."""
    high, width = draw.number("plant height", 0.6, 1.1), draw.number("plant width", 0.16, 0.28)
    count, lean = draw.whole("leaves", 7, 12), draw.number("lean", 0.8, 1.2)
    order = [(GOLDEN_ANGLE * i, i / count, 0.75 + 0.25 * math.sin(2.3 * i + 10 * lean)) for i in range(count)]
    if kind == "tree":
        return _tree(high, lean, draw, green)
    if kind == "blades":
        blade = _leaf(1.1 * high, 0.75 * width, 0.5, 0.12)
        blades = joined(blade.size(u).rot(x=-84 + 40 * lean * i).at(z=0.06).rot(y=a) for a, i, u in order)
        return blades.paint(green, 0.3)
    if kind == "rosette":
        leaf = _leaf(0.72 * high, 1.4 * width, 0.5, -0.1)
        rings = joined(leaf.size(1 - 0.5 * i).rot(x=-12 - 60 * lean * i).at(y=0.2 * i).rot(y=a) for a, i, _ in order)
        return rings.paint(green, 0.4) + ball(0.08, 8).at(y=0.2).paint(draw.colour("bright"))
    if kind == "palm":
        trunk = tube([(0, 0, 0), (0.05, 0.5 * high, 0.02), (0.02, high, 0)], [0.08, 0.065, 0.05], 8)
        frond = _leaf(0.8, 0.9 * width, 0.4, 0.75 * lean)
        fronds = joined(frond.size(u).rot(x=-40 * u).rot(y=a) for a, _, u in order).at(0.02, high)
        return trunk.paint(draw.colour("wood"), 0.1) + fronds.paint(green, 0.3)
    heads, stems, bloom = Part(), Part(), draw.colour("bright")
    petals = ball(0.055, 8).paint(draw.colour("light")) + _leaf(0.19, 0.14, 0.3, -0.2).ring(5).paint(bloom, 0.2)
    head = petals.rot(x=35) if kind == "flowers" else _leaf(0.45, 1.3 * width, 0.3, 0.5).paint(green, 0.4)
    for a, _, u in order[:9]:
        out = 0.32 * lean * (1.2 - 0.5 * u)
        stems += tube([(0, 0, 0), (0, 0.6 * high * u, 0.4 * out), (0, high * u, out)], 0.022, 5).rot(y=a)
        stems += _leaf(0.4 * high, 0.5 * width, 0.4, 0.1).rot(x=-40).rot(y=a + 60) if kind == "flowers" else Part()
        heads += head.at(0, high * u, out).rot(y=a)
    return stems.paint(green, 0.2) + heads


@shape("plant pot")
def plant_pot(draw: Draw) -> Part:
    """A potted plant: cactus, blades, rosette, palm, flowers, leaves or bonsai; five forms of pot."""
    form = draw.pick("pot", ["cone", "round", "square", "straight", "bucket"], [2, 1, 1, 1, 1])
    high, top = draw.number("pot height", 0.45, 0.75), draw.number("pot radius", 0.34, 0.46)
    low, rim = top * draw.number("foot", 0.6, 0.8), draw.number("rim", 0.1, 0.18)
    colour, t = draw.colour(), np.linspace(0, 1, 7)
    bulge = {"round": 0.7 * np.sin(math.pi * t), "straight": 0.9 * (1 - t)}.get(form, 0 * t)
    profile = np.column_stack([low + (top - low) * (t + bulge), high * t])
    wall = Wall(profile, corners=float(form == "square"))
    edge = [(top - 0.01, high), (top + 0.05, high), (top + 0.05, high + rim), (top - 0.03, high + rim)]
    foot = [(0, 0.02), (0.9 * profile[0, 0], 0)]
    whole = wall.solid([*foot, *profile, *edge, (top - 0.03, high + 0.3 * rim)]).paint(colour, 0.3)
    whole += wall.solid([(top - 0.02, high + 0.5 * rim), (0, high + 0.62 * rim)]).paint((0.2, 0.13, 0.09), 0.0)
    sign, turned = draw.pick("sign", ["oval", "diamond", "heart", "rectangle"]), draw.number("sign turn", 0, 25)
    whole += wall.patch(sign, 0.5 * high, 0.6 * high, 70, turned).paint(distinct(draw, colour), 0.2)
    under = draw.pick("under", ["saucer", "feet", "none"])
    if under == "saucer":
        outside = [(0, -0.04), (1.1 * top, -0.04), (1.25 * top, 0.05), (1.2 * top, 0.05), (1.05 * top, 0.01), (0, 0.01)]
        whole += wall.solid(outside).paint(draw.colour(), 0.3)
    elif under == "feet":
        leg = rod((0.45 * low, 0.03, 0), (0.75 * low, -0.22, 0), 0.06, 0.04, 6)
        whole += leg.ring(4).rot(y=45).paint(draw.colour("wood"), 0.2)
    if form == "bucket":
        half = [(top + 0.04, 0.0, 0.0), (0.8 * top, -0.1, 0.36)]
        bail = spline(symmetric(half, [(0, -0.16, 0.52)]), 13)
        whole += tube(bail, 0.022, 5).at(y=high + 0.5 * rim).paint(draw.colour("metal"), 0.7)
    kind = draw.pick("plant", ["cactus", "blades", "rosette", "palm", "flowers", "leaves", "tree"])
    green = draw.colour("leaf")
    plant = _cactus(draw, green) if kind == "cactus" else _foliage(kind, draw, green)
    return whole + plant.at(y=high + 0.55 * rim)
