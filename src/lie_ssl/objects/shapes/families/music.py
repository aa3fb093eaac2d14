"""Musical instruments: guitar, piano."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import mirrored_spline, spline, symmetric
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import BRASS
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, lathe, plate, rod, slab

_ELECTRIC: dict[str, list[tuple[float, float]]] = {
    "double horn": [
        (0.0, -0.62), (0.35, -0.55), (0.43, -0.25), (0.3, 0.05), (0.36, 0.3), (0.27, 0.46), (0.16, 0.36), (0.0, 0.3),
        (-0.15, 0.4), (-0.28, 0.6), (-0.4, 0.46), (-0.33, 0.1), (-0.45, -0.25), (-0.36, -0.55),
    ],
    "single horn": [
        (0.0, -0.64), (0.36, -0.55), (0.46, -0.25), (0.32, 0.08), (0.38, 0.32), (0.28, 0.46), (0.12, 0.28), (0.0, 0.42),
        (-0.2, 0.5), (-0.36, 0.34), (-0.3, 0.06), (-0.46, -0.25), (-0.36, -0.55),
    ],
}  # fmt: skip
_ANGULAR: dict[str, list[tuple[float, float]]] = {
    "arrow": [(0.1, 0.42), (0.52, -0.68), (0.36, -0.78), (0.0, -0.3), (-0.36, -0.78), (-0.52, -0.68), (-0.1, 0.42)],
    "zigzag": [
        (0.12, 0.42), (0.36, 0.3), (0.26, -0.1), (0.6, -0.55), (0.4, -0.66), (-0.34, -0.5),
        (-0.5, -0.1), (-0.12, 0.1), (-0.46, 0.5), (-0.1, 0.42),
    ],
}  # fmt: skip


def _guitar_body(draw: Draw, kind: str, depth: float) -> Part:
    """The body about the origin, its face at z = 0."""
    waist, lower = draw.number("waist", 0.24, 0.34), draw.number("lower bout", 0.45, 0.55)
    upper = draw.number("upper bout", 0.3, 0.42)
    if kind in _ELECTRIC:
        outline = spline(_ELECTRIC[kind], 44, closed=True) * (lower * 2.1, 1.0)
    elif kind in _ANGULAR:
        outline = np.array(_ANGULAR[kind]) * (lower * 2.5, 1.0)
    else:
        bouts = [(0.6 * lower, -0.64), (lower, -0.32), (waist, 0.1), (upper, 0.4), (0.6 * upper, 0.58)]
        outline = mirrored_spline([(0.0, -0.68), *bouts, (0.0, 0.6)], 40)
        if kind == "cutaway":
            outline = np.where((outline[:, :1] > 0.1) & (outline[:, 1:] > 0.25), outline * (1.0, 0.62), outline)
    shell = slab(outline, depth).at(z=-depth / 2 - 0.02).paint(draw.colour(), 0.4)
    return shell + slab(outline * 0.93, 0.04).at(z=-0.015).paint(draw.colour(), 0.4)


def _fittings(draw: Draw, hollow: bool) -> Part:
    """The fittings on the face: sound hole and rosette, or pickups and knobs; pick guard and bridge."""
    dark = draw.colour("black")
    bridge = box(0.36, 0.07, 0.05).at(y=-0.38, z=0.02).paint(draw.colour("wood" if hollow else "metal"), 0.4)
    guard = spline([(0.08, 0.12), (0.26, 0.02), (0.28, -0.2), (0.12, -0.34), (0.14, -0.1)], 14, closed=True)
    parts = bridge
    if draw.chance("pick guard", 0.6 if hollow else 0.9):
        parts += slab(guard, 0.02).at(z=0.01).paint(draw.colour(), 0.5)
    if hollow:
        radius = draw.number("sound hole", 0.13, 0.19)
        ring = disc(radius + 0.05, 0.03, 18).at(z=0.012).paint(draw.colour("wood"))
        return parts + (ring + disc(radius, 0.03, 18).at(z=0.022).paint(dark, 0.0)).at(y=0.04)
    pickup = box(0.32, 0.08, 0.05).at(y=-0.06, z=0.025).row(draw.whole("pickups", 2, 3), dy=0.15)
    knob = disc(0.045, 0.07, 8).at(0.24, -0.42, 0.03)
    knobs = joined(knob.at(0.02 * i, 0.1 * i) for i in range(draw.whole("knobs", 2, 3)))
    return parts + pickup.paint(dark, 0.3) + knobs.paint(draw.colour("metal"), 0.6)


def _head(draw: Draw, half: float, strings: int) -> Part:
    """The head with its tuning pegs, three on each side or all on the left, from y = 0 upwards."""
    length, peg = draw.number("head length", 0.3, 0.42), rod((0, 0, 0), (0.1, 0, 0), 0.018, n=5)
    peg += box(0.06, 0.05, 0.03).at(0.12)
    if draw.pick("head", ["both sides", "one side"]) == "both sides":
        right, step = [(half, 0.0), (1.6 * half, 0.1), (1.5 * half, length)], length / (strings // 2 + 0.6)
        outline = symmetric(right)
        pegs = joined(peg.at(1.4 * half, 0.12 + step * i) for i in range(strings // 2)).mirror()
    else:
        tip = [(half, 0.0), (1.3 * half, 0.7 * length), (0.4 * half, 1.15 * length)]
        outline = np.array([*tip, (-1.7 * half, 0.15), (-half, 0.0)])
        shares = [(i + 0.4) / strings for i in range(strings)]
        edge = [((2.1 * t - 1.6) * half, 0.15 + (1.15 * length - 0.15) * t) for t in shares]
        pegs = joined(peg.rot(z=180).at(x, y) for x, y in edge)
    return slab(outline, 0.06).rot(x=-8).paint(draw.colour(), 0.4) + pegs.paint(draw.colour("metal"), 0.6)


def _neck(draw: Draw, length: float, strings: int) -> Part:
    """Neck, frets, head and the strings, from the body's edge at y = 0.2 upwards."""
    end, half = 0.3 + length, draw.number("neck width", 0.07, 0.1)
    neck = box(2 * half, length + 0.15, 0.08).at(y=0.22 + length / 2).paint(draw.colour("wood"))
    neck += box(2 * half, length + 0.15, 0.03).at(y=0.22 + length / 2, z=0.05).paint(draw.colour("dark"))
    fret, places = box(2 * half, 0.018, 0.02).at(y=end, z=0.062), (0.12, 0.24, 0.35, 0.46, 0.56, 0.66, 0.76)
    neck += joined(fret.at(y=-length * f) for f in places).paint(draw.colour("metal"))
    string = box(0.01, end + 0.42, 0.01).row(strings, dx=1.6 * half / strings).at(y=(end - 0.38) / 2, z=0.075)
    return neck + string.paint(draw.colour("white")) + _head(draw, half, strings).at(y=end)


