"""Vessels with a label on the front: bottle, can, jar."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lie_ssl.objects.shapes.curves import Array, ellipse, spline
from lie_ssl.objects.shapes.draw import Draw, Range, distinct
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, slab, tube
from lie_ssl.objects.shapes.walls import Wall


def _label(draw: Draw, wall: Wall, y: float, height: float, under: Colour) -> Part:
    """A label with an emblem and a line of lettering below, on the front."""
    width, turned = draw.number("label width", 85, 135), draw.number("label turn", -5, 20)
    paper = distinct(draw, under)
    outline = draw.pick("label", ["rectangle", "oval", "shield", "arched"], [4, 1.5, 1, 1])
    emblem = draw.pick("emblem", ["oval", "diamond", "heart", "slanted", "shield"])
    signs = wall.patch("rectangle", y - 0.27 * height, 0.12 * height, 0.5 * width, turned, layer=2)
    signs += wall.patch(emblem, y + 0.14 * height, 0.48 * height, 0.5 * width, turned, layer=2)
    ink = distinct(draw, paper, palette="any")
    return wall.patch(outline, y, height, width, turned).paint(paper, 0.1) + signs.paint(ink, 0.1)


# Ranges of the height of the body, its radius, the height of the shoulder, of the neck, and its radius; closures.
BOTTLES: dict[str, tuple[tuple[Range, ...], list[str]]] = {
    "wine": (((0.7, 0.9), (0.2, 0.26), (0.12, 0.4), (0.3, 0.42), (0.07, 0.09)), ["cork"]),
    "beer": (((0.5, 0.7), (0.2, 0.25), (0.15, 0.35), (0.2, 0.32), (0.07, 0.09)), ["crown"]),
    "spirit": (((0.6, 0.8), (0.27, 0.36), (0.06, 0.14), (0.15, 0.25), (0.08, 0.11)), ["stopper", "screw"]),
    "soda": (((0.75, 0.9), (0.24, 0.3), (0.25, 0.4), (0.06, 0.12), (0.09, 0.11)), ["screw"]),
    "sauce": (((0.6, 0.75), (0.19, 0.25), (0.25, 0.45), (0.08, 0.2), (0.09, 0.12)), ["screw", "spout"]),
    "soap": (((0.6, 0.8), (0.26, 0.36), (0.05, 0.15), (0.05, 0.08), (0.1, 0.13)), ["pump"]),
    "sports": (((0.75, 0.95), (0.22, 0.27), (0.06, 0.14), (0.04, 0.07), (0.14, 0.17)), ["spout"]),
}


def _bottle_profile(kind: str, draw: Draw) -> Array:
    """(radius, y) of a bottle from its foot to its mouth."""
    names = ("body", "radius", "shoulder", "neck", "neck radius")
    body, radius, rise, length, neck = (draw.number(n, *r) for n, r in zip(names, BOTTLES[kind][0], strict=True))
    t = np.linspace(0, 1, 7)
    waist, taper = draw.number("waist", 0.0, 0.14), draw.number("taper", -0.04, 0.1)
    sides = radius * (1 - waist * np.exp(-(((t - 0.55) / 0.2) ** 2)) - taper * (1 - t))
    fall = {"round": np.sqrt(1 - t**2), "sloping": (np.cos(math.pi * t) + 1) / 2, "straight": 1 - t}
    shoulder = neck + (sides[-1] - neck) * fall[draw.pick("shoulders", list(fall), [3, 3, 1])]
    walls = [np.column_stack([sides, 0.04 + body * t]), np.column_stack([shoulder, 0.04 + body + rise * t])[1:]]
    top = 0.04 + body + rise + length
    lip = [(neck, top - 0.06), (neck + 0.015, top - 0.05), (neck + 0.015, top), (0, top)]
    return np.concatenate([[(0, 0.03), (0.75 * sides[0], 0.0), (0.93 * sides[0], 0.005)], *walls, lip])


def _closure(kind: str, radius: float, draw: Draw, colour: Colour) -> Part:
    """The stopper, cap or pump that sits on a mouth at height 0."""
    size, r = draw.number("closure", 0.85, 1.25), radius
    if kind == "cork":
        foil = lathe([(r + 0.01, -0.2 * size), (r + 0.03, 0.0), (0.8 * r, 0.015), (0, 0.015)], 14)
        cork = cylinder(0.75 * r, 0.08 * size, n=12).at(y=0.05 * size).paint(draw.colour("wood"))
        return foil.paint(colour, 0.4) + cork
    if kind == "crown":
        return lathe([(0, -0.02), (r + 0.045, -0.02), (r + 0.01, 0.035), (0, 0.04)], 14).paint(colour, 0.6)
    if kind == "stopper":
        return (cylinder(r + 0.03, 0.05, n=14) + ball(0.13 * size, 12).at(y=0.13)).paint(colour, 0.7)
    if kind == "spout":
        cap = lathe([(0, -0.05), (r + 0.035, -0.05), (r + 0.02, 0.05), (0.06, 0.08), (0, 0.08)], 16)
        return cap.paint(colour, 0.3) + cylinder(0.05, 0.16 * size, 0.03, n=10).at(y=0.13).paint(draw.colour())
    if kind == "pump":
        collar = cylinder(r + 0.03, 0.1, n=16) + cylinder(0.03, 0.3 * size, n=8).at(y=0.1)
        beak = tube([(0, 0, -0.07), (0, 0, 0.2), (0, -0.06, 0.27)], [0.06, 0.045, 0.03], 8)
        return (collar + beak.rot(y=draw.number("beak", -30, 0)).at(y=0.1 + 0.15 * size)).paint(colour, 0.3)
    return cylinder(r + 0.035, 0.13 * size, r + 0.025, n=16).at(y=0.01).paint(colour, 0.3)


@shape("bottle")
def bottle(draw: Draw) -> Part:
    """A labelled bottle: wine, beer, spirit, soda, sauce, soap or sports; round, square or flat; six closures."""
    kind = draw.pick("kind", list(BOTTLES))
    profile = _bottle_profile(kind, draw)
    top, mouth, body = float(profile[-1, 1]), float(profile[-2, 0]), draw.numbers["body"]
    section = draw.pick("section", ["round", "square", "flat"], [2, 1, 1] if kind in ("spirit", "soap") else [5, 1, 0])
    colour, flat = draw.colour(), draw.number("flatness", 0.55, 0.75) if section == "flat" else 1.0
    wall = Wall(profile, corners=float(section == "square"), flat=flat, neck=mouth)
    cap = _closure(draw.pick("closure", BOTTLES[kind][1]), mouth, draw, distinct(draw, colour))
    whole = wall.solid().paint(colour, 0.7) + cap.at(y=top)
    if kind in ("wine", "beer") and draw.chance("neck label", 0.5):
        seal = wall.patch("rectangle", top - 0.68 * draw.numbers["neck"], 0.4 * draw.numbers["neck"], 120)
        whole += seal.paint(distinct(draw, colour), 0.1)
    height, place = body * draw.number("label height", 0.5, 0.75), draw.number("label place", 0.42, 0.52)
    return whole + _label(draw, wall, 0.04 + body * place, height, colour)


def _can_profile(kind: str, r: float, h: float, ribs: int) -> Array:
    """(radius, y) of a can of radius r and height h with its rims; the lid lies a little below the upper rim."""
    if kind == "drink":
        foot = [(0, 0.03), (0.7 * r, 0.0), (0.78 * r, 0.0), (r, 0.09), (r, h - 0.14)]
        return np.array([*foot, (0.85 * r, h - 0.03), (0.85 * r, h), (0.8 * r, h), (0.78 * r, h - 0.03), (0, h - 0.03)])
    foot = [(0, 0.02), (r - 0.04, 0.02), (r - 0.03, 0), (r + 0.02, 0), (r + 0.02, 0.035), (r, 0.045)]
    wave = [(r - 0.018 * (i % 2), h * (0.2 + 0.6 * i / (2 * ribs))) for i in range(2 * ribs + 1)] if ribs else []
    rim = [(r, h - 0.045), (r + 0.02, h - 0.035), (r + 0.02, h)]
    if kind == "spray":
        return np.array([*foot, *rim, (0.6 * r, h + 0.1), (0, h + 0.11)])
    return np.array([*foot, *wave, *rim, (r - 0.05, h), (r - 0.06, h - 0.03), (0, h - 0.03)])


def _can_top(kind: str, radius: float, height: float, draw: Draw, metal: Colour) -> Part:
    """The top of a can: the ring pull, the nozzle of a spray, the bail of a paint tin."""
    turned, r = draw.number("turn of the lid", -35, 35), radius
    if kind == "spray":
        nozzle = cylinder(0.4 * r, 0.14, 0.34 * r, n=12).paint(draw.colour(), 0.3)
        return (nozzle + disc(0.12 * r, 0.1, 8).at(0, 0.02, 0.36 * r)).at(y=height + 0.17)
    if kind == "paint":
        knots = [(r, 0, 0), (0.75 * r, 0.36, 0.1), (0, 0.52, 0.15), (-0.75 * r, 0.36, 0.1), (-r, 0, 0)]
        bail = spline(knots, 17)
        lid = cylinder(0.82 * r, 0.04, n=20).at(y=0.12).paint(draw.colour(), 0.4)
        wire = (tube(bail, 0.02, 6) + ball(0.07, 8).at(x=r).mirror()).paint(metal, 0.7)
        return (wire + lid + tube(bail[6:11], 0.04, 7).paint(draw.colour(), 0.2)).at(y=height - 0.15)
    ring = slab(ellipse(0.5, 0.62, 14), 0.03, [ellipse(0.26, 0.3, 10) + np.array([0, -0.1])])
    rivet = cylinder(0.08, 0.06, n=8).at(0, 0.02, -0.08)
    opening = slab(ellipse(0.55, 0.5, 12), 0.02).rot(x=-90).at(0, -0.01, -0.42)
    pull = (ring.rot(x=-90).at(0, 0.02, 0.12) + rivet).paint(metal, 0.8) + opening.paint((0.25, 0.25, 0.27), 0.6)
    size = r * (0.75 if kind == "drink" else 0.85)
    return pull.size(size, 1, size).rot(y=turned).at(y=height - 0.01)


# Height of a can in diameters, times 1.2.
CANS: dict[str, Range] = {
    "drink": (1.5, 2.3), "food": (1.05, 1.5), "low": (0.45, 0.7), "spray": (2.2, 3), "paint": (0.95, 1.2),
}  # fmt: skip


@shape("can")
def can(draw: Draw) -> Part:
    """A can: drink, food (ribbed or plain), low fish tin (round, oval, square), spray or paint; ring pull or bail."""
    kind = draw.pick("kind", list(CANS), [3, 2.5, 1.5, 1, 1])
    height = draw.number("height", 0.8, 1.2)
    radius = 0.6 * height / draw.number("slimness", *CANS[kind])
    ribs = draw.whole("ribs", 0, 4) if kind in ("food", "paint") else 0
    wall = Wall(_can_profile(kind, radius, height, ribs))
    if kind == "low":
        section = draw.pick("section", ["round", "oval", "square"])
        wall = replace(wall, corners=float(section == "square"), flat=1.0 if section == "round" else 0.68)
    metal, colour = draw.colour("metal"), draw.colour()
    low, high = (0.13, height - 0.17) if kind == "drink" else (0.07, height - 0.07)
    sleeve = [(radius - 0.01, low), (radius + 0.008, low), (radius + 0.008, high), (radius - 0.01, high)]
    skin = replace(wall, profile=np.array(sleeve))
    whole = wall.solid().paint(metal, 0.8)
    if ribs == 0 or draw.chance("paper sleeve", 0.5):
        whole += skin.solid().paint(colour, 0.4)
    tall, place = draw.number("label height", 0.6, 0.85), draw.number("label place", 0.47, 0.53)
    whole += _label(draw, skin, low + place * (high - low), tall * (high - low), colour)
    if draw.chance("stripe", 0.4):
        whole += skin.patch("slanted", 0.5 * height, 0.4 * height, 100, 135).paint(distinct(draw, colour), 0.4)
    return whole + _can_top(kind, radius, height, draw, metal)


def _jar_lid(kind: str, r: float, draw: Draw, colour: Colour) -> Part:
    """A lid for a mouth of radius r at height 0: a screw top, a tied cloth, a dome with a knob, a cork or a clip."""
    thick = draw.number("lid", 0.1, 0.18)
    if kind == "cloth":
        hem = [(r + 0.03 + 0.12 * f**2, -0.02 - 0.16 * f) for f in (1.0, 0.67, 0.33, 0.0)]
        cloth = Wall(np.array([*hem, (r + 0.04, 0.06), (0, 0.09)]), neck=r + 0.03, waves=12, swell=0.07)
        band = lathe([(r + 0.03, -0.05), (r + 0.055, -0.03), (r + 0.03, -0.01)], 18)
        bow = ball(0.07, 8).size(1.2, 0.7, 0.6).at(0.08).mirror().at(0, -0.03, r + 0.08)
        return cloth.solid().paint(colour, 0.1) + (band + bow).paint(distinct(draw, colour), 0.2)
    if kind == "knob":
        dome = spline([(r + 0.05, 0.0), (0.85 * r, 0.6 * thick), (0.4 * r, thick), (0, 1.1 * thick)], 8)
        lid = lathe(np.concatenate([[(0, -0.02), (r + 0.05, -0.02)], dome]), 20).paint(colour, 0.5)
        return lid + ball(0.11, 12).at(y=1.1 * thick + 0.06).paint(distinct(draw, colour), 0.5)
    if kind == "cork":
        return cylinder(0.8 * r, thick + 0.1, r + 0.02, n=18).at(y=0.5 * thick + 0.04).paint(draw.colour("wood"), 0.1)
    if kind == "clip":
        lid = cylinder(r + 0.03, 0.09, n=20).at(y=0.06).paint(colour, 0.6)
        front = spline([(0.12, 0.06, 0), (0.1, -0.14, 0.05), (0, -0.2, 0.06), (-0.1, -0.14, 0.05), (-0.12, 0.06, 0)], 9)
        wire = tube(front, 0.024, 6).at(z=r + 0.05) + box(0.16, 0.12, 0.1).at(z=-r - 0.05)
        return lid + cylinder(r + 0.05, 0.03, n=20).paint((0.75, 0.25, 0.15)) + wire.paint(draw.colour("metal"), 0.8)
    edge = [(0, -0.04), (r + 0.05, -0.04), (r + 0.05, thick - 0.04), (r + 0.01, thick), (0, thick)]
    return lathe(edge, 20).paint(colour, 0.5) + cylinder(0.7 * r, 0.02, n=16).at(y=thick).paint(distinct(draw, colour))


@shape("jar")
def jar(draw: Draw) -> Part:
    """A wide-mouthed jar: straight, bellied or tapered, round to square, more or less full, with one of five lids."""
    height, radius = draw.number("height", 0.75, 1.25), draw.number("radius", 0.36, 0.5)
    mouth = radius * draw.number("mouth", 0.68, 0.88)
    t = np.linspace(0, 1, 12)
    sides = {"straight": 1 + 0 * t, "bellied": 0.78 + 0.22 * np.sin(math.pi * t), "tapered": 0.78 + 0.22 * t}
    shoulder = np.sqrt(1 - np.clip((t - 0.78) / 0.22, 0, 1) ** 2)
    body = mouth + (radius * sides[draw.pick("form", list(sides))] - mouth) * shoulder
    lip = [(mouth, height + 0.1), (0, height + 0.1)]
    profile = np.concatenate([[(0, 0.03), (0.85 * body[0], 0)], np.column_stack([body, 0.03 + height * t]), lip])
    wall = Wall(profile, neck=mouth, corners=draw.pick("corners", [0.0, 0.7, 1.0], [4, 1, 1]))
    colour, level = draw.colour(), height * draw.number("level", 0.3, 0.95)
    seam = [(float(wall.radius_at(level)), level)]
    glass = distinct(draw, colour, palette="glass") if draw.chance("see-through", 0.6) else colour
    whole = wall.solid(np.concatenate([profile[profile[:, 1] < level], seam])).paint(colour, 0.6)
    whole += wall.solid(np.concatenate([seam, profile[profile[:, 1] >= level]])).paint(glass, 0.8)
    tall, place = draw.number("label height", 0.4, 0.55), draw.number("label place", 0.4, 0.48)
    whole += _label(draw, wall, height * place, height * tall, colour)
    lid = draw.pick("lid", ["screw", "cloth", "knob", "cork", "clip"], [3, 1.5, 2, 1, 1.5])
    return whole + _jar_lid(lid, mouth, draw, distinct(draw, colour)).at(y=height + 0.1)
