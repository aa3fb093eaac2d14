"""Things about the house: faucet, knife, plant pot, trash bin."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.families.vessels import Range, Wall, distinct
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

Array = NDArray[np.float64]
GOLDEN_ANGLE = 137.5
BLACK = (0.09, 0.09, 0.1)


def _spout(draw: Draw) -> Part:
    """A spout from the origin, pouring to the front: a swan's neck, an arch, a straight or an angular pipe."""
    form = draw.pick("spout", ["swan", "arch", "straight", "angular"])
    reach, rise, thick = draw.number("reach", 0.5, 0.8), draw.number("rise", 0.5, 0.95), draw.number("pipe", 0.065, 0.1)
    if form == "swan":
        bend = arc(reach / 2, 180, 0, 10) + np.array([reach / 2, rise])
        path = np.concatenate([[(0, -0.1), (0, rise / 2)], bend, [(reach, rise - 0.15)]])
    elif form == "arch":
        ahead = [(0.45 * reach, 0.75 * rise), (reach, 0.5 * rise), (reach + 0.03, 0.25 * rise)]
        path = spline([(0, -0.1), (0.05, 0.5 * rise), *ahead], 14)
    elif form == "straight":
        y = 0.28 + 0.1 * rise
        tip = [(reach, y), (reach + 0.07, y - 0.01), (reach + 0.09, 0.12)]
        path = np.array([(0, -0.05), (0.02, 0.1), (0.12, 0.2), *tip])
    else:
        path = np.array([(0, -0.1), (0, rise - 0.06), (0.06, rise), (reach - 0.06, rise), (reach, rise - 0.06)])
        path = np.concatenate([path, [(reach, rise - 0.2)]])
    radius = np.linspace(1.15, 0.85, len(path)) * thick
    pipe = tube(np.column_stack([0 * path[:, 0], path[:, 1], path[:, 0]]), radius.tolist(), 10)
    return pipe + cylinder(1.15 * thick, 0.1, n=12).at(0, float(path[-1, 1]), float(path[-1, 0]))


def _tap_handle(style: str, draw: Draw) -> Part:
    """A handle on y = 0, to turn about y: a cross, a lever, a wheel or a faceted knob."""
    size, stem = draw.number("handle", 0.85, 1.2), cylinder(0.05, 0.16, n=8).at(y=0.05)
    if style == "cross":
        arms = rod((0, 0.16, 0), (0.2, 0.16, 0), 0.035, n=6) + ball(0.055, 8).at(0.2, 0.16)
        return (stem + arms.ring(4).rot(y=20) + ball(0.07, 8).at(y=0.17)).size(size)
    if style == "lever":
        arm = tube([(-0.06, 0.14, 0), (0.12, 0.17, 0), (0.32, 0.24, 0)], [0.05, 0.045, 0.06], 8, flat=0.7)
        return (stem + arm).size(size)
    if style == "wheel":
        rim = tube(lift(arc(0.17, 0, 330, 12)), 0.04, 6, closed=True).rot(x=90)
        spoke = rod((-0.16, 0, 0), (0.16, 0, 0), 0.03, n=6)
        return (stem + (rim + spoke + spoke.rot(y=90)).at(y=0.15)).size(size)
    return (stem + lathe([(0, 0.08), (0.13, 0.08), (0.16, 0.13), (0.13, 0.24), (0, 0.26)], 8)).size(size)


def _garden_tap(draw: Draw, colour: Colour, accent: Colour, style: str) -> Part:
    """A tap that comes out of a wall."""
    tall = draw.number("column", 0.16, 0.3)
    pipe = tube([(0, 0, -0.5), (0, 0, 0.15), (0, -0.1, 0.33), (0, -0.3, 0.4)], [0.11, 0.12, 0.11, 0.09], 10)
    rose = lathe([(0, -0.03), (0.28, -0.03), (0.2, 0.04), (0, 0.05)], 18).at(y=-0.5)
    rose += cylinder(0.15, 0.16, n=6).at(y=-0.2)
    body = pipe + rose.rot(x=90) + cylinder(0.12, 0.1, n=10).rot(x=-15).at(0, -0.3, 0.4)
    grip = _tap_handle(style, draw).size(1.3).at(y=0.12 + tall / 2)
    return (body + cylinder(0.09, tall + 0.1, 0.07, n=10).at(y=0.12)).paint(colour, 0.8) + grip.paint(accent, 0.6)


