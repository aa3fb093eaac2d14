"""Vessels for the kitchen: bottle, bowl, can, jar, mug. Their label or motif is on the front."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lie_ssl.objects.shapes.curves import ellipse, lift, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

Array = NDArray[np.float64]
Range = tuple[float, float]
STEP = 15.0
STAND = 0.015


@dataclass(frozen=True)
class Wall:
    """The outside of a vessel: a profile of (radius, y), bottom to top, with a round, square, flat or wavy section.

    `corners` goes from 0 (round) to 1 (square). Where the profile is as narrow as `neck` the section is round.
    """

    profile: Array
    corners: float = 0.0
    flat: float = 1.0
    neck: float = 0.0
    waves: int = 0
    swell: float = 0.0

    def points(self, degrees: Array, radius: Array, height: Array) -> Array:
        """Points in direction `degrees` (0 is the front, 90 the right) at any radius and height, broadcast together."""
        angle, radius, height = np.broadcast_arrays(np.radians(degrees), radius, height)
        widest = float(self.profile[:, 0].max())
        body = np.clip((radius - self.neck) / (widest - self.neck), 0, 1) if self.neck else np.ones_like(radius)
        power = 2 + 6 * self.corners * body
        norm = (np.abs(np.cos(angle)) ** power + np.abs(np.sin(angle)) ** power) ** (1 / power)
        reach = radius / norm * (1 + self.swell * body * np.cos(self.waves * angle))
        depth = reach * (1 + (self.flat - 1) * body)
        return np.stack([reach * np.sin(angle), height, depth * np.cos(angle)], axis=-1)

    def radius_at(self, y: ArrayLike) -> Array:
        """The radius at a height."""
        return np.interp(np.asarray(y, np.float64), self.profile[:, 1], self.profile[:, 0])

    def solid(self, profile: ArrayLike | None = None) -> Part:
        """The skin over the own profile, or over another one with the same kind of section."""
        p = self.profile if profile is None else np.asarray(profile, np.float64)
        return loft(list(self.points(np.arange(0, 360, STEP)[None], p[:, :1], p[:, 1:])), caps=False)

    def hollow(self, thickness: float) -> Part:
        """Outside, rim and inside of an open vessel."""
        inner = self.profile[self.profile[:, 1] > self.profile[0, 1] + thickness][::-1] - np.array([thickness, 0])
        inner = inner[inner[:, 0] > 0]
        return self.solid(np.concatenate([self.profile, inner, [(0, inner[-1, 1])]]))

    def patch(self, outline: str, y: float, height: float, width: float, centre: float = 0.0, layer: int = 1) -> Part:
        """A curved label on the wall, `width` degrees wide; it stands out by `layer` times a little."""
        grid = np.arange(-180, 180, STEP / 2)
        inside = grid[np.abs(grid - centre) < width / 2 - 0.5]
        left, right = centre - width / 2, centre + width / 2
        columns = np.concatenate([[left, left], inside, [right, right]])
        top, bottom = _outline(outline, np.clip(2 * (columns - centre) / width, -1, 1))
        rows = np.linspace(0, 1, 7)[[0, *range(7), 6]][:, None]
        heights = y + height / 2 * (bottom + (top - bottom) * rows)
        # The border dips into the wall, so that the label has a closed edge.
        stand = np.full(heights.shape, STAND * layer)
        stand[[0, -1]] = stand[:, [0, -1]] = -STAND
        return sheet(self.points(columns[None], self.radius_at(heights) + stand, heights))


def _outline(name: str, u: Array) -> tuple[Array, Array]:
    """Upper and lower edge of a motif, -1 to 1, at places u, -1 to 1."""
    across, full = np.abs(u), np.ones_like(u)
    dome = np.sqrt(np.maximum(1 - u**2, 0))
    lobes = 0.3 + 0.7 * np.sqrt(np.maximum(1 - (2 * across - 1) ** 2, 0))
    edges = {
        "oval": (dome, -dome),
        "diamond": (1 - across, across - 1),
        "heart": (lobes, 1.3 * across - 1),
        "shield": (full, 0.2 - 1.2 * dome),
        "arched": (1.2 * dome - 0.2, -full),
        "slanted": (0.45 + 0.55 * u, 0.55 * u - 0.45),
    }
    return edges.get(name, (full, -full))


def distinct(draw: Draw, *taken: Colour, palette: str = "paint") -> Colour:
    """A colour that can be told from those already taken."""
    colour = draw.colour(palette)
    for _ in range(20):
        if all(sum(abs(a - b) for a, b in zip(colour, t, strict=True)) > 0.7 for t in taken):
            break
        colour = draw.colour(palette)
    return colour


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


def _motif(draw: Draw, wall: Wall, y: float, height: float, under: Colour) -> Part:
    """Something painted on the front: one big sign, three in a row, or a framed one."""
    ink, width = distinct(draw, under), draw.number("motif width", 50, 80)
    sign = draw.pick("sign", ["heart", "oval", "diamond", "shield", "slanted"])
    turned, style = draw.number("motif turn", 0, 20), draw.pick("motif", ["single", "three", "framed"])
    if style == "single":
        return wall.patch(sign, y, height, width, turned).paint(ink, 0.3)
    if style == "framed":
        frame = wall.patch("rectangle", y, height, 1.3 * width, turned).paint(ink, 0.3)
        return frame + wall.patch(sign, y, 0.75 * height, 0.8 * width, turned, layer=2).paint(distinct(draw, ink), 0.3)
    beside = wall.patch(sign, y, 0.6 * height, 0.55 * width, turned - 0.8 * width)
    beside += wall.patch(sign, y, 0.6 * height, 0.55 * width, turned + 0.8 * width)
    middle = wall.patch(sign, y, height, 0.75 * width, turned)
    return beside.paint(distinct(draw, under), 0.3) + middle.paint(ink, 0.3)


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


def _bowl_profile(draw: Draw) -> Array:
    """(radius, y) of the outside of a bowl of rim radius 1, from its foot to its rim."""
    depth, foot = draw.number("depth", 0.5, 0.9), draw.number("foot", 0.3, 0.5)
    t, rise = np.linspace(0, 1, 10), draw.number("foot height", 0, 0.14)
    lipped = 0.8 * np.sin(1.4 * t) + 0.21 * t**6
    bulges = {"round": np.sin(t * math.pi / 2), "conical": t, "deep": t**0.35, "lipped": lipped}
    form = draw.pick("form", list(bulges), [3, 1, 2, 2])
    y = depth * (1 - np.cos(t * math.pi / 2)) if form == "round" else depth * t
    wall = np.column_stack([foot + (1 - foot) * bulges[form], 0.02 + rise + y])
    return np.concatenate([[(0, 0.02), (0.85 * foot, 0), (0.99 * foot, 0)], wall])


def _filling(draw: Draw, wall: Wall, y: float) -> Part:
    """What is in a bowl, if anything: soup with a spoon, noodles with chopsticks, or fruit."""
    inside, lean = float(wall.radius_at(y)) - 0.05, draw.number("lean", 0.6, 0.8)
    kind = draw.pick("filling", ["none", "soup", "noodles", "fruit"], [3, 2, 1.5, 1.5])
    if kind == "none":
        return Part()
    if kind == "fruit":
        fruit = ball(0.3, 12).at(0.45 * inside, y, 0).paint(draw.colour(), 0.4).ring(3)
        return fruit + ball(0.34, 12).at(0.02, y + 0.3, 0.03).paint(draw.colour(), 0.4)
    surface = wall.solid([(0, y), (inside, y), (0, y + 0.01)]).paint(draw.colour(), 0.4)
    if kind == "soup":
        spoon = tube([(0.1, y, 0), (0.9, y + lean, -0.5), (1.1, y + lean + 0.1, -0.6)], [0.04, 0.05, 0.07], 6)
        return surface + spoon.paint(draw.colour("metal"), 0.8)
    stick = rod((-0.2, y, 0.1), (1.2, y + lean, -0.7), 0.04, 0.055, 6)
    return surface + (stick + stick.rot(y=13).at(y=0.02)).paint(draw.colour(), 0.3)


@shape("bowl")
def bowl(draw: Draw) -> Part:
    """A bowl: round, conical, deep or lipped; round, square or eight-sided section; with ears or not, maybe filled."""
    section = draw.pick("section", ["round", "square", "eight-sided"], [5, 1, 1])
    edge = draw.number("edge", 0.4, 1.0)
    wall = Wall(_bowl_profile(draw), corners=edge if section == "square" else 0.0, neck=0.2)
    wall = replace(wall, waves=8, swell=0.06 * edge) if section == "eight-sided" else wall
    colour, top = draw.colour(), float(wall.profile[-1, 1])
    whole = wall.hollow(draw.number("thickness", 0.05, 0.09)).paint(colour, 0.5)
    whole += _motif(draw, wall, 0.62 * top, draw.number("motif height", 0.45, 0.6) * top, colour)
    if draw.chance("coloured rim", 0.4):
        rim = [(0.97, top - 0.06), (1.015, top - 0.06), (1.015, top + 0.02), (0.9, top + 0.02), (0.9, top - 0.06)]
        whole += wall.solid(rim).paint(distinct(draw, colour), 0.5)
    if section == "round" and draw.chance("ears", 0.3):
        ear = tube(spline([(0.9, 0, 0.25), (1.18, 0.04, 0.18), (1.18, 0.04, -0.18), (0.9, 0, -0.25)], 9), 0.06, 6)
        whole += ear.at(y=0.85 * top).mirror().paint(distinct(draw, colour), 0.5)
    return whole + _filling(draw, wall, draw.number("level", 0.72, 0.85) * top)


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
    """What is on a can: the ring pull, the nozzle of a spray, the bail of a paint tin."""
    turned, r = draw.number("turn of the lid", -35, 35), radius
    if kind == "spray":
        nozzle = cylinder(0.4 * r, 0.14, 0.34 * r, n=12).paint(draw.colour(), 0.3)
        return (nozzle + cylinder(0.12 * r, 0.1, n=8).rot(x=90).at(0, 0.02, 0.36 * r)).at(y=height + 0.17)
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


# How slim a can is: its height in diameters, times 1.2.
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
    """A lid for a mouth of radius r at height 0: a screw top, a cloth tied over, a dome with a knob, cork or clip."""
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


def _handle(draw: Draw, wall: Wall, height: float) -> Part:
    """The handle on the right: a ring, an ear, a beak or a square bow."""
    reach, thick = draw.number("reach", 0.24, 0.4), draw.number("thickness", 0.045, 0.07)
    low, high = height * draw.number("handle foot", 0.15, 0.28), height * draw.number("handle top", 0.74, 0.88)
    start, end = float(wall.radius_at(high)) - 0.03, float(wall.radius_at(low)) - 0.03
    out, middle = max(start, end) + reach, (low + high) / 2
    bends = {
        "ring": [(out - 0.06, high - 0.05), (out, middle), (out - 0.06, low + 0.05)],
        "ear": [(out - 0.08, high + 0.06), (out, high - 0.18), (out - 0.14, low + 0.08)],
        "beak": [(out, high + 0.03), (out - 0.02, middle), (end + 0.12, low + 0.05)],
    }
    form = draw.pick("handle", [*bends, "square"])
    if form != "square":
        return tube(lift(spline([(start, high), *bends[form], (end, low)], 14)), thick, 8)
    inset = 1.7 * thick
    bow = [(start, high), (out, high), (out, low), (end, low)]
    bow += [(end, low + inset), (out - inset, low + inset), (out - inset, high - inset), (start, high - inset)]
    return slab(bow, 2 * thick)


@shape("mug")
def mug(draw: Draw) -> Part:
    """A cup with a handle on the right: straight, bellied, flared, tapered or waisted, with a motif, a drink, a rim."""
    height, radius = draw.number("height", 0.75, 1.25), draw.number("radius", 0.38, 0.52)
    t, bend = np.linspace(0, 1, 11), draw.number("bend", 0.12, 0.28)
    wave = np.sin(math.pi * t)
    forms = {"straight": 0 * t, "bellied": wave - 0.4, "flared": t**2 - 0.6, "tapered": 0.4 - t, "waisted": -wave}
    side = radius * (1 + bend * forms[draw.pick("form", list(forms))])
    profile = np.concatenate([[(0, 0.03), (0.85 * side[0], 0)], np.column_stack([side, 0.03 + (height - 0.03) * t])])
    wall = Wall(profile, corners=0.5 if draw.chance("squarish", 0.15) else 0.0)
    colour = draw.colour()
    whole = wall.hollow(draw.number("wall", 0.035, 0.06)).paint(colour, 0.5)
    accent = distinct(draw, colour) if draw.chance("other handle", 0.3) else colour
    whole += _handle(draw, wall, height).paint(accent, 0.5)
    whole += _motif(draw, wall, 0.5 * height, draw.number("motif height", 0.3, 0.5) * height, colour)
    if draw.chance("drink", 0.6):
        level = height * draw.number("level", 0.7, 0.9)
        whole += wall.solid([(0, level), (float(wall.radius_at(level)) - 0.03, level)]).paint(draw.colour("wood"), 0.5)
    if draw.chance("coloured rim", 0.35):
        inner, outer = float(side[-1]) - 0.07, float(side[-1]) + 0.012
        rim = [(inner, height - 0.03), (outer, height - 0.04), (outer, height + 0.02), (inner, height + 0.02)]
        whole += wall.solid([*rim, rim[0]]).paint(distinct(draw, colour), 0.5)
    return whole
