"""Things that make or take sound: guitars, microphones and speakers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.shapes.curves import ellipse, lift, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, slab, tube

Array = NDArray[np.float64]
_DISC_TURN = 90  # lays a cylinder's axis along z, so that its top faces the front

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
    "zigzag": [(0.12, 0.42), (0.36, 0.3), (0.26, -0.1), (0.6, -0.55), (0.4, -0.66), (-0.34, -0.5), (-0.5, -0.1), (-0.12, 0.1), (-0.46, 0.5), (-0.1, 0.42)],
}  # fmt: skip


def _mirrored(right: list[tuple[float, float]], n: int) -> Array:
    """A closed smooth outline out of its right half, which runs from the bottom middle to the top middle."""
    left = [(-x, y) for x, y in right[-2:0:-1]]
    return spline(right + left, n, closed=True)


def _guitar_body(draw: Draw, kind: str, depth: float) -> tuple[Part, bool]:
    """The body about the origin, its face at z = 0, and whether it is hollow."""
    waist, lower, upper = draw.number("waist", 0.24, 0.34), draw.number("lower bout", 0.42, 0.55), draw.number("upper bout", 0.3, 0.42)
    if kind in _ELECTRIC:
        outline, hollow = spline(_ELECTRIC[kind], 44, closed=True) * (lower * 2.1, 1.0), False
    elif kind in _ANGULAR:
        outline, hollow = np.array(_ANGULAR[kind]) * (lower * 2.5, 1.0), False
    else:
        right = [(0.0, -0.68), (0.6 * lower, -0.64), (lower, -0.32), (waist, 0.1), (upper, 0.4), (0.6 * upper, 0.58), (0.0, 0.6)]
        outline, hollow = _mirrored(right, 40), True
        if kind == "cutaway":
            outline = np.where((outline[:, :1] > 0.1) & (outline[:, 1:] > 0.25), outline * (1.0, 0.62), outline)
    shell = slab(outline, depth).at(z=-depth / 2 - 0.02).paint(draw.colour(), 0.4)
    face = slab(outline * 0.93, 0.04).at(z=-0.015).paint(draw.colour(), 0.4)
    return shell + face, hollow


def _fittings(draw: Draw, hollow: bool) -> Part:
    """What is on the face: sound hole and rosette, or pickups and knobs; pick guard and bridge."""
    dark = draw.colour("black")
    bridge = box(0.36, 0.07, 0.05).at(y=-0.38, z=0.02).paint(draw.colour("wood" if hollow else "metal"), 0.4)
    guard = spline([(0.08, 0.12), (0.26, 0.02), (0.28, -0.2), (0.12, -0.34), (0.14, -0.1)], 14, closed=True)
    parts = bridge
    if draw.chance("pick guard", 0.6 if hollow else 0.9):
        parts += slab(guard, 0.02).at(z=0.01).paint(draw.colour(), 0.5)
    if hollow:
        radius = draw.number("sound hole", 0.13, 0.19)
        ring = cylinder(radius + 0.05, 0.03, n=18).rot(x=_DISC_TURN).at(z=0.012).paint(draw.colour("wood"))
        return parts + (ring + cylinder(radius, 0.03, n=18).rot(x=_DISC_TURN).at(z=0.022).paint(dark, 0.0)).at(y=0.04)
    pickup = box(0.32, 0.08, 0.05).at(y=-0.06, z=0.025).row(draw.whole("pickups", 2, 3), dy=0.15)
    knob = cylinder(0.045, 0.07, n=8).rot(x=_DISC_TURN).at(0.24, -0.42, 0.03)
    knobs = joined(knob.at(0.02 * i, 0.1 * i) for i in range(draw.whole("knobs", 2, 3)))
    return parts + pickup.paint(dark, 0.3) + knobs.paint(draw.colour("metal"), 0.6)


def _neck(draw: Draw, length: float, strings: int) -> Part:
    """Neck, frets, head with pegs and the strings, from the body's edge at y = 0.2 upwards."""
    end, half = 0.3 + length, draw.number("neck width", 0.07, 0.1)
    head_form = draw.pick("head", ["three and three", "all on one side"])
    wood, metal = draw.colour("wood"), draw.colour("metal")
    neck = box(2 * half, length + 0.15, 0.08).at(y=0.22 + length / 2, z=0.0).paint(wood)
    board = box(2 * half, length + 0.15, 0.03).at(y=0.22 + length / 2, z=0.05).paint(draw.colour("dark"))
    frets = joined(box(2 * half, 0.018, 0.02).at(y=end - length * f, z=0.062) for f in (0.12, 0.24, 0.35, 0.46, 0.56, 0.66, 0.76))
    head_length = draw.number("head length", 0.3, 0.42)
    peg = rod((0, 0, 0), (0.1, 0, 0), 0.018, n=5) + box(0.06, 0.05, 0.03).at(0.12)
    step = head_length / (strings // 2 + 0.6)
    if head_form == "three and three":
        outline = [(half, 0.0), (1.6 * half, 0.1), (1.5 * half, head_length), (-1.5 * half, head_length), (-1.6 * half, 0.1), (-half, 0.0)]
        pegs = joined(peg.at(1.4 * half, 0.12 + step * i) for i in range(strings // 2)).mirror()
    else:
        outline = [(half, 0.0), (1.3 * half, head_length * 0.7), (0.4 * half, head_length * 1.15), (-1.7 * half, 0.15), (-half, 0.0)]
        shares = [(i + 0.4) / strings for i in range(strings)]
        edge = [(-1.6 * half + 2.1 * half * t, 0.15 + (1.15 * head_length - 0.15) * t) for t in shares]
        pegs = joined(peg.rot(z=180).at(x, y) for x, y in edge)
    head = slab(np.array(outline), 0.06).rot(x=-8).paint(draw.colour(), 0.4) + pegs.paint(metal, 0.6)
    string = box(0.01, end + 0.42, 0.01).at(y=(end - 0.38) / 2, z=0.075)
    return neck + board + frets.paint(metal) + head.at(y=end) + string.row(strings, dx=1.6 * half / strings).paint(draw.colour("white"))


@shape("guitar")
def guitar(draw: Draw) -> Part:
    """A guitar standing upright: acoustic, cutaway, ukulele, electric with one or two horns, arrow or zigzag shaped.

    Body proportions, neck length, head, pickups, knobs, pick guard, number of strings and colours vary.
    """
    kinds = ["acoustic", "cutaway", "ukulele", "double horn", "single horn", "arrow", "zigzag"]
    kind = draw.pick("kind", kinds, [3, 2, 2, 3, 2, 1, 1])
    solid = kind in _ELECTRIC or kind in _ANGULAR
    strings = 4 if kind == "ukulele" else draw.pick("strings", [4, 6])
    low, high = (0.6, 0.8) if kind == "ukulele" else (1.05, 1.5)
    body, hollow = _guitar_body(draw, kind, draw.number("depth", 0.12, 0.16) if solid else draw.number("hollow depth", 0.22, 0.34))
    body = (body + _fittings(draw, hollow)).size(draw.number("body size", 1.0, 1.3), 1.0, 1.0)
    return body + _neck(draw, draw.number("neck length", low, high), strings)


def _grille(radius: float, height: float, ribs: int = 9) -> Part:
    """A rounded wire basket, bottom at y = 0: a capsule whose ribs catch the light."""
    angles = np.linspace(-0.9, np.pi / 2, 2 * ribs)
    ripple = 1 + 0.035 * np.where(np.arange(2 * ribs) % 2, 1, -1)
    profile = np.stack([radius * np.cos(angles) * ripple, height * (np.sin(angles) + 0.78) / 1.78], axis=1)
    profile[-1, 0] = 0
    return lathe(np.concatenate([[(0, 0)], profile]), 16, crease=15)


def _hand_microphone(draw: Draw) -> Part:
    """A tapered grip with a wire head, a switch and a coloured ring, its foot at y = 0."""
    grip, radius = draw.number("grip", 0.9, 1.3), draw.number("head", 0.23, 0.32)
    collar = draw.number("collar", 0.6, 0.8) * radius
    stem = lathe([(0, 0), (0.1, 0), (0.11, 0.06), (collar * 0.8, grip - 0.12), (collar, grip), (0, grip)], 16)
    head = _grille(radius, radius * draw.number("head stretch", 1.5, 2.1)).at(y=grip - 0.02).paint(draw.colour("metal"), 0.5)
    band = lathe([(0, 0), (radius * 1.06, 0.0), (radius * 1.06, 0.08), (0, 0.08)], 16).at(y=grip + 0.55 * radius)
    switch = box(0.1, 0.3, 0.1, 0.04).at(y=grip * 0.62, z=0.13).paint(draw.colour("bright"))
    knob = box(0.08, 0.1, 0.08).at(y=grip * 0.62 + 0.06, z=0.18).paint(draw.colour("white"))
    return stem.paint(draw.colour(), 0.3) + head + band.paint(draw.colour(), 0.4) + switch + knob


def _studio_microphone(draw: Draw) -> Part:
    """A thick side-address microphone with a square or round basket, badge and dial, its foot at y = 0."""
    radius, height = draw.number("barrel", 0.2, 0.3), draw.number("body height", 0.5, 0.75)
    basket = draw.number("basket", 0.35, 0.55)
    metal, body = draw.colour("metal"), draw.colour()
    barrel = lathe([(0, -0.1), (radius * 0.6, -0.1), (radius, 0.05), (radius, height), (0, height)], 18).paint(body, 0.4)
    if draw.pick("basket form", ["round", "wedge"]) == "round":
        cage = _grille(radius * 1.02, basket).at(y=height)
    else:
        cage = slab(rectangle(1.9 * radius, basket, 0.12, 3), radius * 1.1).at(y=height + basket / 2)
        cage += box(1.95 * radius, 0.03, radius * 1.2).at(y=height + basket / 2).row(3, dy=basket / 4)
        cage += box(0.05, basket * 0.9, radius * 1.2).at(y=height + basket / 2)
    badge = cylinder(0.09, 0.05, n=10).rot(x=_DISC_TURN).at(y=height * 0.75, z=radius).paint(draw.colour("bright"), 0.5)
    dial = box(0.16, 0.07, 0.05).at(y=height * 0.4, z=radius).paint(draw.colour("white"))
    return barrel + cage.paint(metal, 0.5) + badge + dial


def _retro_microphone(draw: Draw) -> Part:
    """A stage microphone of the fifties: a flattened head with upright ribs, its foot at y = 0."""
    width, height = draw.number("retro width", 0.5, 0.62), draw.number("retro height", 0.8, 1.0)
    right = [(0.0, 0.0), (0.3 * width, 0.03), (0.46 * width, 0.35 * height), (0.5 * width, 0.7 * height), (0.3 * width, 0.97 * height), (0.0, height)]
    outline = _mirrored(right, 28)
    centre = np.array([0, height / 2])
    metal, cloth = draw.colour("metal"), draw.colour()
    depth = draw.number("retro depth", 0.36, 0.5)
    swell = [(0.5, -0.5), (0.8, -0.4), (0.97, -0.18), (0.97, 0.18), (0.8, 0.4), (0.5, 0.5)]
    core = loft([lift((outline - centre) * s + centre, z * depth) for s, z in swell]).paint(cloth, 0.1)
    core += slab(outline * (1.04, 1.02), 0.14).paint(metal, 0.6)
    rib = slab(rectangle(depth * 1.16, 0.84 * height, 0.16, 3), 0.06).rot(y=90).at(y=0.5 * height)
    ribs = rib + rib.size(1, 0.86, 0.97).at(0.24 * width, 0.07 * height).mirror()
    band = slab(ellipse(1.1 * width, 1.22 * depth, 20), 0.09).rot(x=90).at(y=0.42 * height).paint(draw.colour(), 0.5)
    ribs = ribs.paint(metal, 0.6) + band
    badge = box(0.16, 0.14, 0.06, 0.03).at(y=0.42 * height, z=0.61 * depth).paint(draw.colour("bright"))
    return core + ribs + badge + cylinder(0.12, 0.14, n=10).at(y=-0.04).paint(metal, 0.5)


def _microphone_stand(draw: Draw, kind: str, head: Part) -> Part:
    """The microphone on a desk foot, a tripod or a tall stand with a round base, or with a cable in the hand."""
    metal, foot = draw.colour("metal"), draw.colour()
    lean, rise = draw.number("lean", -40, -15), draw.number("rise", 0.35, 0.8)
    if kind == "in hand":
        bow = draw.number("cable bow", 0.25, 0.5)
        cable = spline([(0, 0.05, 0), (0, -0.15, 0), (bow * 0.6, -0.3, 0), (bow, -0.12, 0), (bow * 1.5, -0.3, 0.1)], 16)
        return (head + tube(cable, 0.04, 6).paint(draw.colour("black"))).rot(z=lean * 0.6)
    clip = ball(0.12, 8).paint(draw.colour("black"))
    pole = cylinder(0.04, rise, n=8).at(y=-rise / 2).paint(metal, 0.6)
    if kind == "tripod":
        leg = rod((0, -rise * 0.75, 0), (0, -rise - 0.3, 0.5), 0.04, n=6).ring(3).paint(foot)
        base = leg + cylinder(0.09, 0.15, n=10).at(y=-rise * 0.75).paint(foot)
    elif kind == "boom":
        arm = rod((0, 0, 0), (-0.8, -0.25, 0), 0.035, n=6) + cylinder(0.09, 0.2, n=8).rot(z=70).at(-0.85, -0.27)
        pole = rod((-0.45, -0.14, 0), (-0.45, -rise - 0.8, 0), 0.045, n=8).paint(metal, 0.6)
        base = arm.paint(metal, 0.6) + cylinder(0.42, 0.08, top=0.36, n=18).at(-0.45, -rise - 0.8).paint(foot)
    else:
        dome = lathe([(0, 0), (0.42, 0), (0.42, 0.06), (0.3, 0.12), (0.06, 0.17), (0, 0.17)], 20)
        base = dome.at(y=-rise - 0.1).paint(foot, 0.3)
        base += box(0.16, 0.08, 0.12).at(y=-rise + 0.03, z=0.26).paint(draw.colour("bright"))
    return head.at(y=-0.15).rot(x=-lean * 0.5, z=lean) + clip + pole + base


@shape("microphone")
def microphone(draw: Draw) -> Part:
    """A microphone: hand-held, studio or fifties stage type, with a cable or on a desk foot, tripod or boom.

    Head, grip, basket, lean, stand height, switch, badge and cable vary.
    """
    kind = draw.pick("kind", ["hand", "studio", "retro"], [5, 3, 3])
    held = "in hand" if kind == "hand" else "desk foot"
    support = draw.pick("support", [held, "desk foot", "tripod", "boom"], [3, 2, 2, 2])
    head = {"hand": _hand_microphone, "studio": _studio_microphone, "retro": _retro_microphone}[kind](draw)
    return _microphone_stand(draw, support, head)


def _driver(draw: Draw, radius: float, name: str) -> Part:
    """A loudspeaker cone that faces +z: ring, rubber roll, hollow cone and dust cap."""
    ring = lathe([(radius * 0.78, 0.0), (radius, 0.0), (radius, 0.06), (radius * 0.86, 0.06), (radius * 0.78, 0.0)], 20)
    roll = lathe([(radius * 0.86, 0.02), (radius * 0.78, 0.07), (radius * 0.68, 0.02)], 20).paint(draw.colour("black"), 0.3)
    cone = lathe([(radius * 0.3, -0.06), (radius * 0.7, 0.03)], 20).paint(draw.colour(), 0.2)
    cap = ball(radius * draw.number(f"{name} cap", 0.25, 0.38), 10).size(1, 0.7, 1).at(y=-0.02)
    back = cylinder(radius * 0.8, 0.02, n=16).at(y=0.012).paint(draw.colour("black"))
    whole = ring.paint(draw.colour("metal"), 0.5) + roll + cone.at(y=0.07) + cap.at(y=0.05).paint(draw.colour(), 0.4)
    return (whole + back).rot(x=_DISC_TURN)


def _horn(width: float, height: float, draw: Draw) -> Part:
    """A flat tweeter horn: a frame with a dark throat and a fin."""
    frame = slab(rectangle(width, height, 0.03), 0.08, holes=[rectangle(width * 0.85, height * 0.75)]).at(z=0.03)
    throat = box(width * 0.85, height * 0.75, 0.02).at(z=0.01).paint(draw.colour("black"))
    return frame.paint(draw.colour(), 0.4) + throat + box(0.04, height * 0.7, 0.06).at(z=0.03).paint(draw.colour("metal"))


def _cabinet_speaker(draw: Draw, kind: str) -> Part:
    """A box with one to three drivers, a tweeter, a port, a badge and feet."""
    drivers = draw.whole("drivers", 1, 2) + (1 if kind == "column" else 0)
    width, depth = draw.number("width", 0.6, 0.8), draw.number("depth", 0.45, 0.75)
    radius = 0.5 * width * draw.number("driver size", 0.68, 0.86)
    tweeter, port = draw.pick("tweeter", ["dome", "horn"]), draw.chance("port")
    top = 0.42 * width
    height = top + drivers * 2.1 * radius + (0.3 * width if port else 0.1 * width)
    body = draw.colour("any")
    if kind == "stage":
        plan = np.array([(width / 2, depth / 2), (-width / 2, depth / 2), (-0.3 * width, -depth / 2), (0.3 * width, -depth / 2)])
        case = slab(plan * (1, -1), height).rot(x=-90).paint(body)
    else:
        case = box(width, height, depth, 0.06).paint(body)
    face = box(0.94 * width, 0.97 * height, 0.04).at(z=depth / 2).paint(draw.colour())
    y = height / 2 - 0.26 * width
    high = _horn(0.7 * width, 0.24 * width, draw) if tweeter == "horn" else _driver(draw, 0.17 * width, "tweeter")
    front = high.at(y=y)
    y -= 0.2 * width + radius
    for i in range(drivers):
        front += _driver(draw, radius, f"driver {i}").at(y=y)
        y -= 2.1 * radius
    if port:
        hole = cylinder(0.1 * width, 0.03, n=12) + lathe([(0.1 * width, 0), (0.13 * width, 0), (0.13 * width, 0.05), (0.1 * width, 0.05), (0.1 * width, 0)], 12)
        front += hole.rot(x=_DISC_TURN).at(-0.2 * width, -height / 2 + 0.18 * width).paint(draw.colour("black"))
    front += box(0.22 * width, 0.06, 0.03).at(0.28 * width, -height / 2 + 0.1, 0.01).paint(draw.colour("metal"), 0.6)
    sockets = box(0.3, 0.2, 0.03).at(y=-0.25 * height, z=-depth / 2).paint(draw.colour("black"))
    speaker_box = case + face + front.at(z=depth / 2 + 0.02) + sockets
    return speaker_box + _speaker_support(draw, kind, width, height, depth)


def _speaker_support(draw: Draw, kind: str, width: float, height: float, depth: float) -> Part:
    support = draw.pick("support", ["feet", "plinth", "stand"], [2, 2, 1 if kind == "column" else 2])
    bottom, colour = -height / 2, draw.colour()
    if support == "feet":
        foot = cylinder(0.05, 0.1, top=0.07, n=8).at(0.38 * width, bottom - 0.05, 0.38 * depth)
        return foot.mirror("x").mirror("z").paint(colour, 0.5)
    if support == "plinth":
        return box(1.12 * width, 0.08, 1.1 * depth).at(y=bottom - 0.03).paint(colour)
    rise = draw.number("stand height", 0.5, 0.9)
    pole = cylinder(0.06, rise, n=10).at(y=bottom - rise / 2)
    if kind == "stage":
        legs = rod((0, bottom - 0.5 * rise, 0), (0, bottom - rise - 0.05, 0.5), 0.04, n=6).ring(3)
        return (pole + legs).paint(colour, 0.4)
    return (pole + box(width, 0.06, depth).at(y=bottom - rise)).paint(colour, 0.4)


def _amplifier(draw: Draw) -> Part:
    """A guitar amplifier: cloth front, control strip with knobs on top, handle and corner caps."""
    width, height, depth = draw.number("width", 0.9, 1.3), draw.number("height", 0.8, 1.0), draw.number("depth", 0.4, 0.55)
    metal, strip = draw.colour("metal"), 0.17
    case = box(width, height, depth, 0.04).paint(draw.colour())
    cloth = box(0.88 * width, height - strip - 0.14, 0.04).at(y=-strip / 2 - 0.01, z=depth / 2).paint(draw.colour(), 0.0)
    cone = _driver(draw, 0.4 * (height - strip), "driver").at(-0.08 * width, -strip / 2, depth / 2 + 0.02)
    panel = box(0.88 * width, strip, 0.05).at(y=height / 2 - strip / 2 - 0.04, z=depth / 2).paint(metal, 0.6)
    knob = cylinder(0.05, 0.08, n=8).rot(x=_DISC_TURN).row(draw.whole("knobs", 3, 6), dx=0.13)
    knobs = knob.at(-0.08 * width, height / 2 - strip / 2 - 0.04, depth / 2 + 0.05).paint(draw.colour("black"))
    lamp = ball(0.04, 6).at(0.38 * width, height / 2 - strip / 2 - 0.04, depth / 2 + 0.04).paint(draw.colour("light"))
    handle = tube(spline([(-0.22, 0, 0), (-0.15, 0.1, 0), (0.15, 0.1, 0), (0.22, 0, 0)], 9), 0.03, 6).at(y=height / 2)
    badge = box(0.25, 0.08, 0.03).at(0.26 * width, -0.36 * height, depth / 2 + 0.02).paint(metal, 0.6)
    feet = box(0.1, 0.06, 0.1).at(0.4 * width, -height / 2 - 0.02, 0.3 * depth).mirror("x").mirror("z").paint(draw.colour("black"))
    return case + cloth + cone + panel + knobs + lamp + handle.paint(draw.colour("black")) + badge + feet


def _portable(draw: Draw) -> Part:
    """A portable speaker: a lying drum with cones at front and ends, a strap, and buttons on top."""
    length, radius = draw.number("length", 1.0, 1.5), draw.number("radius", 0.26, 0.36)
    sides = draw.pick("section", [8, 20])
    case = slab(polygon(radius, sides, 90 + 180 / sides), length).rot(y=90).paint(draw.colour())
    end = slab(polygon(radius * 1.08, sides, 90 + 180 / sides), 0.1).rot(y=90).at(length / 2).mirror().paint(draw.colour())
    cones = _driver(draw, 0.72 * radius, "driver").at(0.27 * length, 0, radius - 0.02).mirror()
    side_cones = _driver(draw, 0.8 * radius, "end driver").rot(y=90).at(length / 2 + 0.05).mirror()
    display = box(0.2 * length, 0.4 * radius, 0.06).at(y=-0.05, z=radius - 0.01).paint(draw.colour("light"), 0.5)
    button = box(0.09, 0.04, 0.1).row(4, dx=0.14).at(-0.1 * length, radius - 0.01).paint(draw.colour())
    parts = case + end + cones + side_cones + display + button
    reach = 0.4 * length
    strap = spline([(-reach, radius * 0.9, 0), (-0.8 * reach, radius + 0.25, 0), (0.8 * reach, radius + 0.25, 0), (reach, radius * 0.9, 0)], 12)
    if draw.chance("strap", 0.6):
        parts += tube(strap, 0.04, 6).paint(draw.colour("black"))
    return parts + box(0.5 * length, 0.08, 0.3 * radius).at(y=-radius).paint(draw.colour("black"))


@shape("speaker")
def speaker(draw: Draw) -> Part:
    """A loudspeaker: bookshelf, column, stage box, guitar amplifier or portable drum with strap.

    Number and size of drivers, dome or horn tweeter, port, badge, feet, plinth or stand vary.
    """
    kind = draw.pick("kind", ["bookshelf", "column", "stage", "amplifier", "portable"], [3, 3, 2, 2, 2])
    if kind == "amplifier":
        return _amplifier(draw)
    if kind == "portable":
        return _portable(draw)
    return _cabinet_speaker(draw, kind)