@shape("guitar")
def guitar(draw: Draw) -> Part:
    """A guitar standing upright: acoustic, cutaway, ukulele, electric with one or two horns, arrow or zigzag shaped.

    Body proportions, neck length, head, pickups, knobs, pick guard, number of strings and colours vary.
    """
    kinds = ["acoustic", "cutaway", "ukulele", "double horn", "single horn", "arrow", "zigzag"]
    kind = draw.pick("kind", kinds, [3, 2, 2, 3, 2, 1, 1])
    hollow, small = kind in kinds[:3], kind == "ukulele"
    strings = 4 if small else draw.pick("strings", [4, 6])
    depth = draw.number("hollow depth", 0.22, 0.34) if hollow else draw.number("depth", 0.12, 0.16)
    body = _guitar_body(draw, kind, depth) + _fittings(draw, hollow)
    neck = _neck(draw, draw.number("neck length", 0.6 if small else 1.05, 0.8 if small else 1.5), strings)
    return body.size(draw.number("body size", 1.0, 1.3), 1.0, 1.0) + neck


@shape("piano")
def piano(draw: Draw) -> Part:
    """A piano, keys to the front: upright, low spinet or grand with its lid up, half up or shut; with pedals."""
    kind = draw.pick("kind", ["upright", "spinet", "grand"], [3, 2, 4])
    width, octaves = draw.number("width", 1.35, 1.6), draw.whole("octaves", 3, 5)
    bed, key_depth = draw.number("key height", 0.62, 0.72), draw.number("key depth", 0.2, 0.28)
    legs = draw.pick("legs", ["turned", "square", "tapered"])
    pedals, music = draw.whole("pedals", 2, 3), draw.chance("music", 0.6)
    case, trim = draw.colour(), draw.colour()
    keys = _keyboard(width - 0.16, key_depth, octaves).at(y=bed + 0.06)
    cheeks = box(0.08, 0.17, key_depth + 0.08).at(width / 2 - 0.04, bed + 0.04).mirror()
    shelf = box(width, 0.1, key_depth + 0.08).at(y=bed - 0.01) + cheeks
    front = keys + shelf.paint(case, 0.7)
    leg = _piano_leg(legs, bed, draw.number("leg thickness", 0.05, 0.08))
    if kind == "grand":
        return _grand(draw, width, bed, front.at(z=key_depth / 2), leg, pedals, music, case, trim)
    height = bed + (draw.number("height", 0.45, 0.7) if kind == "upright" else 0.32)
    depth = draw.number("depth", 0.34, 0.5)
    z = depth / 2
    body = box(width, height, depth).at(y=height / 2) + box(width + 0.06, 0.05, depth + 0.06).at(y=height + 0.02)
    body += box(width + 0.04, 0.08, depth + 0.05).at(y=0.04)
    field = (height - bed - 0.2) * 0.9
    panels = box(width * 0.84, bed * 0.6, 0.03).at(y=bed * 0.5, z=z + 0.005)
    panels += box(width * 0.42, field, 0.03).at(width * 0.23, bed + 0.2 + field / 2, z + 0.005).mirror()
    result = body.paint(case, 0.7) + panels.paint(trim, 0.6) + front.at(z=z + key_depth / 2)
    result += leg.at(width / 2 - 0.08, 0, z + key_depth - 0.06).mirror().paint(case, 0.7)
    result += box(0.06, 0.025, 0.14).row(pedals, dx=0.12).at(y=0.12, z=z + 0.06).paint(BRASS, 0.9)
    result += _music_desk(draw, music, trim).at(y=bed + 0.2, z=z + 0.04)
    if kind == "upright" and draw.chance("candlesticks", 0.35):
        stick = rod([0, 0, 0], [0, 0.02, 0.14], 0.018, n=5) + cylinder(0.025, 0.1, n=6).at(y=0.06, z=0.14)
        result += stick.at(width * 0.4, bed + 0.34, z).mirror().paint(BRASS, 0.9)
    return result


