"""Tools: cordless drill."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, lathe, rod, slab, tube


def _bit(draw: Draw, chuck: float) -> Part:
    """The bit in the chuck, along y from y = 0: a twist drill, a screwdriver bit, a spade or a hole saw."""
    kind, length = draw.pick("bit", ["twist", "screwdriver", "spade", "hole saw"]), draw.number("bit length", 0.35, 0.7)
    thick = draw.number("bit thickness", 0.03, 0.05)
    if kind == "twist":
        t = np.linspace(0, 1, 20)
        helix = np.column_stack([0.5 * thick * np.cos(25 * t), 0.1 + (length - 0.12) * t, 0.5 * thick * np.sin(25 * t)])
        return rod((0, 0, 0), (0, length, 0), 0.7 * thick, 0.3 * thick, n=6) + tube(helix, 0.6 * thick, 5)
    if kind == "screwdriver":
        tip = rod((0, 0, 0), (0, 0.6 * length, 0), thick, 0.5 * thick, n=6)
        return tip + cylinder(1.3 * thick, 0.3 * length, n=6).at(y=0.15 * length)
    if kind == "spade":
        blade = slab([(0.1, 0.0), (0.1, 0.14), (0.02, 0.16), (0, 0.24), (-0.02, 0.16), (-0.1, 0.14), (-0.1, 0.0)], 0.03)
        return cylinder(0.7 * thick, length, n=6).at(y=length / 2) + blade.at(y=length - 0.1)
    ring = 0.7 * chuck + 0.08
    cup = lathe([(0, 0.2), (ring, 0.2), (ring, 0.42), (0.85 * ring, 0.42), (0.85 * ring, 0.25), (0, 0.25)], 14)
    return cup + cylinder(0.7 * thick, 0.6, n=6).at(y=0.28)


def _battery(draw: Draw, reach: float, colour: Colour) -> Part:
    """The pack below the grip, its top at y = 0: a block with a foot to the front, a slide pack or a slim stick."""
    kind = draw.pick("battery", ["block", "slide pack", "stick"])
    height, width = draw.number("battery height", 0.16, 0.3), draw.number("battery width", 0.3, 0.42)
    if kind == "stick":
        label = box(0.2, 0.1, 0.32).at(0, -0.3 * height).paint(draw.colour("bright"))
        return label + box(0.3, 0.7 * height, 0.3, 0.05).at(0, -0.3 * height).paint(colour)
    side = np.array([(-0.4, 0), (0.6, 0), (0.6, -0.75), (0.5, -1), (-0.4, -1)]) * (reach, height)
    label = box(0.5 * reach, 0.4 * height, width + 0.04).at(0.1 * reach, -0.5 * height).paint(draw.colour("bright"))
    pack = slab(side, width).paint(colour) + label
    if kind == "slide pack":
        return pack + box(reach, 0.07, width + 0.03).at(0.1 * reach, 0.03).paint(draw.colour("black"))
    return pack + box(0.06, 0.5 * height, 0.5 * width).at(0.6 * reach, -0.4 * height).paint(draw.colour("metal"), 0.5)


def _motor(draw: Draw, length: float, radius: float, paints: tuple[Colour, Colour]) -> Part:
    """Motor housing, gear ring, chuck and bit, along y from y = 0."""
    back = [(0, -0.02), (0.6, 0), (0.95, 0.1), (1, 0.4), (0.98, 0.7), (0.72, 1), (0, 1)]
    motor = lathe(np.array(back) * (radius, length), 18).paint(paints[0], 0.4)
    motor += cylinder(1.04 * radius, 0.12, n=18).at(y=0.42 * length).paint(paints[1])
    y, chuck, reach = length, draw.number("chuck", 0.1, 0.15), draw.number("chuck length", 0.28, 0.4)
    if draw.chance("gear ring", 0.7):
        motor += cylinder(0.8 * radius, 0.14, 0.74 * radius, 12).at(y=y + 0.05).paint(draw.colour("black"))
        y += 0.12
    nose = lathe(np.array([(0, 0), (1, 0), (1.1, 0.5), (0.95, 0.7), (0.45, 1), (0, 1)]) * (chuck, reach), 12, crease=20)
    motor += nose.at(y=y).paint(draw.colour("black" if draw.chance("dark chuck") else "metal"), 0.5)
    return motor + _bit(draw, chuck).at(y=y + reach - 0.02).paint(draw.colour("metal"), 0.8)


@shape("drill")
def drill(draw: Draw) -> Part:
    """A cordless drill that points to the right: pistol grip at the back or T-shaped, with battery pack and chuck.

    Bit, battery, motor housing, gear ring, side handle, grip slope, lengths and colours vary.
    """
    length, radius = draw.number("motor length", 0.75, 1.0), draw.number("motor radius", 0.2, 0.26)
    grip, slope = draw.number("grip length", 0.55, 0.8), draw.number("grip slope", 4, 16)
    body, second, dark = draw.colour(), draw.colour(), draw.colour("black")
    whole = _motor(draw, length, radius, (body, second)).rot(z=-90)
    whole += box(0.03, 0.14, 0.06).row(3, dx=0.07).at(0.24 * length, 0.02, 0.96 * radius).mirror("z").paint(dark)
    whole += box(0.16, 0.05, 0.12).at(0.6 * length, radius).paint(draw.colour("bright"))
    root, low = (0.22 if draw.pick("form", ["pistol", "T"]) == "pistol" else 0.48) * length, -0.6 * radius
    tail, width = root - grip * math.tan(math.radians(slope)), draw.number("grip width", 0.12, 0.15)
    front = [(root + width, 0), (root + width - 0.06, -0.5 * grip), (tail + width, -grip)]
    outline = spline([*front, (tail - width, -grip), (tail - width + 0.1, -0.55 * grip), (root - width, 0)], 18)
    whole += slab(outline, 0.2).at(y=low).paint(second)
    whole += slab(outline * (1, 0.8), 0.15).at(-0.035, low - 0.05).paint(dark, 0.1)
    whole += box(0.12, 0.2, 0.12, 0.03).rot(z=-slope).at(root + width + 0.01, low - 0.24).paint(draw.colour("bright"))
    whole += _battery(draw, draw.number("pack length", 0.5, 0.65), body).at(tail, low - grip + 0.02)
    if draw.chance("side handle", 0.3):
        whole += rod((0, 0, 0), (0, -0.55, 0.2), 0.06, 0.075, n=8).at(0.95 * length, -0.5 * radius).paint(dark)
        whole += cylinder(0.85 * radius, 0.08, n=14).rot(z=90).at(0.95 * length).paint(second)
    return whole
