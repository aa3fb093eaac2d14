"""Headwear: helmet, cap. It faces the front (+z)."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import Point, ellipse, spline
from lie_ssl.objects.shapes.domes import dome_patch, dome_rim, dome_shell, on_dome, scaled
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import DARK, LAMP
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, slab, tube


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
    decal = dome_patch(scaled(size, 1.02), (78, 106), (14, 34), 5)
    return body + decal.paint(draw.colour("bright"), 0.4)


def _chin_strap(draw: Draw, size: Point, drop: float) -> Part:
    path = spline([(size[0] * 0.86, -0.1, 0.05), (size[0] * 0.6, -drop * 0.8, 0.2), (0, -drop, 0.3)], 8)
    strap = tube(path, 0.045, 5, flat=0.4).mirror("x")
    return strap.paint(DARK, 0.1) + box(0.14, 0.1, 0.06).at(0.1, -drop, 0.3).paint(draw.colour("metal"), 0.6)


def _visor(draw: Draw, size: Point, low: float, high: float, width: float) -> Part:
    """A curved shield in front of the face, and its round hinges."""
    glass = dome_patch(scaled(size, 1.05), (-width, width), (low, high), 12, 4).paint(draw.colour("glass"), 0.9)
    hinge = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 1.01, size[1] * 0.12, size[2] * 0.12)
    return glass + hinge.mirror("x").paint(DARK, 0.5)


def _full_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A motorcycle helmet: closed shell with chin bar, shield and vents."""
    chin = draw.number("chin", 0.1, 0.22)
    shell = dome_shell(size, lambda turn: -58 + 8 * math.cos(math.radians(turn)), paint, DARK)
    low, reach = -size[1] * 0.5, size[2] * 0.86 + chin
    jaw = [(size[0] * 0.8 * math.sin(a), low, reach * math.cos(a)) for a in np.radians(np.linspace(-80, 80, 11))]
    bar = tube(jaw, 0.2, 8, flat=0.8).paint(paint, 0.5)
    slits = box(0.07, 0.12, 0.1).row(draw.whole("slits", 2, 5), dx=0.13).at(0, low, reach + 0.15).paint(DARK)
    gap = dome_patch(scaled(size, 1.02), (-72, 72), (-22, 30), 12, 4).paint(DARK, 0.2)
    return shell + bar + slits + gap + _visor(draw, size, -16, draw.number("visor_top", 20, 27), 66)


