"""Vessels with a motif on the front: bowl, mug."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lie_ssl.objects.shapes.curves import Array, lift, spline
from lie_ssl.objects.shapes.draw import Draw, distinct
from lie_ssl.objects.shapes.handles import bow_handle
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, rod, slab, tube
from lie_ssl.objects.shapes.walls import Wall


def _motif(draw: Draw, wall: Wall, y: float, height: float, under: Colour) -> Part:
    """A motif painted on the front: one large sign, three in a row, or a framed one."""
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
    """The contents of a bowl, if any: soup with a spoon, noodles with chopsticks, or fruit."""
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
        ear = bow_handle([(0.9, 0, 0.25), (1.18, 0.04, 0.18)], 0.06, axis=2)
        whole += ear.at(y=0.85 * top).mirror().paint(distinct(draw, colour), 0.5)
    return whole + _filling(draw, wall, draw.number("level", 0.72, 0.85) * top)


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
