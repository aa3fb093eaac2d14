"""Things worn on the head or hung around the neck; they look to the front (+z)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lie_ssl.objects.shapes.curves import arc, ellipse, lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

Point = tuple[float, float, float]
Rim = Callable[[float], float]
DARK: Colour = (0.1, 0.1, 0.12)
CHROME: Colour = (0.78, 0.8, 0.83)


def _on_dome(turn: float, height: float, size: Point) -> Point:
    """A point on an egg-shaped dome: `turn` degrees from the front to the right, `height` degrees above the middle."""
    t, h = math.radians(turn), math.radians(height)
    return (size[0] * math.cos(h) * math.sin(t), size[1] * math.sin(h), size[2] * math.cos(h) * math.cos(t))


def _patch(size: Point, turns: tuple[float, float], heights: tuple[float, float], n: int = 6, rows: int = 3) -> Part:
    """A piece of the dome between two turns and two heights."""
    grid = [[_on_dome(t, h, size) for t in np.linspace(*turns, n)] for h in np.linspace(*heights, rows)]
    return sheet(grid, crease=60)


def _dome(size: Point, rim: Rim, paint: Colour, lining: Colour, shine: float = 0.5, thick: float = 0.92) -> Part:
    """A shell from the crown down to `rim` (height in degrees for every turn), lined inside."""
    turns = np.arange(0, 360, 15)

    def shell(s: Point) -> list[list[Point]]:
        return [[_on_dome(t, 90 - k * (90 - rim(t)), s) for t in turns] for k in np.linspace(0.0, 1.0, 9)]

    outer, inner = shell(size), shell((size[0] * thick, size[1] * thick, size[2] * thick))
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
    """A helmet: full-face, open-face, hard hat, cycling, football or knight's; crests, vents, straps vary."""
    kind = draw.pick("kind", ["full", "open", "hard hat", "cycling", "football", "knight"])
    size = (draw.number("width", 0.72, 0.82), draw.number("height", 0.78, 0.95), draw.number("depth", 0.88, 1.05))
    paint, second = draw.colour(), draw.colour()
    build = {
        "full": _full_face, "open": _open_face, "hard hat": _hard_hat, "cycling": _cycling, "football": _football,
        "knight": _knight,
    }[kind]  # fmt: skip
    body = build(draw, size, paint, second)
    crest = draw.pick("crest", ["none", "stripe", "two stripes"])
    width = draw.number("crest_width", 0.06, 0.13)
    for x in {"none": [], "stripe": [0.0], "two stripes": [-0.16, 0.16]}[crest]:
        bow = [(x, size[1] * math.sin(a), size[2] * math.cos(a)) for a in np.radians(np.linspace(38, 160, 10))]
        body += tube(bow, width, 6, flat=0.35).size(1, 1.0 - 0.08 * abs(x), 1).paint(second, 0.5)
    badge = slab(ellipse(0.3, 0.24, 10), 0.03).rot(y=90).at(size[0] * 0.97, size[1] * 0.22, -0.05)
    return body + badge.paint(draw.colour("bright"), 0.4)


def _chin_strap(draw: Draw, size: Point, drop: float) -> Part:
    path = spline([(size[0] * 0.86, -0.1, 0.05), (size[0] * 0.6, -drop * 0.8, 0.2), (0, -drop, 0.3)], 8)
    strap = tube(path, 0.045, 5, flat=0.4).mirror("x")
    return strap.paint(DARK, 0.1) + box(0.14, 0.1, 0.06).at(0.1, -drop, 0.3).paint(draw.colour("metal"), 0.6)


def _visor(draw: Draw, size: Point, low: float, high: float, wide: float) -> Part:
    """A curved shield in front of the face, and its round hinges."""
    big = (size[0] * 1.05, size[1] * 1.05, size[2] * 1.05)
    glass = _patch(big, (-wide, wide), (low, high), 12, 4).paint(draw.colour("glass"), 0.9)
    hinge = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 1.01, size[1] * 0.12, size[2] * 0.12)
    return glass + hinge.mirror("x").paint(DARK, 0.5)


