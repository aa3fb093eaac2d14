"""Things that stand outdoors: towers, birdhouses and mailboxes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lie_ssl.objects.shapes.curves import arc, lift, polygon, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, rod, slab, tube


def _disc(radius: float, thickness: float, n: int = 14) -> Part:
    """A flat cylinder that faces the front."""
    return cylinder(radius, thickness, n=n).rot(x=90)


def _arch(width: float, height: float, thickness: float) -> Part:
    """A door or window with a round top, its foot in the middle of its lower edge."""
    top = arc(width / 2, 0, 180, 7) + np.array([0, height - width / 2])
    return slab(np.concatenate([[(width / 2, 0.0)], top, [(-width / 2, 0.0)]]), thickness)


def _flag(draw: Draw, size: float) -> Part:
    """A pole with a flag that flies to the right."""
    cloth = slab([(0, 1.2 * size), (size, size), (0, 0.7 * size)], 0.02).paint(draw.colour("bright"))
    return rod((0, 0, 0), (0, 1.25 * size, 0), 0.02, n=5).paint(draw.colour("metal")) + cloth


def _pyramid(half: float, height: float) -> Part:
    """A pointed roof on y = 0 over a square."""
    return cylinder(half * math.sqrt(2), height, top=0.0, n=4).rot(y=45).at(y=height / 2)


def _skyscraper(draw: Draw, tall: float) -> Part:
    """Stepped storeys with a mast, a point or a sign on the roof, or one block with a slanted top."""
    wide, wall, glass = draw.number("width", 0.5, 0.75), draw.colour(), draw.colour("glass")
    half, roof = wide / 2, draw.pick("roof", ["mast", "point", "sign", "slant"])
    style = draw.pick("windows", ["bands", "columns", "squares"])
    door = box(draw.number("door", 0.2, 0.4) * wide, 0.17, 0.06).at(y=0.085, z=half).paint(draw.colour("bright"))
    canopy = box(draw.number("canopy", 0.35, 0.6) * wide, 0.04, 0.2).at(y=0.18, z=half + 0.08)
    block = door + canopy.paint(draw.colour("metal"))
    if roof == "slant":
        top = tall - draw.number("slant", 0.2, 0.45)
        block += slab([(half, 0), (half, top), (-half, tall), (-half, 0)], wide).paint(wall, 0.4)
        return block + _windows(style, wide, 0.25, top - 0.1, glass)
    tiers, y = draw.whole("tiers", 1, 4), 0.0
    for i in range(tiers):
        rise = tall / tiers * (1.15 - 0.1 * i)
        block += box(2 * half, rise, 2 * half).at(y=y + rise / 2).paint(wall)
        block += _windows(style, 2 * half, y + (0.1 if i else 0.25), y + rise - 0.08, glass)
        y, half = y + rise, half * draw.number(f"setback {i}", 0.68, 0.88)
    crown = box(2 * half, 0.08, 2 * half).at(y=0.03).paint(draw.colour())
    if roof == "mast":
        crown += rod((0.3 * half, 0, 0), (0.3 * half, 0.6, 0), 0.035, 0.012, n=6).paint(draw.colour("metal"))
    elif roof == "point":
        crown += _pyramid(0.9 * half, draw.number("point", 0.3, 0.6)).at(y=0.07).paint(draw.colour())
    else:
        crown += box(1.4 * half, 0.2, 0.06).at(y=0.15, z=0.7 * half).paint(draw.colour("bright"))
    return block + crown.at(y=y)


def _windows(style: str, wide: float, low: float, high: float, glass: Colour) -> Part:
    """Windows on all four sides of a square block: each is a bar that goes right through it."""
    rows, columns = max(1, min(9, int((high - low) / 0.12))), max(2, min(4, int(wide / 0.14)))
    through = wide + 0.03
    if style == "bands":
        bars = box(through, 0.06, through).row(rows, dy=(high - low) / rows)
        return bars.at(y=(low + high) / 2).paint(glass, 0.6)
    bar = box(0.5 * wide / columns, high - low, through)
    if style == "squares":
        bar = box(0.5 * wide / columns, 0.08, through).row(rows, dy=(high - low) / rows)
    bars = bar.row(columns, dx=0.9 * wide / columns)
    return (bars + bars.rot(y=90)).at(y=(low + high) / 2).paint(glass, 0.6)


def _lighthouse(draw: Draw, tall: float) -> Part:
    """A tapering round tower with stripes, a gallery, a lit lantern room, a door, windows and a keeper's hut."""
    foot, neck, cap = draw.number("foot", 0.3, 0.4), draw.number("neck", 0.16, 0.22), draw.number("cap", 0.15, 0.3)
    bands, paints = draw.whole("stripes", 1, 6), (draw.colour(), draw.colour())
    rim, tall = draw.number("gallery", 1.35, 1.65) * neck, 0.85 * tall
    whole = cylinder(1.5 * foot, 0.1, n=9).size(1.4, 1, 1).at(0.15, -0.05).paint(draw.colour("neutral"))
    for i in range(bands):
        low, high = (foot + (neck - foot) * k / bands for k in (i, i + 1))
        whole += cylinder(low, tall / bands, high).at(y=(i + 0.5) * tall / bands).paint(paints[i % 2])
    posts = rod((rim, 0, 0), (rim, 0.16, 0), 0.014, n=4).ring(8) + cylinder(1.1 * rim, 0.06).at(y=0.03)
    rail = tube(lift(arc(rim, 0, 345, 16)), 0.016, 4, closed=True).rot(x=90).at(y=0.16)
    room = (posts + rail).paint(draw.colour("black"))
    room += cylinder(0.85 * neck, 0.36, n=12).at(y=0.18).paint(draw.colour("glass"), 0.8)
    room += box(1.1 * neck, 0.16, 0.5 * neck).at(y=0.2, z=0.62 * neck).paint(draw.colour("light"), 0.8)
    hat = lathe([(0, 0), (1.1 * neck, 0), (0.8 * neck, 0.6 * cap), (0.03, cap), (0.03, cap + 0.1), (0, cap + 0.1)], 14)
    whole += (room + hat.at(y=0.34).paint(draw.colour(), 0.4)).at(y=tall)
    panes = box(0.1, 0.12, 0.1).at(y=0.42 * tall, z=0.58 * foot + 0.42 * neck)
    panes += box(0.1, 0.12, 0.1).at(y=0.75 * tall, z=0.25 * foot + 0.75 * neck)
    if draw.chance("hut", 0.6):
        roof = slab([(0.2, 0), (0, 0.18), (-0.2, 0)], 0.54).rot(y=90).at(0.45, 0.26)
        whole += box(0.5, 0.26, 0.34).at(0.45, 0.13).paint(draw.colour()) + roof.paint(draw.colour())
        panes += box(0.12, 0.12, 0.36).at(0.52, 0.14)
    door = _arch(0.17, 0.3, 0.12).at(z=foot - 0.03).paint(draw.colour("dark"))
    return whole + door + panes.paint(draw.colour("glass"))


