"""Living room: clock, lamp."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import Array, arc, bent, ellipse, lift, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import BRASS
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, rod, slab, tube


@shape("clock")
def clock(draw: Draw) -> Part:
    """A clock with hands: on the wall or mantel, with alarm bells, a cuckoo house, a pendulum or a long case."""
    kind = draw.pick("kind", ["wall", "alarm", "mantel", "longcase", "cuckoo", "pendulum"], [4, 3, 2, 2, 2, 2])
    depth, rim = draw.number("depth", 0.12, 0.3), draw.number("rim", 0.05, 0.12)
    case, trim = draw.colour(), draw.colour()
    dial = _dial(draw, rim, trim)
    if kind == "wall":
        return _wall_clock(draw, depth, rim, case) + dial.at(z=depth / 2)
    if kind == "alarm":
        return _alarm_clock(draw, depth + 0.25, case, trim) + dial.at(z=depth / 2 + 0.125)
    if kind == "mantel":
        return _mantel(draw, depth + 0.2, case, trim) + dial.size(0.85, 0.85, 1).at(z=depth / 2 + 0.1)
    if kind == "cuckoo":
        return _cuckoo(draw, depth + 0.2, case, trim) + dial.size(0.5, 0.5, 1).at(y=-0.1, z=depth / 2 + 0.1)
    height = _tall_case(draw, kind == "longcase", depth + 0.25, case, trim)
    return height + dial.size(0.8, 0.8, 1).at(z=depth / 2 + 0.125)


def _dial(draw: Draw, rim: float, trim: Colour) -> Part:
    """A dial of radius 1 facing +z from z = 0: rim, marks (the one at twelve stands out) and hands at a random time."""
    face, ink = draw.colour("pastel"), draw.colour("dark")
    marks = draw.pick("marks", ["bars", "dots", "quarters"])
    time = draw.number("time", 0, 12)
    ground = disc(0.97, 0.06, 32).at(z=0.01)
    ring = lathe([(0.97, -0.05), (1.0, 0.06), (0.97, 0.1), (0.92, 0.06), (0.92, -0.05)], 32).rot(x=90)
    length = box(0.07, 0.2, 0.03) if marks != "dots" else disc(0.06, 0.03, 8)
    short = {"bars": box(0.045, 0.12, 0.03), "dots": disc(0.04, 0.03, 6), "quarters": Part()}[marks]
    reach = 0.78 - rim * 0.3
    ticks = joined((length if h % 3 == 0 else short).at(y=reach).rot(z=-30 * h) for h in range(1, 12))
    twelve = slab(polygon(0.13, 3, -90), 0.04).at(y=reach).paint(draw.colour("bright"))
    width = draw.number("hand width", 0.06, 0.1)
    hour = _hand(0.48, width * 1.3).rot(z=-30 * time).at(z=0.07)
    minute = _hand(0.72, width).rot(z=-360 * (time % 1)).at(z=0.09)
    hub = disc(0.07, 0.08, 10).at(z=0.09)
    if draw.chance("second hand", 0.4):
        twelve += (
            box(0.03, 0.9, 0.012).at(y=0.28).rot(z=draw.number("seconds", 0, 360)).at(z=0.06).paint((0.75, 0.1, 0.1))
        )
    inked = ticks.at(z=0.045) + hour + minute + hub
    return ground.paint(face, 0.1) + ring.paint(trim, 0.7) + twelve.at(z=0.05) + inked.paint(ink)


def _hand(length: float, width: float) -> Part:
    """A pointed hand upwards from slightly below the middle."""
    x, neck = width / 2, length * 0.8
    return slab([(-x, -0.15), (x, -0.15), (x, neck), (0, length), (-x, neck)], 0.018)


def _wall_clock(draw: Draw, depth: float, rim: float, case: Colour) -> Part:
    form = draw.pick("form", ["round", "square", "eight-sided", "sun"])
    half = 1.06 + rim
    outline: Array = {
        "square": rectangle(2 * half, 2 * half, draw.number("corner", 0.02, 0.4), 4),
        "eight-sided": polygon(half * 1.1, 8, 22.5),
    }.get(form, ellipse(2 * half, 2 * half, 32))
    body = slab(outline, depth).paint(case, 0.4)
    if form == "sun":
        rays = draw.whole("rays", 10, 18)
        ray = slab([(-0.14, half - 0.05), (0.14, half - 0.05), (0, half + draw.number("ray length", 0.3, 0.6))], 0.08)
        body += ray.ring(rays, "z").paint(draw.colour(), 0.5)
    works = box(0.7, 0.5, 0.12).at(y=0.1, z=-depth / 2) + box(0.1, 0.2, 0.1).at(y=0.75, z=-depth / 2)
    return body + works.paint((0.12, 0.12, 0.13))


def _alarm_clock(draw: Draw, depth: float, case: Colour, trim: Colour) -> Part:
    """A drum on two feet with two bells, a hammer and a handle, and winders on the back."""
    drum = disc(1.06, depth, 28).paint(case, 0.5)
    tilt, bell = draw.number("bell angle", 24, 40), draw.number("bell size", 0.4, 0.56)
    cup = lathe([(0, 0), (bell, 0), (bell * 0.94, bell * 0.3), (bell * 0.6, bell * 0.62), (0, bell * 0.75)], 14)
    bells = (cup + ball(0.07, 6).at(y=bell * 0.8) + cylinder(0.06, 0.3, n=6).at(y=-0.1)).at(y=1.2).rot(z=-tilt).mirror()
    foot = rod([0.5, -0.8, 0], [0.78, -1.38, 0], 0.09, 0.14, n=8).mirror()
    hammer = cylinder(0.035, 0.5, n=6).at(y=1.2) + ball(0.12, 8).size(1.3, 0.8, 1).at(y=1.46)
    result = drum + bells.paint(trim, 0.9) + (foot + hammer).paint(draw.colour("metal"), 0.8)
    if draw.chance("handle", 0.6):
        result += tube(lift(arc(1, 15, 165, 11) * [0.85, 0.7] + [0, 1.2]), 0.05, 6).paint(draw.colour("metal"), 0.8)
    winders = disc(0.13, 0.16, 8).at(0.35, 0.1, -depth / 2 - 0.06).mirror()
    winders += box(0.2, 0.1, 0.12).at(0, -0.5, -depth / 2 - 0.03)
    return result + winders.paint(BRASS, 0.8)


def _mantel(draw: Draw, depth: float, case: Colour, trim: Colour) -> Part:
    """A case that stands on a shelf: with flowing shoulders, an arch, or a gable on columns."""
    form = draw.pick("mantel", ["shoulders", "arch", "temple"])
    width = draw.number("case width", 1.15, 1.35)
    if form == "shoulders":
        half = spline([(2.3 * width / 1.2, -1.05), (1.9, -0.72), (1.25, -0.15), (0.85, 0.72), (0, 1.08)], 14)
        body = slab(np.concatenate([half, half[-2::-1] * [-1, 1]]), depth)
        foot = 2.4 * width / 1.2
    elif form == "arch":
        body = slab(np.concatenate([[[-width, -1.3], [width, -1.3]], arc(width, 0, 180, 17)]), depth)
        foot = width + 0.12
    else:
        roof = slab([(-width - 0.25, 1.1), (width + 0.25, 1.1), (0, 1.75)], depth + 0.2)
        body = (
            box(2 * width, 2.4, depth).at(y=-0.1) + roof + cylinder(0.14, 2.3, n=8).at(width, -0.1, depth / 2).mirror()
        )
        foot = width + 0.3
    base = -1.3 if form != "shoulders" else -1.05
    plinth = box(2 * foot, 0.18, depth + 0.2).at(y=base - 0.05) + ball(0.14, 8).at(foot - 0.2, base - 0.2).mirror()
    door = box(1.0, 1.0, 0.06).at(y=-0.1, z=-depth / 2)
    return body.paint(case, 0.5) + plinth.paint(trim, 0.5) + door.paint(trim)


def _cuckoo(draw: Draw, depth: float, case: Colour, trim: Colour) -> Part:
    """A little house with a bird in the doorway above the dial, and a pendulum and two weights on chains below."""
    width, rise = draw.number("house width", 0.75, 0.95), draw.number("roof rise", 0.6, 1.0)
    wall = slab([(-width, -0.85), (width, -0.85), (width, 0.75), (0, 0.75 + rise), (-width, 0.75)], depth).paint(case)
    slope, eaves = math.degrees(math.atan2(rise, width)), math.hypot(rise, width) + 0.35
    roof = box(eaves, 0.12, depth + 0.35).at(x=eaves / 2 - 0.03).rot(z=-slope).at(y=0.82 + rise).mirror().paint(trim)
    door = box(0.42, 0.46, 0.06).at(y=0.78, z=depth / 2).paint((0.1, 0.08, 0.07))
    bird = ball(0.14, 8) + rod([0, 0, 0.1], [0, -0.02, 0.28], 0.05, 0.0, n=5)
    bird = bird.at(y=0.72, z=depth / 2 + 0.1).paint(draw.colour("bright"))
    drop = draw.number("drop", 0.7, 1.2)
    hanging = rod([0, -0.8, 0], [0, -0.85 - drop, 0], 0.03, n=5)
    hanging += disc(0.2, 0.06, 12).at(y=-0.9 - drop)
    for x, y in ((0.35, -1.2 - drop * 0.4), (-0.35, -1.3 - drop)):
        hanging += rod([x, -0.8, 0], [x, y, 0], 0.025, n=4) + ball(1, 8).size(0.12, 0.26, 0.12).at(x, y - 0.2)
    return wall + roof + door + bird + hanging.paint(draw.colour("metal"), 0.6)


def _tall_case(draw: Draw, standing: bool, depth: float, case: Colour, trim: Colour) -> Part:
    """A hood, a waist with a pendulum behind glass, and a base (a longcase) or a point (on the wall)."""
    waist, drop = draw.number("waist", 0.6, 0.85), draw.number("waist length", 1.6, 3.2 if standing else 2.2)
    hood = draw.pick("hood", ["flat", "gable", "round"])
    top = {
        "flat": box(2.5, 0.16, depth + 0.3),
        "gable": slab([(-1.25, -0.05), (1.25, -0.05), (0, 0.65)], depth + 0.2),
        "round": slab(arc(1.15, 0, 180, 13) * [1, 0.6], depth + 0.1),
    }[hood].at(y=1.12)
    trunk = box(2 * waist, drop + 0.2, depth * 0.85).at(y=-1 - drop / 2)
    body = box(2.2, 2.3, depth).at(y=-0.02) + trunk
    bottom = -1 - drop
    if standing:
        foot = box(2.2, 0.9, depth).at(y=bottom - 0.35) + box(2.4, 0.18, depth + 0.16).at(y=bottom - 0.85)
    else:
        foot = slab([(-waist, 0.05), (0, -0.5), (waist, 0.05)], depth * 0.85).at(y=bottom)
    glass = box(2 * waist - 0.3, drop - 0.3, 0.06).paint((0.13, 0.13, 0.16), 0.7)
    glass = glass.at(y=-1.05 - drop / 2, z=depth * 0.425)
    swing = draw.number("swing", -8, 8)
    rod_length = drop * 0.68
    bob = box(0.06, rod_length, 0.03).at(y=-rod_length / 2) + disc(0.27, 0.06, 16).at(y=-rod_length)
    pendulum = bob.rot(z=swing).at(y=-1.2, z=depth * 0.425 + 0.06).paint(BRASS, 0.9)
    return body.paint(case, 0.4) + (top + foot).paint(trim, 0.4) + glass + pendulum


@shape("lamp")
def lamp(draw: Draw) -> Part:
    """A lamp with a shade: turned table lamp, jointed desk lamp, tripod, floor lamp, arc lamp or banker's lamp."""
    kind = draw.pick("kind", ["table", "desk", "tripod", "floor", "arc", "banker"], [4, 3, 2, 2, 2, 2])
    form = draw.pick("shade", ["cone", "drum", "bell", "pleated", "globe"], [3, 2, 2, 2, 1])
    radius, shade_height = draw.number("shade radius", 0.38, 0.62), draw.number("shade height", 0.36, 0.62)
    height, foot = draw.number("height", 0.8, 1.2), draw.number("foot radius", 0.26, 0.42)
    body, shade_colour = draw.colour(), draw.colour()
    base = _lamp_foot(draw, foot).paint(draw.colour())
    if kind == "desk":
        return base + _desk_arm(draw, height, radius * 0.75, body, shade_colour)
    if kind == "banker":
        return base + _banker(height * 0.85, draw.number("shade length", 0.9, 1.3), radius * 0.55, body, shade_colour)
    shade = _shade(form, radius, shade_height, shade_colour, draw.colour())
    if draw.chance("pull chain", 0.6):
        shade += _pull_chain().at(radius * 0.45, 0, 0.1)
    if kind == "arc":
        reach = draw.number("reach", 0.7, 1.1)
        top = height * 1.75
        path = [(-reach, 0, 0), (-reach, height, 0), (-reach * 0.55, top, 0), (0, top, 0), (0.3, height * 1.45, 0)]
        stem = tube(spline(path, 18), 0.03, 6).paint(body, 0.7)
        return base.at(x=-reach) + stem + shade.size(0.9).at(0.3, height * 1.45 - shade_height * 0.8)
    if kind == "tripod":
        spread = draw.number("spread", 0.35, 0.55)
        legs = rod([0, 0, spread], [0, height * 1.25, 0], 0.04, 0.03, n=6).ring(3)
        hub = cylinder(0.09, 0.14, n=10).at(y=height * 1.22)
        return (legs + hub).rot(y=20).paint(body, 0.4) + shade.at(y=height * 1.3)
    if kind == "floor":
        knot = ball(0.08, 8).at(y=height * draw.number("knot height", 0.4, 1.4))
        pole = cylinder(0.035, height * 2.1, n=8).at(y=height * 1.05) + knot
        return base + pole.paint(body, 0.6) + shade.at(y=height * 2.05) + _cable(foot)
    return base + _turned_stem(draw, height).paint(body, 0.6) + shade.at(y=height * 0.95) + _cable(foot)