def _keyboard(width: float, depth: float, octaves: int) -> Part:
    """White and black keys on y = 0, the fronts at +z, over a dark bed that shows in the gaps."""
    step = width / (7 * octaves)
    whites = box(step * 0.86, 0.05, depth).row(7 * octaves, dx=step).paint((0.95, 0.94, 0.9), 0.6)
    places = [o * 7 + k + 1 for o in range(octaves) for k in (0, 1, 3, 4, 5)]
    blacks = joined(box(step * 0.55, 0.05, depth * 0.6).at(p * step - width / 2, 0.04, -depth * 0.2) for p in places)
    return whites + blacks.paint((0.05, 0.05, 0.06), 0.6) + box(width, 0.03, depth * 0.98).paint((0.12, 0.11, 0.11))


def _piano_leg(kind: str, height: float, thick: float) -> Part:
    if kind == "turned":
        profile = [(0, 0), (0.7, 0), (0.5, 0.1), (0.8, 0.3), (1.0, 0.6), (0.6, 0.75), (1.1, 0.85), (1.1, 1), (0, 1)]
        return lathe(profile, 9).size(thick, height, thick)
    return rod([0, 0, 0], [0, height, 0], thick * (1.1 if kind == "square" else 0.6), thick * 1.1, n=4)


def _music_desk(draw: Draw, music: bool, colour: Colour) -> Part:
    """A sloping rest, standing on y = 0, with an open score if there is music."""
    desk = box(0.62, 0.24, 0.025).at(y=0.12).paint(colour, 0.5)
    if music:
        desk += box(0.23, 0.27, 0.02).rot(y=8).at(-0.12, 0.15, 0.035).mirror().paint((0.95, 0.95, 0.92), 0.05)
        desk += box(0.16, 0.02, 0.02).row(4, dy=0.05).at(-0.12, 0.15, 0.045).mirror().paint((0.3, 0.3, 0.32), 0.05)
    return desk.rot(x=-16).at(z=0.02)


