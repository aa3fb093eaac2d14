"""Things about the house: faucet, knife, plant pot, trash bin."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

Array = NDArray[np.float64]
GOLDEN_ANGLE = 137.5


def _other(draw: Draw, taken: Colour, palette: str = "paint") -> Colour:
    """A colour that can be told from the one already taken."""
    colour = draw.colour(palette)
    for _ in range(20):
        if sum(abs(a - b) for a, b in zip(colour, taken, strict=True)) > 0.6:
            break
        colour = draw.colour(palette)
    return colour


def _spout(draw: Draw) -> Part:
    """A spout that starts at the origin and pours to the front: a swan's neck, an arch, a straight or an angular pipe."""
    form = draw.pick("spout", ["swan", "arch", "straight", "angular"])
    reach, rise, thick = draw.number("reach", 0.5, 0.8), draw.number("rise", 0.5, 0.95), draw.number("pipe", 0.065, 0.1)
    if form == "swan":
        bend = arc(reach / 2, 180, 0, 10) + np.array([reach / 2, rise])
        path = np.concatenate([[(0, -0.1), (0, rise / 2)], bend, [(reach, rise - 0.15)]])
    elif form == "arch":
        path = spline([(0, -0.1), (0.05, 0.5 * rise), (0.45 * reach, 0.75 * rise), (reach, 0.5 * rise), (reach + 0.03, 0.25 * rise)], 14)
    elif form == "straight":
        path = np.array([(0, -0.05), (0.02, 0.1), (0.12, 0.2), (reach, 0.28 + 0.1 * rise), (reach + 0.07, 0.27 + 0.1 * rise), (reach + 0.09, 0.12)])
    else:
        path = np.array([(0, -0.1), (0, rise - 0.06), (0.06, rise), (reach - 0.06, rise), (reach, rise - 0.06), (reach, rise - 0.2)])
    radius = np.linspace(1.15, 0.85, len(path)) * thick
    pipe = tube(np.column_stack([np.zeros(len(path)), path[:, 1], path[:, 0]]), radius.tolist(), 10)
    tip = cylinder(1.15 * thick, 0.1, n=12).at(0, float(path[-1, 1]), float(path[-1, 0]))
    return pipe + tip


def _tap_handle(style: str, draw: Draw) -> Part:
    """A handle on y = 0, to turn about y: a cross, a lever, a wheel or a fluted knob."""
    size = draw.number("handle", 0.85, 1.2)
    stem = cylinder(0.05, 0.16, n=8).at(y=0.05)
    if style == "cross":
        arms = rod((0, 0.16, 0), (0.2, 0.16, 0), 0.035, n=6) + ball(0.055, 7).at(0.2, 0.16)
        return (stem + arms.ring(4).rot(y=20) + ball(0.07, 8).at(y=0.17)).size(size)
    if style == "lever":
        arm = tube([(-0.06, 0.14, 0), (0.12, 0.17, 0), (0.32, 0.24, 0)], [0.05, 0.045, 0.06], 8, flat=0.7)
        return (stem + arm).size(size)
    if style == "wheel":
        rim = tube(lift(arc(0.17, 0, 360 * 11 / 12, 12)), 0.04, 6, closed=True).rot(x=90).at(y=0.15)
        return (stem + rim + rod((-0.16, 0.15, 0), (0.16, 0.15, 0), 0.03, n=6) + rod((0, 0.15, -0.16), (0, 0.15, 0.16), 0.03, n=6)).size(size)
    grip = lathe([(0, 0.08), (0.13, 0.08), (0.16, 0.13), (0.13, 0.24), (0, 0.26)], 8)
    return (stem + grip).size(size)


def _dots(x: float, y: float, z: float) -> Part:
    """The red mark for hot on the left, the blue one for cold on the right."""
    dot = cylinder(0.05, 0.05, n=10)
    return dot.at(-x, y, z).paint((0.8, 0.12, 0.1), 0.3) + dot.at(x, y, z).paint((0.1, 0.25, 0.8), 0.3)


