"""Kitchen and laundry appliances: dishwasher, microwave, stove, washing machine. They stand on y = 0."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import ellipse, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw, distinct
from lie_ssl.objects.shapes.handles import bar_handle, bow_handle, dial_knob, door_pull
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, rod, slab, tube


def _crate(width: float, height: float, depth: float, wall: float = 0.05) -> Part:
    """An open box on y = 0 without its front, centred on x and z."""
    side = box(wall, height, depth).at(x=(width - wall) / 2).mirror()
    lids = box(width - 2 * wall, wall, depth).at(y=(height - wall) / 2).mirror("y")
    return (side + lids + box(width - 2 * wall, height - 2 * wall, wall).at(z=-(depth - wall) / 2)).at(y=height / 2)


def _feet(width: float, depth: float, height: float) -> Part:
    """Four short feet below y = 0."""
    foot = cylinder(0.05, height + 0.02, n=8).at(0.42 * width, -height / 2 + 0.01, 0.4 * depth)
    return foot.mirror("x").mirror("z")


def _rear(width: float, height: float, depth: float) -> Part:
    """The back of a machine that stands on y = 0: a cover plate and a hose."""
    plate = box(0.75 * width, 0.6 * height, 0.04).at(0, 0.45 * height, -depth / 2)
    knots = [(0.3, 0.85, 0.0), (0.3, 0.8, 0.1), (0.25, 0.4, 0.12), (0.3, 0.1, 0.07)]
    hose = tube(spline([(x * width, y * height, -depth / 2 - z) for x, y, z in knots], 8), 0.035, 6)
    return plate.paint((0.6, 0.61, 0.63), 0.4) + hose.paint((0.2, 0.2, 0.22), 0.2)


def _plates(width: float, depth: float, draw: Draw) -> Part:
    """A wire basket with a row of plates and two cups."""
    wire = draw.colour("metal")
    along = rod((-width / 2, 0, depth / 2), (width / 2, 0, depth / 2), 0.015, n=5).mirror("z")
    rim = along + rod((width / 2, 0, -depth / 2), (width / 2, 0, depth / 2), 0.015, n=5).mirror()
    rim += rim.at(y=0.16)
    posts = rod((0, 0, depth / 2), (0, 0.16, depth / 2), 0.012, n=5).row(7, dx=width / 6)
    floor = box(width, 0.015, depth)
    count = draw.whole("plates", 3, 5)
    plate = lathe([(0, 0), (0.1, 0), (0.2, 0.035), (0.19, 0.045), (0, 0.02)], 14).rot(z=80).at(y=0.2)
    plates = plate.row(count, dx=0.45 * width / count).at(x=-0.18 * width).paint(draw.colour(), 0.4)
    cup = cylinder(0.1, 0.16, 0.08, n=10).at(0.33 * width, 0.1, 0.2 * depth).mirror("z")
    return (rim + posts + floor).paint(wire, 0.6) + plates + cup.paint(draw.colour(), 0.4)


def _dishwasher_panel(width: float, height: float, draw: Draw, body: Colour) -> Part:
    """The strip of buttons and the display, about the origin, facing the front."""
    face = box(width, height, 0.06).paint(distinct(draw, body), 0.4)
    lamp = box(0.26 * width, 0.55 * height, 0.03).at(z=0.03)
    side = draw.pick("display", [-1.0, 0.0, 1.0])
    buttons = disc(0.22 * height, 0.05, 10).at(z=0.04).row(draw.whole("buttons", 3, 5), dx=0.09 * width)
    lit = lamp.at(x=0.3 * width * side).paint(draw.colour("glass"), 0.8)
    return face + lit + buttons.at(x=-0.25 * width * (side or 1.2)).paint(draw.colour(), 0.5)


@shape("dishwasher")
def dishwasher(draw: Draw) -> Part:
    """A dishwasher, shut or open with plates in its baskets; full, slim or low; panel, handle and plinth vary."""
    kind = draw.pick("kind", ["full", "slim", "low"], [3, 2, 1])
    width = draw.number("width", 0.95, 1.1) * {"full": 1.0, "slim": 0.76, "low": 1.0}[kind]
    height = draw.number("height", 1.15, 1.35) * (0.75 if kind == "low" else 1.0)
    depth, plinth = draw.number("depth", 0.85, 1.0), draw.number("plinth", 0.08, 0.16)
    strip = draw.number("panel", 0.14, 0.2)
    colour = draw.colour()
    door_colour = draw.colour() if draw.chance("other door", 0.4) else colour
    inner = height - plinth
    angle = draw.number("angle", 60, 92) if draw.chance("open", 0.58) else 0.0
    shell = _crate(width, inner, depth).at(y=plinth) + box(width + 0.03, 0.05, depth + 0.05).at(y=height)
    shell = shell.paint(colour, 0.4) + _rear(width, inner, depth).at(y=plinth)
    shell += box(0.94 * width, plinth + 0.02, 0.9 * depth).at(y=plinth / 2, z=-0.04).paint(draw.colour("black"), 0.2)
    lining = _crate(width - 0.08, inner - 0.08, depth - 0.1, 0.02).at(y=plinth + 0.04, z=0.04)
    shell += lining.paint(draw.colour("metal"), 0.6)
    door = box(width - 0.02, inner - strip - 0.02, 0.08, 0.02).at(y=(inner - strip) / 2).paint(door_colour, 0.4)
    door += _dishwasher_panel(width - 0.02, strip, draw, door_colour).at(y=inner - strip / 2)
    steel = box(width - 0.16, inner - 0.2, 0.02).at(0, inner / 2 - 0.04, -0.045).paint(draw.colour("metal"), 0.6)
    steel += box(0.22, 0.2, 0.02).at(0.1, 0.55 * inner, -0.06).paint(draw.colour("black"), 0.3)
    grip = door_pull(draw.pick("handle", ["bar", "bow", "shelf"]), draw.number("handle width", 0.5, 0.85) * width)
    door += steel + grip.at(y=inner - strip - 0.1, z=0.04).paint(draw.colour("metal"), 0.8)
    if draw.chance("badge", 0.6):
        badge = cylinder(0.13, 0.03, n=16) + cylinder(0.08, 0.05, n=14)
        door += badge.rot(x=90).at(0.27 * width, 0.2 * inner, 0.045).paint(draw.colour(), 0.4)
    basket, out = _plates(width - 0.2, depth - 0.25, draw), 0.35 * depth
    racks = basket.at(0, plinth + 0.12, out)
    racks += basket.at(0, plinth + 0.55 * inner, 0.5 * out) if kind != "low" else Part()
    return shell + (racks if angle else Part()) + door.rot(x=angle).at(y=plinth + 0.01, z=depth / 2 + 0.05)


def _keypad(width: float, height: float, draw: Draw, body: Colour) -> Part:
    """The controls of a microwave oven, about the origin: display above, keys or dials below."""
    lamp = box(0.8 * width, 0.17 * height, 0.03).at(y=0.36 * height).paint(draw.colour("light"), 0.3)
    style = draw.pick("controls", ["keys", "dials", "dial and keys"])
    if style == "dials":
        knob = dial_knob(0.27 * width, draw.number("dial", -120, 120))
        return lamp + (knob.at(y=0.08 * height) + knob.rot(z=70).at(y=-0.27 * height)).paint(distinct(draw, body), 0.5)
    rows = 4 if style == "keys" else 2
    keys = box(0.19 * width, 0.08 * height, 0.04).row(3, dx=0.28 * width).row(rows, dy=0.13 * height)
    keys = keys.at(y=-0.02 * height if rows == 4 else 0.13 * height).paint(distinct(draw, (0.1, 0.1, 0.1)), 0.3)
    if rows == 4:
        start = box(0.75 * width, 0.1 * height, 0.04).at(y=-0.4 * height)
        return lamp + keys + start.paint(draw.colour("bright"), 0.3)
    dial = dial_knob(0.3 * width, draw.number("dial", -120, 120)).at(y=-0.22 * height)
    return lamp + keys + dial.paint(distinct(draw, body), 0.5)


@shape("microwave")
def microwave(draw: Draw) -> Part:
    """A microwave oven: window on the left, keys or dials on the right; shut, or open with food inside."""
    width, height = draw.number("width", 1.35, 1.75), draw.number("height", 0.75, 0.95)
    depth, share = draw.number("depth", 0.75, 1.0), draw.number("door share", 0.68, 0.76)
    colour, corner = draw.colour(), draw.number("corner", 0.0, 0.09)
    front, black = depth / 2, draw.colour("black")
    hole = rectangle(share * width - 0.14, height - 0.16) - np.array([(1 - share) * width / 2, 0])
    oven = slab(rectangle(width, height, corner), depth, [hole]).at(y=height / 2).paint(colour, 0.4)
    oven += box(width - 0.04, height - 0.04, 0.06, corner).at(y=height / 2, z=-front - 0.02).paint(black, 0.1)
    oven += box(0.02, 0.03, 0.4 * depth).row(4, dy=0.09).at(width / 2, 0.6 * height, -0.15 * depth).paint(black, 0.1)
    door_width, left = share * width, -width / 2
    door_colour = distinct(draw, colour, palette="any") if draw.chance("other door", 0.5) else colour
    face = slab(rectangle(door_width, height - 0.02, corner), 0.08).paint(door_colour, 0.4)
    pane = rectangle(0.74 * door_width, 0.62 * height, draw.pick("window corner", [0.0, 0.06, 0.16]))
    face += slab(pane, 0.11).at(x=-0.04 * door_width).paint(draw.colour("glass"), 0.9)
    style = draw.pick("handle", ["bar", "bow", "shelf"])
    face += door_pull(style, 0.7 * height).rot(z=90).at(x=0.43 * door_width, z=0.04).paint(draw.colour("metal"), 0.8)
    swing = draw.number("angle", 55, 110) if draw.chance("open", 0.25) else 0.0
    oven += face.at(door_width / 2, height / 2, 0.02).rot(y=-swing).at(left, 0, front + 0.04)
    pad = (1 - share) * width
    board = box(pad - 0.02, height - 0.02, 0.08, corner).paint(distinct(draw, colour), 0.4)
    board += box(0.86 * pad, 0.9 * height, 0.1, 0.02).paint(black, 0.5)
    board += _keypad(0.8 * pad, 0.85 * height, draw, black).at(z=0.05)
    oven += board.at((width - pad) / 2, height / 2, front + 0.05)
    if swing:
        dish = lathe([(0, 0), (0.3, 0), (0.36, 0.05), (0, 0.03)], 16).paint(draw.colour("glass"), 0.8)
        dish += ball(0.2, 12).size(1, 0.8, 1).at(y=0.1).paint(draw.colour(), 0.3)
        oven += dish.at(-pad / 2, 0.1, 0)
    return (oven + _feet(width, depth, 0.05).paint(black, 0.2)).on()


def _burner(style: str, radius: float, metal: Colour, glow: Colour) -> Part:
    """One burner, lying on y = 0: a coil, a gas grate, a solid plate or a ring under glass."""
    black = (0.07, 0.07, 0.08)
    if style == "gas":
        cap = cylinder(0.45 * radius, 0.05, n=12).at(y=0.025).paint(metal, 0.6)
        bar = box(2 * radius, 0.035, 0.045).at(y=0.085) + box(0.045, 0.1, 0.045).at(x=radius, y=0.05).mirror()
        return cap + (bar + bar.rot(y=90)).paint(black, 0.2)
    base = lathe([(0, 0), (radius, 0), (radius, 0.035), (0, 0.035)], 18)
    if style == "plate":
        return base.paint(black, 0.3) + cylinder(0.3 * radius, 0.01, n=12).at(y=0.045).paint(glow, 0.3)
    bump = [(0.0, 0.03), (0.045, 0.05), (0.09, 0.03)]
    rings = joined(lathe([(k * radius + x, y) for x, y in bump], 18) for k in (0.2, 0.65))
    return base.size(1.12, 0.8, 1.12).paint(black, 0.4) + rings.paint(glow, 0.3)


def _pot(draw: Draw) -> Part:
    """A pan with a lid and two handles, standing on y = 0."""
    high = draw.number("pot", 0.16, 0.32)
    pot = lathe([(0, 0), (0.2, 0), (0.21, high), (0.23, high + 0.01), (0.12, high + 0.06), (0, high + 0.07)], 18)
    ears = box(0.1, 0.03, 0.12).at(0.25, 0.8 * high).mirror() + ball(0.045, 8).at(y=high + 0.1)
    return pot.paint(draw.colour(), 0.7) + ears.paint(draw.colour("black"), 0.3)


def _hob(width: float, depth: float, draw: Draw, metal: Colour) -> Part:
    """The cooking top, lying on y = 0, with four or six burners and perhaps a pot."""
    plate = box(width + 0.02, 0.05, depth + 0.04, 0.01).at(y=0.015)
    hob = plate.paint(draw.colour("black") if draw.chance("dark top", 0.6) else metal, 0.7)
    style, glow = draw.pick("hob", ["coil", "gas", "plate"]), draw.pick("glow", [(0.8, 0.2, 0.1), (0.6, 0.6, 0.62)])
    columns, small = 3 if width > 1.2 else 2, draw.number("small burner", 0.6, 0.85)
    radius, spread = min(0.19, 0.38 * width / columns), width * (0.33 if columns == 3 else 0.25)
    for i, x in enumerate(np.linspace(-spread, spread, columns)):
        behind, ahead = (small, 1.0) if i % 2 else (1.0, small)
        hob += _burner(style, behind * radius, metal, glow).at(x, 0.045, -0.24 * depth)
        hob += _burner(style, ahead * radius, metal, glow).at(x, 0.045, 0.22 * depth)
    if draw.chance("pot", 0.45):
        hob += _pot(draw).at(-spread, 0.1 if style == "gas" else 0.08, 0.22 * depth)
    return hob


def _oven_door(width: float, height: float, draw: Draw, colour: Colour, metal: Colour) -> Part:
    """A door with a window and a handle above it, about the origin, facing the front."""
    round_window = draw.pick("oven window", [0.0, 0.05, 0.12])
    pane = slab(rectangle(0.7 * width, 0.5 * height, round_window), 0.11).at(y=-0.08 * height)
    grip = door_pull(draw.pick("oven handle", ["bar", "bow"]), 0.8 * width).at(y=0.36 * height, z=0.04)
    face = box(width, height, 0.08, 0.02).paint(colour, 0.4)
    return face + pane.paint(draw.colour("black"), 0.9) + grip.paint(metal, 0.8)


@shape("stove")
def stove(draw: Draw) -> Part:
    """A cooker: coils, gas or plates, knobs, one or two ovens with windows; perhaps a drawer, a back panel, a pot."""
    width, height = draw.number("width", 0.9, 1.35), draw.number("height", 1.0, 1.2)
    depth = draw.number("depth", 0.85, 1.0)
    colour, dark, metal = draw.colour(), draw.colour("black"), draw.colour("metal")
    foot, strip = draw.number("foot", 0.05, 0.12), draw.number("control strip", 0.15, 0.2)
    front = depth / 2
    stove = box(width, height - foot, depth).at(y=(height + foot) / 2).paint(colour, 0.4)
    stove += _feet(width, depth, foot).at(y=foot).paint(dark)
    stove += (_rear(width, height - foot, depth) + _hob(width, depth, draw, metal).at(y=height - foot)).at(y=foot)
    panel = draw.pick("back", ["none", "panel", "lid"])
    if panel != "none":
        tall = draw.number("back height", 0.22, 0.34) + (0.3 if panel == "lid" else 0.0)
        stove += box(width, tall, 0.07, 0.04).at(y=height + tall / 2, z=-front + 0.03).paint(colour, 0.4)
        clock = box(0.35 * width, 0.1, 0.03).at(0, height + tall - 0.11, -front + 0.07)
        stove += clock.paint(draw.colour("glass"), 0.8)
    knobs, top = draw.whole("knobs", 4, 6), height - strip
    knob = dial_knob(0.055, draw.number("knob", -90, 90)).row(knobs, dx=0.8 * width / knobs)
    face = box(width - 0.02, strip - 0.03, 0.05).at(0, top + strip / 2, front + 0.02)
    stove += face.paint(distinct(draw, colour), 0.5)
    stove += knob.at(y=top + strip / 2, z=front + 0.04).paint(dark if draw.chance("dark knobs") else metal, 0.5)
    low = foot + (draw.number("drawer", 0.16, 0.24) if draw.chance("has drawer", 0.5) else 0.02)
    if low > foot + 0.05:
        drawer = box(width - 0.04, low - foot - 0.03, 0.06, 0.01).at(0, (low + foot) / 2, front + 0.02)
        stove += drawer.paint(colour, 0.4)
        stove += bar_handle(0.4 * width, 0.06, 0.022).at(y=(low + foot) / 2, z=front + 0.05).paint(metal, 0.8)
    door_colour = draw.colour() if draw.chance("other doors", 0.35) else colour
    ovens = 2 if width > 1.15 and draw.chance("two ovens", 0.7) else 1
    door = _oven_door(width / ovens - 0.05, top - low - 0.03, draw, door_colour, metal)
    stove += door.row(ovens, dx=width / ovens).at(y=(top + low) / 2, z=front + 0.03)
    return stove.on()


def _porthole(radius: float, draw: Draw, body: Colour) -> Part:
    """The round door, hinged on the left, about the origin: a ring, domed glass and a handle on the right."""
    broad = draw.number("ring", 0.2, 0.34)
    ring = lathe([(1 - broad, 0.0), (1.0, 0), (1.0, 0.12), (0.94, 0.2), (1 - broad, 0.16), (1 - broad, 0.0)], 24)
    glass = lathe([(1 - broad + 0.02, 0.1), (0.5, 0.24), (0, 0.3)], 20)
    style = draw.pick("door handle", ["block", "bow"])
    grip = box(0.16, 0.5, 0.12, 0.04).at(0.95, 0, 0.2)
    if style == "bow":
        grip = bow_handle([(0.86, 0.3, 0.15), (0.95, 0.2, 0.32)], 0.06, 8, axis=1)
    hinge = box(0.2, 0.5, 0.18).at(-1.0, 0, 0.08)
    door = ring.rot(x=90).paint(distinct(draw, body), 0.7) + glass.rot(x=90).paint(draw.colour("glass"), 0.9)
    return (door + (grip + hinge).paint(draw.colour("metal"), 0.6)).size(radius, radius, 0.6 * radius)


def _laundry_controls(width: float, height: float, draw: Draw, body: Colour) -> Part:
    """The strip above the porthole, about the origin: soap drawer, dial and display, in one of three orders."""
    strip = box(width, height, 0.05).paint(draw.colour() if draw.chance("other strip", 0.6) else body, 0.4)
    drawer = box(0.3 * width, 0.7 * height, 0.07, 0.02) + box(0.16 * width, 0.16 * height, 0.1).at(y=-0.15 * height)
    dial = dial_knob(0.38 * height, draw.number("dial", -140, 140))
    lamp = box(0.26 * width, 0.5 * height, 0.07)
    order = draw.pick("order", [(-0.32, 0.02, 0.31), (-0.32, 0.36, 0.1), (0.32, 0.0, -0.3)])
    marked = drawer.at(x=order[0] * width).paint(distinct(draw, body), 0.4)
    marked += dial.at(x=order[1] * width, z=0.02).paint(draw.colour("metal"), 0.7)
    return strip + marked + lamp.at(x=order[2] * width).paint(draw.colour("black"), 0.8)


def _washer(width: float, height: float, depth: float, draw: Draw, colour: Colour, swing: float) -> Part:
    """One machine on y = 0 with its porthole, shut or swung open to the left."""
    strip = draw.number("strip", 0.2, 0.26) * min(height, 1.1)
    radius = min(0.46 * width - 0.04, 0.46 * (height - strip) - 0.04) * draw.number("porthole", 0.72, 0.95)
    front, middle = depth / 2, (height - strip) * draw.number("porthole height", 0.5, 0.54)
    body = box(width, height, depth, 0.03).at(y=height / 2).paint(colour, 0.4)
    top_colour = distinct(draw, colour) if draw.chance("other top", 0.3) else colour
    body += box(width + 0.02, 0.05, depth + 0.03).at(y=height).paint(top_colour, 0.4) + _rear(width, height, depth)
    body += _laundry_controls(width - 0.02, strip - 0.04, draw, colour).at(y=height - strip / 2 - 0.03, z=front + 0.02)
    door = _porthole(radius, draw, colour)
    collar = slab(ellipse(2 * radius, 2 * radius), 0.06).paint(draw.colour("metal"), 0.5)
    collar += slab(ellipse(1.6 * radius, 1.6 * radius), 0.09).paint(draw.colour("black"), 0.3)
    if swing:
        places = ((-0.3, -0.3), (0.3, -0.25), (0, 0))
        wash = joined(ball(0.3 * radius, 8).at(x * radius, y * radius).paint(draw.colour(), 0.1) for x, y in places)
        collar += wash.size(1, 1, 0.5).at(z=0.03)
    collar += door.at(x=radius).rot(y=-swing).at(x=-radius, z=0.05)
    flap = box(0.2, 0.12, 0.05, 0.01).at(0.34 * width, 0.09, front).paint(distinct(draw, colour), 0.3)
    return body + collar.at(y=middle, z=front) + flap


@shape("washing machine")
def washing_machine(draw: Draw) -> Part:
    """A front loader with porthole, soap drawer and dial; shut or open; on feet, on a drawer or under a dryer."""
    width, height = draw.number("width", 0.9, 1.05), draw.number("height", 1.1, 1.35)
    depth = draw.number("depth", 0.65, 1.0)
    colour = draw.colour()
    swing = draw.number("angle", 75, 130) if draw.chance("open", 0.3) else 0.0
    machine = _washer(width, height, depth, draw, colour, swing)
    stand = draw.pick("stand", ["feet", "plinth", "dryer"], [5, 2, 1])
    if stand == "plinth":
        low = draw.number("plinth", 0.2, 0.32)
        chest = box(width, low, depth).at(y=-low / 2).paint(distinct(draw, colour), 0.4)
        chest += (box(width - 0.08, low - 0.08, 0.05).at(y=-low / 2, z=depth / 2)).paint(colour, 0.4)
        grip = bar_handle(0.5 * width, 0.07).at(0, -low / 2, depth / 2 + 0.02).paint(draw.colour("metal"), 0.8)
        return (machine + chest + grip).on()
    machine += _feet(width, depth, 0.07).paint(draw.colour("black"), 0.2)
    if stand == "dryer":
        machine += _washer(width, 0.95 * height, depth, draw, draw.colour(), 0.0).at(y=height + 0.04)
    return machine.on()