def _clock_tower(draw: Draw, tall: float) -> Part:
    """A square tower with a clock on each side, arched windows and a spire, dome, belfry or gable on top."""
    wide, tall, rise = draw.number("width", 0.42, 0.6), 0.75 * tall, draw.number("roof height", 0.35, 0.8)
    top = wide * draw.number("clock storey", 1.08, 1.3)
    half, wall, trim, roof = top / 2, draw.colour(), draw.colour(), draw.colour()
    walls = box(wide, tall, wide).at(y=tall / 2) + box(top, top, top).at(y=tall + half)
    ledges = box(1.1 * top, 0.06, 1.1 * top).at(y=tall) + box(1.12 * top, 0.07, 1.12 * top).at(y=tall + top)
    ledges += box(1.25 * wide, 0.12, 1.25 * wide).at(y=0.06)
    hands = box(0.045, 0.26 * top, 0.02).at(y=0.12 * top).rot(z=draw.number("hour", 0, 360))
    hands += box(0.035, 0.38 * top, 0.02).at(y=0.17 * top, z=0.012).rot(z=draw.number("minute", 0, 360))
    hands += box(0.03, 0.08 * top, 0.02).at(y=0.34 * top).ring(4, "z")
    face = _disc(0.43 * top, 0.06, 18).paint(trim) + _disc(0.38 * top, 0.09, 18).paint(draw.colour("white"))
    face = (face + hands.at(z=0.055).paint(draw.colour("black"))).at(y=tall + half, z=half).ring(4)
    slit = _arch(0.16 * wide, 0.35 * tall, wide + 0.03).at(y=0.45 * tall).row(draw.whole("slits", 1, 2), dx=0.4 * wide)
    whole = walls.paint(wall) + ledges.paint(trim) + face + slit.ring(4).paint(draw.colour("glass"))
    whole += _arch(0.34 * wide, 0.3, 0.08).at(z=wide / 2).paint(draw.colour("wood"))
    form = draw.pick("crown", ["spire", "dome", "belfry", "gable"])
    if form == "dome":
        crown = lathe([(0, 0), (half, 0), (0.95 * half, 0.15), (0.6 * half, 0.3), (0.04, 0.4), (0, 0.6)], 16)
    elif form == "gable":
        crown = slab([(1.1 * half, 0), (0, 0.7 * rise), (-1.1 * half, 0)], 2.1 * half)
    elif form == "spire":
        crown = _pyramid(half, rise) + _pyramid(0.12, 0.25).at(half - 0.08, z=half - 0.08).ring(4)
    else:
        posts = box(0.08, 0.3, 0.08).at(0.8 * half, -0.15, 0.8 * half).ring(4).paint(wall)
        bell = cylinder(0.15, 0.18, top=0.06, n=10).at(y=-0.14).paint(draw.colour("metal"), 0.6)
        whole += (posts + bell).at(y=tall + top + 0.33)
        crown = _pyramid(half, 0.7 * rise).at(y=0.3)
    return whole + (crown.paint(roof, 0.4) + _flag(draw, 0.25).at(y=0.3)).at(y=tall + top + 0.03)