@shape("faucet")
def faucet(draw: Draw) -> Part:
    """A tap: one lever, two handles on a bar or on a plate, or a garden tap on a wall; spouts and handles of many forms."""
    colour = draw.colour("metal") if draw.chance("bare metal", 0.4) else draw.colour()
    accent = colour if draw.chance("plain", 0.4) else _other(draw, colour)
    kind = draw.pick("kind", ["single", "pair", "bridge", "garden"], [3, 2, 1.5, 1.5])
    width, tall = draw.number("width", 0.36, 0.5), draw.number("column", 0.16, 0.3)
    swing, thick = draw.number("swing", -60, -15), draw.number("column radius", 0.1, 0.15)
    style = draw.pick("handle", ["cross", "lever", "wheel", "knob"])
    if kind == "garden":
        pipe = tube([(0, 0, -0.5), (0, 0, 0.15), (0, -0.1, 0.33), (0, -0.3, 0.4)], [0.11, 0.12, 0.11, 0.09], 10)
        nut = lathe([(0, -0.08), (0.15, -0.08), (0.15, 0.08), (0, 0.08)], 6)
        nose = cylinder(0.12, 0.1, n=10).rot(x=-15).at(0, -0.3, 0.4) + nut.rot(x=90).at(z=-0.2)
        rose = lathe([(0, -0.03), (0.28, -0.03), (0.2, 0.04), (0, 0.05)], 18).rot(x=90).at(z=-0.5)
        body = pipe + nose + rose + cylinder(0.09, tall + 0.1, 0.07, n=10).at(y=0.12)
        grip = _tap_handle(style, draw).size(1.3).at(y=0.12 + tall / 2)
        return (body.paint(colour, 0.8) + grip.paint(accent, 0.6)).rot(y=swing)
    rose = lathe([(0, 0), (thick + 0.09, 0), (thick + 0.08, 0.03), (thick, 0.05), (thick, tall), (0.8 * thick, tall + 0.05), (0, tall + 0.06)], 18)
    turned = _spout(draw).at(y=tall).rot(y=swing)
    if kind == "single":
        arm = _tap_handle("lever" if style in ("cross", "wheel") else style, draw)
        place = draw.pick("lever place", ["side", "top"])
        arm = arm.rot(z=-90).rot(x=-75).at(thick, 0.65 * tall) if place == "side" else arm.size(1.2).rot(y=swing + 90).at(0, tall, -0.02)
        plate = box(2.4 * width, 0.04, 0.4, 0.02).at(y=0.02) if draw.chance("plate", 0.4) else Part()
        return (rose + plate + turned).paint(colour, 0.8) + arm.paint(accent, 0.8) + _dots(0.06, 0.5 * tall, thick).rot(x=0)
    if kind == "bridge":
        legs = lathe([(0, 0), (0.16, 0), (0.15, 0.03), (0.08, 0.05), (0.08, tall), (0.11, tall + 0.1), (0, tall + 0.11)], 14)
        base = legs.at(width).mirror() + rod((-width, tall, 0), (width, tall, 0), 0.075, n=10)
        base += ball(0.14, 10).at(y=tall)
    else:
        base = slab(rectangle(2 * width + 0.36, 0.42, draw.number("plate corner", 0.03, 0.2)), 0.07).rot(x=90).at(y=0.035) + rose
        base += cylinder(0.12, tall, 0.09, n=14).at(width, tall / 2).mirror()
    top = tall + (0.1 if kind == "bridge" else 0.0)
    grip = _tap_handle(style, draw).rot(y=draw.number("handle turn", -30, 30)).at(width, top)
    return (base + turned).paint(colour, 0.8) + grip.mirror().paint(accent, 0.7) + _dots(width, 0.55 * tall + 0.05, 0.1)


def _blade(back: Array, edge: Array, along: Array, thick: float, bevel: float) -> Part:
    """A blade up the y axis between x = `edge` and x = `back`, thick at the back and ground thin at the edge."""
    grind = edge + np.minimum(bevel, 0.6 * (back - edge))
    sections = [
        [(b, y, thick / 2), (b, y, -thick / 2), (g, y, -thick / 2), (e, y, 0.0), (g, y, thick / 2)]
        for b, e, g, y in zip(back, edge, grind, along, strict=True)
    ]
    return loft(sections, crease=8)


