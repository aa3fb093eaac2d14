"""Boats under sail, oar and engine. They head to the right (+x)."""

from __future__ import annotations

import math

import numpy as np

from lie_ssl.objects.shapes.curves import ellipse, lift
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.handles import bow_handle
from lie_ssl.objects.shapes.palettes import DARK, STEEL
from lie_ssl.objects.shapes.part import Colour, Part
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, hoop, loft, plate, rod, sheet, slab, tube


def _hull(length: float, beam: float, depth: float, sheer: float, stern: float, round_: float) -> Part:
    """A closed boat hull with its deck at y = 0, rising by `sheer` to the bow; `stern` is the width of the transom."""
    sections = []
    for t in np.linspace(0, 1, 9):
        half = beam / 2 * (stern + (1 - stern) * min(1.0, t / 0.4)) * (1 - max(0.0, (t - 0.45) / 0.55) ** 2.2) + 0.012
        top, keel = sheer * max(0.0, t - 0.3) ** 2 * 2, -depth * (1 - 0.75 * max(0.0, (t - 0.6) / 0.4) ** 2)
        low, knee = half * (0.35 + 0.3 * round_), half * (0.75 + 0.2 * round_)
        side = [(top, half), (keel * 0.45, knee), (keel * 0.85, low), (keel, 0.0)]
        ring = [*side, *[(y, -z) for y, z in side[-2::-1]]]
        rake = 0.12 * length * max(0.0, t - 0.6) * 2.5
        sections.append([((t - 0.5) * length + rake * (y - keel) / depth, y, z) for y, z in ring][::-1])
    return loft(sections, crease=50)


@shape("boat")
def boat(draw: Draw) -> Part:
    """A boat: sailing, rowing, speed, fishing boat or tug with a funnel; hull form, rig, cabin and load vary."""
    kind = draw.pick("kind", ["sail", "row", "speed", "fishing", "tug"], [3, 2, 2, 2, 2])
    length, beam = draw.number("length", 2.2, 2.8), draw.number("beam", 0.62, 0.85) * (0.85 if kind == "sail" else 1)
    depth, sheer = draw.number("depth", 0.3, 0.42), draw.number("sheer", 0.1, 0.32)
    stern, round_ = draw.number("stern", 0.55, 0.95), draw.number("bilge", 0.1, 0.9)
    paint, second = draw.colour(), draw.colour()
    hull = _hull(length, beam, depth, sheer, stern, round_)
    body = hull.paint(paint, 0.4)
    if draw.chance("bottom_paint", 0.6):
        body += hull.size(0.94, 0.62, 1.02).at(0, -depth * 0.4).paint(draw.colour(), 0.3)
    planks = draw.colour("wood") if draw.chance("wood_deck") else draw.colour()
    body += hull.size(0.96, 0.3, 0.88).at(y=0.02).paint(planks, 0.2)
    build = {"sail": _sailing, "row": _rowing, "speed": _speedboat, "fishing": _trawler, "tug": _tug}[kind]
    return body + build(draw, length, beam, second)


def _sailing(draw: Draw, length: float, beam: float, paint: Colour) -> Part:
    """One or two masts with triangular or gaff sails, a cabin, a rudder and a keel."""
    height = length * draw.number("mast", 0.85, 1.15)
    foot, rig = length * draw.number("boom", 0.32, 0.42), draw.pick("rig", ["bermuda", "gaff", "two masts"])
    x = length * 0.12
    mast = rod((x, 0, 0), (x, height, 0), 0.035, 0.022, n=6) + rod((x, 0.22, 0), (x - foot - 0.05, 0.25, 0), 0.025, n=6)

    def sail(corners: list[tuple[float, float]], bulge: float) -> Part:
        a, b, c, d = (np.array([px, py, 0.0]) for px, py in corners)
        u, v = np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 7))
        u, v = u[..., None], v[..., None]
        grid = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
        grid = grid + np.array([0, 0, bulge]) * np.sin(math.pi * u) * np.sin(math.pi * v * 0.8)
        return sheet(grid)

    cloth, belly = draw.colour("paint"), draw.number("belly", 0.05, 0.18)
    head = (x - foot * 0.5, height * 0.98) if rig == "gaff" else (x - 0.06, height * 0.98)
    top = height * (0.7 if rig == "gaff" else 0.95)
    main = sail([(x - 0.04, 0.28), (x - foot, 0.3), head, (x - 0.04, top)], belly).paint(cloth, 0.1)
    jib = sail([(length * 0.54, 0.22), (x + 0.1, 0.22), (x + 0.04, height * 0.85), (x + 0.05, height * 0.86)], belly)
    parts = main + jib.paint(draw.colour("paint") if draw.chance("other_jib") else cloth, 0.1)
    if rig == "gaff":
        mast += rod((x, top, 0), (head[0] - 0.05, head[1] + 0.04, 0), 0.022, n=5)
    if rig == "two masts":
        back = -length * 0.32
        mast += rod((back, 0, 0), (back, height * 0.62, 0), 0.028, n=6)
        corners = [(back - 0.03, 0.25), (back - 0.42, 0.27), (back - 0.05, height * 0.6), (back - 0.03, height * 0.58)]
        parts += sail(corners, belly).paint(cloth, 0.1)
    flag = slab([(0, 0), (-0.26, -0.07), (0, -0.14)], 0.02).at(x, height + 0.08).paint(draw.colour("bright"))
    cabin = box(length * 0.24, 0.14, beam * 0.5, 0.05).at(x - 0.14, 0.12).paint(paint, 0.4)
    cabin += box(length * 0.16, 0.06, beam * 0.52).at(x - 0.14, 0.13).paint(DARK, 0.6)
    return parts + mast.paint(draw.colour("wood"), 0.3) + flag + cabin


