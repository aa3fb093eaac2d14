"""Dining room and bathroom: table, bathtub."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.bodies import crossed_beams
from lie_ssl.objects.shapes.curves import Array, arc, bent, ellipse, lying, rectangle
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, plate, rod, slab, tube


@shape("table")
def table(draw: Draw) -> Part:
    """A table: oblong, rounded, round, oval or many-sided top on legs, pedestal, trestle, crossed beams or hairpins."""
    width, ratio = draw.number("width", 1.1, 2.2), draw.number("depth ratio", 0.5, 0.75)
    height, top_thick = draw.number("height", 0.5, 1.0), draw.number("top thickness", 0.05, 0.11)
    leg, inset = draw.number("leg thickness", 0.07, 0.14), draw.number("inset", 0.74, 0.9)
    form = draw.pick("top", ["oblong", "rounded", "round", "oval", "eight-sided"], [3, 2, 2, 2, 1])
    base = draw.pick("base", ["straight", "tapered", "turned", "pedestal", "trestle", "crossed", "hairpin"])
    depth = width * ratio
    if form in ("round", "eight-sided"):
        width = depth = min(width, 1.5)
    outline = {
        "oblong": rectangle(width, depth),
        "rounded": rectangle(width, depth, 0.25 * depth, 4),
        "eight-sided": arc(width / 2, 22.5, 337.5, 8),
    }.get(form, ellipse(width, depth, 28))
    frame, top_colour = draw.colour(), draw.colour()
    result = plate(outline, top_thick).at(y=height).paint(top_colour, 0.3)
    if draw.chance("inlay", 0.35):
        result += plate(outline * 0.8, top_thick).at(y=height + 0.012).paint(draw.colour(), 0.3)
    corner = 1.0 if form in ("oblong", "rounded") else 0.72
    x, z = width / 2 * inset * corner, depth / 2 * inset * corner
    result += _table_base(draw, base, x, z, height, leg).paint(frame)
    if base in ("straight", "tapered", "turned"):
        apron = draw.number("apron", 0.08, 0.18)
        result += box(2 * x, apron, 2 * z).at(y=height - apron / 2 - 0.02).paint(frame)
        if draw.chance("drawer", 0.5):
            knob = ball(0.04, 8).at(z=0.05).paint(draw.colour("metal"), 0.8)
            front = box(x * 0.9, apron * 0.8, 0.05).paint(top_colour) + knob
            result += front.at(x * 0.3, height - apron / 2 - 0.03, z + 0.01)
    if base in ("straight", "tapered", "hairpin") and draw.chance("shelf", 0.25):
        result += box(2 * x, 0.05, 2 * z).at(y=height * 0.28).paint(top_colour)
    return result


def _table_base(draw: Draw, kind: str, x: float, z: float, height: float, leg: float) -> Part:
    if kind == "pedestal":
        return _pedestal(draw, height, leg, min(x, z))
    if kind == "trestle":
        side = box(leg * 0.9, height, z).at(x * 0.8, height / 2) + box(leg * 1.3, 0.09, 2 * z).at(x * 0.8, 0.045)
        return side.mirror() + box(x * 1.6, leg, leg * 0.6).at(y=height * 0.4)
    if kind == "crossed":
        beams = crossed_beams(x * 0.85, height, 2 * z, leg, leg * 0.2)
        return beams.at(y=height / 2 - leg * 0.2).mirror() + box(x * 1.7, leg, leg * 0.7).at(y=height / 2)
    if kind == "hairpin":
        pin = bent([(x, height, z - 0.16), (x + 0.05, 0.03, z + 0.03), (x - 0.16, height, z)], 0.08)
        return tube(pin, 0.025, 5).mirror().mirror("z")
    if kind == "turned":
        lower = [(0, 0), (0.35, 0), (0.55, 0.06), (0.3, 0.12), (0.6, 0.5)]
        profile = [*lower, (0.35, 0.62), (0.7, 0.7), (0.5, 0.78), (0.65, 0.8), (0.65, 1), (0, 1)]
        return lathe(profile, 9).size(leg, height, leg).at(x, 0, z).mirror().mirror("z")
    slim = 1.0 if kind == "straight" else 0.45
    splay = draw.number("splay", 0.0, 0.14) if kind == "tapered" else 0.0
    return rod([x + splay, 0, z + splay], [x, height, z], leg * 0.65 * slim, leg * 0.65, n=4).mirror().mirror("z")


def _pedestal(draw: Draw, height: float, leg: float, reach: float) -> Part:
    """A turned column on three or four arched feet, or on a round plate."""
    feet = draw.pick("pedestal feet", [0, 3, 4])
    waist = draw.number("waist", 0.6, 1.2)
    lower = [(0, 0.1), (1.1, 0.1), (1.2, 0.25), (waist, 0.35)]
    profile = [*lower, (1.3 * waist, 0.55), (0.6 * waist, 0.85), (1.6, 0.97), (0, 0.97)]
    column = lathe(profile, 12).size(leg, height, leg)
    if not feet:
        foot = cylinder(reach * 0.8, 0.07, reach * 0.7, n=20).at(y=0.035)
        return column + foot + cylinder(leg * 1.1, height * 0.2, n=12).at(y=height * 0.1)
    arch = bent([(0, height * 0.3, 0), (0, height * 0.22, reach * 0.45), (0, 0.04, reach * 0.85)], 0.25)
    return column + tube(arch, np.linspace(leg * 0.6, leg * 0.4, len(arch)).tolist(), 6).ring(feet)


@shape("bathtub")
def bathtub(draw: Draw) -> Part:
    """A tub: oval, oblong, slipper or built in, on claws, blocks or a plinth, with taps, drain and often water."""
    length, width = draw.number("length", 1.6, 2.1), draw.number("width", 0.78, 1.0)
    height, taper = draw.number("height", 0.48, 0.66), draw.number("taper", 0.62, 0.86)
    wall = draw.number("wall", 0.05, 0.1)
    form = draw.pick("form", ["oval", "oblong", "slipper", "built in"], [3, 2, 2, 2])
    stand = draw.pick("stand", ["claws", "blocks", "plinth"])
    outside, inside, metal = draw.colour(), draw.colour("white"), draw.colour("metal")
    head_rise = draw.number("head rise", 0.3, 0.6) if form == "slipper" else 0.0
    corner = 0.5 if form in ("oval", "slipper") else 0.2

    def ring(share: float, shrink: float, y: float) -> Array:
        """A level outline at height `y`; in a slipper tub it rises towards the head end (-x)."""
        flat = rectangle(length * share - 2 * shrink, width * share - 2 * shrink, corner, n=6)
        rise = head_rise * (y / height) ** 2 * np.clip(0.1 - flat[:, 0] / length, 0, 1) ** 1.4
        return lying(flat, y + rise)

    curve = [(taper * 0.7, 0.0), (taper * 0.93, 0.05), ((1 + taper) / 2, 0.4), (0.98, 0.85), (1.0, 1.0)]
    hull = loft([_pole(ring(taper * 0.7, 0, 0)), *(ring(share, 0, y * height) for share, y in curve)], caps=False)
    hollow = [ring(share, wall, 0.08 + y * (height - 0.08)) for share, y in reversed(curve)]
    tub = loft([*hollow, _pole(hollow[-1])], caps=False).paint(inside, 0.6)
    if form == "built in":
        base = 0.0
        tub += _panelled_case(draw, length, width, height, hollow[0], outside, inside)
    else:
        base = draw.number("foot height", 0.1, 0.22)
        rim = tube(ring(1.0, wall / 2, height), wall * 0.65, 6, closed=True)
        tub += hull.paint(outside, 0.5) + rim.paint(inside if draw.chance("pale rim", 0.6) else outside, 0.6)
    if draw.chance("water", 0.45):
        y = height * draw.number("water level", 0.5, 0.8)
        share = float(np.interp(y / height, [y for _, y in curve], [share for share, _ in curve]))
        surface = ring(share, wall, y) * [0.99, 0, 0.99] + [0, y, 0]
        tub += loft([surface, _pole(surface)], caps=False).paint((0.42, 0.7, 0.82), 0.8)
    drain = cylinder(0.06, 0.03, n=10).at(length * 0.25 * taper, 0.1)
    tub += (drain + _taps(draw).at(x=length / 2 - wall / 2, y=height)).paint(metal, 0.9)
    feet = _tub_feet(stand, length * taper, width * taper, base) if base else Part()
    return tub.at(y=base) + feet.paint(metal if draw.chance("metal feet", 0.6) else outside, 0.6)


def _pole(ring: Array) -> Array:
    """A ring shrunk to its middle, which closes a surface there."""
    return np.broadcast_to(ring.mean(axis=0), ring.shape)


def _panelled_case(
    draw: Draw, length: float, width: float, height: float, hole: Array, case: Colour, deck: Colour
) -> Part:
    """The box a built-in tub stands in: a deck with the basin's opening, and panels on the front and the ends."""
    outer = rectangle(length + 0.16, width + 0.16)
    body = slab(rectangle(length + 0.1, width + 0.1), height - 0.02, [hole[:, ::2]]).rot(x=90).at(y=height / 2 - 0.03)
    top = slab(outer, 0.08, [hole[:, ::2]]).rot(x=90).at(y=height - 0.03)
    n, z = draw.whole("panels", 1, 4), width / 2 + 0.05
    panel = box((length - 0.1) / n - 0.1, height * 0.6, 0.04).row(n, dx=length / n).at(y=height * 0.44, z=z).mirror("z")
    underside = box(length, 0.02, width).at(y=0.02)
    return (body + underside).paint(case) + top.paint(deck, 0.6) + panel.paint(draw.colour())