def _castle(draw: Draw, tall: float) -> Part:
    """A round, six-sided or square castle tower with battlements, gate, slits, perhaps a turret, and a flag."""
    sides, radius = draw.pick("plan", [4, 6, 16]), draw.number("radius", 0.38, 0.52)
    tall, rim = 0.62 * tall, radius * draw.number("flare", 1.12, 1.3)
    wall, trim, inward = draw.colour(), draw.colour(), math.cos(math.pi / sides)
    front, gate, upper = radius * inward * 1.04, draw.number("gate", 0.24, 0.36), draw.number("slits", 0.64, 0.74)

    def drum(low: float, high: float, bottom: float, height: float) -> Part:
        return cylinder(low, height, high, sides).rot(y=180 / sides).at(y=bottom + height / 2)

    edge, per_side = rim * inward - 0.05, draw.whole("teeth", 2, 3) if sides == 4 else 1
    teeth = box(0.16, 0.16, 0.1).row(per_side, dx=1.5 * edge / per_side).at(y=tall + 0.34, z=edge)
    crown = drum(radius, rim, tall, 0.12) + drum(rim, rim, tall + 0.12, 0.16) + teeth.ring(12 if sides == 16 else sides)
    slit = (_arch(0.09, 0.24, 0.1).at(y=upper * tall) + _arch(0.09, 0.24, 0.1).at(y=0.45 * tall)).at(z=front).ring(4)
    whole = drum(1.12 * radius, radius, 0, tall).paint(wall) + slit.paint(draw.colour("black"))
    whole += (crown + _arch(gate + 0.1, gate + 0.2, 0.1).at(z=front + 0.02)).paint(trim)
    whole += _arch(gate, gate + 0.14, 0.14).at(z=front + 0.02).paint(draw.colour("wood"))
    if draw.chance("turret", 0.6):
        rise = draw.number("turret height", 0.5, 0.9)
        turret = lathe([(0, -0.25), (0.17, 0), (0.17, rise), (0, rise)], 12).paint(wall)
        turret += cylinder(0.24, 0.35, top=0.0, n=12).at(y=rise + 0.17).paint(draw.colour())
        whole += turret.at(radius, tall - 0.35, 0.1)
    if draw.chance("pointed roof", 0.4):
        return whole + drum(radius, 0, tall + 0.26, 0.6).paint(draw.colour()) + _flag(draw, 0.3).at(y=tall + 0.8)
    return whole + _flag(draw, 0.5).at(-0.3 * radius, tall + 0.2)