def _lamp_foot(draw: Draw, radius: float) -> Part:
    kind = draw.pick("foot", ["disc", "dome", "square"])
    if kind == "square":
        return box(radius * 1.8, 0.08, radius * 1.8).at(y=0.04)
    if kind == "dome":
        return lathe([(0, 0), (radius, 0), (radius, 0.04), (radius * 0.75, 0.12), (0.06, 0.16), (0, 0.16)], 18)
    return cylinder(radius, 0.07, n=20).at(y=0.035)


def _cable(foot: float) -> Part:
    """A cable that leaves the foot at the back and carries a switch."""
    z = -foot - 0.05
    path = spline([(0, 0.03, -foot * 0.8), (0.15, 0.02, z - 0.1), (0.45, 0.02, z), (0.7, 0.02, z - 0.15)], 10)
    switch = box(0.15, 0.05, 0.07).at(0.45, 0.03, z)
    return tube(path, 0.018, 5).paint((0.15, 0.15, 0.16)) + switch.paint((0.9, 0.9, 0.88))


def _pull_chain() -> Part:
    """A chain with a bead that hangs down through the origin."""
    return (rod([0, 0.1, 0], [0, -0.26, 0], 0.015, n=4) + ball(0.043, 6).at(y=-0.28)).paint(BRASS, 0.8)