def _taps(draw: Draw) -> Part:
    """A spout over the tub and one or two handles, standing at the origin of the rim and pointing to -x."""
    kind = draw.pick("taps", ["swan neck", "square", "shower"])
    reach, rise = draw.number("spout reach", 0.2, 0.34), draw.number("spout height", 0.2, 0.4)
    spoke = rod([-0.07, 0.14, 0], [0.07, 0.14, 0], 0.022, n=5)
    wheel = spoke.rot(y=20) + spoke.rot(y=110)
    handles = (cylinder(0.03, 0.14, n=6).at(y=0.07) + wheel).at(z=0.16).mirror("z")
    corner = 0.3 if kind == "swan neck" else 0.05
    spout = tube(bent([(0, 0, 0), (0, rise, 0), (-reach, rise, 0), (-reach, rise * 0.6, 0)], corner), 0.04, 7)
    if kind != "shower":
        return spout + handles
    riser = tube(bent([(0.02, 0, 0), (0.02, 0.95, 0), (-0.35, 0.95, 0)], 0.2), 0.025, 6)
    return spout + handles + riser + cylinder(0.15, 0.06, 0.05, n=12).at(-0.35, 0.92)


def _tub_feet(kind: str, length: float, width: float, height: float) -> Part:
    x, z = length * 0.36, width * 0.33
    if kind == "plinth":
        return box(length * 0.8, height + 0.04, width * 0.72).at(y=height / 2 + 0.02)
    if kind == "blocks":
        return box(0.12, height + 0.06, width * 0.8).at(x, height / 2 + 0.03).mirror()
    claw = bent([(x, height + 0.12, z), (x + 0.06, height * 0.7, z + 0.1), (x + 0.05, 0.06, z + 0.08)], 0.08)
    leg = tube(claw, np.linspace(0.09, 0.035, len(claw)).tolist(), 6) + ball(0.065, 7).at(x + 0.06, 0.06, z + 0.1)
    return leg.mirror().mirror("z")