@shape("faucet")
def faucet(draw: Draw) -> Part:
    """A tap: one lever, two handles on a bar or a plate, or a garden tap; spouts and handles of four forms each."""
    colour = draw.colour("metal") if draw.chance("bare metal", 0.4) else draw.colour()
    accent = colour if draw.chance("plain", 0.4) else distinct(draw, colour)
    kind = draw.pick("kind", ["single", "pair", "bridge", "garden"], [3, 2, 1.5, 1.5])
    style, swing = draw.pick("handle", ["cross", "lever", "wheel", "knob"]), draw.number("swing", -60, -15)
    if kind == "garden":
        return _garden_tap(draw, colour, accent, style).rot(y=swing)
    width, tall = draw.number("width", 0.36, 0.5), draw.number("column", 0.16, 0.3)
    thick = draw.number("radius", 0.1, 0.15)
    foot = [(0, 0), (thick + 0.09, 0), (thick + 0.08, 0.03), (thick, 0.05)]
    column = lathe([*foot, (thick, tall), (0, tall + 0.06)], 18)
    body = column + _spout(draw).at(y=tall).rot(y=swing)
    hot, cold = ((0.8, 0.12, 0.1), (0.1, 0.25, 0.8))
    if kind == "single":
        grip = _tap_handle("lever", draw).size(1.2)
        if draw.chance("lever at the side", 0.5):
            grip = grip.rot(z=-90).rot(x=150).at(thick - 0.04, 0.6 * tall)
        else:
            grip = grip.rot(y=swing + 90).at(0, tall, -0.02)
        body += box(2.4 * width, 0.04, 0.4, 0.02).at(y=0.02) if draw.chance("plate", 0.4) else Part()
        mark = box(0.08, 0.07, 0.04).at(0.04, 0.55 * tall, thick)
        return body.paint(colour, 0.8) + grip.paint(accent, 0.8) + mark.paint(cold) + mark.at(-0.08).paint(hot)
    top = tall + (0.1 if kind == "bridge" else 0.0)
    if kind == "bridge":
        post = lathe([(0, 0), (0.16, 0), (0.15, 0.03), (0.08, 0.05), (0.08, tall), (0.11, top), (0, top + 0.01)], 14)
        body += post.at(width).mirror() + rod((-width, tall, 0), (width, tall, 0), 0.075, n=10)
    else:
        plate = rectangle(2 * width + 0.36, 0.42, draw.number("plate corner", 0.03, 0.2))
        body += slab(plate, 0.07).rot(x=90).at(y=0.035) + cylinder(0.12, tall, 0.09, n=14).at(width, tall / 2).mirror()
    grip = _tap_handle(style, draw).rot(y=draw.number("handle turn", -30, 30)).at(width, top).mirror()
    dot = cylinder(0.05, 0.05, n=10).rot(x=90).at(width, 0.55 * tall + 0.05, 0.09)
    return body.paint(colour, 0.8) + grip.paint(accent, 0.7) + dot.paint(cold) + dot.at(-2 * width).paint(hot)


# Ranges of length and width; then the x of the back and of the edge from heel to tip, in widths.
KNIVES: dict[str, tuple[Range, Range, list[float], list[float]]] = {
    "chef": ((1.1, 1.4), (0.26, 0.36), [0, 0, 0, 0, -0.05, -0.14, -0.3], [-1, -1, -0.99, -0.95, -0.84, -0.62, -0.32]),
    "santoku": ((0.9, 1.1), (0.28, 0.36), [0, 0, 0, 0, -0.08, -0.3, -0.8], [-1, -1, -1, -1, -0.98, -0.93, -0.85]),
    "cleaver": ((0.85, 1.05), (0.48, 0.62), [0, 0, 0, 0, 0, 0, -0.06], [-1, -1, -1, -1, -1, -1, -0.98]),
    "carving": ((1.1, 1.4), (0.18, 0.24), [0, 0, 0, 0.02, 0.05, 0.1, 0.2], [-1, -1, -0.98, -0.9, -0.75, -0.45, 0.15]),
    "table": ((0.75, 0.95), (0.18, 0.24), [0, 0.04, 0.06, 0.06, 0.04, 0, -0.4], [-0.8, -0.95, -1, -1, -1, -0.9, -0.5]),
    "bread": ((1.1, 1.35), (0.2, 0.26), [0, 0, 0, 0, 0, -0.04, -0.3], [-1, -1, -1, -1, -1, -0.95, -0.55]),
    "hunting": ((0.8, 1.0), (0.24, 0.32), [0, 0, 0, -0.02, -0.16, -0.26, -0.2], [-1, -1, -1, -1, -0.92, -0.66, -0.24]),
}


