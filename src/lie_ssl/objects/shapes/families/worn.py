"""Things worn on the head or hung around the neck; they look to the front (+z)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

Point = tuple[float, float, float]
Rim = Callable[[float], float]
DARK: Colour = (0.1, 0.1, 0.12)
FLASH: Colour = (0.95, 0.95, 0.9)
CHROME: Colour = (0.78, 0.8, 0.83)


def _on_dome(turn: float, height: float, size: Point) -> Point:
    """A point on an egg-shaped dome: `turn` degrees from the front to the right, `height` degrees above the middle."""
    t, h = math.radians(turn), math.radians(height)
    return (size[0] * math.cos(h) * math.sin(t), size[1] * math.sin(h), size[2] * math.cos(h) * math.cos(t))


def _grown(size: Point, factor: float) -> Point:
    return (size[0] * factor, size[1] * factor, size[2] * factor)


def _patch(size: Point, turns: tuple[float, float], heights: tuple[float, float], n: int = 6, rows: int = 3) -> Part:
    """A piece of the dome between two turns and two heights."""
    grid = [[_on_dome(t, h, size) for t in np.linspace(*turns, n)] for h in np.linspace(*heights, rows)]
    return sheet(grid, crease=60)


def _dome(size: Point, rim: Rim, paint: Colour, lining: Colour, shine: float = 0.5, thick: float = 0.92) -> Part:
    """A shell from the crown down to `rim` (height in degrees for every turn), lined inside."""
    turns = np.arange(0.0, 360.0, 15.0)

    def shell(s: Point) -> list[list[Point]]:
        return [[_on_dome(t, 90 - k * (90 - rim(t)), s) for t in turns] for k in np.linspace(0.0, 1.0, 9)]

    outer, inner = shell(size), shell(_grown(size, thick))
    edge = loft([outer[-1], inner[-1]], caps=False)
    return (loft(outer, caps=False, crease=60) + edge).paint(paint, shine) + loft(inner, caps=False).paint(lining, 0.05)


def _levels(front: float, side: float, back: float) -> Rim:
    """A rim that runs smoothly from the front over the ears to the back."""

    def rim(turn: float) -> float:
        c = math.cos(math.radians(turn))
        return side + (front - side) * max(c, 0.0) ** 2 + (back - side) * max(-c, 0.0) ** 2

    return rim


@shape("helmet")
def helmet(draw: Draw) -> Part:
    """A helmet: full-face, open-face, hard hat, cycling or football helmet; stripes, vents, shields and straps vary."""
    kind = draw.pick("kind", ["full", "open", "hard hat", "cycling", "football"])
    fit = {"hard hat": (1, 0.85, 0.95), "cycling": (0.95, 0.85, 1.15)}.get(kind, (1, 1, 1))
    width, height = draw.number("width", 0.72, 0.82) * fit[0], draw.number("height", 0.78, 0.95) * fit[1]
    size = (width, height, draw.number("depth", 0.88, 1.05) * fit[2])
    paint, second = draw.colour(), draw.colour()
    forms = {"full": _full_face, "open": _open_face, "hard hat": _hard_hat, "cycling": _cycling, "football": _football}
    body = forms[kind](draw, size, paint, second)
    crest, half = draw.pick("crest", ["none", "stripe", "two stripes"]), draw.number("crest_width", 0.06, 0.13)
    places = {"none": [], "stripe": [0.0], "two stripes": [-0.18, 0.18]}[crest if kind != "hard hat" else "none"]
    for x in places:
        shrink = math.sqrt(1 - (x / size[0]) ** 2)
        angles = np.radians(np.linspace(38, 160, 10))
        bow = [(x, shrink * size[1] * math.sin(a), shrink * size[2] * math.cos(a)) for a in angles]
        body += tube(bow, half, 6, flat=0.35).paint(second, 0.5)
    decal = _patch(_grown(size, 1.02), (78, 106), (14, 34), 5)
    return body + decal.paint(draw.colour("bright"), 0.4)


def _chin_strap(draw: Draw, size: Point, drop: float) -> Part:
    path = spline([(size[0] * 0.86, -0.1, 0.05), (size[0] * 0.6, -drop * 0.8, 0.2), (0, -drop, 0.3)], 8)
    strap = tube(path, 0.045, 5, flat=0.4).mirror("x")
    return strap.paint(DARK, 0.1) + box(0.14, 0.1, 0.06).at(0.1, -drop, 0.3).paint(draw.colour("metal"), 0.6)


def _visor(draw: Draw, size: Point, low: float, high: float, wide: float) -> Part:
    """A curved shield in front of the face, and its round hinges."""
    glass = _patch(_grown(size, 1.05), (-wide, wide), (low, high), 12, 4).paint(draw.colour("glass"), 0.9)
    hinge = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 1.01, size[1] * 0.12, size[2] * 0.12)
    return glass + hinge.mirror("x").paint(DARK, 0.5)


def _full_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A motorcycle helmet: closed shell with chin bar, shield and vents."""
    chin = draw.number("chin", 0.1, 0.22)
    shell = _dome(size, lambda turn: -58 + 8 * math.cos(math.radians(turn)), paint, DARK)
    low, reach = -size[1] * 0.5, size[2] * 0.86 + chin
    jaw = [(size[0] * 0.8 * math.sin(a), low, reach * math.cos(a)) for a in np.radians(np.linspace(-80, 80, 11))]
    bar = tube(jaw, 0.2, 8, flat=0.8).paint(paint, 0.5)
    slits = box(0.07, 0.12, 0.1).row(draw.whole("slits", 2, 5), dx=0.13).at(0, low, reach + 0.15).paint(DARK)
    gap = _patch(_grown(size, 1.02), (-72, 72), (-22, 30), 12, 4).paint(DARK, 0.2)
    return shell + bar + slits + gap + _visor(draw, size, -16, draw.number("visor_top", 20, 27), 66)