KNIVES: dict[str, tuple[tuple[float, float], tuple[float, float], list[float], list[float]]] = {
    # length, width, and the x of the back and the edge (0 is the back, -1 the edge at the heel) from heel to tip
    "chef": ((1.1, 1.4), (0.26, 0.36), [0, 0, 0, 0, -0.05, -0.14, -0.3], [-1, -1, -0.99, -0.95, -0.84, -0.62, -0.32]),
    "santoku": ((0.9, 1.1), (0.26, 0.34), [0, 0, 0, 0, -0.08, -0.3, -0.8], [-1, -1, -1, -1, -0.98, -0.93, -0.85]),
    "cleaver": ((0.85, 1.05), (0.48, 0.62), [0, 0, 0, 0, 0, 0, -0.06], [-1, -1, -1, -1, -1, -1, -0.98]),
    "carving": ((1.2, 1.5), (0.16, 0.22), [0, 0, 0, 0.02, 0.05, 0.1, 0.2], [-1, -1, -0.98, -0.9, -0.75, -0.45, 0.15]),
    "table": ((0.75, 0.95), (0.16, 0.22), [0, 0.04, 0.06, 0.06, 0.04, -0.04, -0.4], [-0.8, -0.95, -1, -1, -0.98, -0.88, -0.5]),
    "bread": ((1.15, 1.4), (0.18, 0.24), [0, 0, 0, 0, 0, -0.04, -0.3], [-1, -1, -1, -1, -1, -0.95, -0.55]),
    "hunting": ((0.8, 1.05), (0.22, 0.3), [0, 0, 0, -0.02, -0.16, -0.26, -0.2], [-1, -1, -1.02, -1.02, -0.92, -0.66, -0.24]),
}  # fmt: skip


def _knife_handle(draw: Draw, width: float) -> Part:
    """A handle downwards from y = 0: straight, swelling, pistol-like or with a round end, with rivets or bands."""
    length, thick = draw.number("handle length", 0.6, 0.85), draw.number("handle thickness", 0.11, 0.16)
    form = draw.pick("handle", ["straight", "swelling", "pistol", "ringed"])
    t = np.linspace(0, 1, 9)
    half = 0.09 + {"straight": 0 * t, "swelling": 0.03 * np.sin(2.6 * t * t + 0.4), "pistol": 0.015 + 0.03 * t**4, "ringed": 0.01 * t}[form]
    half = half * np.where(t > 0.95, 0.7, 1.0) * draw.number("grip", 1.0, 1.25)
    drop = (0.14 * t**3 if form == "pistol" else 0.02 * np.sin(math.pi * t)) - 0.4 * width
    colour = draw.colour()
    section = rectangle(2, 1, 0.35, 2)
    handle = loft([np.column_stack([section[:, 0] * h + d, np.full(len(section), -length * s), -section[:, 1] * thick]) for h, d, s in zip(half, drop, t, strict=True)])
    handle = handle.paint(colour, 0.3)
    detail = draw.pick("trim", ["rivets", "bands", "inlay"])
    mark = _other(draw, colour)
    for s in (0.2, 0.5, 0.8):
        middle, y = float(np.interp(s, t, drop)), -length * s
        if detail == "rivets":
            handle += cylinder(0.035, thick + 0.04, n=8).rot(x=90).at(middle, y).paint(draw.colour("metal"), 0.8)
        elif detail == "bands":
            around = 2 * float(np.interp(s, t, half)) + 0.03
            handle += box(around, 0.07, thick + 0.03, 0.02).at(middle, y).paint(mark, 0.3)
    if detail == "inlay":
        handle += slab(ellipse(0.09, 0.6 * length, 12), thick + 0.03).at(float(np.interp(0.5, t, drop)), -0.5 * length).paint(mark, 0.3)
    if form == "ringed":
        handle += tube(lift(arc(0.09, 0, 330, 12)), 0.025, 6, closed=True).at(float(drop[-1]), -length - 0.06).paint(mark, 0.6)
    return handle