def _bulb(radius: float) -> Part:
    return ball(radius, 8).paint((1.0, 0.95, 0.7), 0.3)


def _turned_stem(draw: Draw, height: float) -> Part:
    """The body of a table lamp: a gourd, a column, a stack of balls or a jar."""
    kind = draw.pick("stem", ["gourd", "column", "balls", "jar"])
    fat = draw.number("belly", 0.16, 0.3)
    if kind == "balls":
        n = draw.whole("balls", 2, 4)
        r = height * 0.45 / n
        beads = joined(ball(r * (1.05 - 0.12 * k), 12).at(y=0.06 + r * (1 + 1.75 * k)) for k in range(n))
        return beads + cylinder(0.03, height, n=6).at(y=height / 2)
    profile = {
        "gourd": [(0.5, 0.05), (1, 0.2), (0.9, 0.35), (0.35, 0.55), (0.45, 0.66), (0.15, 0.78)],
        "column": [(0.6, 0.05), (0.6, 0.12), (0.35, 0.18), (0.3, 0.6), (0.5, 0.66), (0.5, 0.74), (0.15, 0.78)],
        "jar": [(0.6, 0.05), (0.8, 0.1), (1.1, 0.5), (0.95, 0.62), (0.4, 0.68), (0.45, 0.74), (0.15, 0.78)],
    }[kind]
    smooth = [(r * fat, y * height) for r, y in profile]
    return lathe([(0, 0.05 * height), *smooth, (0.03, height), (0, height)], 16, crease=60)


