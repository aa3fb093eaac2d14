"""Seats: chair, bench."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.bodies import crossed_beams, cushion
from lie_ssl.objects.shapes.curves import arc, bent, ellipse, lift, rectangle
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, lathe, plate, rod, tube


@shape("chair")
def chair(draw: Draw) -> Part:
    """A seat for one: legs, bent steel, sled or swivel star; back of slats, rungs, panel, hoop, cross or padding."""
    width, depth = draw.number("width", 0.72, 1.0), draw.number("depth", 0.72, 0.95)
    height, leg = draw.number("seat height", 0.68, 1.0), draw.number("leg thickness", 0.07, 0.12)
    back_height, lean = draw.number("back height", 0.65, 1.25), draw.number("lean", 4, 16)
    base = draw.pick("base", ["straight", "splayed", "turned", "cantilever", "sled", "swivel"], [3, 3, 2, 2, 1, 3])
    form = draw.pick("seat form", ["square", "tapered", "round"], [3, 2, 2])
    back = draw.pick("back", ["slats", "rungs", "panel", "hoop", "cross", "padded"])
    frame, seat_colour = draw.colour(), draw.colour()

    outline = {
        "square": rectangle(width, depth, 0.06),
        "tapered": np.array([[-0.42, -0.5], [0.42, -0.5], [0.54, 0.4], [0.4, 0.5], [-0.4, 0.5], [-0.54, 0.4]])
        * [width, depth],
        "round": ellipse(width, depth, 20),
    }[form]
    seat = plate(outline, 0.08).at(y=height).paint(seat_colour)
    if draw.chance("cushion", 0.4):
        seat += cushion(width * 0.86, 0.12, depth * 0.86, 0.05, 0.03).at(y=height + 0.08).paint(draw.colour(), 0.05)
    back_width = width * {"square": 0.94, "tapered": 0.8, "round": 0.7}[form]
    back_z = -depth / 2 + (0.06 if form != "round" else 0.14)
    rest = _chair_back(draw, back, back_width, back_height, leg, frame, seat_colour).rot(x=-lean).at(y=height, z=back_z)
    spread = 0.44 if form != "round" else 0.34
    result = seat + rest + _chair_base(draw, base, width * spread, depth * spread, height, leg, frame)
    if draw.chance("arms", 0.4):
        rise, x = draw.number("arm height", 0.28, 0.45), back_width / 2
        behind = back_z - rise * math.tan(math.radians(lean))
        post = rod([x, height, depth * 0.25], [x + 0.04, height + rise, depth * 0.3], leg * 0.4, n=6)
        arm = box(leg * 1.2, 0.06, depth * 0.34 - behind).at(x + 0.03, height + rise, (depth * 0.34 + behind) / 2)
        result += (post + arm).mirror().paint(frame)
    return result


def _chair_base(draw: Draw, base: str, x: float, z: float, height: float, leg: float, colour: Colour) -> Part:
    if base == "swivel":
        return _swivel(x, height, colour, draw.whole("feet", 4, 5))
    if base == "cantilever":
        runner = bent([(x, height, -z), (x, height, z), (x, leg / 2, z), (x, leg / 2, -z), (0, leg / 2, -z)], 0.18)
        return tube(runner, leg * 0.42, 6).mirror().paint(draw.colour("metal"), 0.8)
    if base == "sled":
        runner = bent([(x, height, z), (x, leg / 2, z * 1.1), (x, leg / 2, -z * 1.1), (x, height, -z)], 0.12)
        return tube(runner, leg * 0.42, 6).mirror().paint(colour, 0.5)
    splay = draw.number("splay", 0.08, 0.2) if base == "splayed" else 0.0
    if base == "turned":
        profile = [
            (0, 0),
            (0.25, 0),
            (0.4, 0.2),
            (0.3, 0.25),
            (0.55, 0.55),
            (0.35, 0.75),
            (0.6, 0.85),
            (0.5, 1),
            (0, 1),
        ]
        one = lathe(profile, 7).size(leg, height, leg).at(x, 0, z)
    else:
        one = rod(
            [x + splay, 0, z + splay],
            [x, height, z],
            leg * (0.5 if base == "straight" else 0.36),
            leg * 0.6,
            n=4 if base == "straight" else 7,
        )
    legs = one.mirror().mirror("z")
    if draw.chance("stretchers", 0.5):
        rise = draw.number("stretcher height", 0.2, 0.5)
        foot = splay * (1 - rise)
        legs += rod([x + foot, height * rise, -z - foot], [x + foot, height * rise, z + foot], leg * 0.28, n=5).mirror()
        legs += rod([-x - foot, height * rise, 0], [x + foot, height * rise, 0], leg * 0.28, n=5)
    return legs.paint(colour)


def _swivel(reach: float, height: float, colour: Colour, feet: int) -> Part:
    foot = rod([0, 0.2, 0], [0, 0.13, reach * 1.25], 0.06, 0.04, n=5).paint(colour, 0.5)
    castor = cylinder(0.075, 0.08, n=10).rot(z=90).at(y=0.075, z=reach * 1.25).paint((0.1, 0.1, 0.11))
    column = cylinder(0.05, height - 0.15, n=8).at(y=height / 2 + 0.08)
    column += cylinder(0.08, height * 0.4, n=8).at(y=0.15 + height * 0.2) + box(reach, 0.05, reach).at(y=height - 0.06)
    return (foot + castor).ring(feet) + column.paint((0.45, 0.46, 0.48), 0.7)


def _chair_back(draw: Draw, kind: str, width: float, height: float, leg: float, frame: Colour, soft: Colour) -> Part:
    """A back standing on y = 0 in the x-y plane."""
    x, t = width / 2 - leg / 2, leg * 0.7
    if kind == "hoop":
        straight = height - width / 2
        path = np.concatenate([[[x, 0]], arc(x, 0, 180, 12) + np.array([0, max(straight, 0.2)]), [[-x, 0]]])
        bars = joined(
            rod([k * x / 2.6, 0, 0], [k * x / 2.2, height * 0.82 - abs(k) * 0.05, 0], leg * 0.2, n=5)
            for k in (-1.5, -0.5, 0.5, 1.5)
        )
        return (tube(lift(path), leg * 0.42, 7) + bars).paint(frame)
    if kind == "padded":
        pad = cushion(width, height * 0.72, 0.18, 0.08).at(y=height * 0.62)
        bars = box(leg, height * 0.5, 0.05).at(x * 0.5, height * 0.22, -0.05).mirror()
        return pad.paint(soft, 0.05) + bars.paint(frame, 0.4)
    posts = box(leg, height, t).at(x, height / 2).mirror() + box(width, leg * 1.4, t * 1.1).at(y=height - leg * 0.7)
    if kind == "slats":
        n = draw.whole("slats", 3, 6)
        posts += box(width * 0.4 / n, height, t * 0.5).at(y=height / 2).row(n, dx=width * 0.9 / (n + 1))
        posts += box(width, leg * 0.8, t * 0.8).at(y=height * 0.2)
    elif kind == "rungs":
        n = draw.whole("rungs", 2, 4)
        posts += box(width, height * 0.42 / (n + 1), t * 0.5).at(y=height * 0.5).row(n, dy=height * 0.8 / (n + 1))
    elif kind == "cross":
        tilt = math.degrees(math.atan2(height * 0.7, width))
        beam = box(math.hypot(height * 0.7, width) * 0.97, leg * 0.7, t * 0.45)
        posts += (beam.rot(z=tilt) + beam.rot(z=-tilt).at(z=0.006)).at(y=height * 0.58) + box(width, leg, t * 0.8).at(
            y=height * 0.2
        )
    else:
        top = draw.number("panel height", 0.35, 0.85)
        posts += box(width * 0.96, height * top, t * 0.6).at(y=height * (1 - top / 2) - 0.01)
        pad = box(width * 0.8, height * top * 0.8, t * 1.15, 0.05).at(y=height * (0.97 - top / 2))
        return posts.paint(frame) + pad.paint(soft)
    return posts.paint(frame)


@shape("bench")
def bench(draw: Draw) -> Part:
    """A long seat: slats, plank or padding on iron, wooden, slab or crossed legs, with or without back and arms."""
    length, depth = draw.number("length", 1.7, 2.8), draw.number("depth", 0.5, 0.75)
    height, lean = draw.number("seat height", 0.5, 0.72), draw.number("lean", 6, 20)
    back_height, board = draw.number("back height", 0.5, 0.85), draw.number("board thickness", 0.06, 0.12)
    inset = draw.number("leg inset", 0.05, 0.3)
    seat_kind = draw.pick("seat", ["slats", "plank", "padded"], [3, 2, 1])
    back = draw.pick("back", ["none", "boards", "pickets", "panel"], [2, 4, 2, 1])
    support = draw.pick("legs", ["iron", "posts", "slabs", "crossed", "trestle"])
    wood, frame = draw.colour(), draw.colour()

    seat = _bench_seat(draw, seat_kind, length, depth, height, board, wood)
    x = length / 2 - inset
    result = seat + _bench_legs(support, x, height, depth, board).paint(frame, 0.3)
    if back != "none":
        rest = _bench_back(draw, back, length, x, back_height, board, wood, frame)
        result += rest.rot(x=-lean).at(y=height, z=-depth / 2 - 0.02)
        if draw.chance("arms", 0.6):
            rise = 0.3
            behind = -depth / 2 - rise * math.tan(math.radians(lean))
            arm = bent([(x, height, depth * 0.42), (x, height + rise, depth * 0.5), (x, height + rise, behind)], 0.12)
            result += tube(arm, board * 0.45, 6).mirror().paint(frame, 0.3)
    if draw.chance("loose cushion", 0.25):
        result += (
            cushion(0.42, 0.13, 0.42, 0.06, 0.03)
            .at(-length / 2 + 0.3, height + board / 2 + 0.1)
            .paint(draw.colour(), 0.05)
        )
    return result


def _bench_seat(draw: Draw, kind: str, length: float, depth: float, height: float, board: float, wood: Colour) -> Part:
    if kind == "slats":
        n = draw.whole("seat slats", 3, 5)
        return box(length, board * 0.7, depth / n * 0.78).row(n, dz=depth / n).at(y=height).paint(wood)
    seat = box(length, board, depth).at(y=height).paint(wood)
    if kind == "padded":
        pad = cushion(length * 0.97, 0.14, depth * 0.94, 0.06, 0.02).at(y=height + board / 2 + 0.06)
        seat += pad.paint(draw.colour(), 0.05)
    return seat


def _bench_legs(kind: str, x: float, height: float, depth: float, board: float) -> Part:
    z = depth / 2 - 0.06
    rail = box(board, board, depth * 0.96).at(x, height - board * 0.8)
    if kind == "iron":
        curve = bent([(x, 0.03, z + 0.1), (x, height * 0.45, z * 0.45), (x, height - 0.05, z + 0.02)], 0.2)
        foot = tube(curve, board * 0.42, 6).mirror("z") + rod(
            [x, height * 0.45, -z * 0.5], [x, height * 0.45, z * 0.5], board * 0.3, n=6
        )
        return (foot + rail).mirror()
    if kind == "posts":
        return (box(board * 1.3, height, board * 1.3).at(x, height / 2, z).mirror("z") + rail).mirror() + box(
            2 * x, board, board * 0.7
        ).at(y=height - board)
    if kind == "slabs":
        return box(board * 1.8, height, depth * 0.85).at(x, height / 2).mirror() + box(2 * x, board * 1.5, board).at(
            y=height * 0.4
        )
    if kind == "crossed":
        beams = crossed_beams(x, height, depth, board, board * 0.3, 0.97)
        return (beams.at(y=height / 2) + rail).mirror() + box(2 * x, board * 0.8, board * 0.8).at(y=height / 2)
    side = rod([x + 0.06, 0, z + 0.08], [x - 0.06, height, z * 0.5], board * 0.6, n=4).mirror("z")
    return (side + box(board, board, depth * 0.7).at(x, height * 0.4)).mirror() + box(2 * x, board, board * 0.7).at(
        y=height * 0.4
    )


def _bench_back(
    draw: Draw, kind: str, length: float, x: float, height: float, board: float, wood: Colour, frame: Colour
) -> Part:
    """A back standing on y = 0 in the x-y plane, its posts at +-x."""
    posts = box(board, height + 0.1, board * 0.7).at(x, height / 2 - 0.05, -board * 0.6).mirror().paint(frame, 0.3)
    if kind == "boards":
        n = draw.whole("back boards", 2, 4)
        return posts + box(length, height * 0.8 / n * 0.78, board * 0.6).row(n, dy=height * 0.8 / n).at(
            y=height * 0.6
        ).paint(wood)
    if kind == "pickets":
        n = draw.whole("pickets", 7, 13)
        rails = box(length, board, board * 0.7).at(y=height * 0.96) + box(length, board, board * 0.7).at(y=height * 0.2)
        return posts + (
            rails + box(length * 0.4 / n, height * 0.8, board * 0.4).row(n, dx=length / n).at(y=height * 0.58)
        ).paint(wood)
    plaque = box(length * 0.16, height * 0.14, 0.03).at(y=height * 0.72, z=board * 0.4).paint(draw.colour("metal"), 0.8)
    return posts + box(length, height * 0.85, board * 0.7, 0.1).at(y=height * 0.58).paint(wood) + plaque