@shape("knife")
def knife(draw: Draw) -> Part:
    """A knife, blade up, edge to the left: chef's, santoku, cleaver, carving, table, bread or hunting knife."""
    kind = draw.pick("kind", list(KNIVES))
    lengths, widths, back_knots, edge_knots = KNIVES[kind]
    length, width = draw.number("length", *lengths), draw.number("width", *widths)
    steps = 41 if kind == "bread" else 19
    back = spline(np.column_stack([back_knots, np.arange(7)]), steps)[:, 0] * width
    edge = spline(np.column_stack([edge_knots, np.arange(7)]), steps)[:, 0] * width
    if kind == "bread" or draw.chance("serrated", 0.1):
        edge[1:-3:2] += draw.number("teeth", 0.025, 0.04)
    along = length * np.linspace(0, 1, steps)
    steel = draw.colour("metal") if draw.chance("bare steel", 0.65) else draw.colour()
    thick, bevel = draw.number("blade thickness", 0.035, 0.05), width * draw.number("bevel", 0.15, 0.35)
    blade = _blade(back, edge, along, thick, bevel).paint(steel, 0.8)
    detail = draw.pick("blade detail", ["stamp", "hole", "dimples", "groove"])
    dark, high = _other(draw, steel, "any"), 0.82 if kind == "cleaver" else 0.24
    stamp = slab(rectangle(0.3 * width, 0.13, 0.02), 0.02).at(-0.3 * width, 0.16, thick / 2).paint(dark, 0.3)
    if detail == "hole" and width > 0.24:
        stamp += slab(ellipse(0.08, 0.08, 12), thick + 0.02).at(-0.2 * width, high * length, 0).paint((0.05, 0.05, 0.06), 0.1)
    elif detail == "dimples":
        dimple = slab(ellipse(0.2 * width, 0.075, 8), thick + 0.02).row(5, dy=0.1 * length)
        stamp += dimple.at(-0.48 * width, 0.45 * length).paint(dark, 0.5)
    elif detail == "groove":
        stamp += slab(rectangle(0.1 * width, 0.55 * length, 0.02), thick + 0.02).at(-0.2 * width, 0.5 * length).paint(dark, 0.5)
    collar = box(0.26, 0.1, 0.19, 0.03).at(-0.4 * width, -0.01).paint(draw.colour("metal"), 0.8)
    if kind == "hunting" or draw.chance("guard", 0.15):
        collar += box(width + 0.26, 0.06, 0.16, 0.03).at(-0.45 * width, 0.03).paint(draw.colour("metal"), 0.8)
    return blade + stamp + collar + _knife_handle(draw, width)


def _leaf(length: float, width: float, fold: float = 0.25, droop: float = 0.3) -> Part:
    """A leaf from the origin outwards along z, its tip drooping."""
    t = np.linspace(0, 1, 6)[:, None]
    half = width / 2 * np.sin(math.pi * (0.04 + 0.96 * t) ** 0.8)
    u = np.array([-1.0, 0.0, 1.0])[None]
    y = length * (0.2 * t - droop * t**2) + fold * half * np.abs(u)
    return sheet(np.stack([half * u, y, length * t + 0 * u], axis=-1))


def _cactus(draw: Draw, green: Colour) -> Part:
    """A ribbed column with arms, or a ball, with spines and a flower."""
    high, radius = draw.number("plant height", 0.5, 1.0), draw.number("plant width", 0.16, 0.24)
    trunk = _ribbed(radius, high)
    arms = draw.whole("arms", 0, 3)
    for i in range(arms):
        reach, up = radius + 0.2, high * (0.35 + 0.15 * i)
        bend = spline([(0, up, 0), (reach - 0.06, up + 0.02, 0), (reach, up + 0.1, 0), (reach, up + 0.24 + 0.05 * i, 0)], 8)
        arm = tube(bend, 0.55 * radius, 8) + ball(0.55 * radius, 8).at(*bend[-1])
        trunk += arm.rot(y=(10, 190, 100)[i])
    flower = ball(0.09, 7).at(0.03, high + 0.02, 0.05) + ball(0.06, 6).at(0.6 * radius, 0.9 * high, 0.5 * radius)
    return trunk.paint(green, 0.2) + flower.paint(draw.colour("bright"), 0.2)


