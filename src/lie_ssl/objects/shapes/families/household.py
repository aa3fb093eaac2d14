"""Household: faucet, knife, trash bin."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import Array, arc, ellipse, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw, Range, distinct
from lie_ssl.objects.shapes.handles import bow_handle
from lie_ssl.objects.shapes.palettes import RUBBER
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, hoop, lathe, loft, plate, rod, slab, tube
from lie_ssl.objects.shapes.walls import Wall, wrapped


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
        rim = hoop(0.17, 0.04, 6, 12).rot(x=90)
        spoke = rod((-0.16, 0, 0), (0.16, 0, 0), 0.03, n=6)
        return (stem + (rim + spoke + spoke.rot(y=90)).at(y=0.15)).size(size)
    return (stem + lathe([(0, 0.08), (0.13, 0.08), (0.16, 0.13), (0.13, 0.24), (0, 0.26)], 8)).size(size)


def _garden_tap(draw: Draw, colour: Colour, accent: Colour, style: str) -> Part:
    """A tap that comes out of a wall."""
    height = draw.number("column", 0.16, 0.3)
    pipe = tube([(0, 0, -0.5), (0, 0, 0.15), (0, -0.1, 0.33), (0, -0.3, 0.4)], [0.11, 0.12, 0.11, 0.09], 10)
    rose = lathe([(0, -0.03), (0.28, -0.03), (0.2, 0.04), (0, 0.05)], 18).at(y=-0.5)
    rose += cylinder(0.15, 0.16, n=6).at(y=-0.2)
    body = pipe + rose.rot(x=90) + cylinder(0.12, 0.1, n=10).rot(x=-15).at(0, -0.3, 0.4)
    grip = _tap_handle(style, draw).size(1.3).at(y=0.12 + height / 2)
    return (body + cylinder(0.09, height + 0.1, 0.07, n=10).at(y=0.12)).paint(colour, 0.8) + grip.paint(accent, 0.6)


@shape("faucet")
def faucet(draw: Draw) -> Part:
    """A tap: one lever, two handles on a bar or a plate, or a garden tap; four forms each of spouts and handles."""
    colour = draw.colour("metal") if draw.chance("bare metal", 0.4) else draw.colour()
    accent = colour if draw.chance("plain", 0.4) else distinct(draw, colour)
    kind = draw.pick("kind", ["single", "pair", "bridge", "garden"], [3, 2, 1.5, 1.5])
    style, swing = draw.pick("handle", ["cross", "lever", "wheel", "knob"]), draw.number("swing", -60, -15)
    if kind == "garden":
        return _garden_tap(draw, colour, accent, style).rot(y=swing)
    width, height = draw.number("width", 0.36, 0.5), draw.number("column", 0.16, 0.3)
    thick = draw.number("radius", 0.1, 0.15)
    foot = [(0, 0), (thick + 0.09, 0), (thick + 0.08, 0.03), (thick, 0.05)]
    column = lathe([*foot, (thick, height), (0, height + 0.06)], 18)
    body = column + _spout(draw).at(y=height).rot(y=swing)
    hot, cold = ((0.8, 0.12, 0.1), (0.1, 0.25, 0.8))
    if kind == "single":
        grip = _tap_handle("lever", draw).size(1.2)
        if draw.chance("lever at the side", 0.5):
            grip = grip.rot(z=-90).rot(x=150).at(thick - 0.04, 0.6 * height)
        else:
            grip = grip.rot(y=swing + 90).at(0, height, -0.02)
        body += box(2.4 * width, 0.04, 0.4, 0.02).at(y=0.02) if draw.chance("plate", 0.4) else Part()
        mark = box(0.08, 0.07, 0.04).at(0.04, 0.55 * height, thick)
        return body.paint(colour, 0.8) + grip.paint(accent, 0.8) + mark.paint(cold) + mark.at(-0.08).paint(hot)
    top = height + (0.1 if kind == "bridge" else 0.0)
    if kind == "bridge":
        post = lathe([(0, 0), (0.16, 0), (0.15, 0.03), (0.08, 0.05), (0.08, height), (0.11, top), (0, top + 0.01)], 14)
        body += post.at(width).mirror() + rod((-width, height, 0), (width, height, 0), 0.075, n=10)
    else:
        outline = rectangle(2 * width + 0.36, 0.42, draw.number("plate corner", 0.03, 0.2))
        body += plate(outline, 0.07).at(y=0.035) + cylinder(0.12, height, 0.09, n=14).at(width, height / 2).mirror()
    grip = _tap_handle(style, draw).rot(y=draw.number("handle turn", -30, 30)).at(width, top).mirror()
    dot = disc(0.05, 0.05, 10).at(width, 0.55 * height + 0.05, 0.09)
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
    """A handle below y = 0: straight, swelling, pistol grip or with a ring; with rivets, bands or an inlay."""
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
            rivet, band = disc(0.04, thick + 0.04, 8), box(around, 0.07, thick + 0.03, 0.02)
            whole += (rivet if trim == "rivets" else band).at(x, -length * s).paint(mark, 0.6)
    hook = hoop(0.09, 0.025, 6, 12).at(y=-length - 0.06).paint(mark, 0.6)
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


def _emblem(draw: Draw, body: Colour) -> Part:
    """The emblem on the front of a bin: the recycling arrows, a label, or a ring."""
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
    wheel = cylinder(0.16, 0.09, n=16).paint(RUBBER, 0.2) + cylinder(0.08, 0.12, n=10).paint(draw.colour(), 0.3)
    wheels = wheel.rot(z=90).at(foot * width / 2 + 0.02, 0.12, -foot * depth / 2).mirror()
    tilt = math.degrees(math.atan2(depth * (1 - foot) / 2, height))
    sign = _emblem(draw, colour).rot(x=tilt).at(0, 0.52 * height, depth * (1 + foot) / 4 + 0.01)
    return tub.paint(colour, 0.3) + top.paint(lid, 0.3) + wheels + sign


def _dustbin_ears(radius: float, height: float, rise: float) -> tuple[Part, Part]:
    """The two handles on the sides of a dustbin, and the one on its lid."""
    bow = bow_handle([(-0.13, -0.03, 0), (-0.1, 0.1, 0)], 0.03)
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
    whole += wrapped(_emblem(draw, colour), middle).rot(x=tilt).at(0, 0.5 * height, middle + 0.01)
    if kind == "basket":
        for i in range(draw.whole("papers", 3, 5)):
            paper = ball(0.17, 6).rot(50 * i, 70 * i).at(0, height - 0.06 + 0.04 * i, 0.16).rot(y=120 * i)
            whole += paper.paint(draw.colour("pastel"), 0.0)
        slot = box(0.05, 0.45 * height, 0.04).rot(x=-tilt).at(0, 0.5 * height, -radius * (1 + foot) / 2)
        return whole + joined(slot.rot(y=a) for a in range(-120, 121, 30)).paint(RUBBER)
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
        whole += pedal.paint(RUBBER, 0.4)
    opened = draw.number("angle", 30, 80) if draw.chance("open", 0.35) else 0.0
    return whole + top.at(z=radius).rot(x=-opened).at(0, height + 0.01, -radius)


@shape("trash bin")
def trash_bin(draw: Draw) -> Part:
    """A bin: on wheels, with a pedal, with a swing flap, a ribbed dustbin or an open basket; lid shut or open."""
    kind = draw.pick("kind", ["wheelie", "pedal", "swing", "dustbin", "basket"], [2, 1, 1, 1, 1])
    colour = draw.colour()
    lid = distinct(draw, colour, palette="any") if draw.chance("other lid", 0.6) else colour
    return _wheelie(draw, colour, lid) if kind == "wheelie" else _round_bin(kind, draw, colour, lid)