def _blade(back: Array, edge: Array, along: Array, thick: float, bevel: float) -> Part:
    """A blade up the y axis between x = `edge` and x = `back`, thick at the back and ground thin at the edge."""
    half, grind = thick / 2, edge + np.minimum(bevel, 0.6 * (back - edge))
    rows = zip(back, grind, edge, along, strict=True)
    sections = [[(b, y, half), (b, y, -half), (g, y, -half), (e, y, 0), (g, y, half)] for b, g, e, y in rows]
    return loft(sections, crease=8)


def _knife_handle(draw: Draw) -> Part:
    """A handle downwards from y = 0: straight, swelling, pistol-like or with a ring, with rivets, bands or an inlay."""
    length, thick = draw.number("handle length", 0.6, 0.85), draw.number("handle thickness", 0.11, 0.16)
    t = np.linspace(0, 1, 9)
    forms = {
        "straight": 0 * t,
        "swelling": 0.03 * np.sin(2.6 * t * t + 0.4),
        "pistol": 0.02 + 0.03 * t**4,
        "ringed": 0 * t,
    }
    form = draw.pick("handle", list(forms))
    half = (0.09 + forms[form]) * np.where(t > 0.95, 0.7, 1.0) * draw.number("grip", 1.0, 1.25)
    bent = 0.14 * t**3 if form == "pistol" else 0.02 * np.sin(math.pi * t)
    ring, colour = rectangle(2, 1, 0.35, 2)[::-1], draw.colour()
    x, z = ring.T
    rows = zip(half, bent, t, strict=True)
    body = loft([np.column_stack([h * x + b, 0 * x - length * s, thick * z]) for h, b, s in rows])
    whole, trim = body.paint(colour, 0.3), draw.pick("trim", ["rivets", "bands", "inlay"])
    mark = distinct(draw, colour, palette="metal" if trim == "rivets" else "any")
    for s in (0.2, 0.5, 0.8):
        x, around = float(np.interp(s, t, bent)), 2 * float(np.interp(s, t, half)) + 0.03
        if trim == "inlay":
            whole += slab(ellipse(0.1, 0.22 * length, 10), thick + 0.03).at(x, -length * s).paint(mark, 0.3)
        else:
            rivet, band = cylinder(0.04, thick + 0.04, n=8).rot(x=90), box(around, 0.07, thick + 0.03, 0.02)
            whole += (rivet if trim == "rivets" else band).at(x, -length * s).paint(mark, 0.6)
    hook = tube(lift(arc(0.09, 0, 330, 12)), 0.025, 6, closed=True).at(y=-length - 0.06).paint(mark, 0.6)
    return whole + (hook if form == "ringed" else Part())