def _full_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A motorcycle helmet: closed shell with chin bar, shield and vents."""
    chin = draw.number("chin", 0.1, 0.22)
    shell = _dome(size, lambda turn: -58 + 8 * math.cos(math.radians(turn)), paint, DARK)
    mouth = [(size[0] * 0.8 * math.sin(a), 0, (size[2] * 0.86 + chin) * math.cos(a)) for a in np.radians(np.linspace(-80, 80, 11))]
    bar = tube(mouth, 0.2, 8, flat=0.8).at(y=-size[1] * 0.5).paint(paint, 0.5)
    slits = box(0.07, 0.12, 0.1).row(3, dx=0.13).at(0, -size[1] * 0.5, size[2] * 0.86 + chin + 0.15).paint(DARK)
    gap = _patch((size[0] * 1.02, size[1] * 1.02, size[2] * 1.02), (-72, 72), (-22, 30), 12, 4).paint(DARK, 0.2)
    return shell + bar + slits + gap + _visor(draw, size, -16, draw.number("visor_top", 20, 27), 66)


def _open_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A scooter helmet: face open, peak or raised shield, chin strap."""
    shell = _dome(size, _levels(draw.number("brow", 16, 26), -38, -36), paint, draw.colour("dark"))
    if draw.chance("peak"):
        top = _visor(draw, size, 28, 30, 1) + _brim(size[0] * 0.8, size[2], 0.36, 0.08).at(y=size[1] * 0.42).paint(second, 0.4)
    else:
        top = _visor(draw, size, 20, draw.number("visor_top", 48, 60), 62)
    return shell + top + _chin_strap(draw, size, draw.number("strap", 0.75, 0.95))