def _open_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A scooter helmet: face open, peak or raised shield, chin strap."""
    shell = _dome(size, _levels(draw.number("brow", 16, 26), -38, -36), paint, draw.colour("dark"))
    if draw.chance("peak"):
        top = _brim(size[0] * 0.8, size[2], 0.36, 0.08).at(y=size[1] * 0.42).paint(second, 0.4)
    else:
        top = _visor(draw, size, 20, draw.number("visor_top", 48, 60), 62)
    return shell + top + _chin_strap(draw, size, draw.number("strap", 0.75, 0.95))


def _hard_hat(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A builder's hat: shallow shell with ridges, a brim all round that is longer in front, a lamp on some."""
    shell = _dome(size, lambda _: 0.0, paint, draw.colour("paint"))
    turns, reach = np.radians(np.arange(0, 360, 15)), draw.number("brim", 0.1, 0.2)
    rows = []
    for out, y in ((0.92, -0.02), (1.0, 0.0), (1.1, -0.05), (0.92, -0.07)):
        grow = 1 + (out - 1) * (1 + 17 * reach * np.maximum(0, np.cos(turns)) ** 3)
        rows.append(np.stack([size[0] * grow * np.sin(turns), 0 * turns + y, size[2] * grow * np.cos(turns)], axis=1))
    body = shell + loft([*rows, rows[0]], caps=False).paint(paint, 0.5)
    angles = np.radians(np.linspace(25, 155, 9))
    for x in (-0.2, 0.0, 0.2):
        ridge = np.stack([x * (0.8 + 0.4 * np.sin(angles)), size[1] * np.sin(angles), size[2] * np.cos(angles)], axis=1)
        body += tube(ridge, 0.06, 5).paint(paint, 0.5)
    if draw.chance("lamp", 0.4):
        lamp = cylinder(0.16, 0.16, n=12).paint(DARK, 0.4) + cylinder(0.12, 0.2, n=12).paint((0.97, 0.95, 0.8), 0.8)
        body += lamp.rot(x=90).at(0, size[1] * 0.5, size[2] * 0.95)
    return body + _chin_strap(draw, size, draw.number("strap", 0.5, 0.8))