@shape("knife")
def knife(draw: Draw) -> Part:
    """A knife, blade up, edge to the left: chef's, santoku, cleaver, carving, table, bread or hunting knife."""
    kind = draw.pick("kind", list(KNIVES))
    lengths, widths, back_knots, edge_knots = KNIVES[kind]
    length, width = draw.number("length", *lengths), draw.number("width", *widths)
    toothed = kind == "bread" or draw.chance("serrated", 0.1)
    steps = 41 if toothed else 19
    back = spline(np.column_stack([back_knots, np.arange(7)]), steps)[:, 0] * width
    edge = spline(np.column_stack([edge_knots, np.arange(7)]), steps)[:, 0] * width
    edge[1:-3:2] += draw.number("teeth", 0.025, 0.04) if toothed else 0.0
    steel = draw.colour("metal") if draw.chance("bare steel", 0.65) else draw.colour()
    thick, bevel = draw.number("blade thickness", 0.035, 0.05), width * draw.number("bevel", 0.15, 0.35)
    whole = _blade(back, edge, length * np.linspace(0, 1, steps), thick, bevel).paint(steel, 0.8)
    stamp = slab(rectangle(0.4 * width, 0.14, 0.02), 0.02).at(-0.36 * width, 0.15, thick / 2)
    detail, through = draw.pick("blade detail", ["none", "hole", "dimples", "groove"]), thick + 0.02
    if detail == "hole" and kind in ("cleaver", "chef", "santoku"):
        place = 0.84 if kind == "cleaver" else 0.36
        stamp += slab(ellipse(0.09, 0.09, 12), through).at(-0.25 * width, place * length)
    elif detail == "dimples":
        stamp += slab(ellipse(0.22 * width, 0.075, 8), through).row(5, dy=0.1 * length).at(-0.48 * width, 0.47 * length)
    elif detail == "groove":
        stamp += slab(rectangle(0.1 * width, 0.4 * length, 0.02), through).at(-0.35 * width, 0.45 * length)
    collar = box(0.26, 0.1, 0.19, 0.03).at(-0.4 * width, -0.01)
    if kind in ("hunting", "carving") and draw.chance("guard", 0.7):
        collar += box(width + 0.26, 0.06, 0.16, 0.03).at(-0.45 * width, 0.03)
    whole += stamp.paint(distinct(draw, steel, palette="any"), 0.3) + collar.paint(draw.colour("metal"), 0.8)
    return whole + _knife_handle(draw).at(x=-0.4 * width)


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
    """What grows, from y = 0 up: blades, a rosette, a palm, a small tree, flowers, or leaves on stems."""
    high, wide = draw.number("plant height", 0.6, 1.1), draw.number("plant width", 0.16, 0.28)
    count, lean = draw.whole("leaves", 7, 12), draw.number("lean", 0.8, 1.2)
    order = [(GOLDEN_ANGLE * i, i / count, 0.75 + 0.25 * math.sin(2.3 * i + 10 * lean)) for i in range(count)]
    if kind == "tree":
        return _tree(high, lean, draw, green)
    if kind == "blades":
        blade = _leaf(1.1 * high, 0.75 * wide, 0.5, 0.12)
        blades = joined(blade.size(u).rot(x=-84 + 40 * lean * i).at(z=0.06).rot(y=a) for a, i, u in order)
        return blades.paint(green, 0.3)
    if kind == "rosette":
        leaf = _leaf(0.72 * high, 1.4 * wide, 0.5, -0.1)
        rings = joined(leaf.size(1 - 0.5 * i).rot(x=-12 - 60 * lean * i).at(y=0.2 * i).rot(y=a) for a, i, _ in order)
        return rings.paint(green, 0.4) + ball(0.08, 8).at(y=0.2).paint(draw.colour("bright"))
    if kind == "palm":
        trunk = tube([(0, 0, 0), (0.05, 0.5 * high, 0.02), (0.02, high, 0)], [0.08, 0.065, 0.05], 8)
        frond = _leaf(0.8, 0.9 * wide, 0.4, 0.75 * lean)
        fronds = joined(frond.size(u).rot(x=-40 * u).rot(y=a) for a, _, u in order).at(0.02, high)
        return trunk.paint(draw.colour("wood"), 0.1) + fronds.paint(green, 0.3)
    heads, stems, bloom = Part(), Part(), draw.colour("bright")
    petals = ball(0.055, 8).paint(draw.colour("light")) + _leaf(0.19, 0.14, 0.3, -0.2).ring(5).paint(bloom, 0.2)
    head = petals.rot(x=35) if kind == "flowers" else _leaf(0.45, 1.3 * wide, 0.3, 0.5).paint(green, 0.4)
    for a, _, u in order[:9]:
        out = 0.32 * lean * (1.2 - 0.5 * u)
        stems += tube([(0, 0, 0), (0, 0.6 * high * u, 0.4 * out), (0, high * u, out)], 0.022, 5).rot(y=a)
        stems += _leaf(0.4 * high, 0.5 * wide, 0.4, 0.1).rot(x=-40).rot(y=a + 60) if kind == "flowers" else Part()
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
        bail = spline([*half, (0, -0.16, 0.52), *[(-x, y, z) for x, y, z in half[::-1]]], 13)
        whole += tube(bail, 0.022, 5).at(y=high + 0.5 * rim).paint(draw.colour("metal"), 0.7)
    kind = draw.pick("plant", ["cactus", "blades", "rosette", "palm", "flowers", "leaves", "tree"])
    green = draw.colour("leaf")
    plant = _cactus(draw, green) if kind == "cactus" else _foliage(kind, draw, green)
    return whole + plant.at(y=high + 0.55 * rim)