def _grand(
    draw: Draw, width: float, bed: float, front: Part, leg: Part, pedals: int, music: bool, case: Colour, trim: Colour
) -> Part:
    """The wing-shaped case behind the keys (from z = 0 to the back), lid hinged on the left, legs and a pedal lyre."""
    length, lid_kind = draw.number("length", 1.2, 1.9), draw.pick("lid", ["open", "half open", "shut"], [4, 2, 1])
    thick, tail = draw.number("case height", 0.22, 0.32), draw.number("tail", 0.3, 0.5) * width
    x = width / 2
    side = [(x, -0.32), (x * 0.98, -length * 0.4), (x * 0.35, -length * 0.62), (tail - x, -length * 0.95)]
    bend = spline([*side, (tail * 0.5 - x, -length), (0.04 - x, -length * 0.97)], 16)
    outline = np.concatenate([[[-x, 0.0], [x, 0.0]], bend, [[-x, -length * 0.9]]])
    middle = np.array([-0.14 * width, -length * 0.4])
    wing = plate(outline, thick).at(y=bed + thick / 2).paint(case, 0.7)
    soundboard = plate((outline - middle) * 0.9 + middle, 0.02).at(y=bed + thick + 0.008).paint(BRASS, 0.6)
    spans = [(0.17 + 0.16 * k - x, length * (0.78 - 0.1 * k)) for k in range(6)]
    strings = joined(box(0.014, 0.02, span).at(place, bed + thick + 0.025, -0.12 - span / 2) for place, span in spans)
    angle = {"open": draw.number("lid angle", 32, 46), "half open": 16.0, "shut": 0.0}[lid_kind]
    lid = plate(outline, 0.035).at(x=x).rot(z=angle).at(x=-x, y=bed + thick + 0.035)
    reach = 0.62 * width
    result = front + wing + soundboard + strings.paint((0.85, 0.85, 0.82), 0.8) + lid.paint(case, 0.7)
    if angle:
        high = bed + thick + reach * math.tan(math.radians(angle))
        result += rod([reach - x + 0.12, bed + thick, -0.3], [reach - x, high, -0.3], 0.018, n=5).paint(trim)
    castor = cylinder(0.04, 0.06, n=8).rot(z=90).at(y=-0.02).paint(BRASS, 0.9)
    leg = leg.paint(case, 0.7) + castor
    result += leg.at(x - 0.12, 0, 0.02).mirror() + leg.at(tail / 2 - x + 0.08, 0, -length + 0.2)
    lyre = box(0.05, bed - 0.1, 0.04).at(0.08, bed / 2 + 0.05, -0.1).mirror() + box(0.34, 0.07, 0.14).at(y=0.12, z=-0.1)
    result += lyre.paint(case, 0.7) + box(0.06, 0.03, 0.18).row(pedals, dx=0.1).at(y=0.1, z=0.02).paint(BRASS, 0.9)
    return result + _music_desk(draw, music, trim).at(y=bed + thick, z=-0.1)