def _ribbed(radius: float, high: float) -> Part:
    """A round-topped column with ribs."""
    t = np.linspace(0, 1, 9)
    outline = radius * np.where(t < 0.75, 0.85 + 0.2 * np.sin(2 * t), np.sqrt(np.maximum(1 - ((t - 0.75) / 0.25) ** 2, 0)))
    angles = np.linspace(0, 2 * math.pi, 20, endpoint=False)
    bump = np.where(np.arange(20) % 2, 0.84, 1.06)
    return loft([np.column_stack([np.sin(angles) * r * bump, np.full(20, high * s), np.cos(angles) * r * bump]) for r, s in zip(outline, t, strict=True)], crease=20)


def _foliage(kind: str, draw: Draw, green: Colour) -> Part:
    """What grows, from y = 0 up: blades, a rosette, leaves on stems, a palm, flowers or a small tree."""
    high, wide = draw.number("plant height", 0.6, 1.1), draw.number("plant width", 0.16, 0.28)
    count, lean = draw.whole("leaves", 7, 12), draw.number("lean", 0.8, 1.2)
    turned = [GOLDEN_ANGLE * i for i in range(count)]
    uneven = [0.75 + 0.25 * math.sin(2.3 * i + 10 * lean) for i in range(count)]
    if kind == "blades":
        blade = [_leaf(high * u * 1.15, 0.65 * wide, 0.5, 0.05).rot(x=-lean * (62 + 18 * u)).at(z=0.07).rot(y=a) for a, u in zip(turned, uneven, strict=True)]
        return joined(blade).paint(green, 0.3)
    if kind == "rosette":
        rings = [_leaf(0.55 * (1 - 0.05 * i) * high, 1.1 * wide, 0.5, -0.1).rot(x=-12 - 5.5 * i * lean).at(y=0.02 * i).rot(y=a) for i, a in enumerate(turned)]
        return joined(rings).paint(green, 0.4) + ball(0.07, 7).at(y=0.12).paint(draw.colour("bright"))
    if kind == "palm":
        trunk = tube([(0, 0, 0), (0.05, 0.5 * high, 0.02), (0.02, high, 0)], [0.08, 0.065, 0.05], 8).paint(draw.colour("wood"), 0.1)
        fronds = joined(_leaf(0.75 * u + 0.05, 0.8 * wide, 0.4, 0.75 * lean).rot(x=-38 * u).rot(y=a) for a, u in zip(turned, uneven, strict=True))
        return trunk + fronds.at(0.02, high, 0).paint(green, 0.3)
    if kind == "tree":
        trunk = tube(spline([(0, 0, 0), (0.14, 0.25 * high, 0), (-0.05, 0.5 * high, 0.03), (0.1, 0.85 * high, 0)], 8), np.linspace(0.08, 0.04, 8).tolist(), 7)
        crowns = [(0.12, 0.9 * high, 0.0, 0.3), (-0.27, 0.62 * high, 0.1, 0.21), (0.38, 0.66 * high, 0.05, 0.2)]
        crown = joined(ball(r * lean, 9).size(1.15, 0.75, 1.0).at(x, y, z) for x, y, z, r in crowns)
        twigs = rod((0, 0.45 * high, 0), (-0.27, 0.62 * high, 0.1), 0.03, n=5) + rod((0.02, 0.5 * high, 0), (0.38, 0.66 * high, 0.05), 0.03, n=5)
        return (trunk + twigs).paint(draw.colour("wood"), 0.1) + crown.paint(green, 0.1)
    heads, stems = Part(), Part()
    bloom = draw.colour("bright")
    for a, u in list(zip(turned, uneven, strict=True))[:9]:
        radians, out = math.radians(a), 0.32 * lean * (1.2 - 0.5 * u)
        top = (out * math.sin(radians), high * u, out * math.cos(radians))
        stems += tube([(0, 0, 0), (0.4 * top[0], 0.6 * top[1], 0.4 * top[2]), top], 0.022, 5)
        if kind == "flowers":
            heads += (ball(0.055, 6).paint(draw.colour("light")) + _leaf(0.17, 0.13, 0.3, -0.2).ring(5).paint(bloom, 0.2)).rot(x=35).rot(y=a).at(*top)
        else:
            heads += _leaf(0.42, 1.25 * wide, 0.3, 0.5).rot(y=a).at(*top).paint(green, 0.4)
    if kind == "flowers":
        stems += joined(_leaf(0.4 * high, 0.5 * wide, 0.4, 0.1).rot(x=-40).rot(y=a + 60) for a in turned[:6])
    return stems.paint(green, 0.2) + heads