def _rowing(draw: Draw, length: float, beam: float, paint: Colour) -> Part:
    """Thwarts across a dark well, and a pair of oars; some with a small outboard motor."""
    wood, angle = draw.colour("wood"), draw.number("oar_angle", 15, 45)
    well = plate(ellipse(length * 0.72, beam * 0.74, 18), 0.06).at(-length * 0.06, 0.07).paint(DARK)
    thwarts = box(0.18, 0.06, beam * 0.92).row(draw.whole("thwarts", 2, 4), dx=length * 0.2).at(-length * 0.08, 0.12)
    reach = draw.number("oar", 0.9, 1.2)
    oar = rod((0, 0, -0.3), (0, 0, reach), 0.028, n=6) + box(0.16, 0.03, 0.4, 0.01).at(0, 0, reach + 0.12)
    oars = oar.rot(x=14).rot(y=-angle).at(-0.05, 0.22, beam * 0.48).mirror("z").paint(wood, 0.2)
    rim = tube(lift(ellipse(length * 0.76, beam * 0.78, 20)), 0.03, 5, closed=True).rot(x=90).at(-length * 0.05, 0.09)
    parts = well + oars + (thwarts + rim).paint(paint)
    if draw.chance("outboard", 0.4):
        motor = box(0.2, 0.26, 0.2, 0.06).at(y=0.24) + box(0.08, 0.6, 0.08).at(y=-0.1)
        parts += motor.at(-length * 0.52).paint(DARK, 0.5)
    return parts


def _speedboat(draw: Draw, length: float, beam: float, paint: Colour) -> Part:
    """Raked windscreen, seats, an engine at the stern and a stripe."""
    seat = (box(0.24, 0.1, 0.22) + box(0.08, 0.26, 0.22, 0.03).rot(z=10).at(-0.12, 0.12)).at(y=0.12, z=beam * 0.2)
    seats = seat.row(draw.whole("seat_rows", 1, 2), dx=0.45).at(-length * 0.1).mirror("z").paint(draw.colour(), 0.3)
    well = box(length * 0.42, 0.06, beam * 0.7).at(-length * 0.1, 0.06).paint(DARK)
    lean, x = draw.number("screen_lean", 0.1, 0.26), length * 0.12
    z, w = beam * 0.3, beam * 0.4
    base = [(x - 0.25, 0.06, w), (x, 0.06, z), (x + 0.1, 0.06, 0), (x, 0.06, -z), (x - 0.25, 0.06, -w)]
    screen = sheet([base, [(a - lean, b + 0.26, c * 0.9) for a, b, c in base]]).paint(draw.colour("glass"), 0.8)
    bow = box(length * 0.26, 0.1, beam * 0.16).at(length * 0.28, 0.06).paint(paint, 0.5)
    stern = -length * 0.5
    if draw.pick("engine", ["outboard", "hatch"]) == "outboard":
        motor = box(0.24, 0.3, 0.26, 0.08).at(y=0.22) + box(0.1, 0.7, 0.1).at(y=-0.15)
        motor += box(0.06, 0.2, 0.06).rot(x=40).at(-0.08, -0.46)
        motor = motor.at(stern - 0.06).paint(DARK, 0.6)
    else:
        motor = box(0.4, 0.2, beam * 0.6, 0.05).at(stern + 0.34, 0.12).paint(paint, 0.5)
    parts = well + seats + screen + bow + motor
    if draw.chance("arch"):
        arch = bow_handle([(0, 0, w), (-0.1, 0.42, z)], 0.03, 10, axis=2)
        parts += arch.at(stern + 0.55, 0.05).paint(STEEL, 0.6)
    return parts