def _open_face(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A scooter helmet: face open, peak or raised shield, chin strap."""
    shell = dome_shell(size, dome_rim(draw.number("brow", 16, 26), -38, -36), paint, draw.colour("dark"))
    if draw.chance("peak"):
        top = _brim(size[0] * 0.8, size[2], 0.36, 0.08).at(y=size[1] * 0.42).paint(second, 0.4)
    else:
        top = _visor(draw, size, 20, draw.number("visor_top", 48, 60), 62)
    return shell + top + _chin_strap(draw, size, draw.number("strap", 0.75, 0.95))


def _hard_hat(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A builder's hat: shallow shell with ridges, an all-round brim that is longer in front, a lamp on some."""
    shell = dome_shell(size, lambda _: 0.0, paint, draw.colour("paint"))
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
        lamp = cylinder(0.16, 0.16, n=12).paint(DARK, 0.4) + cylinder(0.12, 0.2, n=12).paint(LAMP, 0.8)
        body += lamp.rot(x=90).at(0, size[1] * 0.5, size[2] * 0.95)
    return body + _chin_strap(draw, size, draw.number("strap", 0.5, 0.8))


def _cycling(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """A bicycle helmet: low shell with long vents, pointed back, straps."""
    shell = dome_shell(size, dome_rim(8, 12, -6), paint, DARK)
    length, n = draw.number("vent", 20, 32), draw.whole("vents", 2, 3)
    big, vents = scaled(size, 1.02), Part()
    for turn in [18 + 34 * i for i in range(n)]:
        vents += dome_patch(big, (turn - 7, turn + 7), (22, 22 + length), 3)
        vents += dome_patch(big, (173 - turn, 187 - turn), (18, 18 + length), 3)
    return shell + vents.mirror("x").paint(DARK, 0.1) + _chin_strap(draw, size, draw.number("strap", 0.6, 0.85))


def _football(draw: Draw, size: Point, paint: Colour, second: Colour) -> Part:
    """An American football helmet: open face behind a cage of bars, ear holes."""
    shell = dome_shell(size, dome_rim(16, -42, -34), paint, draw.colour("dark"))
    bars, reach = draw.whole("bars", 2, 4), draw.number("cage", 0.15, 0.3)
    turns, front = np.radians(np.linspace(-85, 85, 9)), size[2] * 0.9 + reach
    hoop = np.stack([size[0] * 0.92 * np.sin(turns), 0 * turns, 0.1 + (front - 0.1) * np.cos(turns)], axis=1)
    cage = joined(tube(hoop, 0.04, 6).at(y=y * size[1]) for y in np.linspace(-0.12, -0.62, bars))
    post = rod((0.16, -0.12 * size[1], front), (0.16, -0.62 * size[1], front), 0.04, n=6).mirror("x")
    ear = cylinder(0.1, 0.06, n=10).rot(z=90).at(size[0] * 0.97, -0.16, 0.02).mirror("x").paint(DARK)
    return shell + (cage + post).paint(second, 0.5) + ear


def _brim(half_width: float, start: float, reach: float, droop: float, curl: float = 0.12, thick: float = 0.04) -> Part:
    """A peak that extends to the front from depth `start`, bent down at the sides by `curl`."""
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
    width, depth = draw.number("width", 0.66, 0.76), draw.number("depth", 0.76, 0.88)
    size = (width, draw.number("height", 0.55, 0.8), depth)
    paint, second, lining = draw.colour(), draw.colour(), draw.colour("neutral")
    reach, droop = draw.number("peak", 0.42, 0.62), draw.number("droop", 0.05, 0.2)
    curl = 0.02 if kind == "flat peak" else draw.number("curl", 0.08, 0.2)
    if kind in ("officer", "army"):
        return _stiff_cap(draw, kind, size, paint, second, reach * 0.75, droop)
    if kind == "flat cap":
        return _flat_cap(draw, size, paint, second, reach * 0.7)
    crown = dome_shell(size, lambda _: 0.0, paint, lining, 0.1, 0.95)
    peak = _brim(width * 0.93, depth, reach, droop, curl).at(y=0.03)
    body = crown + peak.paint(second if draw.chance("other_peak") else paint, 0.15)
    body += _seams(size, draw.pick("panels", [5, 6, 8]), 2).paint(second, 0.1)
    if kind == "trucker":
        body += dome_patch(scaled(size, 1.03), (-52, 52), (1, 72), 9, 6).paint(draw.colour("paint"), 0.1)
    return body + _cap_badge(draw, size) + _back_strap(draw, size)


def _seams(size: Point, panels: int, low: float) -> Part:
    """Seams between the panels of a crown, and the button where they meet."""
    turns = (np.arange(panels) + 0.5) * 360 / panels
    lines = joined(tube([on_dome(t, h, size) for h in np.linspace(low, 86, 7)], 0.016, 4) for t in turns)
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
    x, y, z = on_dome(0, 32, size)
    return mark.size(big).paint(draw.colour("bright")).rot(x=-35).at(x, y + 0.02, z - 0.01)


def _back_strap(draw: Draw, size: Point) -> Part:
    """The gap at the back with its strap, buckle or snaps."""
    big = scaled(size, 1.02)
    gap = dome_patch(big, (150, 210), (3, 26), 6, 3).paint(DARK)
    strap = tube([on_dome(t, 5, big) for t in (145, 165, 180, 195, 215)], 0.05, 5, flat=0.5).paint(draw.colour())
    return gap + strap + box(0.14, 0.12, 0.06).at(0.08, 0.07, -big[2]).paint(draw.colour("metal"), 0.6)


def _stiff_cap(draw: Draw, kind: str, size: Point, paint: Colour, second: Colour, reach: float, droop: float) -> Part:
    """An officer's cap with a wide plate on a band, or an army cap with an upright wall and a flat top."""
    width, height, depth = size
    band, top = height * 0.3, height * draw.number("crown", 0.8, 1.05)
    flare = draw.number("flare", 1.18, 1.42) if kind == "officer" else draw.number("taper", 0.88, 1.0)
    wall = [(0.94, 0.02), (0.94, 0), (1, 0), (1, band), (flare, top * 0.8), (flare * 0.96, top), (0, top + 0.06)]
    body = lathe(wall, 24, crease=50).paint(paint, 0.15)
    body += lathe([(0.94, 0), (0.94, band), (0, band * 1.3)], 24).paint(draw.colour("neutral"))
    body += lathe([(1.0, 0.02), (1.025, 0.03), (1.025, band), (1.0, band + 0.01)], 24).paint(second, 0.3)
    body = body.size(width, 1, depth) + box(0.3, 0.12, 0.04).at(0, band * 0.5, -depth * 1.03).paint(DARK)
    peak = _brim(width * 0.93, depth * 1.02, reach, droop, 0.1).at(y=0.05)
    front = (width * 1.06, height, depth * 1.06)
    cord = tube([on_dome(t, 8, front) for t in np.linspace(-70, 70, 9)], 0.035, 5)
    cord += ball(0.06, 6).at(width * 1.02, band * 0.5, 0.2).mirror("x")
    crest = ellipse(0.28, 0.32, draw.pick("badge_corners", [4, 6, 12]))
    badge = slab(crest, 0.07).rot(x=-8).at(0, (band + top) / 2, depth * (0.52 + flare / 2) + 0.05)
    body += peak.paint(DARK if draw.chance("black_peak", 0.7) else paint, 0.6) + cord.paint(draw.colour("metal"), 0.6)
    return body + badge.paint(draw.colour("bright"), 0.6)


def _flat_cap(draw: Draw, size: Point, paint: Colour, second: Colour, reach: float) -> Part:
    """A soft flat cap, sewn from wedges or plain, its crown pulled forward over the short peak."""
    width, height, depth = size
    low = (width * 1.12, height * 0.62, depth * 1.12)
    crown = dome_shell(low, lambda _: -14, paint, draw.colour("neutral"), 0.05, 0.95)
    if draw.chance("wedges", 0.6):
        crown += _seams(low, 8, -8).paint(second)
    crown += box(0.06, 0.13, 0.24).at(low[0] * 0.98, -0.03).paint(draw.colour("bright"))
    peak = _brim(width * 0.9, depth, reach + 0.12, 0.14, 0.12).at(y=0.02, z=0.06)
    band = lathe([(0.95, 0), (0.97, -0.02), (1.0, 0), (1.0, 0.12)], 22).size(width, 1, depth).paint(second, 0.1)
    return crown.rot(x=7).at(y=0.14, z=0.08) + peak.paint(second if draw.chance("other_peak") else paint, 0.1) + band