@shape("plant pot")
def plant_pot(draw: Draw) -> Part:
    """A potted plant: cactus, blades, rosette, palm, flowers, leaves or bonsai, in a conical, round, square, footed or bucket pot."""
    form = draw.pick("pot", ["cone", "round", "square", "straight", "bucket"], [2, 1, 1, 1, 1])
    high, top, foot = draw.number("pot height", 0.45, 0.75), draw.number("pot radius", 0.34, 0.46), draw.number("foot", 0.6, 0.8)
    rim = draw.number("rim", 0.1, 0.18)
    colour = draw.colour()
    n, flat = (4, math.sqrt(2)) if form == "square" else (22, 1.0)
    low = top * (foot if form in ("cone", "square", "bucket") else 0.95)
    wall = [(0, 0), (low, 0), (top, high)]
    if form == "round":
        wall = [(0, 0), (0.6 * top, 0), (0.95 * top, 0.2 * high), (1.08 * top, 0.5 * high), (top, 0.85 * high), (0.9 * top, high)]
    lip, edge = float(wall[-1][0]), 0.05
    wall += [(lip + edge, high), (lip + edge, high + rim), (lip - 0.03, high + rim), (lip - 0.04, high + 0.3 * rim)]
    pot = lathe(np.array(wall) * np.array([flat, 1]), n).rot(y=45 if n == 4 else 0).paint(colour, 0.3)
    soil = lathe([((lip - 0.02) * flat, high + 0.5 * rim), (0, high + 0.62 * rim)], n).rot(y=45 if n == 4 else 0)
    pot += soil.paint((0.2, 0.13, 0.09), 0.0)
    tilt = math.degrees(math.atan2(top - low, high)) if form != "round" else 0.0
    sign = draw.pick("sign", ["oval", "diamond", "plate"])
    outline = {"oval": ellipse(0.32, 0.26, 16), "diamond": polygon(0.17, 4), "plate": rectangle(0.36, 0.18, 0.03)}[sign]
    reach = (low + top) / 2 if form != "round" else 1.07 * top
    pot += slab(outline, 0.1).rot(x=tilt).at(y=0.5 * high, z=reach - 0.02).paint(_other(draw, colour), 0.2)
    under = draw.pick("under", ["saucer", "feet", "none"])
    if under == "saucer":
        pot += lathe([(0, -0.04), (1.1 * top, -0.04), (1.25 * top, 0.05), (1.2 * top, 0.05), (1.05 * top, 0), (0, 0.01)], 20).paint(draw.colour(), 0.3)
    elif under == "feet":
        pot += rod((0.45 * low, 0.02, 0), (0.75 * low, -0.22, 0), 0.06, 0.04, 6).ring(4).rot(y=45).paint(draw.colour("wood"), 0.2)
    if form == "bucket":
        bail = tube(spline([(lip + 0.04, 0, 0), (0.8 * lip, -0.1, 0.36), (0, -0.16, 0.52), (-0.8 * lip, -0.1, 0.36), (-lip - 0.04, 0, 0)], 13), 0.02, 5)
        pot += bail.at(y=high + 0.5 * rim).paint(draw.colour("metal"), 0.7)
    kind = draw.pick("plant", ["cactus", "blades", "rosette", "palm", "flowers", "leaves", "tree"])
    green = draw.colour("leaf")
    plant = _cactus(draw, green) if kind == "cactus" else _foliage(kind, draw, green)
    return pot + plant.at(y=high + 0.55 * rim)


