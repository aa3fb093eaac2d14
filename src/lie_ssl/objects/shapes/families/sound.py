"""Audio: microphone, speaker, earphone."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import Array, arc, ellipse, lift, mirrored_spline, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.handles import bow_handle
from lie_ssl.objects.shapes.palettes import CHROME, DARK
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, loft, plate, rod, slab, tube


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
    stretch = radius * draw.number("head stretch", 1.5, 2.1)
    head = _grille(radius, stretch).at(y=grip - 0.02).paint(draw.colour("metal"), 0.5)
    if draw.chance("foam", 0.3):
        head = ball(radius * 1.15, 16).size(1, 1.15, 1).at(y=grip + radius).paint(draw.colour(), 0.0)
    band = cylinder(radius * 1.06, 0.08, n=16).at(y=grip + 0.65 * radius)
    switch = box(0.1, 0.3, 0.1, 0.04).at(y=grip * 0.62, z=0.13).paint(draw.colour("bright"))
    knob = box(0.08, 0.1, 0.08).at(y=grip * 0.62 + 0.06, z=0.18).paint(draw.colour("white"))
    return stem.paint(draw.colour(), 0.3) + head + band.paint(draw.colour(), 0.4) + switch + knob


def _studio_microphone(draw: Draw) -> Part:
    """A thick side-address microphone with a square or round basket, badge and dial, its foot at y = 0."""
    radius, height = draw.number("barrel", 0.2, 0.3), draw.number("body height", 0.5, 0.75)
    basket = draw.number("basket", 0.35, 0.55)
    barrel = lathe([(0, -0.1), (radius * 0.6, -0.1), (radius, 0.05), (radius, height), (0, height)], 18)
    if draw.pick("basket form", ["round", "wedge"]) == "round":
        cage = _grille(radius * 1.02, basket).at(y=height)
    else:
        cage = slab(rectangle(1.9 * radius, basket, 0.12, 3), radius * 1.1)
        cage += box(1.95 * radius, 0.03, radius * 1.2).row(3, dy=basket / 4) + box(0.05, basket * 0.9, radius * 1.2)
        cage = cage.at(y=height + basket / 2)
    badge = disc(0.09, 0.05, 10).at(y=height * 0.75, z=radius).paint(draw.colour("bright"), 0.5)
    dial = box(0.16, 0.07, 0.05).at(y=height * 0.4, z=radius).paint(draw.colour("white"))
    return barrel.paint(draw.colour(), 0.4) + cage.paint(draw.colour("metal"), 0.5) + badge + dial


def _retro_microphone(draw: Draw) -> Part:
    """A stage microphone of the fifties: a flattened head with upright ribs, its foot at y = 0."""
    width, height = draw.number("retro width", 0.5, 0.62), draw.number("retro height", 0.8, 1.0)
    depth, metal = draw.number("retro depth", 0.36, 0.5), draw.colour("metal")
    right = [(0.0, 0.0), (0.3, 0.03), (0.46, 0.35), (0.5, 0.7), (0.3, 0.97), (0.0, 1.0)]
    outline, middle = mirrored_spline(right, 28) * (width, height), np.array([0, height / 2])
    swell = [(0.5, -0.5), (0.8, -0.4), (0.97, -0.18), (0.97, 0.18), (0.8, 0.4), (0.5, 0.5)]
    core = loft([lift((outline - middle) * s + middle, z * depth) for s, z in swell]).paint(draw.colour(), 0.1)
    rib = slab(rectangle(depth * 1.16, 0.84 * height, 0.16, 3), 0.06).rot(y=90).at(y=0.5 * height)
    ribs = rib + rib.size(1, 0.86, 0.97).at(0.24 * width, 0.07 * height).mirror()
    ribs += slab(outline * (1.04, 1.02), 0.14) + cylinder(0.12, 0.14, n=10).at(y=-0.04)
    band = plate(ellipse(1.1 * width, 1.22 * depth, 20), 0.09).at(y=0.42 * height).paint(draw.colour(), 0.5)
    badge = box(0.16, 0.14, 0.06, 0.03).at(y=0.42 * height, z=0.61 * depth).paint(draw.colour("bright"))
    return core + ribs.paint(metal, 0.6) + band + badge


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
    ring = lathe(np.array([(0.78, 0.0), (1, 0.0), (1, 0.06), (0.86, 0.06), (0.78, 0.0)]) * (radius, 1), 20)
    roll = lathe(np.array([(0.86, 0.02), (0.78, 0.07), (0.68, 0.02)]) * (radius, 1), 20)
    roll += cylinder(radius * 0.8, 0.02, n=16).at(y=0.012)
    cone = lathe([(radius * 0.3, 0.01), (radius * 0.7, 0.1)], 20).paint(draw.colour(), 0.2)
    cap = ball(radius * draw.number(f"{name} cap", 0.25, 0.38), 10).size(1, 0.7, 1).at(y=0.03).paint(draw.colour(), 0.4)
    whole = ring.paint(draw.colour("metal"), 0.5) + roll.paint(draw.colour("black"), 0.3) + cone + cap
    return whole.rot(x=90)


def _horn(draw: Draw, width: float, height: float) -> Part:
    """A flat tweeter horn: a frame with a dark throat and a fin."""
    frame = slab(rectangle(width, height, 0.03), 0.08, holes=[rectangle(width * 0.85, height * 0.75)]).at(z=0.03)
    throat = box(width * 0.85, height * 0.75, 0.02).at(z=0.01).paint(draw.colour("black"))
    fin = box(0.04, height * 0.7, 0.06).at(z=0.03).paint(draw.colour("metal"))
    return frame.paint(draw.colour(), 0.4) + throat + fin


def _cabinet_speaker(draw: Draw, kind: str) -> Part:
    """A box with one to three drivers, a tweeter, a port, a badge and feet."""
    drivers = draw.whole("drivers", 1, 2) + (1 if kind == "column" else 0)
    width, depth = draw.number("width", 0.6, 0.8), draw.number("depth", 0.45, 0.75)
    radius = 0.5 * width * draw.number("driver size", 0.68, 0.86)
    tweeter, port = draw.pick("tweeter", ["dome", "horn"]), draw.chance("port")
    height = (0.72 if port else 0.52) * width + drivers * 2.1 * radius
    case = box(width, height, depth, 0.06)
    if kind == "stage":
        plan = np.array([(0.5, -0.5), (-0.5, -0.5), (-0.3, 0.5), (0.3, 0.5)]) * (width, depth)
        case = slab(plan, height).rot(x=-90)
    y = height / 2 - 0.46 * width - radius
    high = _horn(draw, 0.7 * width, 0.24 * width) if tweeter == "horn" else _driver(draw, 0.17 * width, "tweeter")
    front = high.at(y=height / 2 - 0.26 * width)
    front += joined(_driver(draw, radius, f"driver {i}").at(y=y - 2.1 * radius * i) for i in range(drivers))
    if port:
        hole = cylinder(0.1 * width, 0.03, n=12) + cylinder(0.13 * width, 0.02, n=12)
        front += hole.rot(x=90).at(-0.2 * width, 0.18 * width - height / 2, 0.01).paint(draw.colour("black"))
    badge = box(draw.number("badge", 0.14, 0.26) * width, 0.06, 0.03).at(0.28 * width, 0.1 - height / 2, 0.01)
    front += badge.paint(draw.colour("metal"), 0.6)
    face = box(0.94 * width, 0.97 * height, 0.04).at(z=depth / 2).paint(draw.colour())
    sockets = box(0.3, 0.2, 0.03).at(y=-0.25 * height, z=-depth / 2).paint(draw.colour("black"))
    whole = case.paint(draw.colour()) + face + front.at(z=depth / 2 + 0.02) + sockets
    return whole + _speaker_support(draw, kind, width, height, depth)


def _speaker_support(draw: Draw, kind: str, width: float, height: float, depth: float) -> Part:
    support = draw.pick("support", ["feet", "plinth", "stand"], [2, 2, 1 if kind == "column" else 2])
    bottom, colour = -height / 2, draw.colour()
    if support == "feet":
        foot = cylinder(0.05, 0.1, top=0.07, n=8).at(
            (0.26 if kind == "stage" else 0.38) * width, bottom - 0.05, 0.38 * depth
        )
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
    """A guitar amplifier: cloth front, control strip with knobs on top, handle, badge and feet."""
    width, height = draw.number("width", 0.9, 1.3), draw.number("height", 0.8, 1.0)
    depth, metal, strip = draw.number("depth", 0.4, 0.55), draw.colour("metal"), draw.number("strip", 0.14, 0.2)
    knobs = draw.whole("knobs", 3, 6)
    cloth = box(0.88 * width, height - strip - 0.14, 0.04).at(y=-strip / 2 - 0.01).paint(draw.colour(), 0.0)
    cone = _driver(draw, 0.4 * (height - strip), "driver").at(-0.08 * width, -strip / 2, 0.02)
    panel = box(0.88 * width, strip, 0.05).paint(metal, 0.6)
    knob = disc(0.05, 0.08, 8).row(knobs, dx=0.62 * width / knobs)
    panel += knob.at(-0.08 * width, z=0.05).paint(draw.colour("black"))
    panel += ball(0.04, 6).at(0.38 * width, z=0.04).paint(draw.colour("light"))
    badge = box(0.25, 0.08, 0.03).at(0.26 * width, -0.36 * height, 0.02).paint(metal, 0.6)
    front = cloth + cone + panel.at(y=height / 2 - strip / 2 - 0.04) + badge
    handle = bow_handle([(-0.22, 0, 0), (-0.15, 0.1, 0)], 0.03).at(y=height / 2)
    feet = box(0.1, 0.06, 0.1).at(0.4 * width, -height / 2 - 0.02, 0.3 * depth).mirror("x").mirror("z")
    case = box(width, height, depth, 0.04).paint(draw.colour())
    return case + front.at(z=depth / 2) + (handle + feet).paint(draw.colour("black"))


def _portable(draw: Draw) -> Part:
    """A portable speaker: a lying drum with cones at front and ends, a strap, and buttons on top."""
    length, radius = draw.number("length", 1.0, 1.5), draw.number("radius", 0.26, 0.36)
    sides, reach = draw.pick("section", [8, 20]), 0.4 * length
    section = polygon(radius, sides, 90 + 180 / sides)
    whole = slab(section, length).rot(y=90).paint(draw.colour())
    whole += slab(section * 1.08, 0.1).rot(y=90).at(length / 2).mirror().paint(draw.colour())
    whole += _driver(draw, 0.72 * radius, "driver").at(0.27 * length, 0, radius - 0.02).mirror()
    whole += _driver(draw, 0.8 * radius, "end driver").rot(y=90).at(length / 2 + 0.05).mirror()
    panel = box(draw.number("panel", 0.12, 0.2) * length, 0.4 * radius, 0.06).at(y=-0.05, z=radius - 0.01)
    whole += panel.paint(draw.colour("light"), 0.5)
    whole += box(0.09, 0.04, 0.1).row(4, dx=0.14).at(-0.1 * length, radius - 0.01).paint(draw.colour())
    dark = box(0.5 * length, 0.08, 0.3 * radius).at(y=-radius)
    if draw.chance("strap", 0.6):
        bow = [(-1, -0.1, 0), (-0.8, 0.25, 0), (0.8, 0.25, 0), (1, -0.1, 0)]
        dark += tube(spline(bow, 12) * (reach, 1, 1), 0.04, 6).at(y=radius)
    return whole + dark.paint(draw.colour("black"))


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


@shape("earphone")
def earphone(draw: Draw) -> Part:
    """A headset: round, oval or square cups on a plain, padded or double band, with a microphone or a cable."""
    kind = draw.pick("kind", ["over-ear", "headset", "on-ear"], [4, 4, 2])
    paint, second = draw.colour(), draw.colour()
    width, height = draw.number("width", 0.62, 0.78), draw.number("height", 0.8, 1.05)
    cup = _cup(draw, draw.number("cup", 0.3, 0.4) * (0.78 if kind == "on-ear" else 1), paint, second)
    cups = cup.rot(z=draw.number("splay", 2, 10)).at(width, 0, 0).mirror("x")
    body = cups + _band(draw, width, height, paint, second)
    if kind == "headset":
        reach = draw.number("boom", 0.55, 0.8)
        mouth = (-width * 0.35, -0.44, reach + 0.1)
        path = [(-width - 0.1, -0.05, 0.1), (-width - 0.02, -0.3, 0.4), (-width * 0.7, -0.42, reach), mouth]
        body += tube(spline(path, 10), 0.028, 6).paint(DARK, 0.3)
        body += ball(0.085, 8).size(1.3, 1, 1).at(*mouth).paint(draw.colour("black"), 0.05)
    if draw.chance("cable", 0.45):
        path = [(width + 0.06, -0.3, 0), (width + 0.1, -0.6, 0.1), (width * 0.5, -0.75, 0.25), (0.1, -0.65, 0.1)]
        path.append((-draw.number("cable_end", 0.1, 0.4), -0.8, 0.3))
        body += tube(spline(path, 18), 0.022, 5).paint(draw.colour(), 0.2)
        body += rod((0, 0, 0), (-0.16, -0.02, 0.03), 0.035, n=6).at(*path[-1]).paint(CHROME, 0.7)
    return body


def _cup(draw: Draw, radius: float, paint: Colour, second: Colour) -> Part:
    """The right ear cup: shell outside (+x), cushion inside, a plate with a mark."""
    form = draw.pick("cup_form", ["round", "oval", "square"])
    outline = {
        "round": ellipse(2 * radius, 2 * radius, 18), "oval": ellipse(1.6 * radius, 2.2 * radius, 18),
        "square": rectangle(1.6 * radius, 2 * radius, radius * 0.5),
    }[form]  # fmt: skip
    fat = draw.number("cup_depth", 0.14, 0.22)
    steps = ((0.98, 0.0), (1.0, fat * 0.5), (0.85, fat), (0.45, fat * 1.12))
    shell = loft([lift(outline * k, z) for k, z in steps], crease=50)
    pad = tube(lift(outline * 0.76), radius * 0.24, 6, closed=True).at(z=-0.07)
    badge = slab(outline * 0.42, 0.06).at(z=fat * 1.12)
    mark = box(radius * 0.5, radius * 0.14, 0.1).rot(z=30).at(z=fat * 1.12)
    knob = disc(0.04, 0.1, 6).at(0, -radius * 0.7, fat * 0.8)
    cloth = slab(outline * 0.72, 0.03).at(z=-0.03).paint(DARK)
    parts = shell.paint(paint, 0.5) + pad.paint(draw.colour("dark"), 0.15) + badge.paint(second, 0.5)
    parts += mark.paint(draw.colour("white"))
    return (parts + knob.paint(CHROME, 0.6) + cloth).rot(y=90)


def _band(draw: Draw, width: float, height: float, paint: Colour, second: Colour) -> Part:
    """The head band, its padding and the sliders down to the cups."""
    style, broad = draw.pick("band", ["plain", "padded", "double"]), draw.number("band_width", 0.09, 0.17)
    angles, x = np.radians(np.linspace(8, 172, 17)), width + 0.07
    across = np.sign(np.cos(angles)) * np.abs(np.cos(angles)) ** 0.9
    bow = np.stack([across * (width + 0.08), np.sin(angles) * height, 0 * angles], axis=1)

    def strip(path: Array, half: float, thick: float) -> Part:
        outward = path / np.linalg.norm(path, axis=1, keepdims=True) * thick
        edge = np.array([0, 0, half])
        corners = np.stack([path + outward + edge, path - outward + edge, path - outward - edge, path + outward - edge])
        return loft(list(corners.transpose(1, 0, 2)))

    slider = rod((x, 0.02, 0), (x, height * 0.45, 0), 0.05, n=6).paint(CHROME, 0.7)
    slider += tube(lift(arc(0.22, 20, 160, 7))[:, [2, 1, 0]], 0.03, 5).at(x, 0.02).paint(second, 0.4)
    if style == "double":
        wires = tube(bow + np.array([0, 0, broad * 0.6]), 0.026, 5).mirror("z").paint(draw.colour("metal"), 0.7)
        sling = strip(bow[3:-3] * np.array([0.94, 0.9, 1]), broad, 0.02)
        return wires + sling.paint(paint, 0.2) + slider.mirror("x")
    parts = strip(bow, broad, 0.028).paint(paint, 0.4) + slider.mirror("x")
    if style == "padded":
        parts += strip(bow[4:-4] * 0.96, broad * 0.9, 0.05).paint(second, 0.1)
    return parts
