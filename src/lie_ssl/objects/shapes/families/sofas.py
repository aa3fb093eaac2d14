"""Sofas."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.bodies import cushion
from lie_ssl.objects.shapes.curves import bent, rectangle, standing
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import darker
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, loft, rod, slab, tube


@shape("sofa")
def sofa(draw: Draw) -> Part:
    """A couch for two to four: square, rolled or sloped arms, cushioned, buttoned or humped back, chaise or none."""
    seats = draw.whole("seats", 2, 4)
    seat_width, depth = draw.number("seat width", 0.55, 0.75), draw.number("depth", 0.85, 1.1)
    seat, foot = draw.number("seat height", 0.32, 0.45), draw.number("foot height", 0.07, 0.2)
    back_height, thick = draw.number("back height", 0.4, 0.7), draw.number("back thickness", 0.2, 0.3)
    arm_width, arm_height = draw.number("arm width", 0.12, 0.28), draw.number("arm height", 0.16, 0.36)
    back = draw.pick("back", ["cushions", "buttoned", "humped", "scalloped"])
    arms = draw.pick("arms", ["square", "rolled", "sloped", "none"], [3, 3, 2, 1])
    chaise = draw.pick("chaise", ["none", "left", "right"], [3, 1, 1]) if seats > 2 else "none"
    main, soft = draw.colour(), draw.colour()
    if draw.chance("one cloth", 0.5):
        soft = darker(main, 0.86)

    width, top = seats * seat_width, foot + seat
    total = width + (2 * arm_width if arms != "none" else 0)
    hard = box(total - 0.02, seat - 0.1, depth - 0.04).at(y=foot + (seat - 0.1) / 2)
    hard += _sofa_back(back, seats, total, seat + back_height, thick).at(y=foot, z=-depth / 2 + thick / 2)
    if arms != "none":
        hard += _sofa_arm(arms, arm_width, seat + arm_height, depth).at(x=width / 2 + arm_width / 2, y=foot).mirror()
    pads, feet = Part(), _sofa_feet(draw, total, depth, foot, soft)
    for k in range(seats):
        x, front = (k - (seats - 1) / 2) * seat_width, depth - thick
        if (chaise, k) in (("left", 0), ("right", seats - 1)):
            front += 0.55
            hard += box(seat_width, seat - 0.1, 0.6).at(x, foot + (seat - 0.1) / 2, depth / 2 + 0.22)
            feet += cylinder(0.04, foot + 0.02, n=6).at(x, foot / 2, depth / 2 + 0.42).row(2, dx=seat_width * 0.8)
        pads += cushion(seat_width - 0.015, 0.2, front, 0.06, 0.03).at(
            x, top - 0.02, (front + 2 * thick - depth) / 2 + 0.02
        )
        pads += _back_pad(back, seat_width, back_height).at(x, top, -depth / 2 + thick)
    result = hard.paint(main, 0.05) + pads.paint(soft, 0.05) + feet
    for k in range(draw.whole("loose cushions", 0, 2)):
        x = (width / 2 - 0.2) * (1 if k == 0 else -0.6)
        loose = cushion(0.4, 0.12, 0.4, 0.06, 0.03).rot(x=62).rot(y=-20 + 30 * k, z=12 - 20 * k)
        result += loose.at(x, top + 0.26, -depth / 2 + thick + 0.26).paint(draw.colour(), 0.05)
    return result


def _back_pad(kind: str, width: float, height: float) -> Part:
    """The padding of one seat in front of the back: a cushion, buttons or nothing."""
    if kind == "cushions":
        return cushion(width - 0.03, 0.18, height * 0.95, 0.08, 0.05).rot(x=76).at(y=0.06 + height * 0.48, z=0.1)
    if kind == "buttoned":
        return ball(0.04, 6).row(2, dx=width / 2).row(2, dy=height * 0.36).at(y=height * 0.58, z=0.01)
    return Part()


def _sofa_back(kind: str, seats: int, width: float, height: float, thick: float) -> Part:
    """A padded wall standing on y = 0; its upper edge is straight, humped in the middle or scalloped seat by seat."""
    steps = np.linspace(-1, 1, 4 * seats + 1)
    rise = {
        "humped": 0.16 * np.cos(steps * math.pi / 2) ** 2,
        "scalloped": 0.12 * np.abs(np.sin((steps + 1) / 2 * math.pi * seats)),
    }.get(kind, np.zeros_like(steps))
    sections = []
    for step, extra in zip(steps, rise, strict=True):
        outline = rectangle(thick, height + extra, thick * 0.4, n=2) + np.array([0, (height + extra) / 2])
        sections.append(standing(outline[:, ::-1], step * width / 2))
    return loft(sections[::-1])


def _sofa_arm(kind: str, width: float, height: float, depth: float) -> Part:
    """An arm standing on y = 0 about x = 0."""
    if kind == "rolled":
        roll = disc(width * 0.62, depth + 0.03, 14) + cylinder(width * 0.22, depth + 0.09, n=8).rot(x=90)
        return box(width * 0.8, height - width * 0.5, depth).at(y=(height - width * 0.5) / 2) + roll.at(
            x=width * 0.1, y=height - width * 0.6
        )
    if kind == "sloped":
        side = [
            (-depth / 2, 0),
            (depth / 2, 0),
            (depth / 2, height * 0.72),
            (depth * 0.2, height * 0.85),
            (-depth / 2, height * 1.25),
        ]
        return slab(side, width).rot(y=-90)
    return box(width, height, depth, width * 0.25).at(y=height / 2)


def _sofa_feet(draw: Draw, width: float, depth: float, height: float, cloth: Colour) -> Part:
    kind = draw.pick("feet", ["pegs", "blocks", "skirt", "runners"])
    x, z = width / 2 - 0.1, depth / 2 - 0.1
    if kind == "skirt":
        return box(width - 0.04, height + 0.04, depth - 0.06).at(y=(height + 0.04) / 2).paint(cloth, 0.05)
    if kind == "runners":
        return (
            tube(bent([(x, height + 0.02, z), (x, 0.02, z), (x, 0.02, -z), (x, height + 0.02, -z)], 0.06), 0.025, 5)
            .mirror()
            .paint(draw.colour("metal"), 0.8)
        )
    peg = (
        rod([x + 0.03, 0, z + 0.03], [x, height + 0.02, z], 0.03, 0.05, n=7)
        if kind == "pegs"
        else box(0.12, height + 0.02, 0.12).at(x, height / 2 + 0.01, z)
    )
    return peg.mirror().mirror("z").paint(draw.colour("wood"))
