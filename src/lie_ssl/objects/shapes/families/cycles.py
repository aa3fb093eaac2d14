"""Two-wheelers: bicycle, motorbike. They drive to the right (+x), so that the viewer sees the side."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import Point, arc, lift, rectangle, spline, symmetric
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.handles import bow_handle
from lie_ssl.objects.shapes.palettes import CHROME, LAMP, RUBBER
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, loft, plate, rod, slab, tube
from lie_ssl.objects.shapes.wheels import cast_wheel, wire_wheel


@shape("bicycle")
def bicycle(draw: Draw) -> Part:
    """A bicycle: frame, handlebar, tyres and extras (mudguards, rack, basket, crossbar bag) vary."""
    frame = draw.pick("frame", ["diamond", "step-through", "mixte", "bow"], [3, 1.5, 1.5, 1.5])
    radius, base = draw.number("wheel", 0.46, 0.6), draw.number("wheelbase", 1.55, 1.75)
    rear, front = -base * 0.46, base * 0.54
    crank = (-0.1, radius - draw.number("bracket_drop", 0.04, 0.12), 0.0)
    seat_rise, thick = draw.number("seat_height", 0.8, 1.0), draw.number("tube", 0.03, 0.05)
    tyre = draw.number("tyre", 0.03, 0.065)
    seat_top = (crank[0] - seat_rise * 0.3, crank[1] + seat_rise * 0.75, 0.0)
    head = (front - draw.number("head_lean", 0.3, 0.4), radius + draw.number("head_height", 0.55, 0.72), 0.0)
    neck = (head[0] + 0.06, head[1] - 0.18, 0.0)
    paint = draw.colour()
    axle = (rear, radius, 0.0)
    bars = _frame_tubes(frame, seat_top, crank, head, neck, thick)
    stays = rod((rear, radius, 0.09), crank, thick * 0.6, n=5) + rod((rear, radius, 0.09), seat_top, thick * 0.6, n=5)
    prong = [(head[0] + 0.08, head[1] - 0.24, 0.08), (front - 0.1, radius + 0.2, 0.08), (front, radius, 0.08)]
    fork = tube(prong, thick * 0.6, 5)
    steering = rod(head, neck, thick * 1.3, n=8) + rod(neck, (neck[0] + 0.03, neck[1] - 0.08, 0), thick, n=6)
    crown = box(0.06, 0.05, 0.2).at(head[0] + 0.08, head[1] - 0.24)
    body = (bars + stays.mirror("z") + fork.mirror("z") + steering + crown).paint(paint, 0.5)
    wheel = wire_wheel(radius, tyre, draw.whole("spokes", 8, 12), draw.colour("metal"))
    saddle = _saddle(draw, (seat_top[0] - seat_rise * 0.08, seat_top[1] + seat_rise * 0.2, 0), seat_top, thick)
    drive = _drive(crank, axle, draw.number("chainring", 0.11, 0.16))
    body += wheel.at(rear, radius) + wheel.rot(z=10).at(front, radius) + saddle + drive
    return body + _handlebar(draw, head) + _cycle_extras(draw, radius, rear, front, head, paint)


def _frame_tubes(frame: str, seat: Point, crank: Point, head: Point, neck: Point, thick: float) -> Part:
    """The tubes between saddle, pedals and handlebar."""
    seat_tube = rod(crank, seat, thick, n=7)
    low = (neck[0] - 0.02, neck[1] + 0.02, 0.0)
    if frame == "diamond":
        return seat_tube + rod(seat, head, thick, n=7) + rod(crank, low, thick * 1.1, n=7)
    if frame == "mixte":
        middle = ((seat[0] + crank[0]) / 2, (seat[1] + crank[1]) / 2, 0.0)
        return seat_tube + rod(middle, head, thick, n=7) + rod(crank, low, thick * 1.1, n=7)
    if frame == "bow":
        arch = spline([seat, ((seat[0] + head[0]) / 2, seat[1] + 0.1, 0), head], 8)
        belly = spline([crank, ((crank[0] + low[0]) / 2, crank[1] + 0.1, 0), low], 8)
        return seat_tube + tube(arch, thick, 7) + tube(belly, thick, 7)
    swan = spline([(crank[0] - 0.05, crank[1] + 0.16, 0), (crank[0] + 0.2, crank[1] + 0.17, 0), head], 10)
    return seat_tube + tube(swan, thick * 1.1, 7) + rod(crank, low, thick * 1.1, n=7)


def _saddle(draw: Draw, place: Point, seat: Point, thick: float) -> Part:
    length, width = draw.number("saddle_length", 0.3, 0.42), draw.number("saddle_width", 0.09, 0.16)
    edge = [(-length / 2, -width), (0, -width * 0.5), (length / 2, -0.035)]
    outline = spline(symmetric(edge, axis=1), 16, closed=True)
    pad = plate(outline, 0.09).at(place[0] + 0.03, place[1] + 0.03).paint(draw.colour(), 0.3)
    return pad + rod(seat, place, thick * 0.75, n=6).paint(CHROME, 0.6)


def _drive(crank: Point, axle: Point, ring: float) -> Part:
    """Chainring, cranks, pedals and chain, on the right side."""
    chainring = disc(ring, 0.03, 14).at(crank[0], crank[1], 0.09).paint(CHROME, 0.6)
    arm = rod((0, 0, 0.13), (0.13, -0.16, 0.14), 0.025, n=5) + box(0.13, 0.04, 0.14).at(0.13, -0.17, 0.22)
    arms = arm + arm.rot(z=180).at(0, 0, -0.36)
    chain = rod((axle[0], axle[1] + 0.05, 0.09), (crank[0], crank[1] + ring, 0.09), 0.014, n=4)
    chain += rod((axle[0], axle[1] - 0.05, 0.09), (crank[0], crank[1] - ring, 0.09), 0.014, n=4)
    return chainring + (arms.at(*crank) + chain).paint((0.2, 0.2, 0.22), 0.4)


def _handlebar(draw: Draw, head: Point) -> Part:
    """Straight, swept-back, raised or racing handlebar on a stem, with grips."""
    style = draw.pick("handlebar", ["flat", "swept", "raised", "drop"])
    width, rise = draw.number("handlebar_width", 0.26, 0.38), draw.number("stem", 0.1, 0.24)
    x, y = head[0] - 0.03, head[1] + rise
    drop = width * 0.75
    ends: dict[str, list[Point]] = {
        "flat": [(0.06, 0, 0), (0.04, 0, width)],
        "swept": [(0.06, 0, 0), (0.1, 0.03, width * 0.5), (-0.05, 0.06, width), (-0.24, 0.05, width * 1.05)],
        "raised": [(0.04, 0, 0), (0.04, 0.02, width * 0.35), (0, 0.2, width * 0.6), (-0.12, 0.22, width)],
        "drop": [(0.05, 0, 0), (0.06, 0, width * 0.7), (0.2, -0.02, drop), (0.22, -0.13, drop), (0.05, -0.2, drop)],
    }
    path = ends[style]
    half = tube(spline(path, 3 * len(path)) if len(path) > 2 else path, 0.024, 6).paint(CHROME, 0.6)
    a, b = np.array(path[-2]), np.array(path[-1])
    half += rod(a + 0.5 * (b - a), b + 0.02 * (b - a), 0.036, n=6).paint(draw.colour("black"))
    return half.mirror("z").at(x, y) + rod(head, (x + 0.05, y, 0), 0.035, n=6).paint(CHROME, 0.6)


def _cycle_extras(draw: Draw, radius: float, rear: float, front: float, head: Point, paint: Colour) -> Part:
    """Mudguards, a rack with or without a bag, a basket, a lamp."""
    parts = Part()
    if draw.chance("mudguards", 0.45):
        for x, start, end in ((rear, 20, 190), (front, 25, 165)):
            curve = lift(arc(radius + 0.05, start, end, 9)) + np.array([x, radius, 0])
            parts += tube(curve, 0.07, 6, flat=0.25).paint(paint, 0.5)
    carrier = draw.pick("carrier", ["none", "rack", "bag"])
    if carrier != "none":
        rack = box(0.5, 0.03, 0.2).at(rear + 0.02, 2 * radius + 0.12)
        rack += rod((rear, radius, 0.1), (rear - 0.1, 2 * radius + 0.12, 0.1), 0.016, n=4).mirror("z")
        parts += rack.paint(CHROME, 0.5)
    if carrier == "bag":
        parts += box(0.42, 0.36, 0.13, 0.06).at(rear, 2 * radius - 0.08, 0.17).mirror("z").paint(draw.colour())
    if draw.chance("basket", 0.3):
        walls = rectangle(0.3, 0.36, 0.06, 2)
        side = slab(walls, 0.24, [rectangle(0.25, 0.31, 0.05, 2)]).rot(x=90)
        parts += (side + box(0.28, 0.03, 0.34).at(y=-0.11)).at(head[0] + 0.27, head[1] + 0.1).paint(draw.colour())
    return parts + cylinder(0.05, 0.08, n=8).rot(z=90).at(head[0] + 0.12, head[1] - 0.06).paint(LAMP, 0.7)


@shape("motorbike")
def motorbike(draw: Draw) -> Part:
    """A motorbike: roadster, racer with fairing, chopper, scooter or cross bike; wheels, exhausts and luggage vary."""
    kind = draw.pick("kind", ["roadster", "racer", "chopper", "scooter", "cross"])
    small = kind == "scooter"
    radius = draw.number("wheel", 0.3, 0.36) * (0.68 if small else 1.0)
    base = draw.number("wheelbase", 1.3, 1.5) + (0.22 if kind == "chopper" else -0.1 if small else 0)
    tyre = draw.number("tyre", 0.075, 0.1) * (0.75 if kind == "cross" else 1)
    seat = draw.number("seat_height", 0.72, 0.82) + (0.12 if kind == "cross" else 0)
    rake = draw.number("rake", 0.2, 0.3) + (0.2 if kind == "chopper" else 0)
    front, rear = base / 2, -base / 2
    head = (front - rake, seat + draw.number("head_rise", 0.16, 0.26), 0.0)
    paint = draw.colour()
    wheel = cast_wheel(draw, radius, tyre)
    body = wheel.at(rear, radius) + wheel.at(front, radius)
    prong = rod((front, radius, 0.1), (head[0] - 0.02, head[1] + 0.04, 0.1), 0.035, n=6).mirror("z")
    body += (prong + box(0.12, 0.05, 0.28).at(head[0], head[1])).paint(CHROME, 0.7)
    body += _motor_grips(draw, kind, head)
    guard = tube(lift(arc(radius + 0.05, 35, 150, 9)) + np.array([front, radius, 0]), tyre * 1.3, 6, flat=0.3)
    body += guard.at(y=0.12 if kind == "cross" else 0).paint(paint, 0.6)
    if small:
        return body + _scooter_body(draw, rear, radius, seat, head, paint)
    return body + _motor_body(draw, kind, base, radius, seat, head, paint)


def _motor_grips(draw: Draw, kind: str, head: Point) -> Part:
    """Handlebar with grips, mirrors and a headlamp."""
    rise = {"chopper": draw.number("ape_hanger", 0.18, 0.4), "racer": 0.02, "cross": 0.16}.get(kind, 0.12)
    width = draw.number("handlebar_width", 0.28, 0.38)
    path = [(0, 0, 0), (0, 0.04, 0.1), (-0.04, rise, width * 0.7), (-0.16, rise + 0.02, width)]
    half = tube(spline(path, 8), 0.02, 6).paint(CHROME, 0.7)
    half += rod((-0.09, rise + 0.01, width * 0.84), (-0.18, rise + 0.02, width * 1.03), 0.03, n=6).paint(RUBBER)
    if draw.chance("mirrors", 0.6) and kind != "cross":
        half += rod((-0.05, rise, width * 0.75), (-0.03, rise + 0.16, width * 0.85), 0.012, n=4).paint(CHROME, 0.7)
        half += ball(0.06, 8).size(0.4, 0.8, 1.2).at(-0.03, rise + 0.18, width * 0.85).paint(RUBBER, 0.4)
    lamp = cylinder(0.1, 0.12, n=12).rot(z=90).at(0.15, -0.03).paint(draw.colour("metal"), 0.7)
    lamp += cylinder(0.085, 0.05, n=12).rot(z=90).at(0.2, -0.03).paint(LAMP, 0.8)
    return half.mirror("z").at(head[0], head[1] + 0.05) + lamp.at(head[0], head[1])


def _motor_body(draw: Draw, kind: str, base: float, radius: float, seat: float, head: Point, paint: Colour) -> Part:
    """Tank, saddle, engine, frame and exhaust, and the parts specific to the kind."""
    front, rear, second = base / 2, -base / 2, draw.colour()
    length, fat = draw.number("tank_length", 0.42, 0.56), draw.number("tank_width", 0.11, 0.15)
    tank = (
        ball(1, 14)
        .size(length / 2, 0.15, fat)
        .rot(z=8)
        .at(head[0] - length * 0.5 - 0.02, seat + 0.08)
        .paint(paint, 0.7)
    )
    badge = (
        ball(1, 8).size(0.12, 0.05, fat).at(head[0] - length * 0.5, seat + 0.09, 0.02).mirror("z").paint(second, 0.6)
    )
    tail = {"racer": 0.22, "cross": 0.1, "chopper": -0.06}.get(kind, 0.03)
    sink = 0.08 if kind == "chopper" else 0.0
    low = seat - sink
    line = spline([(head[0] - length * 0.8, low + 0.02), (rear + 0.35, low - 0.04), (rear - 0.08, low + tail)], 7)
    saddle = tube(lift(line), [0.09, 0.12, 0.14, 0.14, 0.14, 0.13, 0.1], 8, flat=0.5).paint(draw.colour("dark"), 0.3)
    light = box(0.06, 0.06, 0.14).at(rear - 0.14, seat + tail - sink - 0.05).paint((0.8, 0.1, 0.08), 0.6)
    middle = (front + rear) / 2 - 0.03
    engine = _engine(draw, middle, radius)
    cradle = [head, (head[0] - 0.06, radius + 0.25, 0), (middle + 0.15, radius - 0.1, 0)]
    cradle += [(middle - 0.2, radius - 0.08, 0), (rear + 0.3, seat - 0.05, 0)]
    swing = rod((middle - 0.15, radius + 0.02, 0.12), (rear, radius, 0.12), 0.035, n=5).mirror("z") + tube(
        cradle, 0.035, 6
    )
    shock = rod((rear + 0.06, radius + 0.02, 0.13), (rear + 0.22, seat - 0.05, 0.1), 0.035, n=6).mirror("z")
    body = tank + badge + saddle + light + engine + swing.paint(draw.colour("paint"), 0.5) + shock.paint(second, 0.5)
    body += _exhaust(draw, kind, middle, rear, radius, seat)
    if kind == "racer":
        return body + _fairing(front, radius, head, paint, second, draw.colour("glass"))
    hind = tube(lift(arc(radius + 0.06, 40, 175, 9)) + np.array([rear, radius, 0]), 0.12, 6, flat=0.3).paint(paint, 0.6)
    if kind == "cross":
        return body + hind.at(0.02, 0.14) + box(0.03, 0.24, 0.22).rot(z=15).at(head[0] + 0.24, head[1]).paint(second)
    if kind == "chopper":
        side = [(rear + 0.1, seat, 0.1), (rear - 0.12, seat + 0.36, 0.06)]
        bar = bow_handle(side, 0.02, 10, 5, axis=2)
        return body + hind + bar.paint(CHROME, 0.7)
    if draw.chance("panniers"):
        hind += box(0.4, 0.3, 0.14, 0.06).at(rear - 0.02, seat - 0.17, 0.24).mirror("z").paint(second)
    return body + hind


def _engine(draw: Draw, middle: float, radius: float) -> Part:
    """The crankcase with one upright cylinder or two in a V; cooling fins all the way up."""
    block = box(0.42, 0.26, 0.3, 0.08).at(middle, radius + 0.05).paint(draw.colour("metal"), 0.6)
    jug = joined(box(0.2, 0.025, 0.24).at(y=0.05 * i) for i in range(5)) + cylinder(0.08, 0.28, n=8).at(y=0.1)
    if draw.chance("v_engine", 0.4):
        jugs = jug.rot(z=28).at(middle - 0.1, radius + 0.13) + jug.rot(z=-28).at(middle + 0.12, radius + 0.13)
    else:
        jugs = jug.rot(z=-14).size(1.2, 1, 1.2).at(middle + 0.06, radius + 0.16)
    return block + jugs.paint((0.35, 0.36, 0.38), 0.6)


def _exhaust(draw: Draw, kind: str, middle: float, rear: float, radius: float, seat: float) -> Part:
    high = kind in ("cross", "racer")
    end_y = seat - 0.08 if high else radius - 0.02
    n, fat = draw.whole("exhausts", 1, 2), draw.number("exhaust", 0.045, 0.065)
    elbow = (rear + 0.25, (end_y + radius) / 2 - 0.06, 0.2)
    bend = [
        (middle + 0.18, radius + 0.2, 0.12),
        (middle + 0.26, radius - 0.05, 0.16),
        (middle - 0.05, radius - 0.1, 0.18),
    ]
    pipe = tube(spline([*bend, elbow], 9), 0.03, 6)
    can = rod((elbow[0] + 0.05, *elbow[1:]), (rear - 0.16, end_y, 0.22), fat, fat * 1.2, n=8)
    parts = (pipe + can).paint(CHROME, 0.8)
    return parts.mirror("z") if n == 2 else parts


def _fairing(front: float, radius: float, head: Point, paint: Colour, second: Colour, glass: Colour) -> Part:
    """The cowl of a racing bike, with its screen and the belly pan."""
    x, y, nose = head[0], head[1], head[0] + 0.3
    top = [(nose, y - 0.08), (x + 0.06, y + 0.1), (x - 0.16, y - 0.02)]
    belly = [(-0.1, radius + 0.3), (-0.28, radius - 0.08), (0.2, radius - 0.16), (front - radius - 0.1, radius + 0.12)]
    chin = (nose - 0.16, y - 0.26)
    sides = slab([*top, *belly, chin], 0.04).at(z=0.16).mirror("z").paint(paint, 0.7)
    widths = np.array([0.06, 0.12, 0.16, 0.14])
    snout = loft([lift([*top, chin], list(s * widths)) for s in (-1, 1)])
    band = [(0.3, radius + 0.16), (0.14, radius + 0.26), (-0.2, radius - 0.02), (-0.04, radius - 0.08)]
    stripe = slab(band, 0.39).paint(second, 0.6)
    arch = spline([(nose - 0.06, y, 0), (x + 0.08, y + 0.16, 0), (x - 0.02, y + 0.24, 0)], 6)
    bubble = tube(arch, [0.05, 0.09, 0.11, 0.11, 0.1, 0.08], 8, flat=0.4)
    lamps = ball(0.05, 8).at(nose - 0.03, y - 0.1, 0.06).mirror("z").paint(LAMP, 0.8)
    return sides + snout.paint(paint, 0.7) + stripe + bubble.paint(glass, 0.8) + lamps


def _scooter_body(draw: Draw, rear: float, radius: float, seat: float, head: Point, paint: Colour) -> Part:
    """Leg shield, foot board and the round rear with the saddle."""
    second = draw.colour()
    x, y = head[0], head[1]
    steps = (
        (x + 0.04, y, 0.22),
        (x + 0.03, seat - 0.15, 0.44),
        (x - 0.06, radius + 0.12, 0.4),
        (x - 0.16, radius + 0.02, 0.36),
    )
    shield = loft([lift(rectangle(w, 0.09, 0.04, 2))[:, [1, 2, 0]] + np.array([a, b, 0]) for a, b, w in steps])
    board = box(0.5, 0.08, 0.38, 0.03).at(head[0] - 0.36, radius + 0.03)
    tail = ball(1, 14).size(0.44, (seat - radius) * 0.62, 0.22).at(rear + 0.14, (seat + radius) / 2 + 0.02)
    cowl = ball(1, 12).size(0.3, 0.17, 0.12).at(rear + 0.06, radius + 0.2, 0.15).mirror("z").paint(second, 0.6)
    saddle = box(draw.number("saddle_length", 0.5, 0.7), 0.12, 0.26, 0.05).at(rear + 0.14, seat + 0.08)
    light = box(0.06, 0.08, 0.12).at(rear - 0.3, seat - 0.12).paint((0.8, 0.1, 0.08))
    pod = ball(0.13, 10).at(head[0] + 0.03, head[1] + 0.05)
    parts = (shield + board + tail + pod).paint(paint, 0.6) + cowl + saddle.paint(draw.colour("dark"), 0.3) + light
    pipe = rod((rear + 0.2, radius - 0.05, 0.2), (rear - 0.2, radius, 0.2), 0.05, n=7).paint(CHROME, 0.7)
    if draw.chance("windscreen", 0.4):
        pane = box(0.4, 0.36, 0.02, 0.12).rot(y=90).rot(z=14).at(x + 0.04, y + 0.3)
        parts += pane.paint(draw.colour("glass"), 0.8)
    if draw.chance("top_box", 0.45):
        parts += box(0.3, 0.26, 0.34, 0.06).at(rear - 0.24, seat + 0.22).paint(draw.colour(), 0.4)
        parts += box(0.3, 0.05, 0.2).at(rear - 0.2, seat + 0.07).paint(CHROME)
    return parts + pipe