def _lattice(draw: Draw, tall: float) -> Part:
    """A mast of four legs with cross bracing, straight or curved, with a deck, dishes, a hut and an aerial."""
    foot, steps = draw.number("foot", 0.35, 0.5), draw.whole("steps", 4, 6)
    shares, paints = np.linspace(0, 1, steps + 1), (draw.colour(), draw.colour())
    halves, levels = foot * (1 - shares) ** (1 / draw.number("curve", 0.35, 0.85)) + 0.06, tall * shares**0.9
    whole = box(2.6 * foot, 0.05, 2.6 * foot).at(y=-0.03).paint(draw.colour("neutral"))
    for i in range(steps):
        a, b, low, high = halves[i], halves[i + 1], levels[i], levels[i + 1]
        side = rod((a, low, a), (b, high, b), 0.035, n=4) + rod((a, low, a), (-b, high, b), 0.02, n=4)
        side += rod((-a, low, a), (b, high, b), 0.02, n=4) + rod((-b, high, b), (b, high, b), 0.022, n=4)
        whole += side.ring(4).paint(paints[i % 2], 0.3)
    deck = draw.whole("deck", 1, steps - 2)
    edge = draw.number("deck edge", 2.3, 3.0) * halves[deck]
    whole += box(edge, 0.07, edge).at(y=levels[deck]).paint(draw.colour())
    whole += rod((0, tall - 0.05, 0), (0, tall + draw.number("aerial", 0.3, 0.6), 0), 0.04, 0.015, n=6).paint(paints[0])
    bowl = lathe([(0, 0), (0.1, 0.02), (0.17, 0.09), (0.15, 0.09), (0.0, 0.03)], 12).rot(x=90)
    dishes = bowl.at(y=levels[-2], z=halves[-2] + 0.03) + bowl.rot(y=80).at(halves[-3] + 0.03, levels[-3] + 0.05)
    hut = box(0.3, 0.22, 0.24).at(0.25 * foot, 0.11, 0.7 * foot)
    return whole + dishes.paint(draw.colour("white")) + hut.paint(draw.colour())


@shape("tower")
def tower(draw: Draw) -> Part:
    """A tower: skyscraper, lighthouse, clock tower, castle tower or lattice mast.

    Each has its own plan, storeys, roof, openings and details; height and widths vary.
    """
    kinds: dict[str, Callable[[Draw, float], Part]] = {
        "skyscraper": _skyscraper,
        "lighthouse": _lighthouse,
        "clock tower": _clock_tower,
        "castle": _castle,
        "mast": _lattice,
    }
    return kinds[draw.pick("kind", list(kinds), [4, 3, 3, 3, 2])](draw, draw.number("height", 1.7, 2.4))


def _gable_roof(width: float, depth: float, wall: float, rise: float, over: float, paint: Colour) -> Part:
    """Two boards over a gable whose ridge runs to the front, and a ridge cap."""
    length, pitch = math.hypot(rise, width / 2) + over, math.degrees(math.atan2(rise, width / 2))
    boards = box(length, 0.07, depth + 2 * over).at(length / 2).rot(z=-pitch).mirror()
    ridge = box(0.12, 0.08, depth + 2.2 * over).at(y=0.03)
    return (boards + ridge).at(y=wall + rise + 0.03).paint(paint)