def _cycling(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A bicycle helmet: low shell with long vents, pointed back, straps."""
    shell = _dome(size, _levels(8, 12, -6), paint, DARK)
    length, n = draw.number("vent", 20, 32), draw.whole("vents", 2, 3)
    big, vents = _grown(size, 1.02), Part()
    for turn in [18 + 34 * i for i in range(n)]:
        vents += _patch(big, (turn - 7, turn + 7), (22, 22 + length), 3)
        vents += _patch(big, (173 - turn, 187 - turn), (18, 18 + length), 3)
    return shell + vents.mirror("x").paint(DARK, 0.1) + _chin_strap(draw, size, draw.number("strap", 0.6, 0.85))


def _football(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """An American football helmet: open face behind a cage of bars, ear holes."""
    shell = _dome(size, _levels(16, -42, -34), paint, draw.colour("dark"))
    bars, reach = draw.whole("bars", 2, 4), draw.number("cage", 0.15, 0.3)
    turns, front = np.radians(np.linspace(-85, 85, 9)), size[2] * 0.9 + reach
    hoop = np.stack([size[0] * 0.92 * np.sin(turns), 0 * turns, 0.1 + (front - 0.1) * np.cos(turns)], axis=1)
    cage = joined(tube(hoop, 0.04, 6).at(y=y * size[1]) for y in np.linspace(-0.12, -0.62, bars))
    post = rod((0.16, -0.12 * size[1], front), (0.16, -0.62 * size[1], front), 0.04, n=6).mirror("x")
    ear = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 0.97, -0.16, 0.02).mirror("x").paint(DARK)
    return shell + (cage + post).paint(second, 0.5) + ear


def _brim(half_width: float, start: float, reach: float, droop: float, curl: float = 0.12, thick: float = 0.04) -> Part:
    """A peak that stands out to the front from depth `start`, bent down at the sides by `curl`."""
    rows, u = [], np.linspace(-1, 1, 11)
    for k in np.linspace(0, 1, 5):
        depth = start * np.sqrt(1 - (0.95 * u) ** 2) * 0.97 + k * reach * (1 - np.abs(u) ** 2.5)
        row = np.stack([half_width * u, -droop * k - curl * u**2, depth], axis=1)
        rows.append(np.concatenate([row, row[::-1] - np.array([0, thick, 0])]))
    return loft(rows)


@shape("cap")
def cap(draw: Draw) -> Part:
    """A peaked cap: baseball, flat-peaked, trucker's, officer's, army or flat cap; panels, badge and strap vary."""
    kinds = ["baseball", "flat peak", "trucker", "officer", "army", "flat cap"]
    kind = draw.pick("kind", kinds, [4, 3, 3, 1.5, 1, 1.5])
    wide, deep = draw.number("width", 0.66, 0.76), draw.number("depth", 0.76, 0.88)
    size = (wide, draw.number("height", 0.55, 0.8), deep)
    paint, second, lining = draw.colour(), draw.colour(), draw.colour("neutral")
    reach, droop = draw.number("peak", 0.42, 0.62), draw.number("droop", 0.05, 0.2)
    curl = 0.02 if kind == "flat peak" else draw.number("curl", 0.08, 0.2)
    if kind in ("officer", "army"):
        return _stiff_cap(draw, kind, size, paint, second, reach * 0.75, droop)
    if kind == "flat cap":
        return _flat_cap(draw, size, paint, second, reach * 0.7)
    crown = _dome(size, lambda _: 0.0, paint, lining, 0.1, 0.95)
    peak = _brim(wide * 0.93, deep, reach, droop, curl).at(y=0.03)
    body = crown + peak.paint(second if draw.chance("other_peak") else paint, 0.15)
    body += _seams(size, draw.pick("panels", [5, 6, 8]), 2).paint(second, 0.1)
    if kind == "trucker":
        body += _patch(_grown(size, 1.03), (-52, 52), (1, 72), 9, 6).paint(draw.colour("paint"), 0.1)
    return body + _cap_badge(draw, size) + _back_strap(draw, size)


def _seams(size: Point, panels: int, low: float) -> Part:
    """Seams between the panels of a crown, and the button where they meet."""
    turns = (np.arange(panels) + 0.5) * 360 / panels
    lines = joined(tube([_on_dome(t, h, size) for h in np.linspace(low, 86, 7)], 0.016, 4) for t in turns)
    return lines + ball(0.06, 8).size(1, 0.6, 1).at(y=size[1])


def _cap_badge(draw: Draw, size: Point) -> Part:
    """A badge on the front: disc, shield, letter or stripes."""
    form, big = draw.pick("badge", ["disc", "shield", "letter", "bars"]), draw.number("badge_size", 0.28, 0.42)
    if form == "disc":
        mark = slab(ellipse(1, 0.9, 14), 0.16, [ellipse(0.5, 0.4, 10)])
    elif form == "shield":
        mark = slab([(-0.45, 0.45), (-0.45, -0.05), (0, -0.5), (0.45, -0.05), (0.45, 0.45)], 0.16)
    elif form == "letter":
        mark = box(0.22, 1, 0.2).at(-0.25) + box(0.6, 0.22, 0.2).at(0.1, 0.39) + box(0.45, 0.2, 0.2).at(0.05)
    else:
        mark = box(0.9, 0.2, 0.18).row(3, dy=0.34)
    x, y, z = _on_dome(0, 32, size)
    return mark.size(big).paint(draw.colour("bright")).rot(x=-35).at(x, y + 0.02, z - 0.01)


def _back_strap(draw: Draw, size: Point) -> Part:
    """The gap at the back with its strap, buckle or snaps."""
    big = _grown(size, 1.02)
    gap = _patch(big, (150, 210), (3, 26), 6, 3).paint(DARK)
    strap = tube([_on_dome(t, 5, big) for t in (145, 165, 180, 195, 215)], 0.05, 5, flat=0.5).paint(draw.colour())
    return gap + strap + box(0.14, 0.12, 0.06).at(0.08, 0.07, -big[2]).paint(draw.colour("metal"), 0.6)


def _stiff_cap(draw: Draw, kind: str, size: Point, paint: Colour, second: Colour, reach: float, droop: float) -> Part:
    """An officer's cap with a wide plate on a band, or an army cap with an upright wall and a flat top."""
    wide, tall, deep = size
    band, top = tall * 0.3, tall * draw.number("crown", 0.8, 1.05)
    flare = draw.number("flare", 1.18, 1.42) if kind == "officer" else draw.number("taper", 0.88, 1.0)
    wall = [(0.94, 0.02), (0.94, 0), (1, 0), (1, band), (flare, top * 0.8), (flare * 0.96, top), (0, top + 0.06)]
    body = lathe(wall, 24, crease=50).paint(paint, 0.15)
    body += lathe([(0.94, 0), (0.94, band), (0, band * 1.3)], 24).paint(draw.colour("neutral"))
    body += lathe([(1.0, 0.02), (1.025, 0.03), (1.025, band), (1.0, band + 0.01)], 24).paint(second, 0.3)
    body = body.size(wide, 1, deep) + box(0.3, 0.12, 0.04).at(0, band * 0.5, -deep * 1.03).paint(DARK)
    peak = _brim(wide * 0.93, deep * 1.02, reach, droop, 0.1).at(y=0.05)
    front = (wide * 1.06, tall, deep * 1.06)
    cord = tube([_on_dome(t, 8, front) for t in np.linspace(-70, 70, 9)], 0.035, 5)
    cord += ball(0.06, 6).at(wide * 1.02, band * 0.5, 0.2).mirror("x")
    crest = ellipse(0.28, 0.32, draw.pick("badge_corners", [4, 6, 12]))
    badge = slab(crest, 0.07).rot(x=-8).at(0, (band + top) / 2, deep * (0.52 + flare / 2) + 0.05)
    body += peak.paint(DARK if draw.chance("black_peak", 0.7) else paint, 0.6) + cord.paint(draw.colour("metal"), 0.6)
    return body + badge.paint(draw.colour("bright"), 0.6)


def _flat_cap(draw: Draw, size: Point, paint: Colour, second: Colour, reach: float) -> Part:
    """A soft flat cap, sewn from wedges or plain, its crown pulled forward over the short peak."""
    wide, tall, deep = size
    low = (wide * 1.12, tall * 0.62, deep * 1.12)
    crown = _dome(low, lambda _: -14, paint, draw.colour("neutral"), 0.05, 0.95)
    if draw.chance("wedges", 0.6):
        crown += _seams(low, 8, -8).paint(second)
    crown += box(0.06, 0.13, 0.24).at(low[0] * 0.98, -0.03).paint(draw.colour("bright"))
    peak = _brim(wide * 0.9, deep, reach + 0.12, 0.14, 0.12).at(y=0.02, z=0.06)
    band = lathe([(0.95, 0), (0.97, -0.02), (1.0, 0), (1.0, 0.12)], 22).size(wide, 1, deep).paint(second, 0.1)
    return crown.rot(x=7).at(y=0.14, z=0.08) + peak.paint(second if draw.chance("other_peak") else paint, 0.1) + band


@shape("earphone")
def earphone(draw: Draw) -> Part:
    """A headset: round, oval or square cups on a plain, padded or double band, with a microphone or a cable."""
    kind = draw.pick("kind", ["over-ear", "headset", "on-ear"], [4, 4, 2])
    paint, second = draw.colour(), draw.colour()
    wide, tall = draw.number("width", 0.62, 0.78), draw.number("height", 0.8, 1.05)
    cup = _cup(draw, draw.number("cup", 0.3, 0.4) * (0.78 if kind == "on-ear" else 1), paint, second)
    cups = cup.rot(z=draw.number("splay", 2, 10)).at(wide, 0, 0).mirror("x")
    body = cups + _band(draw, wide, tall, paint, second)
    if kind == "headset":
        reach = draw.number("boom", 0.55, 0.8)
        mouth = (-wide * 0.35, -0.44, reach + 0.1)
        path = [(-wide - 0.1, -0.05, 0.1), (-wide - 0.02, -0.3, 0.4), (-wide * 0.7, -0.42, reach), mouth]
        body += tube(spline(path, 10), 0.028, 6).paint(DARK, 0.3)
        body += ball(0.085, 8).size(1.3, 1, 1).at(*mouth).paint(draw.colour("black"), 0.05)
    if draw.chance("cable", 0.45):
        path = [(wide + 0.06, -0.3, 0), (wide + 0.1, -0.6, 0.1), (wide * 0.5, -0.75, 0.25), (0.1, -0.65, 0.1)]
        path.append((-draw.number("cable_end", 0.1, 0.4), -0.8, 0.3))
        body += tube(spline(path, 18), 0.022, 5).paint(draw.colour(), 0.2)
        body += rod((0, 0, 0), (-0.16, -0.02, 0.03), 0.035, n=6).at(*path[-1]).paint(CHROME, 0.7)
    return body


def _cup(draw: Draw, radius: float, paint: Colour, second: Colour) -> Part:
    """The right ear cup: shell outside (+x), cushion inside, a plate with a mark."""
    form = draw.pick("cup_form", ["round", "oval", "square"])
    outline = {
        "round": ellipse(2 * radius, 2 * radius, 18), "oval": ellipse(1.6 * radius, 2.2 * radius, 18),
        "square": rectangle(1.6 * radius, 2 * radius, radius * 0.5),
    }[form]  # fmt: skip
    fat = draw.number("cup_depth", 0.14, 0.22)
    steps = ((0.98, 0.0), (1.0, fat * 0.5), (0.85, fat), (0.45, fat * 1.12))
    shell = loft([lift(outline * k, z) for k, z in steps], crease=50)
    pad = tube(lift(outline * 0.76), radius * 0.24, 6, closed=True).at(z=-0.07)
    plate = slab(outline * 0.42, 0.06).at(z=fat * 1.12)
    mark = box(radius * 0.5, radius * 0.14, 0.1).rot(z=30).at(z=fat * 1.12)
    knob = cylinder(0.04, 0.1, n=6).rot(x=90).at(0, -radius * 0.7, fat * 0.8)
    cloth = slab(outline * 0.72, 0.03).at(z=-0.03).paint(DARK)
    parts = shell.paint(paint, 0.5) + pad.paint(draw.colour("dark"), 0.15) + plate.paint(second, 0.5)
    parts += mark.paint(draw.colour("white"))
    return (parts + knob.paint(CHROME, 0.6) + cloth).rot(y=90)


def _band(draw: Draw, wide: float, tall: float, paint: Colour, second: Colour) -> Part:
    """The head band, its padding and the sliders down to the cups."""
    style, broad = draw.pick("band", ["plain", "padded", "double"]), draw.number("band_width", 0.09, 0.17)
    angles, x = np.radians(np.linspace(8, 172, 17)), wide + 0.07
    across = np.sign(np.cos(angles)) * np.abs(np.cos(angles)) ** 0.9
    bow = np.stack([across * (wide + 0.08), np.sin(angles) * tall, 0 * angles], axis=1)

    def strip(path: NDArray[np.float64], half: float, thick: float) -> Part:
        outward = path / np.linalg.norm(path, axis=1, keepdims=True) * thick
        edge = np.array([0, 0, half])
        corners = np.stack([path + outward + edge, path - outward + edge, path - outward - edge, path + outward - edge])
        return loft(list(corners.transpose(1, 0, 2)))

    slider = rod((x, 0.02, 0), (x, tall * 0.45, 0), 0.05, n=6).paint(CHROME, 0.7)
    slider += tube(lift(arc(0.22, 20, 160, 7))[:, [2, 1, 0]], 0.03, 5).at(x, 0.02).paint(second, 0.4)
    if style == "double":
        wires = tube(bow + np.array([0, 0, broad * 0.6]), 0.026, 5).mirror("z").paint(draw.colour("metal"), 0.7)
        sling = strip(bow[3:-3] * np.array([0.94, 0.9, 1]), broad, 0.02)
        return wires + sling.paint(paint, 0.2) + slider.mirror("x")
    parts = strip(bow, broad, 0.028).paint(paint, 0.4) + slider.mirror("x")
    if style == "padded":
        parts += strip(bow[4:-4] * 0.96, broad * 0.9, 0.05).paint(second, 0.1)
    return parts


@shape("camera")
def camera(draw: Draw) -> Part:
    """A photo camera: reflex, compact, rangefinder or instant camera; lens, dials, flash and strap vary."""
    kind = draw.pick("kind", ["reflex", "compact", "rangefinder", "instant"], [3, 2, 2, 2])
    wide, tall = draw.number("width", 1.2, 1.5), draw.number("height", 0.72, 0.95)
    deep = draw.number("depth", 0.32, 0.5)
    if kind == "instant":
        wide, tall, deep = wide * 0.85, tall * 1.15, deep * 1.3
    paint, second = draw.colour(), draw.colour()
    body = slab(rectangle(wide, tall, draw.number("corner", 0.05, 0.16)), deep).paint(paint, 0.4)
    band = box(wide * 1.015, tall * draw.number("leather", 0.45, 0.62), deep * 1.05, 0.05).at(y=-tall * 0.05)
    place = wide * draw.number("lens_place", -0.14, 0.04)
    radius, reach = tall * draw.number("lens", 0.27, 0.38), draw.number("lens_length", 0.2, 0.6)
    if kind in ("compact", "instant"):
        reach *= 0.5
    parts = body + band.paint(second, 0.1) + _lens(draw, radius, reach).at(place, -tall * 0.05, deep / 2)
    parts += _camera_top(draw, kind, wide, tall, deep, place, paint) + _camera_back(draw, wide, tall, deep)
    if draw.chance("strap", 0.45):
        drop = draw.number("strap", 0.5, 0.9)
        side = [(wide / 2, tall * 0.35, 0), (wide * 0.62, tall * 0.8, -0.1)]
        path = [*side, (0, tall * 0.5 + drop, -0.25), *[(-x, y, z) for x, y, z in side[::-1]]]
        parts += tube(spline(path, 16), 0.05, 5, flat=0.35).paint(draw.colour(), 0.1)
    return parts


def _lens(draw: Draw, radius: float, reach: float) -> Part:
    """Barrel with rings, dark glass with a bright reflex, towards +z."""
    steps = [(0, 0), (1.12, 0), (1.12, 0.25), (1, 0.3), (1, 1), (0.8, 1), (0.72, 0.7), (0, 0.7)]
    barrel = lathe([(radius * r, reach * y) for r, y in steps], 20)
    n, step = draw.whole("rings", 1, 2), reach * 0.3
    rings = cylinder(radius * 1.05, reach * 0.14, n=20).row(n, dy=step).at(y=reach * 0.66)
    glass = ball(radius * 0.7, 12).size(1, 0.25, 1).at(y=reach * 0.72)
    gleam = ball(radius * 0.16, 6).size(1, 0.4, 1).at(radius * 0.22, reach * 0.72 + radius * 0.14, -radius * 0.24)
    parts = barrel.paint(draw.colour("black") if draw.chance("black_lens", 0.6) else draw.colour("metal"), 0.5)
    parts += rings.paint(draw.colour(), 0.3) + glass.paint((0.08, 0.1, 0.2), 1.0) + gleam.paint((0.8, 0.85, 0.95), 1.0)
    return parts.rot(x=90)


def _camera_top(draw: Draw, kind: str, wide: float, tall: float, deep: float, lens: float, paint: Colour) -> Part:
    """Viewfinder, flash, shutter button and dials; the hump and grip of a reflex camera."""
    button = cylinder(0.075, 0.1, n=10).at(-wide * 0.36, tall / 2 + 0.03, deep * 0.1).paint(draw.colour("metal"), 0.7)
    dial = cylinder(0.13, 0.1, n=12).at(wide * 0.34, tall / 2 + 0.04).paint(draw.colour("black"), 0.4)
    parts = button + dial + cylinder(0.1, 0.14, n=12).at(wide * 0.34, tall / 2 + 0.04).paint(draw.colour("metal"), 0.6)
    finder = box(0.22, 0.13, 0.06, 0.03).at(wide * 0.3, tall * 0.36, deep / 2 + 0.02).paint((0.12, 0.15, 0.22), 0.9)
    if kind == "reflex":
        high = draw.number("hump", 0.18, 0.3)
        prism = [(-0.31, -0.02), (0.31, -0.02), (0.2, high), (-0.2, high)]
        parts += slab(prism, deep * 0.9).at(lens, tall / 2, 0.02).paint(paint, 0.4)
        grip = box(wide * 0.17, tall * 0.92, deep * 0.5, 0.06).at(-wide * 0.41, 0, deep / 2)
        parts += grip.paint(draw.colour("black"), 0.1)
        parts += box(0.2, 0.05, 0.2).at(lens, tall / 2 + high + 0.02).paint(CHROME, 0.6)
        parts += box(0.26, 0.07, 0.04).at(lens, tall / 2 + high * 0.5, deep * 0.47 + 0.02).paint(draw.colour("white"))
        if draw.chance("flash", 0.4):
            head = box(0.5, 0.28, 0.28, 0.05) + box(0.16, 0.16, 0.16).at(y=-0.18)
            head = head.paint(draw.colour("black"), 0.3) + box(0.42, 0.2, 0.05).at(0, 0, 0.14).paint(FLASH, 0.8)
            parts += head.at(lens, tall / 2 + high + 0.2)
        return parts
    light = box(0.3, 0.15, 0.06, 0.03).at(-wide * 0.28, tall * 0.36, deep / 2 + 0.02).paint(FLASH, 0.8)
    if kind == "instant":
        parts += box(wide * 0.8, 0.06, 0.06).at(0, -tall * 0.4, deep / 2 + 0.01).paint(DARK)
        for i in range(3):
            stripe = box(wide * 0.07, tall * 0.3, 0.04).at(-wide * (0.38 - i * 0.075), -tall * 0.2, deep * 0.53)
            parts += stripe.paint(draw.colour("bright"))
    if kind == "rangefinder":
        parts += box(wide * 0.62, 0.14, deep * 0.8).at(wide * 0.05, tall / 2 + 0.05).paint(draw.colour("metal"), 0.6)
        light = box(0.12, 0.1, 0.06).at(0, tall * 0.36, deep / 2 + 0.02).paint((0.9, 0.85, 0.6), 0.8)
    return parts + finder + light


def _camera_back(draw: Draw, wide: float, tall: float, deep: float) -> Part:
    """A screen and buttons on the back, a tripod plate below, lugs at the sides."""
    screen = box(wide * 0.5, tall * 0.52, 0.05).at(wide * 0.12).paint((0.15, 0.2, 0.28), 0.8)
    screen += cylinder(0.06, 0.08, n=8).rot(x=90).row(3, dy=tall * 0.2).at(-wide * 0.3).paint(draw.colour("bright"))
    foot = cylinder(0.1, 0.05, n=10).at(0.1, -tall / 2).paint(CHROME, 0.5)
    lug = rod((wide / 2, tall * 0.35, 0), (wide / 2 + 0.06, tall * 0.36, 0), 0.035, n=6).mirror("x").paint(CHROME, 0.7)
    return screen.at(0, -tall * 0.04, -deep * 0.54) + foot + lug