def _emblem(draw: Draw, body: Colour) -> Part:
    """What is on the front of a bin: three arrows chasing each other, a label, or a ring."""
    size, ink = draw.number("emblem", 0.24, 0.34), distinct(draw, body)
    kind = draw.pick("emblem", ["arrows", "label", "ring"], [3, 1, 1])
    if kind == "arrows":
        tip = [(0.1, -0.3), (0.46, 0.0), (0.1, 0.3)]
        arrow = slab([(-0.44, -0.13), (0.1, -0.13), *tip, (0.1, 0.13), (-0.3, 0.13)], 0.07)
        return arrow.at(y=-0.44).ring(3, "z").size(size, size, 1).paint(ink, 0.2)
    if kind == "label":
        # Narrow strips, so that the label can be bent.
        lines = box(0.31 * size, 0.25 * size, 0.1).row(3, dx=0.3 * size).paint(distinct(draw, ink), 0.2)
        return box(0.31 * size, size, 0.06).row(5, dx=0.3 * size).paint(ink, 0.2) + lines
    return slab(ellipse(1.5 * size, 1.5 * size, 18), 0.06, [ellipse(size, size, 14)]).paint(ink, 0.2)


def _bent(part: Part, radius: float) -> Part:
    """A flat part in the x-y plane, laid around an upright cylinder behind it."""
    bent = []
    for piece in part.pieces:
        x, y, z = piece.vertices.T
        around = np.stack([np.sin(x / radius), y, np.cos(x / radius)], axis=1)
        bent.append(replace(piece, vertices=around * np.stack([radius + z, 1 + 0 * z, radius + z], axis=1)))
    return Part(tuple(bent)).at(z=-radius)


def _tapered(width: float, height: float, depth: float, foot: float) -> Part:
    """A box on y = 0 that narrows towards its foot, with rounded upright edges and an open top."""
    x, z = (rectangle(1, 1, 0.1, 3)[::-1] * np.array([width, depth])).T
    levels = [(0.0, 0.0), (foot, 0.0), (1.0, height), (0.92, height), (0.92 * foot, 0.06), (0.0, 0.06)]
    return loft([np.column_stack([x * s, 0 * x + y, z * s]) for s, y in levels], caps=False)


def _wheelie(draw: Draw, colour: Colour, lid: Colour) -> Part:
    """The tall bin on two wheels with a flap lid and a bar behind."""
    width, height = draw.number("width", 0.62, 0.8), draw.number("height", 1.05, 1.4)
    depth, foot = draw.number("depth", 0.65, 0.8), draw.number("foot", 0.72, 0.86)
    rim = slab(rectangle(width + 0.07, depth + 0.07, 0.08), 0.1, [rectangle(0.93 * width, 0.93 * depth, 0.06)])
    tub = _tapered(width, height, depth, foot) + rim.rot(x=90).at(y=height - 0.03)
    tub += box(0.9 * width, 0.06, 0.06, 0.02).at(0, height - 0.05, -depth / 2 - 0.14)
    tub += box(0.05, 0.07, 0.2).at(0.4 * width, height - 0.05, -depth / 2 - 0.06).mirror()
    tub += box(0.05, 0.6 * height, 0.06).at(0.2 * width, 0.45 * height, -0.46 * depth).mirror()
    flap = box(width + 0.06, 0.06, depth + 0.12, 0.02) + box(0.75 * width, 0.06, 0.7 * depth, 0.02).at(y=0.05)
    flap += box(0.4 * width, 0.05, 0.08).at(z=depth / 2 + 0.08)
    opened = draw.number("angle", 20, 75) if draw.chance("open", 0.35) else 0.0
    top = flap.at(z=depth / 2).rot(x=-opened).at(0, height + 0.05, -depth / 2)
    wheel = cylinder(0.16, 0.09, n=16).paint(BLACK, 0.2) + cylinder(0.08, 0.12, n=10).paint(draw.colour(), 0.3)
    wheels = wheel.rot(z=90).at(foot * width / 2 + 0.02, 0.12, -foot * depth / 2).mirror()
    tilt = math.degrees(math.atan2(depth * (1 - foot) / 2, height))
    sign = _emblem(draw, colour).rot(x=tilt).at(0, 0.52 * height, depth * (1 + foot) / 4 + 0.01)
    return tub.paint(colour, 0.3) + top.paint(lid, 0.3) + wheels + sign


