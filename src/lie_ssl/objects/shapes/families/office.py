"""Office: telephone, printer."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import arc, lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, loft, slab, tube


def _handset(draw: Draw, length: float, colour: Colour) -> Part:
    """A receiver along x that rests on y = 0: a bowed grip with two cups below its ends."""
    bow, cup, half = draw.number("grip bow", 0.12, 0.24), draw.number("cup", 0.13, 0.17), length / 2
    path = [(-1, 0.12, 0), (-0.7, 0.14 + 0.8 * bow, 0), (0, 0.14 + bow, 0), (0.7, 0.14 + 0.8 * bow, 0), (1, 0.12, 0)]
    grip = tube(spline(path, 13) * (half, 1, 1), 0.085, 8, flat=0.8)
    if draw.pick("cups", ["round", "square"]) == "round":
        ends = cylinder(cup, 0.16, top=0.75 * cup, n=14).at(half, 0.08).mirror()
    else:
        ends = box(2 * cup, 0.18, 2 * cup, 0.04).at(half, 0.09).mirror()
    return (grip + ends).paint(colour, 0.5)


def _curled_cable(start: tuple[float, float, float], end: tuple[float, float, float], colour: Colour) -> Part:
    """A cable from one point to another in loose coils."""
    turns, n = 5, 36
    t = np.linspace(0, 1, n)[:, None]
    straight = np.array(start) * (1 - t) + np.array(end) * t
    coil = np.column_stack([0 * t, 0.05 * np.cos(2 * np.pi * turns * t), 0.05 * np.sin(2 * np.pi * turns * t)])
    return tube(straight + coil * np.sin(np.pi * t), 0.022, 5).paint(colour)


def _sloped_body(width: float, depth: float, low: float, high: float) -> Part:
    """A wedge on y = 0, low at the front and high at the back."""
    d = depth / 2
    side = [(-d, 0), (d, 0), (d, high * 0.92), (d - 0.1, high), (0.35 * d, high), (-d, low)]
    return slab(np.array(side), width).rot(y=90)


def _dial(draw: Draw, radius: float, buttons: bool) -> Part:
    """A dial with finger holes, or a pad of push buttons, facing up, on y = 0."""
    if buttons:
        plate = box(1.9 * radius, 0.04, 2.1 * radius).paint(draw.colour(), 0.3)
        key = box(0.4 * radius, 0.08, 0.34 * radius).row(3, dx=0.56 * radius).row(4, dz=0.49 * radius)
        return plate + key.at(y=0.03).paint(draw.colour(), 0.3)
    wheel = lathe([(0, 0.0), (radius, 0.0), (radius, 0.04), (0.93 * radius, 0.07), (0, 0.07)], 22)
    hole = cylinder(0.155 * radius, 0.02, n=8)
    holes = joined(hole.at(0.7 * radius * x, 0.075, -0.7 * radius * y) for x, y in arc(1, -20, 255, 9))
    stop = box(0.3 * radius, 0.05, 0.06).at(0.85 * radius, 0.09, 0.55 * radius).paint(draw.colour("metal"), 0.7)
    centre = cylinder(0.36 * radius, 0.1, n=14).at(y=0.04).paint(draw.colour())
    return wheel.paint(draw.colour("metal"), 0.6) + holes.paint(draw.colour("black"), 0.0) + stop + centre


def _desk_phone(draw: Draw, buttons: bool) -> Part:
    """The classic telephone: a sloped or waisted body, the handset across the top on a cradle."""
    width, depth = draw.number("width", 0.85, 1.1), draw.number("depth", 0.8, 1.0)
    low, high = draw.number("front height", 0.12, 0.25), draw.number("back height", 0.5, 0.7)
    body, radius = draw.colour(), draw.number("dial", 0.26, 0.33) * min(width, depth)
    if draw.pick("case", ["wedge", "waisted"]) == "waisted":
        heights = [(0.0, 1.0), (0.3 * high, 0.98), (0.65 * high, 0.74), (high, 0.62)]
        case = loft([lift(rectangle(width * s, depth * s, 0.12, 2), y) for y, s in heights]).rot(x=-90)
        y, z, slope = 0.52 * high, 0.48 * depth, 60.0
    else:
        case = _sloped_body(width, depth, low, high)
        y, z, slope = (high + low) / 2, 0.17 * depth, math.degrees(math.atan2(high - low, 0.675 * depth))
    mount = box(2.2 * radius, 0.3, 2.3 * radius) if buttons else cylinder(1.2 * radius, 0.3, top=1.08 * radius, n=18)
    dial = (_dial(draw, radius, buttons) + mount.at(y=-0.14).paint(body, 0.5)).rot(x=slope).at(y=y, z=z)
    prong = box(0.06, 0.16, 0.34).at(0.3 * width, high + 0.05, -0.25 * depth).mirror()
    handset = _handset(draw, width * draw.number("handset", 1.0, 1.2), draw.colour())
    cable = _curled_cable((-0.5 * width, high, -0.25 * depth), (-0.5 * width, 0.1, 0.05), draw.colour("black"))
    return (case + prong).paint(body, 0.5) + dial + handset.at(y=high + 0.02, z=-0.25 * depth) + cable


def _office_phone(draw: Draw) -> Part:
    """A desk set with the handset on the left, a display and keys on the right."""
    width, depth = draw.number("width", 0.95, 1.2), draw.number("depth", 0.95, 1.15)
    low, high = draw.number("front height", 0.08, 0.16), draw.number("back height", 0.35, 0.55)
    side = [(-depth / 2, 0), (depth / 2, 0), (depth / 2, high), (-depth / 2, low)]
    case = slab(side, width).rot(y=90).paint(draw.colour())
    top = _handset(draw, 0.8 * depth, draw.colour()).rot(y=90).at(-0.3 * width, 0.01)
    x = 0.17 * width
    top += box(0.5 * width, 0.04, 0.2 * depth).at(x, 0.01, -0.33 * depth).paint(draw.colour("light"), 0.5)
    keys = box(0.12 * width, 0.06, 0.09 * depth).row(3, dx=x).row(4, dz=0.13 * depth).at(x, 0.02, 0.12 * depth)
    extra = box(0.12 * width, 0.06, 0.05 * depth).row(3, dx=x).at(x, 0.02, 0.4 * depth)
    top += keys.paint(draw.colour()) + extra.paint(draw.colour("bright"))
    cable = _curled_cable((-0.35 * width, 0.2, 0.5 * depth), (-0.55 * width, 0.1, 0.0), draw.colour("black"))
    return case + top.rot(x=math.degrees(math.atan2(high - low, depth))).at(y=(high + low) / 2) + cable


def _smartphone(draw: Draw) -> Part:
    """A slim mobile with icons on a large screen and a camera bump on the back."""
    width, height = draw.number("width", 0.75, 0.95), draw.number("height", 1.5, 1.85)
    depth, corner = draw.number("depth", 0.08, 0.14), draw.number("corner", 0.05, 0.16)
    case = box(width, height, depth, corner).at(z=-depth / 2).paint(draw.colour(), 0.5)
    glass = box(0.93 * width, 0.96 * height, 0.03, corner * 0.8).paint(draw.colour("black"), 0.6)
    screen = box(0.88 * width, 0.84 * height, 0.03).at(z=0.01).paint(draw.colour(), 0.4)
    xs, rows = (-0.3, -0.1, 0.1, 0.3), draw.whole("icon rows", 1, 3)
    spots = [(x, 0.33 - 0.11 * r) for r in range(rows) for x in xs] + [(x, -0.35) for x in xs]
    icon = box(0.15 * width, 0.15 * width, 0.03, 0.03).at(z=0.02)
    icons = joined(icon.at(x * width, y * height).paint(draw.colour("bright")) for x, y in spots)
    widget = box(0.76 * width, draw.number("widget", 0.08, 0.2) * height, 0.03).at(y=-0.16 * height, z=0.02)
    lens = disc(0.075, 0.06, 10).at(0.28 * width, 0.4 * height, -depth - 0.03)
    lenses = joined(lens.at(y=-0.1 * i * height) for i in range(draw.whole("lenses", 1, 3)))
    keys = box(0.05, 0.2, 0.4 * depth).at(width / 2, 0.2 * height, -depth / 2).paint(draw.colour("metal"))
    speaker = box(0.2 * width, 0.03, 0.03).at(y=0.45 * height, z=0.01).paint(draw.colour("metal"))
    phone = (
        case
        + glass
        + screen
        + icons
        + widget.paint(draw.colour("white"))
        + lenses.paint(draw.colour("black"), 0.8)
        + keys
        + speaker
    )
    return phone.rot(x=-8)


def _key_mobile(draw: Draw, folding: bool) -> Part:
    """A mobile with keys: a bar with a stub aerial, or one that folds open in the middle."""
    width, height = draw.number("width", 0.6, 0.8), draw.number("height", 1.5, 1.8)
    depth, aerial = draw.number("depth", 0.16, 0.26), draw.number("aerial", 0.15, 0.5)
    half = box(0.98 * width, 0.5 * height, depth, 0.1).at(z=-depth / 2).paint(draw.colour(), 0.4)
    key = box(0.2 * width, 0.055 * height, 0.06, 0.03).row(3, dx=0.28 * width).row(4, dy=0.09 * height)
    call = box(draw.number("call keys", 0.16, 0.26) * width, 0.05, 0.06).at(0.32 * width, 0.19 * height)
    lower = half + key.at(y=-0.03 * height, z=0.01).paint(draw.colour("light"))
    lower += call.paint(draw.colour("bright")) + call.at(-0.64 * width).paint(draw.colour("leaf"))
    lower += disc(0.13 * width, 0.08, 12).at(y=0.175 * height).paint(draw.colour("metal"), 0.5)
    upper = half + box(0.84 * width, 0.38 * height, 0.04).at(y=-0.02 * height).paint(draw.colour("black"), 0.6)
    upper += box(0.7 * width, 0.28 * height, 0.04).at(y=-0.02 * height, z=0.012).paint(draw.colour("light"), 0.5)
    lines = ((0.5, 0.06), (0.3, -0.01), (0.4, -0.08))
    dark = joined(box(w * width, 0.04, 0.03).at((w - 0.6) / 2 * width, y * height, 0.03) for w, y in lines)
    dark += box(0.25 * width, 0.03, 0.04).at(y=0.21 * height, z=0.01)
    dark += cylinder(0.05, aerial, n=8).at(0.34 * width, 0.27 * height, -depth / 2)
    upper += dark.paint(draw.colour("black"))
    if not folding:
        return (lower.at(y=-0.22 * height) + upper.at(y=0.24 * height)).rot(x=-8)
    hinge = cylinder(0.5 * depth, 0.94 * width, n=10).rot(z=90).at(z=-depth / 2).paint(draw.colour("metal"), 0.5)
    opening = draw.number("opening", 15, 40)
    return hinge + lower.at(y=-0.27 * height).rot(x=-8 - opening) + upper.at(y=0.27 * height).rot(x=0.3 * opening - 8)


@shape("telephone")
def telephone(draw: Draw) -> Part:
    """A telephone: dial or push buttons under a handset, office set with display, smartphone, bar or folding mobile.

    Case, handset cups, bow of the grip, slope, keys, icons, camera lenses and aerial vary.
    """
    kinds = ["dial", "buttons", "office", "smartphone", "bar", "folding"]
    kind = draw.pick("kind", kinds, [4, 3, 3, 2, 1, 1])
    if kind in ("dial", "buttons"):
        return _desk_phone(draw, buttons=kind == "buttons")
    if kind == "office":
        return _office_phone(draw)
    if kind == "smartphone":
        return _smartphone(draw)
    return _key_mobile(draw, folding=kind == "folding")


def _printed_sheet(draw: Draw, width: float, length: float) -> Part:
    """A sheet of paper lying on y = 0 with print on it; its far edge is at z = 0, the near one at z = length."""
    paper, y = box(width, 0.025, length).at(z=length / 2).paint(draw.colour("white")), 0.018
    motif, ink = draw.pick("print", ["text", "photo", "chart"]), draw.colour("bright")
    if motif == "photo":
        meadow = box(0.8 * width, 0.02, 0.25 * length).at(y=y + 0.012, z=0.72 * length).paint(draw.colour("leaf"))
        return paper + meadow + box(0.8 * width, 0.02, 0.6 * length).at(y=y, z=0.55 * length).paint(ink)
    if motif == "chart":
        bars = [box(0.12 * width, 0.02, s * length).at(z=(0.9 - s / 2) * length) for s in (0.2, 0.35, 0.5, 0.65)]
        return paper + joined(bar.at((0.22 * i - 0.3) * width, y) for i, bar in enumerate(bars)).paint(ink)
    lines = ((0.8, 0.3), (0.6, 0.5), (0.75, 0.7), (0.4, 0.88))
    text = joined(box(w * width, 0.02, 0.06 * length).at((w - 0.8) / 2 * width, y, t * length) for w, t in lines)
    return paper + text.paint(draw.colour("black"))


def _control_panel(draw: Draw, width: float) -> Part:
    """A small display with keys to its right, in the x-y plane, facing +z."""
    plate = box(width, 0.2, 0.04).paint(draw.colour("black"), 0.3)
    screen = box(0.4 * width, 0.13, 0.04).at(-0.22 * width, z=0.015).paint(draw.colour("light"), 0.5)
    key, spots = box(0.1 * width, 0.055, 0.05), [(x, y) for y in (0.045, -0.045) for x in (0.12, 0.27, 0.42)]
    return plate + screen + joined(key.at(x * width, y, 0.015).paint(draw.colour("bright")) for x, y in spots)


def _copier(draw: Draw, width: float, depth: float) -> Part:
    """A floor-standing office printer: drawers with grips below, a gap with a printed sheet, a scanner on top."""
    drawers, height = draw.whole("drawers", 2, 4), draw.number("drawer height", 0.2, 0.28)
    body, light, base = draw.colour(), draw.colour(), drawers * height
    case = box(width, base, depth).at(y=base / 2) + box(0.96 * width, 0.08, 0.96 * depth).at(y=base + 0.55)
    case += box(width, 0.35, 0.45 * depth).at(y=base + 0.175, z=-0.275 * depth)
    case += box(0.2 * width, 0.35, depth).at(-0.4 * width, base + 0.175)
    face = box(0.94 * width, height - 0.04, 0.04).paint(light)
    face += box(0.35 * width, 0.05, 0.05).at(y=0.2 * height, z=0.02).paint(draw.colour("black"))
    fronts = face.row(drawers, dy=height).at(y=base / 2, z=depth / 2)
    lid = box(width, 0.16, depth).at(y=base + 0.43)
    feeder = box(draw.number("feeder", 0.5, 0.68) * width, 0.16, 0.6 * depth, 0.06)
    lid += feeder.at(-0.12 * width, base + 0.65, -0.1 * depth)
    panel = _control_panel(draw, draw.number("panel", 0.4, 0.55) * width).rot(x=-50)
    panel = panel.at(0.2 * width, base + 0.5, depth / 2 + 0.08)
    paper = _printed_sheet(draw, 0.55 * width, 0.62 * depth).rot(x=-6).at(0.1 * width, base + 0.07, -0.1 * depth)
    castors = ball(0.07, 8).at(0.4 * width, -0.04, 0.4 * depth).mirror("x").mirror("z").paint(draw.colour("black"))
    return case.paint(body) + fronts + lid.paint(light) + panel + paper + castors


def _desk_printer(draw: Draw, kind: str, width: float, depth: float) -> Part:
    """A printer for the desk: paper goes in at the back or from a cassette, and comes out at the front or on top."""
    height, body, trim = draw.number("height", 0.4, 0.65), draw.colour(), draw.colour()
    bevel = draw.number("bevel", 0.05, 0.18)
    d = depth / 2
    side = np.array([(-d, 0), (d, 0), (d, height), (-d + bevel, height), (-d, height - bevel)])
    case = slab(side, width).rot(y=90).paint(body)
    mouth = box(0.74 * width, 0.2, 0.06).at(y=0.22, z=d).paint(draw.colour("black"), 0.0)
    tray = box(0.72 * width, 0.04, 0.4 * depth).rot(x=4).at(y=0.11, z=d + 0.17 * depth).paint(trim)
    out = _printed_sheet(draw, 0.6 * width, 0.42 * depth).rot(x=8).at(y=0.2, z=d - 0.02)
    panel = _control_panel(draw, draw.number("panel", 0.35, 0.5) * width)
    panel = panel.rot(x=-45).at(0.2 * width, height - bevel / 2 + 0.02, d - bevel / 2 + 0.02)
    printer_ = case + panel
    if kind == "laser":
        cassette = box(0.9 * width, 0.16, 0.05).at(y=0.14, z=d) + box(0.3 * width, 0.04, 0.06).at(y=0.16, z=d + 0.03)
        hood = np.array([(0.1 * d, 0), (d, 0), (d, 0.24), (0.4 * d, 0.24)])
        top = slab(hood, 0.98 * width).rot(y=90).paint(trim)
        slot = box(0.7 * width, 0.1, 0.1).at(-0.08 * width, 0.07, -0.1 * d).paint(draw.colour("black"), 0.0)
        sheet = _printed_sheet(draw, 0.56 * width, 0.45 * depth).rot(x=-5).at(-0.08 * width, 0.06, -0.15 * d)
        return printer_ + cassette.paint(trim) + (top + slot + sheet).at(y=height - 0.005)
    printer_ += mouth + tray + out
    if kind == "scanner" or draw.chance("lid", 0.2):
        hinge, opening = draw.number("lid height", 0.08, 0.14), draw.pick("lid opening", [0.0, 0.0, 35.0])
        lid = box(0.96 * width, hinge, 0.8 * depth).at(y=hinge / 2, z=0.4 * depth).rot(x=-opening)
        glass = box(0.8 * width, 0.02, 0.6 * depth).at(y=height, z=-0.1 * depth).paint(draw.colour("glass"), 0.8)
        return printer_ + lid.at(y=height + 0.02, z=-0.46 * depth).paint(trim) + glass
    feed, lean = draw.number("feed", 0.4, 0.65), draw.number("feed lean", 12, 28)
    rest = box(0.7 * width, feed, 0.04).at(y=feed / 2).paint(trim)
    stack = box(0.56 * width, feed + 0.1, 0.05).at(y=feed / 2 + 0.08, z=0.04).paint(draw.colour("white"))
    return printer_ + (rest + stack).rot(x=-lean).at(y=height - 0.05, z=-0.6 * d)


@shape("printer")
def printer(draw: Draw) -> Part:
    """A printer: inkjet with paper at the back, laser with paper on top, one with a scanner lid, or a tall copier.

    What is printed, the trays, drawers, control panel, bevel and proportions vary.
    """
    kind = draw.pick("kind", ["inkjet", "laser", "scanner", "copier"], [4, 3, 3, 2])
    width, depth = draw.number("width", 1.0, 1.35), draw.number("depth", 0.75, 0.95)
    whole = _copier(draw, width, depth) if kind == "copier" else _desk_printer(draw, kind, width, depth)
    socket = box(0.2, 0.12, 0.04).at(0.3 * width, 0.2, -depth / 2).paint(draw.colour("black"))
    return whole + socket