def _entrance(draw: Draw, radius: float) -> Part:
    """A dark hole, round, ringed or a doorway, with a perch or a ledge; faces +z."""
    form, dark, wood = draw.pick("hole", ["round", "ringed", "door"]), draw.colour("black"), draw.colour("wood")
    hole = _disc(radius, 0.06, 16).paint(dark, 0.0)
    if form == "door":
        hole = _arch(1.7 * radius, 2.4 * radius, 0.06).at(y=-1.2 * radius).paint(dark, 0.0)
    elif form == "ringed":
        hole += _disc(1.35 * radius, 0.04, 16).paint(draw.colour(), 0.3)
    if draw.chance("ledge", 0.4):
        return hole + box(2.4 * radius, 0.04, 0.2).at(y=-1.7 * radius, z=0.1).paint(wood)
    return hole + rod((0, -1.9 * radius, -0.02), (-0.05, -1.7 * radius, 0.3), 0.03, n=6).paint(wood)


def _bird(draw: Draw) -> Part:
    """A small bird that looks to the left, standing on y = 0."""
    body = ball(0.12, 10).size(1.3, 1, 0.9).rot(z=-20).at(y=0.13) + ball(0.08, 8).at(-0.13, 0.25)
    tail = slab([(0.02, 0.16), (0.36, 0.13), (0.36, 0.05), (0.04, 0.06)], 0.08).paint(draw.colour())
    beak = cylinder(0.03, 0.09, top=0.0, n=6).rot(z=90).at(-0.24, 0.25).paint(draw.colour("light"))
    return body.paint(draw.colour("bright")) + tail + beak


def _nest_box(draw: Draw, form: str, width: float, wall: float, depth: float) -> tuple[Part, float, float]:
    """Walls and roof of a birdhouse, with the heights of its roof in the middle and of the front wall."""
    rise, over = draw.number("roof rise", 0.25, 0.5), draw.number("overhang", 0.08, 0.18)
    colour, roof, trim, half = draw.colour(), draw.colour(), draw.colour(), width / 2
    if form == "barrel":
        house = lathe([(0, 0), (0.84 * half, 0), (1.04 * half, 0.5 * wall), (0.88 * half, wall), (0, wall)], 18)
        hoops = cylinder(half, 0.05).row(2, dy=0.66 * wall).at(y=0.53 * wall).paint(trim)
        hat = lathe([(0, 0), (half + over, -0.03), (half + over, 0.03), (0.05, rise), (0, rise)], 18).at(y=wall)
        return house.paint(colour) + hoops + hat.paint(roof), wall + rise - 0.03, wall
    house = box(width + 0.16, 0.07, depth + 0.2).at(y=-0.03, z=0.02).paint(trim)
    if form == "lean-to":
        house += slab(_slope(depth, wall, rise), width).rot(y=-90).paint(colour)
        board = box(width + 2 * over, 0.07, math.hypot(depth, rise) + 2.5 * over)
        board = board.rot(x=math.degrees(math.atan2(rise, depth))).at(y=wall + rise / 2 + 0.03, z=0.04)
        return house + board.paint(roof), wall + rise / 2 + 0.05, wall
    if form == "A-frame":
        wall, rise = 0.06, wall + 0.8 * rise
    gable = [(half, 0), (half, wall), (0, wall + rise), (-half, wall), (-half, 0)]
    house += slab(gable, depth).paint(colour) + _gable_roof(width, depth, wall, rise, over, roof)
    if form == "chimney":
        house += box(0.16, 0.4, 0.16).at(0.5 * half, wall + rise - 0.05, -0.1).paint(trim)
    return house, wall + rise + 0.08, 0.75 * rise if form == "A-frame" else wall


def _slope(depth: float, front: float, rise: float) -> list[tuple[float, float]]:
    """Side view of a case that is higher at the back."""
    return [(depth / 2, 0), (depth / 2, front), (-depth / 2, front + rise), (-depth / 2, 0)]


