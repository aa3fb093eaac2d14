"""Garden: birdhouse, mailbox."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import polygon, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import arch, ball, box, cylinder, disc, lathe, rod, slab, tube


def _gable_roof(width: float, depth: float, wall: float, rise: float, over: float, paint: Colour) -> Part:
    """Two boards over a gable whose ridge runs to the front, and a ridge cap."""
    length, pitch = math.hypot(rise, width / 2) + over, math.degrees(math.atan2(rise, width / 2))
    boards = box(length, 0.07, depth + 2 * over).at(length / 2).rot(z=-pitch).mirror()
    ridge = box(0.12, 0.08, depth + 2.2 * over).at(y=0.03)
    return (boards + ridge).at(y=wall + rise + 0.03).paint(paint)


def _entrance(draw: Draw, radius: float) -> Part:
    """A dark hole, round, ringed or a doorway, with a perch or a ledge; faces +z."""
    form, dark, wood = draw.pick("hole", ["round", "ringed", "door"]), draw.colour("black"), draw.colour("wood")
    hole = disc(radius, 0.06, 16).paint(dark, 0.0)
    if form == "door":
        hole = arch(1.7 * radius, 2.4 * radius, 0.06).at(y=-1.2 * radius).paint(dark, 0.0)
    elif form == "ringed":
        hole += disc(1.35 * radius, 0.04, 16).paint(draw.colour(), 0.3)
    if draw.chance("ledge", 0.4):
        return hole + box(2.4 * radius, 0.04, 0.2).at(y=-1.7 * radius, z=0.1).paint(wood)
    return hole + rod((0, -1.9 * radius, -0.02), (-0.05, -1.7 * radius, 0.3), 0.03, n=6).paint(wood)


def _bird(draw: Draw) -> Part:
    """A small bird facing left, standing on y = 0."""
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
    """The mount of a birdhouse: a post, a rope, a back board or a tree stump."""
    kind, wood = draw.pick("mount", ["post", "rope", "back board", "trunk"]), draw.colour("wood")
    length = draw.number("mount length", 0.35, 0.8)
    if kind == "post":
        brace = rod((0, -0.3, 0.03), (0.16, -0.03, 0.03), 0.03, n=5).mirror()
        return (box(0.14, length + 0.1, 0.14).at(y=-length / 2) + brace).paint(wood)
    if kind == "rope":
        rise = [(-0.2, 0.0), (-0.03, 0.3), (0.02, 0.6), (0.07, 0.3), (0.2, 0.0)]
        return tube(spline([(0, top - 0.05 + length * y, z) for z, y in rise], 14), 0.022, 5).paint(draw.colour())
    if kind == "back board":
        nails = disc(0.03, 0.12, 6).row(2, dy=top + 0.7 * length).paint(draw.colour("metal"))
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
    """The support of a mailbox with its floor at y = 0: a wooden post with a brace, a pole with a foot, or two legs."""
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
    whole = arch(width, height, depth).paint(draw.colour(), 0.4) + _post(draw, width, depth)
    whole += arch(1.06 * width, 1.03 * height, 0.08).at(y=-0.01, z=z - 0.06).paint(trim)
    whole += arch(0.86 * width, 0.9 * height, 0.02).at(y=0.02, z=z).paint(draw.colour("black"), 0.0)
    door = box(0.12, 0.07, 0.1).at(y=0.8 * height, z=0.04).paint(draw.colour("metal"), 0.6)
    door += box(0.4 * width, 0.1, 0.06).at(y=0.4 * height).paint(draw.colour("white"))
    door += arch(0.94 * width, 0.96 * height, 0.04).paint(trim)
    whole += door.rot(x=opening).at(y=0.01, z=z + 0.02)
    if opening:
        whole += box(0.5 * width, 0.04, 0.3).rot(y=8).at(y=0.1, z=z + 0.05).paint(draw.colour("pastel"))
    length = draw.number("flag", 0.4, 0.6)
    flag = box(0.04, length, 0.06).at(y=length / 2) + box(0.04, 0.16, 0.22).at(y=length - 0.08, z=-0.1)
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
    front += disc(0.04, 0.06, 8).at(-0.36 * r, 0.4 * tall, 0.04).paint(draw.colour("metal"), 0.7)
    return drum.rot(y=180 / n) + front.at(z=z)


def _street_box(draw: Draw, width: float, height: float, depth: float) -> Part:
    """The street collection box: a case with a rounded top, a pull-down hopper with a handle, and four short legs."""
    wide, tall, deep, leg = 1.4 * width, 1.9 * height, 0.9 * depth, draw.number("leg", 0.12, 0.3)
    body, low, panel = draw.colour(), tall - deep / 2, draw.number("panel", 0.4, 0.6)
    whole = arch(deep, tall, wide).rot(y=90).paint(body, 0.4)
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
    whole += disc(0.04, 0.08, 8).at(-0.28 * wide, 0.36 * tall, z + 0.02).paint(draw.colour("metal"), 0.7)
    if draw.chance("newspaper", 0.4):
        roll = disc(0.12, 0.9 * deep, 12)
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