def _wheelhouse(draw: Draw, length: float, width: float, height: float, paint: Colour) -> Part:
    """A cabin with windows all round and an overhanging roof, standing on y = 0."""
    walls = box(length, height, width).at(y=height / 2).paint(paint, 0.4)
    panes = box(length * 0.34, height * 0.36, width + 0.03).row(2, dx=length * 0.46).at(y=height * 0.66)
    panes += box(length + 0.03, height * 0.36, width * 0.36).row(2, dz=width * 0.46).at(y=height * 0.66)
    roof = box(length * 1.18, 0.05, width * 1.15).at(y=height).paint(draw.colour())
    return walls + panes.paint(draw.colour("glass"), 0.7) + roof


def _trawler(draw: Draw, length: float, beam: float, paint: Colour) -> Part:
    """Wheelhouse fore or aft, a mast with a boom, crates or a net drum on deck, a lifebuoy."""
    aft, height = -1 if draw.chance("house_aft", 0.4) else 1, draw.number("house", 0.45, 0.65)
    house = _wheelhouse(draw, length * 0.22, beam * 0.6, height, paint).at(aft * length * 0.14, 0.03)
    place, high = -aft * length * 0.1, draw.number("mast", 0.9, 1.3)
    mast = rod((place, 0, 0), (place, high, 0), 0.035, 0.02, n=6)
    mast += rod((place, 0.3, 0), (place - aft * 0.6, high * 0.85, 0), 0.025, n=5)
    mast += rod((place - aft * 0.6, high * 0.85, 0), (place - aft * 0.6, 0.35, 0), 0.012, n=4)
    if draw.chance("net_drum"):
        load = cylinder(0.15, beam * 0.5, n=12).paint(draw.colour())
        load += cylinder(0.2, 0.04, n=12).at(y=beam * 0.26).mirror("y").paint(STEEL, 0.5)
        load = load.rot(x=90).at(-aft * length * 0.3, 0.2)
    else:
        load = box(0.2, 0.18, 0.2).row(2, dz=0.24).row(2, dx=0.24).at(-aft * length * 0.3, 0.12).paint(draw.colour())
    ring = hoop(0.11, 0.035, 5, 12).at(aft * length * 0.14, height * 0.28, beam * 0.32)
    return house + mast.paint(draw.colour("metal"), 0.4) + load + ring.paint((0.85, 0.3, 0.15))


def _tug(draw: Draw, length: float, beam: float, paint: Colour) -> Part:
    """A two-storey house with a funnel, tyres along the sides as fenders."""
    house = box(length * 0.42, 0.3, beam * 0.62, 0.06).at(0, 0.18).paint(paint, 0.4)
    holes = disc(0.06, beam * 0.66, 8).row(3, dx=length * 0.12).at(0, 0.2).paint(DARK, 0.6)
    bridge = _wheelhouse(draw, length * 0.2, beam * 0.5, draw.number("bridge", 0.32, 0.44), paint).at(
        length * 0.08, 0.32
    )
    height, lean = draw.number("funnel", 0.5, 0.8), draw.number("funnel_lean", 0, 12)
    funnel = cylinder(0.12, height, n=14).paint(draw.colour("bright"), 0.4)
    funnel += cylinder(0.128, height * 0.22, n=14).at(y=height * 0.4).paint(DARK)
    funnel += cylinder(0.126, height * 0.14, n=14).at(y=height * 0.12).paint(draw.colour("white"))
    funnels = funnel.rot(z=lean).row(draw.whole("funnels", 1, 2), dx=0.3).at(-length * 0.12, 0.3 + height / 2)
    tyre = hoop(0.085, 0.035, 5, 10).row(draw.whole("fenders", 3, 5), dx=0.26)
    return house + holes + bridge + funnels + tyre.at(-0.25, -0.04, beam * 0.47).mirror("z").paint(DARK)