def _mount(draw: Draw, top: float, depth: float) -> Part:
    """How a birdhouse is put up: on a post, hung from a rope, on a back board or on a tree stump."""
    kind, wood = draw.pick("mount", ["post", "rope", "back board", "trunk"]), draw.colour("wood")
    length = draw.number("mount length", 0.35, 0.8)
    if kind == "post":
        brace = rod((0, -0.3, 0.03), (0.16, -0.03, 0.03), 0.03, n=5).mirror()
        return (box(0.14, length + 0.1, 0.14).at(y=-length / 2) + brace).paint(wood)
    if kind == "rope":
        rise = [(-0.2, 0.0), (-0.03, 0.3), (0.02, 0.6), (0.07, 0.3), (0.2, 0.0)]
        return tube(spline([(0, top - 0.05 + length * y, z) for z, y in rise], 14), 0.022, 5).paint(draw.colour())
    if kind == "back board":
        nails = _disc(0.03, 0.12, 6).row(2, dy=top + 0.7 * length).paint(draw.colour("metal"))
        return (box(0.26, top + length, 0.07).paint(wood) + nails).at(y=top / 2, z=-depth / 2 - 0.03)
    trunk = lathe([(0, -length), (0.2, -length), (0.13, 0.15 - length), (0.11, 0), (0, 0)], 8, crease=20)
    twig = rod((0.08, -0.6 * length, 0), (0.35, -0.35 * length, 0.05), 0.05, 0.025, n=6)
    leaf = ball(0.1, 6).size(1.3, 0.5, 0.8).at(0.4, -0.33 * length, 0.05).paint(draw.colour("leaf"))
    return (trunk + twig).paint(wood) + leaf


@shape("birdhouse")
def birdhouse(draw: Draw) -> Part:
    """A birdhouse: gabled, with chimney, lean-to, A-frame or barrel; on a post, rope, back board or trunk.

    Holes and perches (one or two), roof pitch, overhang, a bird on the roof and proportions vary.
    """
    form = draw.pick("form", ["gable", "chimney", "lean-to", "A-frame", "barrel"], [3, 2, 2, 2, 2])
    width, wall = draw.number("width", 0.6, 0.85), draw.number("wall", 0.55, 0.95)
    depth = width if form == "barrel" else draw.number("depth", 0.5, 0.7)
    radius = draw.number("hole radius", 0.1, 0.15)
    house, top, front = _nest_box(draw, form, width, wall, depth)
    entrance, z = _entrance(draw, radius), depth / 2 + 0.01
    if front > 0.75 and form != "A-frame" and draw.chance("two holes"):
        house += entrance.size(0.85).row(2, dy=0.46 * front).at(y=0.59 * front, z=z)
    else:
        house += entrance.at(y=0.6 * front, z=z)
    if draw.chance("bird", 0.25):
        house += _bird(draw).at(y=top)
    plaque = box(0.16, 0.1, 0.04).at(0.28 * width, 0.12, 0.4 * width if form == "barrel" else z)
    return house + plaque.paint(draw.colour("bright")) + _mount(draw, top, depth)


def _post(draw: Draw, width: float, depth: float) -> Part:
    """What carries a mailbox whose floor is at y = 0: a wooden post with a brace, a pole with a foot, or two legs."""
    kind, length = draw.pick("post", ["brace", "pole", "two legs"]), draw.number("post length", 0.6, 1.1)
    if kind == "brace":
        wood = box(0.16, length, 0.16).at(y=-length / 2) + rod((0, -0.45, 0), (0, -0.04, 0.38 * depth), 0.05, n=4)
        return (wood + box(0.7 * width, 0.07, 0.95 * depth).at(y=-0.03)).paint(draw.colour("wood"))
    if kind == "pole":
        pole = cylinder(0.07, length, n=10).at(y=-length / 2) + cylinder(0.3, 0.07, n=14).at(y=-length)
        return pole.paint(draw.colour(), 0.4)
    leg = box(0.07, length, 0.12).at(0.36 * width, -length / 2) + box(0.14, 0.05, 0.3).at(0.36 * width, -length)
    return leg.mirror().paint(draw.colour(), 0.3)