def _hard_hat(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A builder's hat: shallow shell with ridges, a brim all round that is longer in front, a lamp on some."""
    flat = (size[0], size[1] * 0.85, size[2] * 0.95)
    shell = _dome(flat, lambda _: 0.0, paint, draw.colour("paint"))
    turns, reach = np.arange(0, 360, 15), draw.number("brim", 0.1, 0.2)
    rows = []
    for out, y in ((0.92, -0.02), (1.0, 0.0), (1.1, -0.05), (0.92, -0.07)):
        grow = [1 + (out - 1) * (1 + 2.5 * reach / 0.15 * max(0.0, math.cos(math.radians(t))) ** 3) for t in turns]
        rows.append([(flat[0] * g * math.sin(math.radians(t)), y, flat[2] * g * math.cos(math.radians(t))) for g, t in zip(grow, turns, strict=True)])
    body = shell + loft([*rows, rows[0]], caps=False).paint(paint, 0.5)
    for x in (-0.2, 0.0, 0.2):
        bow = [(x * (0.8 + 0.4 * math.sin(a)), flat[1] * math.sin(a), flat[2] * math.cos(a)) for a in np.radians(np.linspace(25, 155, 9))]
        body += tube(bow, 0.06, 5).paint(paint, 0.5)
    if draw.chance("lamp", 0.4):
        lamp = cylinder(0.16, 0.16, n=12).rot(x=90).paint(DARK, 0.4) + cylinder(0.12, 0.2, n=12).rot(x=90).paint((0.97, 0.95, 0.8), 0.8)
        body += lamp.at(0, flat[1] * 0.5, flat[2] * 0.95)
    return body + _chin_strap(draw, flat, draw.number("strap", 0.5, 0.8))


def _cycling(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A bicycle helmet: low shell with long vents, pointed back, straps."""
    low = (size[0] * 0.95, size[1] * 0.85, size[2] * 1.15)
    shell = _dome(low, _levels(8, 12, -6), paint, DARK)
    length, n = draw.number("vent", 20, 32), draw.whole("vents", 2, 3)
    big = (low[0] * 1.02, low[1] * 1.02, low[2] * 1.02)
    vents = Part()
    for i in range(n):
        turn = 18 + 34 * i
        vents += _patch(big, (turn - 7, turn + 7), (22, 22 + length), 3) + _patch(big, (180 - turn - 8, 180 - turn + 8), (18, 18 + length), 3)
    return shell + vents.mirror("x").paint(DARK, 0.1) + _chin_strap(draw, low, draw.number("strap", 0.6, 0.85))


def _football(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """An American football helmet: open face behind a cage of bars, ear holes."""
    shell = _dome(size, _levels(16, -42, -34), paint, draw.colour("dark"))
    bars, reach = draw.whole("bars", 2, 4), draw.number("cage", 0.15, 0.3)
    cage = Part()
    for y in np.linspace(-0.12, -0.62, bars):
        path = [(size[0] * 0.92 * math.sin(a), y * size[1], 0.1 + (size[2] * 0.9 + reach - 0.1) * max(0.0, math.cos(a))) for a in np.radians(np.linspace(-85, 85, 9))]
        cage += tube(path, 0.04, 6)
    post = rod((0.16, -0.12 * size[1], size[2] * 0.89 + reach), (0.16, -0.62 * size[1], size[2] * 0.89 + reach), 0.04, n=6).mirror("x")
    ear = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 0.97, -0.16, 0.02).mirror("x").paint(DARK)
    return shell + (cage + post).paint(second, 0.5) + ear


def _knight(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A knight's helmet: closed shell with an eye slit, breathing holes and a plume on some."""
    tall = (size[0] * 0.92, size[1] * 1.05, size[2] * 0.92)
    shell = _dome(tall, lambda _: -48, paint, DARK, 0.8)
    big = (tall[0] * 1.04, tall[1] * 1.04, tall[2] * 1.14)
    mask = _patch(big, (-70, 70), (-46, 34), 12, 6).paint(paint, 0.8)
    slit = _patch((big[0] * 1.02, big[1] * 1.02, big[2] * 1.02), (-52, 52), (6, 15), 10, 2).paint(DARK)
    ridge = tube([_on_dome(0, h, big) for h in (-46, -20, 2, 30)], 0.06, 6).paint(second, 0.7)
    holes = joined(ball(0.045, 6).at(*_on_dome(18 + 12 * i, -12 - 11 * j, big)) for i in range(3) for j in range(2)).mirror("x")
    collar = tube([_on_dome(t, -48, (tall[0] * 1.02, tall[1], tall[2] * 1.02)) for t in np.arange(0, 360, 24)], 0.07, 5, closed=True)
    body = shell + mask + slit + ridge + holes.paint(DARK) + collar.paint(second, 0.7)
    if draw.chance("plume", 0.6):
        path = spline([(0, tall[1], 0), (0, tall[1] + 0.3, -0.1), (0, tall[1] + 0.25, -0.55), (0, tall[1] - 0.3, -1.05)], 10)
        body += tube(path, [0.06, 0.09, 0.13, 0.16, 0.18, 0.18, 0.17, 0.14, 0.1, 0.04], 8, flat=0.6).paint(draw.colour("bright"), 0.1)
    return body


def _brim(half_width: float, start: float, reach: float, droop: float, curl: float = 0.12, thick: float = 0.04) -> Part:
    """A peak that stands out to the front from depth `start`, bent down at the sides by `curl`."""
    rows = []
    for k in np.linspace(0, 1, 5):
        row = []
        for u in np.linspace(-1, 1, 11):
            inner = start * math.sqrt(max(0.0, 1 - (0.95 * u) ** 2)) * 0.97
            outer = inner + reach * (1 - abs(u) ** 2.5)
            row.append((half_width * u, -droop * k - curl * u**2, inner + (outer - inner) * k))
        rows.append(row)
    grid = np.array(rows)
    sections = [np.concatenate([r, r[::-1] - np.array([0, thick, 0])]) for r in grid]
    return loft(sections)


@shape("cap")
def cap(draw: Draw) -> Part:
    """A peaked cap: baseball, flat-peaked, trucker's, officer's, army or flat cap; panels, badge and strap vary."""
    kind = draw.pick("kind", ["baseball", "flat peak", "trucker", "officer", "army", "flat cap"], [3, 2, 2, 1.5, 1.5, 1.5])
    wide, deep = draw.number("width", 0.66, 0.76), draw.number("depth", 0.76, 0.88)
    tall = draw.number("height", 0.55, 0.8)
    size = (wide, tall, deep)
    paint, second, lining = draw.colour(), draw.colour(), draw.colour("neutral")
    reach, droop = draw.number("peak", 0.42, 0.62), draw.number("droop", 0.05, 0.2)
    curl = 0.02 if kind == "flat peak" else draw.number("curl", 0.08, 0.2)
    if kind in ("officer", "army"):
        return _stiff_cap(draw, kind, size, paint, second, reach * 0.75, droop + 0.1)
    if kind == "flat cap":
        return _flat_cap(draw, size, paint, second, reach * 0.7)
    two_tone = draw.chance("other_peak")
    crown = _dome(size, lambda _: 0.0, paint, lining, 0.1, 0.95)
    peak = _brim(wide * 0.93, deep, reach, droop, curl).at(y=0.03).paint(second if two_tone else paint, 0.15)
    panels = draw.pick("panels", [5, 6, 8])
    over = (wide * 1.0, tall * 1.0, deep * 1.0)
    seams = joined(
        tube([_on_dome(t, h, over) for h in np.linspace(2, 86, 7)], 0.016, 4) for t in (np.arange(panels) + 0.5) * 360 / panels
    )
    body = crown + peak + seams.paint(second, 0.1) + ball(0.06, 8).size(1, 0.6, 1).at(y=tall).paint(second)
    if kind == "trucker":
        front = _patch((wide * 1.03, tall * 1.05, deep * 1.03), (-52, 52), (1, 72), 9, 6)
        body += front.paint(draw.colour("paint"), 0.1)
    return body + _cap_badge(draw, size) + _back_strap(draw, size)


def _cap_badge(draw: Draw, size: Point) -> Part:
    """A badge on the front: disc, shield, letter or stripes."""
    form, big = draw.pick("badge", ["disc", "shield", "letter", "bars"]), draw.number("badge_size", 0.28, 0.42)
    colour = draw.colour("bright")
    if form == "disc":
        mark = slab(ellipse(1, 0.9, 14), 0.16).paint(colour) + slab(ellipse(0.6, 0.5, 10), 0.24).paint(draw.colour("white"))
    elif form == "shield":
        mark = slab([(-0.45, 0.45), (-0.45, -0.05), (0, -0.5), (0.45, -0.05), (0.45, 0.45)], 0.16).paint(colour)
    elif form == "letter":
        mark = (box(0.22, 1, 0.2).at(-0.25) + box(0.6, 0.22, 0.2).at(0.1, 0.39) + box(0.45, 0.2, 0.2).at(0.05)).paint(colour)
    else:
        mark = box(0.9, 0.2, 0.18).row(3, dy=0.34).paint(colour)
    x, y, z = _on_dome(0, 32, size)
    return mark.size(big).rot(x=-35).at(x, y + 0.02, z - 0.01)


def _back_strap(draw: Draw, size: Point) -> Part:
    """The gap at the back with its strap, buckle or snaps."""
    big = (size[0] * 1.02, size[1] * 1.02, size[2] * 1.02)
    gap = _patch(big, (150, 210), (3, 26), 6, 3).paint(DARK)
    strap = tube([_on_dome(t, 5, big) for t in (145, 165, 180, 195, 215)], 0.05, 5, flat=0.5).paint(draw.colour())
    return gap + strap + box(0.14, 0.12, 0.06).at(0.08, 0.07, -big[2]).paint(draw.colour("metal"), 0.6)


def _stiff_cap(draw: Draw, kind: str, size: Point, paint: Colour, second: Colour, reach: float, droop: float) -> Part:
    """An officer's cap with a wide plate on a band, or an army cap with an upright wall and a flat top."""
    wide, tall, deep = size
    band, flare = tall * 0.3, draw.number("flare", 1.18, 1.42) if kind == "officer" else draw.number("taper", 0.88, 1.0)
    top = tall * draw.number("crown", 0.8, 1.05)
    wall = lathe([(0.94, 0.02), (0.94, 0), (1, 0), (1, band), (flare, top * 0.8), (flare * 0.96, top), (0, top + 0.06)], 24, crease=50)
    inside = lathe([(0.94, 0), (0.94, band), (0, band * 1.3)], 24).paint(draw.colour("neutral"))
    body = wall.paint(paint, 0.15) + inside + lathe([(1.0, 0.02), (1.025, 0.03), (1.025, band), (1.0, band + 0.01)], 24).paint(second, 0.3)
    lean = 10.0 if kind == "officer" else 0.0
    body = body.size(wide, 1, deep).rot(x=-lean * 0.3)
    peak = _brim(wide * 0.93, deep * 1.02, reach, droop + 0.08, 0.1).at(y=0.05).paint(DARK if kind == "officer" else paint, 0.6)
    cord = tube([_on_dome(t, 8, (wide * 1.06, tall, deep * 1.06)) for t in np.linspace(-70, 70, 9)], 0.035, 5).paint(draw.colour("metal"), 0.6)
    badge = slab(ellipse(0.3, 0.34, 10), 0.1).rot(x=-8).at(0, (band + top) / 2, deep * (1.02 + (flare - 1) * 0.5)).paint(draw.colour("bright"), 0.6)
    button = ball(0.06, 6).at(wide * 1.02, band * 0.5, 0.2).mirror("x").paint(draw.colour("metal"), 0.7)
    return body + peak + cord + badge + button + box(0.3, 0.12, 0.04).at(0, band * 0.5, -deep * 1.03).paint(DARK)


def _flat_cap(draw: Draw, size: Point, paint: Colour, second: Colour, reach: float) -> Part:
    """A soft flat cap, sewn from wedges or plain, its crown pulled forward over the short peak."""
    wide, tall, deep = size
    low = (wide * 1.12, tall * 0.62, deep * 1.12)
    crown = _dome(low, lambda _: -14, paint, draw.colour("neutral"), 0.05, 0.95).rot(x=7).at(y=0.14, z=0.08)
    body = crown + _brim(wide * 0.9, deep, reach + 0.12, 0.14, 0.12).at(y=0.02, z=0.06).paint(second if draw.chance("other_peak") else paint, 0.1)
    band = lathe([(0.95, 0), (0.97, -0.02), (1.0, 0), (1.0, 0.12)], 22).size(wide, 1, deep).paint(second, 0.1)
    if draw.chance("wedges", 0.6):
        turns = np.arange(8) * 45 + 22
        seams = joined(tube([_on_dome(t, h, low) for h in np.linspace(-8, 86, 6)], 0.018, 4) for t in turns)
        body += (seams.paint(second) + ball(0.08, 8).size(1, 0.5, 1).at(y=low[1]).paint(second)).rot(x=7).at(y=0.14, z=0.08)
    label = box(0.06, 0.13, 0.24).at(low[0] * 0.98, 0.1, 0.0).paint(draw.colour("bright"))
    return body + band + label


@shape("earphone")
def earphone(draw: Draw) -> Part:
    """A headset: round, oval or square cups on a plain, padded or double band, with a microphone or cable; few earbuds."""
    kind = draw.pick("kind", ["over-ear", "headset", "on-ear", "earbuds"], [4, 3, 2, 1])
    paint, second = draw.colour(), draw.colour()
    if kind == "earbuds":
        return _earbuds(draw, paint, second)
    wide, tall = draw.number("width", 0.62, 0.78), draw.number("height", 0.8, 1.05)
    cup = _cup(draw, draw.number("cup", 0.3, 0.4) * (0.78 if kind == "on-ear" else 1), paint, second)
    splay = draw.number("splay", 2, 10)
    cups = cup.rot(z=splay).at(wide, 0, 0).mirror("x")
    body = cups + _band(draw, wide, tall, paint, second)
    if kind == "headset":
        reach = draw.number("boom", 0.55, 0.8)
        path = spline([(-wide - 0.1, -0.05, 0.1), (-wide - 0.02, -0.3, 0.4), (-wide * 0.7, -0.42, reach), (-wide * 0.35, -0.44, reach + 0.1)], 10)
        body += tube(path, 0.028, 6).paint(DARK, 0.3) + ball(0.085, 8).size(1.3, 1, 1).at(-wide * 0.32, -0.44, reach + 0.1).paint(DARK, 0.05)
    if draw.chance("cable", 0.45):
        path = spline([(wide + 0.06, -0.3, 0), (wide + 0.1, -0.6, 0.1), (wide * 0.5, -0.75, 0.25), (0.1, -0.65, 0.1), (-0.2, -0.8, 0.3)], 18)
        body += tube(path, 0.022, 5).paint(draw.colour(), 0.2) + rod(path[-1], path[-1] + np.array([-0.16, -0.02, 0.03]), 0.035, n=6).paint(CHROME, 0.7)
    return body


def _cup(draw: Draw, radius: float, paint: Colour, second: Colour) -> Part:
    """The right ear cup: shell outside (+x), cushion inside, a plate with a mark."""
    form = draw.pick("cup_form", ["round", "oval", "square"])
    outline = {
        "round": ellipse(2 * radius, 2 * radius, 18), "oval": ellipse(1.6 * radius, 2.2 * radius, 18),
        "square": rectangle(1.6 * radius, 2 * radius, radius * 0.5),
    }[form]  # fmt: skip
    fat = draw.number("cup_depth", 0.14, 0.22)
    shell = loft([lift(outline * k, z) for k, z in ((0.98, 0), (1.0, fat * 0.5), (0.85, fat), (0.45, fat * 1.12))], crease=50)
    pad = tube(lift(outline * 0.76), radius * 0.24, 6, closed=True).at(z=-0.07)
    plate = slab(outline * 0.42, 0.06).at(z=fat * 1.12)
    mark = box(radius * 0.5, radius * 0.14, 0.1).rot(z=30).at(z=fat * 1.12)
    knob = cylinder(0.04, 0.1, n=6).rot(x=90).at(0, -radius * 0.7, fat * 0.8)
    cloth = slab(outline * 0.72, 0.03).at(z=-0.03).paint(DARK)
    parts = shell.paint(paint, 0.5) + pad.paint(draw.colour("dark"), 0.15) + plate.paint(second, 0.5) + mark.paint(draw.colour("white"))
    return (parts + knob.paint(CHROME, 0.6) + cloth).rot(y=90)


def _band(draw: Draw, wide: float, tall: float, paint: Colour, second: Colour) -> Part:
    """The head band, its padding and the sliders down to the cups."""
    style, broad = draw.pick("band", ["plain", "padded", "double"]), draw.number("band_width", 0.09, 0.17)
    bow = np.array([(math.cos(a) * (wide + 0.08), math.sin(a) * tall, 0.0) for a in np.radians(np.linspace(8, 172, 17))])
    bow[:, 0] = np.sign(bow[:, 0]) * np.abs(bow[:, 0]) ** 0.9 * (wide + 0.08) ** 0.1

    def strip(path: np.ndarray, half: float, thick: float) -> Part:
        outward = path / np.maximum(np.linalg.norm(path, axis=1, keepdims=True), 1e-9)
        corners = ((half, 1), (half, -1), (-half, -1), (-half, 1))
        return loft([[p + s * thick * o + np.array([0, 0, z]) for z, s in corners] for p, o in zip(path, outward, strict=True)])

    slider = rod((wide + 0.07, 0.02, 0), (wide + 0.07, tall * 0.45, 0), 0.05, n=6).mirror("x").paint(CHROME, 0.7)
    yoke = tube(lift(arc(0.22, 20, 160, 7))[:, [2, 1, 0]] + np.array([wide + 0.07, 0.02, 0]), 0.03, 5).mirror("x").paint(second, 0.4)
    if style == "double":
        wires = joined(tube(bow + np.array([0, 0, z]), 0.026, 5) for z in (-broad * 0.6, broad * 0.6)).paint(draw.colour("metal"), 0.7)
        return wires + strip(bow[3:-3] * np.array([0.94, 0.9, 1]), broad, 0.02).paint(paint, 0.2) + slider + yoke
    parts = strip(bow, broad, 0.028).paint(paint, 0.4) + slider + yoke
    if style == "padded":
        parts += strip(bow[4:-4] * 0.96, broad * 0.9, 0.05).paint(second, 0.1)
    return parts


def _earbuds(draw: Draw, paint: Colour, second: Colour) -> Part:
    """A pair of in-ear phones on a cable that joins, with a plug."""
    size, spread = draw.number("bud", 0.14, 0.2), draw.number("spread", 0.3, 0.5)
    bud = ball(size, 12).size(1, 1, 0.8).paint(paint, 0.5) + cylinder(size * 0.6, size * 0.7, size * 0.5, n=10).rot(x=90).at(0, 0.02, size).paint(second, 0.2)
    bud += rod((0, -size * 0.5, 0), (0, -size * 2.4, 0), size * 0.35, size * 0.22, n=8).paint(paint, 0.5)
    buds = bud.rot(y=-25).at(spread, 0.6).mirror("x")
    joint = -draw.number("joint", 0.1, 0.3)
    wire = tube(spline([(spread, 0.62 - size * 2.4, 0), (spread * 0.8, 0.1, 0.05), (0.03, joint, 0)], 9), 0.028, 5).mirror("x")
    curl = draw.number("curl", 0.2, 0.4)
    path = spline([(0, joint, 0), (0, joint - 0.3, 0), (curl, joint - 0.6, 0.1), (-curl * 0.3, joint - 0.85, 0.1), (-curl, joint - 0.5, 0.05)], 18)
    plug = rod(path[-1], path[-1] + np.array([-0.05, 0.2, 0]), 0.05, n=7).paint(paint) + rod(path[-1], path[-1] + np.array([-0.08, 0.34, 0]), 0.025, n=6).paint(CHROME, 0.7)
    remote = box(0.08, 0.24, 0.07, 0.03).at(spread * 0.82, 0.12, 0.05).paint(second)
    return buds + (wire + tube(path, 0.03, 5)).paint(paint, 0.3) + box(0.09, 0.16, 0.08, 0.03).at(0, joint).paint(second) + plug + remote


@shape("camera")
def camera(draw: Draw) -> Part:
    """A photo camera: reflex, compact, rangefinder, instant or bellows camera; lens, dials, flash and strap vary."""
    kind = draw.pick("kind", ["reflex", "compact", "rangefinder", "instant"], [3, 2, 2, 2])
    wide, tall, deep = draw.number("width", 1.2, 1.5), draw.number("height", 0.72, 0.95), draw.number("depth", 0.32, 0.5)
    if kind == "instant":
        wide, tall, deep = wide * 0.85, tall * 1.15, deep * 1.3
    paint, second = draw.colour(), draw.colour()
    body = slab(rectangle(wide, tall, draw.number("corner", 0.05, 0.16)), deep).paint(paint, 0.4)
    band = slab(rectangle(wide * 1.015, tall * draw.number("leather", 0.45, 0.62), 0.05, 2), deep * 1.05).at(y=-tall * 0.05)
    place = wide * draw.number("lens_place", -0.14, 0.04)
    radius, reach = tall * draw.number("lens", 0.27, 0.38), draw.number("lens_length", 0.2, 0.6)
    if kind in ("compact", "instant"):
        reach *= 0.5
    parts = body + band.paint(second, 0.1) + _lens(draw, radius, reach).at(place, -tall * 0.05, deep / 2)
    parts += _camera_top(draw, kind, wide, tall, deep, place, paint) + _camera_back(draw, wide, tall, deep)
    if draw.chance("strap", 0.45):
        drop = draw.number("strap", 0.5, 0.9)
        path = spline([(-wide / 2, tall * 0.35, 0), (-wide * 0.62, tall * 0.8, -0.1), (0, tall * 0.5 + drop, -0.25), (wide * 0.62, tall * 0.8, -0.1), (wide / 2, tall * 0.35, 0)], 16)
        parts += tube(path, 0.05, 5, flat=0.35).paint(draw.colour(), 0.1)
    return parts


def _lens(draw: Draw, radius: float, reach: float) -> Part:
    """Barrel with rings, dark glass with a bright reflex, towards +z."""
    barrel = lathe([(0, 0), (radius * 1.12, 0), (radius * 1.12, reach * 0.25), (radius, reach * 0.3), (radius, reach), (radius * 0.8, reach), (radius * 0.72, reach * 0.7), (0, reach * 0.7)], 20)
    rings = cylinder(radius * 1.05, reach * 0.14, n=20).row(draw.whole("rings", 1, 2), dy=reach * 0.3).at(y=reach * 0.66)
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
        hump = loft([rectangle(w, deep * d)[:, [0, 1, 1]] * np.array([1, 0, 1]) + np.array([lens, y, 0.02]) for w, d, y in ((0.62, 0.95, tall / 2 - 0.02), (0.4, 0.8, tall / 2 + high))])
        grip = box(wide * 0.17, tall * 0.92, deep * 0.5, 0.06).at(-wide * 0.41, 0, deep / 2)
        shoe = box(0.2, 0.05, 0.2).at(lens, tall / 2 + high + 0.02).paint(CHROME, 0.6)
        name = box(0.26, 0.07, 0.04).at(lens, tall / 2 + high * 0.5, deep * 0.46).paint(draw.colour("white"))
        parts += hump.paint(paint, 0.4) + grip.paint(draw.colour("black"), 0.1) + shoe + name
        return parts + (_flash(draw).at(lens, tall / 2 + high + 0.2, 0) if draw.chance("flash", 0.4) else Part())
    if kind == "instant":
        slot = box(wide * 0.8, 0.06, 0.06).at(0, -tall * 0.4, deep / 2 + 0.01).paint(DARK)
        stripe = joined(box(wide * 0.07, tall * 0.3, 0.04).at(-wide * 0.38 + i * wide * 0.075, -tall * 0.2, deep * 0.53).paint(draw.colour("bright")) for i in range(3))
        light = box(wide * 0.3, 0.16, 0.08, 0.03).at(-wide * 0.28, tall * 0.36, deep / 2).paint((0.95, 0.95, 0.9), 0.8)
        return parts + finder + slot + stripe + light
    light = box(0.3, 0.15, 0.06, 0.03).at(-wide * 0.28, tall * 0.36, deep / 2 + 0.02).paint((0.95, 0.95, 0.9), 0.8)
    if kind == "rangefinder":
        plate = box(wide * 0.62, 0.14, deep * 0.8).at(wide * 0.05, tall / 2 + 0.05).paint(draw.colour("metal"), 0.6)
        return parts + finder + plate + box(0.12, 0.1, 0.06).at(0, tall * 0.36, deep / 2 + 0.02).paint((0.9, 0.85, 0.6), 0.8)
    return parts + finder + light


def _flash(draw: Draw) -> Part:
    head = box(0.5, 0.28, 0.28, 0.05).paint(draw.colour("black"), 0.3)
    return head + box(0.42, 0.2, 0.05).at(0, 0, 0.14).paint((0.95, 0.95, 0.9), 0.8) + box(0.16, 0.16, 0.16).at(y=-0.18).paint(DARK)


def _camera_back(draw: Draw, wide: float, tall: float, deep: float) -> Part:
    """A screen and buttons on the back, a tripod plate below, lugs at the sides."""
    screen = box(wide * 0.5, tall * 0.52, 0.05).at(wide * 0.12, -tall * 0.04, -deep * 0.54).paint((0.15, 0.2, 0.28), 0.8)
    keys = cylinder(0.06, 0.08, n=8).rot(x=90).row(3, dy=tall * 0.2).at(-wide * 0.3, -tall * 0.04, -deep * 0.54).paint(draw.colour("bright"))
    foot = cylinder(0.1, 0.05, n=10).at(0.1, -tall / 2).paint(CHROME, 0.5)
    lug = rod((wide / 2, tall * 0.35, 0), (wide / 2 + 0.06, tall * 0.36, 0), 0.035, n=6).mirror("x").paint(CHROME, 0.7)
    return screen + keys + foot + lug