def _tapered(width: float, height: float, depth: float, foot: float, corner: float) -> Part:
    """A box on y = 0 that narrows towards its foot, with rounded upright edges and an open top."""
    outline = rectangle(1, 1, corner, 3)
    levels = [(foot, 0.0), (1.0, height), (0.92, height), (0.92 * foot, 0.05 * height)]
    return loft([np.column_stack([outline[:, 0] * width * s, np.full(len(outline), y), -outline[:, 1] * depth * s]) for s, y in levels])


def _recycling(size: float) -> Part:
    """Three arrows chasing each other round a triangle, flat in the x-y plane."""
    arrow = slab(np.array([(-0.42, -0.12), (0.12, -0.12), (0.12, -0.26), (0.42, 0.0), (0.12, 0.26), (0.12, 0.12), (-0.3, 0.12)]), 0.06)
    return arrow.at(y=-0.42).ring(3, "z").size(size, size, 1)


def _emblem(draw: Draw, body: Colour) -> Part:
    """What is on the front of a bin: recycling arrows, a label, or a ring."""
    size, ink = draw.number("emblem", 0.24, 0.34), _other(draw, body)
    kind = draw.pick("emblem", ["arrows", "label", "ring"], [3, 1, 1])
    if kind == "arrows":
        return _recycling(size).paint(ink, 0.2)
    if kind == "label":
        return slab(rectangle(1.5 * size, size, 0.04), 0.06).paint(ink, 0.2) + slab(rectangle(1.1 * size, 0.25 * size), 0.09).paint(draw.colour(), 0.2)
    return slab(ellipse(1.5 * size, 1.5 * size, 18), 0.06, [ellipse(size, size, 14)]).paint(ink, 0.2)


def _wheelie(draw: Draw, colour: Colour, lid: Colour) -> Part:
    """The tall bin on two wheels with a flap lid and a bar behind."""
    width, height, depth = draw.number("width", 0.62, 0.8), draw.number("height", 1.1, 1.4), draw.number("depth", 0.65, 0.8)
    foot = draw.number("foot", 0.72, 0.86)
    bin_ = _tapered(width, height, depth, foot, 0.1) + _tapered(width + 0.07, 0.1, depth + 0.07, 0.98, 0.1).at(y=height - 0.08)
    bin_ += box(0.04, 0.6 * height, 0.04).at(y=0.55 * height, x=0.25 * width, z=-0.45 * depth).mirror()
    part = bin_.paint(colour, 0.3)
    flap = box(width + 0.06, 0.06, depth + 0.12, 0.02) + box(0.75 * width, 0.06, 0.7 * depth, 0.02).at(y=0.05)
    flap += box(0.4 * width, 0.05, 0.08).at(z=depth / 2 + 0.08)
    opened = draw.pick("lid state", [0.0, draw.number("open", 20, 75)], [2, 1])
    part += flap.at(z=depth / 2).rot(x=-opened).at(y=height + 0.05, z=-depth / 2).paint(lid, 0.3)
    part += rod((-0.45 * width, height - 0.05, -depth / 2 - 0.14), (0.45 * width, height - 0.05, -depth / 2 - 0.14), 0.035, n=7).paint(colour)
    part += box(0.05, 0.07, 0.2).at(0.4 * width, height - 0.05, -depth / 2 - 0.06).mirror().paint(colour)
    wheel = cylinder(0.16, 0.09, n=16).paint((0.08, 0.08, 0.09), 0.2) + cylinder(0.08, 0.12, n=10).paint(draw.colour(), 0.3)
    part += wheel.rot(z=90).at(foot * width / 2 + 0.02, 0.12, -foot * depth / 2).mirror()
    tilt = math.degrees(math.atan2(depth * (1 - foot) / 2, height))
    return part + _emblem(draw, colour).rot(x=tilt).at(y=0.52 * height, z=depth * (1 + foot) / 4 + 0.01)