def _tunnel_box(draw: Draw, width: float, height: float, depth: float) -> Part:
    """The rural mailbox: a long arch with a front door, which may hang open, and a flag that is up or down."""
    trim, opening, z = draw.colour(), draw.pick("door", [0.0, 0.0, 70.0]), depth / 2
    whole = _arch(width, height, depth).paint(draw.colour(), 0.4) + _post(draw, width, depth)
    whole += _arch(1.06 * width, 1.03 * height, 0.08).at(y=-0.01, z=z - 0.06).paint(trim)
    whole += _arch(0.86 * width, 0.9 * height, 0.02).at(y=0.02, z=z).paint(draw.colour("black"), 0.0)
    door = box(0.12, 0.07, 0.1).at(y=0.8 * height, z=0.04).paint(draw.colour("metal"), 0.6)
    door += box(0.4 * width, 0.1, 0.06).at(y=0.4 * height).paint(draw.colour("white"))
    door += _arch(0.94 * width, 0.96 * height, 0.04).paint(trim)
    whole += door.rot(x=opening).at(y=0.01, z=z + 0.02)
    if opening:
        whole += box(0.5 * width, 0.04, 0.3).rot(y=8).at(y=0.1, z=z + 0.05).paint(draw.colour("pastel"))
    long = draw.number("flag", 0.4, 0.6)
    flag = box(0.04, long, 0.06).at(y=long / 2) + box(0.04, 0.16, 0.22).at(y=long - 0.08, z=-0.1)
    flag = flag.rot(x=0 if draw.chance("flag raised", 0.7) else -80).at(width / 2 + 0.03, 0.4 * height, 0.1 * depth)
    number = box(0.04, 0.16, 0.1).row(3, dz=0.16).at(width / 2, 0.35 * height, -0.25 * depth).mirror()
    return whole + flag.paint(draw.colour("bright")) + number.paint(draw.colour("white"))


def _pillar_box(draw: Draw, width: float, height: float, depth: float) -> Part:
    """A round or eight-sided pillar with a cap, a slot under it, a door with a lock and a notice of the hours."""
    r, n, tall = 0.7 * width * depth**0.5, draw.pick("pillar plan", [20, 8]), 2.6 * height
    body, dark, z, swell = draw.colour(), draw.colour("black"), r * math.cos(math.pi / n), draw.number("dome", 0.6, 1.3)
    drum = lathe([(0, 0), (1.12 * r, 0), (1.12 * r, 0.16), (r, 0.2), (r, tall), (0, tall)], n).paint(body, 0.5)
    dome = np.array([(0, 0), (1.14, 0), (1.14, 0.1), (0.95, 0.18), (0.5, 0.27), (0, 0.3)]) * (r, swell)
    cap = lathe(dome, n).at(y=tall)
    drum += cap.paint(draw.colour(), 0.5) + cylinder(1.2 * r, 0.16, n=n).at(y=-0.02).paint(dark)
    slot = box(0.9 * r, 0.09, 0.1).paint(dark, 0.0) + box(1.1 * r, 0.05, 0.2).at(y=0.09).paint(body)
    door = box(r, draw.number("door", 0.4, 0.55) * tall, 0.16).at(y=0.42 * tall, z=-0.04)
    front = slot.at(y=0.84 * tall) + door.paint(draw.colour(), 0.4)
    front += box(0.5 * r, 0.26, 0.06).at(0.15 * r, 0.52 * tall, 0.04).paint(draw.colour("white"))
    front += _disc(0.04, 0.06, 8).at(-0.36 * r, 0.4 * tall, 0.04).paint(draw.colour("metal"), 0.7)
    return drum.rot(y=180 / n) + front.at(z=z)