def _shade(kind: str, radius: float, height: float, colour: Colour, trim: Colour) -> Part:
    """A shade hanging open below from y = 0 to `height`, with a glowing bulb in it."""
    if kind == "globe":
        holder = cylinder(0.1, 0.12, n=10).at(y=-0.05).paint(trim, 0.8)
        return ball(radius * 0.85, 16).at(y=radius * 0.75).paint(colour, 0.4) + holder
    top = {"cone": 0.35, "drum": 0.9, "bell": 0.4, "pleated": 0.55}[kind] * radius
    waist = [(radius * 0.66, height * 0.4)] if kind == "bell" else []
    wall = [(radius, 0.0), *waist, (top, height)]
    inner = [(r - 0.025, y) for r, y in reversed(wall)]
    around, crease = (10, 25.0) if kind == "pleated" else (24, 40.0)
    skin = lathe([*wall, *inner, wall[0]], around, crease).paint(colour, 0.1)
    fittings = box(2 * top, 0.02, 0.02).at(y=height * 0.93).ring(2) + ball(0.05, 6).at(y=height + 0.03)
    fittings += cylinder(0.02, height, n=5).at(y=height / 2)
    if kind != "pleated":
        hem = np.insert(ellipse(2 * radius, 2 * radius, 24), 1, 0.0, axis=1)
        fittings += tube(hem, 0.022, 4, closed=True)
    return skin + fittings.paint(trim, 0.5) + _bulb(radius * 0.3).at(y=height * 0.4)