def _round_bin(kind: str, draw: Draw, colour: Colour, lid: Colour) -> Part:
    """A round bin: with a pedal and a dome, with a swing flap, a ribbed dustbin with a lid, or an open basket with paper."""
    radius, height = draw.number("width", 0.36, 0.46), draw.number("height", 0.85, 1.25)
    foot = draw.number("foot", 0.72, 0.95) if kind != "pedal" else 0.98
    y = np.linspace(0, height, 13)
    ribs = 0.022 * (np.arange(13) % 2) if kind == "dustbin" else 0 * y
    side = np.column_stack([radius * (foot + (1 - foot) * y / height) + ribs, y])
    inside = [(0.94 * radius, height), (0.9 * radius * foot, 0.06), (0, 0.06)]
    part = lathe(np.concatenate([[(0, 0)], side, inside]), 20).paint(colour, 0.5)
    part += lathe([(radius - 0.03, height - 0.06), (radius + 0.035, height - 0.06), (radius + 0.035, height), (radius - 0.04, height)], 20).paint(lid, 0.4)
    metal = draw.colour("metal")
    rise = draw.number("lid height", 0.12, 0.28)
    dome = np.concatenate([[(0, 0), (radius + 0.03, 0)], spline([(radius + 0.03, 0.05), (0.75 * radius, 0.8 * rise), (0, rise)], 7)])
    if kind == "basket":
        balls = joined(ball(0.17, 6).rot(50 * i, 70 * i).at(0.16 * math.sin(2.1 * i), height - 0.06 + 0.04 * i, 0.16 * math.cos(2.1 * i)).paint(draw.colour("paint"), 0.0) for i in range(draw.whole("papers", 3, 5)))  # fmt: skip
        slot = box(0.05, 0.35 * height, 0.04).at(y=0.3 * height, z=-radius * (foot + 0.3 * (1 - foot)))
        part += balls + joined(slot.rot(y=a) for a in (-60, -30, 0, 30, 60)).paint((0.1, 0.1, 0.11))
    elif kind == "swing":
        part += lathe(np.array(dome) * np.array([1, 1.8]), 20).at(y=height).paint(lid, 0.4)
        flap = box(1.15 * radius, 0.95 * rise + 0.1, 0.06, 0.03).rot(x=-48).at(y=height + 0.95 * rise, z=0.62 * radius)
        part += flap.paint(_other(draw, lid), 0.3)
    else:
        top = lathe(dome, 20).paint(lid, 0.6)
        if kind == "dustbin":
            top += tube(spline([(-0.13, rise - 0.03, 0), (-0.1, rise + 0.1, 0), (0.1, rise + 0.1, 0), (0.13, rise - 0.03, 0)], 9), 0.03, 6).paint(metal, 0.7)
            ear = tube(spline([(radius - 0.02, 0.7 * height, 0.12), (radius + 0.13, 0.68 * height, 0.08), (radius + 0.13, 0.68 * height, -0.08), (radius - 0.02, 0.7 * height, -0.12)], 9), 0.03, 6)
            part += ear.mirror().paint(metal, 0.7)
        else:
            part += (box(0.24, 0.05, 0.22).at(y=0.06, z=radius + 0.06) + box(0.14, 0.12, 0.08).at(y=height, z=-radius - 0.05)).paint((0.1, 0.1, 0.11), 0.4)
        opened = draw.pick("lid state", [0.0, draw.number("open", 30, 80)], [2, 1])
        part += top.at(z=radius).rot(x=-opened).at(y=height + 0.01, z=-radius)
    tilt = math.degrees(math.atan2(radius * (1 - foot), height))
    return part + _emblem(draw, colour).rot(x=tilt).at(y=0.5 * height, z=radius * (1 + foot) / 2 + 0.005)


@shape("trash bin")
def trash_bin(draw: Draw) -> Part:
    """A bin: on wheels, with a pedal, with a swing flap, a ribbed dustbin or an open basket; lids shut or open, marked in front."""
    kind = draw.pick("kind", ["wheelie", "pedal", "swing", "dustbin", "basket"], [2, 1, 1, 1, 1])
    colour = draw.colour()
    lid = _other(draw, colour, "any") if draw.chance("other lid", 0.6) else colour
    return (_wheelie(draw, colour, lid) if kind == "wheelie" else _round_bin(kind, draw, colour, lid)).on()