def _street_box(draw: Draw, width: float, height: float, depth: float) -> Part:
    """The street collection box: a case with a rounded top, a pull-down hopper with a handle, and four short legs."""
    wide, tall, deep, leg = 1.4 * width, 1.9 * height, 0.9 * depth, draw.number("leg", 0.12, 0.3)
    body, low, panel = draw.colour(), tall - deep / 2, draw.number("panel", 0.4, 0.6)
    whole = _arch(deep, tall, wide).rot(y=90).paint(body, 0.4)
    whole += box(0.76 * wide, 0.3, 0.06).rot(x=-22).at(y=low + 0.16, z=0.45 * deep).paint(draw.colour(), 0.4)
    whole += box(0.45 * wide, 0.06, 0.1).at(y=low + 0.22, z=0.5 * deep).paint(draw.colour("metal"), 0.7)
    whole += box(0.8 * wide, panel * low, 0.04).at(y=0.4 * low, z=deep / 2).paint(draw.colour())
    whole += box(0.3 * wide, 0.2, 0.05).at(-0.15 * wide, 0.82 * low, deep / 2).paint(draw.colour("white"))
    emblem = slab(polygon(0.15, draw.pick("emblem", [3, 5, 12])), wide + 0.05).rot(y=90).at(y=0.6 * low)
    legs = box(0.1, leg, 0.1).at(0.44 * wide, -leg / 2, 0.42 * deep).mirror("x").mirror("z").paint(body)
    return whole + emblem.paint(draw.colour("light")) + legs


def _letter_box(draw: Draw, width: float, height: float, depth: float) -> Part:
    """An upright letter box with a gabled or sloped lid, a slot with a flap, a name plate and maybe a newspaper."""
    wide, tall, deep, rise = 1.3 * width, 1.5 * height, 0.6 * depth, draw.number("lid rise", 0.15, 0.35)
    body, roof, z, half = draw.colour(), draw.colour(), deep / 2, 0.65 * width
    if draw.pick("lid", ["gable", "slope"]) == "gable":
        gable = [(half, 0), (half, tall), (0, tall + rise), (-half, tall), (-half, 0)]
        whole = slab(gable, deep).paint(body) + _gable_roof(wide, deep, tall, rise, 0.1, roof)
    else:
        lid = box(wide + 0.1, 0.07, math.hypot(deep, rise) + 0.2).rot(x=math.degrees(math.atan2(rise, deep)))
        whole = slab(_slope(deep, tall, rise), wide).rot(y=-90).paint(body)
        whole += lid.at(y=tall + rise / 2 + 0.03, z=0.03).paint(roof)
    whole += box(0.74 * wide, 0.1, 0.04).at(y=0.84 * tall, z=z).paint(draw.colour("black"), 0.0)
    whole += box(0.8 * wide, 0.05, 0.14).rot(x=25).at(y=0.84 * tall + 0.08, z=z + 0.03).paint(roof)
    whole += box(0.4 * wide, 0.12, 0.05).at(0.1 * wide, 0.62 * tall, z).paint(draw.colour("white"))
    whole += box(0.76 * wide, 0.4 * tall, 0.04).at(y=0.28 * tall, z=z).paint(draw.colour(), 0.3)
    whole += _disc(0.04, 0.08, 8).at(-0.28 * wide, 0.36 * tall, z + 0.02).paint(draw.colour("metal"), 0.7)
    if draw.chance("newspaper", 0.4):
        roll = cylinder(0.12, 0.9 * deep, n=12).rot(x=90)
        whole += (roll.size(1.25).paint(body) + roll.at(z=0.12).paint(draw.colour("white"))).at(half + 0.12, 0.14)
    if draw.chance("letter", 0.5):
        whole += box(0.5 * wide, 0.02, 0.4).rot(x=25, y=6).at(y=0.82 * tall, z=z).paint(draw.colour("pastel"))
    return whole + _post(draw, wide, deep)


@shape("mailbox")
def mailbox(draw: Draw) -> Part:
    """A mailbox: rural arch with a flag, pillar box, street collection box on legs, or letter box with a lid.

    Post, flag, open door, letters, newspaper roll, emblem and proportions vary.
    """
    kinds = {"tunnel": _tunnel_box, "pillar": _pillar_box, "street": _street_box, "letter box": _letter_box}
    width, height = draw.number("width", 0.45, 0.6), draw.number("height", 0.5, 0.7)
    depth = draw.number("depth", 0.8, 1.15)
    return kinds[draw.pick("kind", list(kinds), [4, 2, 2, 3])](draw, width, height, depth)