def _dustbin_ears(radius: float, height: float, rise: float) -> tuple[Part, Part]:
    """The two handles on the sides of a dustbin, and the one on its lid."""
    bow = tube(spline([(-0.13, -0.03, 0), (-0.1, 0.1, 0), (0.1, 0.1, 0), (0.13, -0.03, 0)], 9), 0.03, 6)
    return bow.rot(y=90).rot(z=-90).at(radius, 0.72 * height).mirror(), bow.at(y=rise)


def _round_bin(kind: str, draw: Draw, colour: Colour, lid: Colour) -> Part:
    """A round bin: pedal bin with a dome, swing bin with a flap, ribbed dustbin, or open basket with paper."""
    radius, height = draw.number("width", 0.36, 0.46), draw.number("height", 0.8, 1.25)
    foot, rise = 0.98 if kind == "pedal" else draw.number("foot", 0.72, 0.95), draw.number("dome", 0.12, 0.28)
    y = np.linspace(0, height, 13)
    side = radius * (foot + (1 - foot) * y / height) + (0.022 * (np.arange(13) % 2) if kind == "dustbin" else 0)
    inside = [(0.94 * radius, height), (0.9 * radius * foot, 0.06), (0, 0.06)]
    whole = lathe(np.concatenate([[(0, 0)], np.column_stack([side, y]), inside]), 20).paint(colour, 0.5)
    out, metal = radius + 0.035, draw.colour("metal")
    rim = [(radius, height - 0.06), (out, height - 0.06), (out, height), (radius - 0.04, height)]
    whole += lathe(rim, 20).paint(lid, 0.4)
    tilt = math.degrees(math.atan2(radius * (1 - foot), height))
    middle = radius * (1 + foot) / 2
    whole += _bent(_emblem(draw, colour), middle).rot(x=tilt).at(0, 0.5 * height, middle + 0.01)
    if kind == "basket":
        for i in range(draw.whole("papers", 3, 5)):
            paper = ball(0.17, 6).rot(50 * i, 70 * i).at(0, height - 0.06 + 0.04 * i, 0.16).rot(y=120 * i)
            whole += paper.paint(draw.colour("pastel"), 0.0)
        slot = box(0.05, 0.45 * height, 0.04).rot(x=-tilt).at(0, 0.5 * height, -radius * (1 + foot) / 2)
        return whole + joined(slot.rot(y=a) for a in range(-120, 121, 30)).paint(BLACK)
    dome = spline([(out, 0.05), (0.75 * radius, 0.8 * rise), (0, rise)], 7)
    dome[:, 1] *= 1.8 if kind == "swing" else 1.0
    top = lathe(np.concatenate([[(0, 0), (out, 0)], dome]), 20).paint(lid, 0.5)
    if kind == "swing":
        flap = Wall(dome).patch("rectangle", 0.95 * rise, 1.15 * rise, 75, 10, layer=2)
        return whole + (top + flap.paint(distinct(draw, lid), 0.3)).at(y=height)
    if kind == "dustbin":
        ears, grip = _dustbin_ears(radius, height, rise)
        whole, top = whole + ears.paint(metal, 0.7), top + grip.paint(metal, 0.7)
    else:
        pedal = box(0.24, 0.05, 0.22).at(0, 0.06, radius + 0.06) + box(0.14, 0.12, 0.08).at(0, height, -radius - 0.05)
        whole += pedal.paint(BLACK, 0.4)
    opened = draw.number("angle", 30, 80) if draw.chance("open", 0.35) else 0.0
    return whole + top.at(z=radius).rot(x=-opened).at(0, height + 0.01, -radius)


@shape("trash bin")
def trash_bin(draw: Draw) -> Part:
    """A bin: on wheels, with a pedal, with a swing flap, a ribbed dustbin or an open basket; lid shut or open."""
    kind = draw.pick("kind", ["wheelie", "pedal", "swing", "dustbin", "basket"], [2, 1, 1, 1, 1])
    colour = draw.colour()
    lid = distinct(draw, colour, palette="any") if draw.chance("other lid", 0.6) else colour
    return _wheelie(draw, colour, lid) if kind == "wheelie" else _round_bin(kind, draw, colour, lid)