def _desk_arm(draw: Draw, height: float, radius: float, body: Colour, colour: Colour) -> Part:
    """Two arms with a joint and a conical head that points down to the right."""
    lower, upper = draw.number("lower arm angle", 100, 125), draw.number("upper arm angle", 15, 50)
    elbow = np.array([math.cos(math.radians(lower)), math.sin(math.radians(lower)), 0]) * height * 0.8
    wrist = elbow + np.array([math.cos(math.radians(upper)), math.sin(math.radians(upper)), 0]) * height * 0.85
    arms = rod([0, 0.05, 0], elbow, 0.04, n=6) + rod(elbow, wrist, 0.035, n=6)
    arms += ball(0.08, 8).at(*elbow) + ball(0.07, 8).at(*wrist)
    if draw.chance("spring", 0.5):
        arms += rod(elbow * 0.25 + [0.1, 0, 0], elbow * 0.95 + [0.09, 0, 0], 0.02, n=5)
    inner = [(0, 0.85), (0.3, 0.8), (0.84, 0.36), (1, 0)]
    outer = [(1, 0), (0.9, 0.4), (0.35, 1.0), (0.3, 1.4), (0, 1.45)]
    head = lathe(inner + outer, 20).size(radius).paint(colour, 0.5) + _bulb(radius * 0.42).at(y=radius * 0.25)
    tilt = draw.number("head tilt", 10, 50)
    return arms.paint(body, 0.6) + head.at(y=-radius * 0.9).rot(z=tilt).at(*wrist)


def _banker(height: float, length: float, radius: float, body: Colour, colour: Colour) -> Part:
    """A stem with a trough-shaped shade lying across it, a bulb below and a pull chain on the right."""
    outer, inner = arc(radius, 0, 180, 11), arc(radius * 0.9, 180, 0, 11)
    trough = slab(np.concatenate([outer, inner]), length).rot(y=90)
    caps = slab(outer, 0.04).rot(y=90).at(x=length / 2).mirror()
    bulb = cylinder(radius * 0.3, length * 0.7, n=8).rot(z=90).at(y=radius * 0.3).paint((1.0, 0.95, 0.7), 0.3)
    stem = tube(bent([(0, 0.05, -0.05), (0, height, -0.12), (0, height + radius, 0)], 0.2), 0.04, 7)
    stem += ball(0.09, 8).at(y=height * 0.35, z=-0.08)
    shade = ((trough + caps).paint(colour, 0.6) + bulb).rot(x=8)
    return stem.paint(body, 0.8) + shade.at(y=height) + _pull_chain().at(length * 0.3, height, 0.05)
