"""Craft of the air, the water and space. Airplanes and boats head to the right (+x); rockets stand upright."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.shapes.curves import ellipse, lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, sheet, slab, tube

DARK: Colour = (0.1, 0.1, 0.12)
STEEL: Colour = (0.75, 0.77, 0.8)


def _rib(x: float, y: float, z: float, chord: float, thick: float) -> NDArray[np.float64]:
    """(8, 3) wing section at depth `z`, its leading edge at `x`."""
    along = np.array([0, -0.08, -0.35, -0.7, -1, -0.7, -0.35, -0.08])
    height = np.array([0, 0.45, 0.6, 0.35, 0, -0.25, -0.4, -0.4])
    return np.column_stack([x + along * chord, y + height * thick * chord, np.full(8, z)])


def _wing(root: float, tip: float, span: float, sweep: float, rise: float, thick: float = 0.13) -> Part:
    """One wing towards +z: chords at root and tip, and how far the tip lies back and up."""
    return loft([_rib(0, 0, 0, root, thick), _rib(-sweep, rise, span, tip, thick)], crease=60)


def _fuselage(long: float, radius: float, nose: float, tail: float, rise: float) -> Part:
    """A round body; `nose` and `tail` are the lengths of its tapered ends, `rise` lifts the end of the tail."""
    x0, x1 = -long / 2, long / 2
    steps = [(x0, 0.12, rise), (x0 + tail * 0.5, 0.62, rise * 0.5), (x0 + tail, 1.0, 0.0), (x1 - nose, 1.0, 0.0)]
    steps += [(x1 - nose * 0.5, 0.86, -0.02), (x1 - nose * 0.15, 0.5, -0.05), (x1, 0.1, -0.06)]
    sections = []
    for x, r, y in steps:
        ring = ellipse(2 * r * radius, 2 * r * radius, 16)
        sections.append(np.column_stack([np.full(16, x), ring[:, 0] + y * radius, ring[:, 1]]))
    return loft(sections, crease=60)


def _propeller(draw: Draw, radius: float, paint: Colour) -> Part:
    """Blades in the y-z plane with a spinner towards +x."""
    blade = box(0.025, radius, 0.1, 0.01).rot(y=25).at(y=radius / 2).ring(draw.whole("blades", 2, 4), "x")
    spinner = lathe([(0, -0.06), (0.08, -0.06), (0.06, 0.06), (0, 0.14)], 10).rot(z=-90)
    return blade.rot(x=20).paint(DARK, 0.4) + spinner.paint(paint, 0.5)


@shape("airplane")
def airplane(draw: Draw) -> Part:
    """An airplane: airliner, light plane, biplane, fighter or twin-propeller; tail, sweep and engines vary."""
    kind = draw.pick("kind", ["airliner", "light", "biplane", "fighter", "twin"], [3, 2, 2, 2, 1.5])
    long = draw.number("length", 2.0, 2.5) * (1.1 if kind == "airliner" else 0.9)
    radius = draw.number("girth", 0.13, 0.18) * {"fighter": 0.85, "light": 1.1, "biplane": 1.15}.get(kind, 1.0)
    paint, second, blunt = draw.colour(), draw.colour(), kind in ("light", "biplane")
    nose = long * (draw.number("nose", 0.06, 0.12) + (0 if blunt else 0.23 if kind == "fighter" else 0.08))
    body = _fuselage(long, radius, nose, long * draw.number("tail", 0.3, 0.45), 0.35).paint(paint, 0.5)
    body += _tail(draw, kind, long, radius, second) + _main_wings(draw, kind, long, radius, second)
    body += _plane_engines(draw, kind, long, radius, second)
    body += _plane_windows(draw, kind, long, radius, nose, draw.colour("glass"))
    if blunt or draw.chance("wheels_out", 0.4):
        body += _undercarriage(draw, blunt, long, radius)
    if draw.chance("stripe", 0.6):
        stripe = box(long * 0.55, radius * 0.28, radius * 2.06).at(long * 0.02, -radius * 0.1)
        body += stripe.paint(draw.colour("paint"), 0.4)
    return body


def _main_wings(draw: Draw, kind: str, long: float, radius: float, paint: Colour) -> Part:
    """The wings, low or high, straight or swept; two pairs with struts for a biplane."""
    span = draw.number("span", 0.95, 1.25) * {"fighter": 0.65, "biplane": 0.9}.get(kind, 1.0)
    chord = draw.number("chord", 0.36, 0.5) * {"fighter": 1.9, "airliner": 1.15}.get(kind, 0.85)
    sweep = draw.number("sweep", 0.0, 1.0)
    sweep = {"airliner": 0.35 + 0.25 * sweep, "fighter": chord * 0.8}.get(kind, 0.08 * sweep)
    tip = chord * (0.2 if kind == "fighter" else draw.number("taper", 0.35, 0.6) if kind == "airliner" else 0.75)
    front = long * (0.1 if kind in ("airliner", "fighter") else 0.2)
    if kind == "biplane":
        gap, z = radius * draw.number("wing_gap", 2.4, 3.2), span * 0.75
        pair = _wing(chord, tip, span, sweep, 0.03, 0.1)
        wings = pair.at(front, -radius * 0.7) + pair.at(front + 0.06, gap - radius * 0.7)
        low, high = -radius * 0.7, gap - radius * 0.65
        struts = joined(rod((front - d, low, z), (front - d + 0.05, high, z), 0.018, n=5) for d in (0.08, chord * 0.6))
        struts += rod((front - 0.15, radius * 0.6, 0.08), (front - 0.1, high, 0.14), 0.018, n=5)
        return wings.mirror("z").paint(paint, 0.4) + struts.mirror("z").paint(DARK)
    raised = draw.chance("high_wing", 0.6 if kind in ("light", "twin") else 0.0)
    wing = _wing(chord, tip, span, sweep, draw.number("dihedral", 0.02, 0.16), 0.1 if kind != "fighter" else 0.06)
    wing = wing.at(front, radius * 0.85 if raised else -radius * 0.45)
    parts = wing.mirror("z").paint(paint, 0.4)
    if raised:
        brace = rod((front - 0.15, -radius * 0.6, radius * 0.7), (front - 0.15, radius * 0.9, span * 0.5), 0.02, n=5)
        parts += brace.mirror("z").paint(STEEL, 0.5)
    return parts


def _tail(draw: Draw, kind: str, long: float, radius: float, paint: Colour) -> Part:
    """Fin and tailplane: low, T-shaped, or two fins."""
    form = draw.pick("tail_form", ["low", "t-tail", "twin fins"])
    high, chord = draw.number("fin", 0.32, 0.46), draw.number("fin_chord", 0.28, 0.38)
    back = -long / 2 + chord + 0.02
    fin = _wing(chord, chord * 0.55, high, 0.22, 0.0, 0.09).rot(x=-90)
    plane = _wing(chord * 0.8, chord * 0.5, draw.number("tailplane", 0.34, 0.46), 0.14, 0.02, 0.09).mirror("z")
    if form == "t-tail" and kind != "fighter":
        return (fin.at(back, radius * 0.2) + plane.at(back - 0.2, radius * 0.2 + high * 0.97)).paint(paint, 0.4)
    if form == "twin fins":
        apart = radius * 1.1 if kind == "fighter" else 0.36
        fins = fin.size(1, 0.8, 1).rot(x=12).at(back, radius * 0.2, apart).mirror("z")
        return (fins + plane.at(back, radius * 0.25)).paint(paint, 0.4)
    return (fin.at(back, radius * 0.2) + plane.at(back - 0.02, radius * 0.3)).paint(paint, 0.4)


def _plane_engines(draw: Draw, kind: str, long: float, radius: float, paint: Colour) -> Part:
    """Jet pods under the wings or at the tail, propellers on the nose or the wings, or a jet nozzle."""
    prop = draw.number("propeller", 0.26, 0.36)
    if kind in ("light", "biplane"):
        ring = cylinder(radius * 0.9, 0.1, n=14).rot(z=90).at(long / 2 - 0.03, -radius * 0.05)
        return ring.paint(paint, 0.5) + _propeller(draw, prop, paint).at(long / 2 + 0.08, -radius * 0.05)
    if kind == "fighter":
        nozzle = lathe([(0, 0.02), (0.7, 0), (0.85, 0.3), (0, 0.3)], 12).size(radius).rot(z=-90)
        nozzle = nozzle.at(-long / 2 - 0.06, radius * 0.2)
        scoop = box(long * 0.3, radius * 0.9, radius * 0.6).at(0, -radius * 0.15, radius * 0.85).mirror("z")
        missile = lathe([(0, -0.25), (0.03, -0.25), (0.03, 0.18), (0, 0.28)], 7).rot(z=-90)
        missile = missile.at(-long * 0.1, -radius * 0.8, 0.42)
        return nozzle.paint(DARK, 0.5) + scoop.paint(paint, 0.4) + missile.mirror("z").paint(STEEL, 0.5)
    size = draw.number("engine", 0.08, 0.11)
    steps = [(0, 0.15), (0.5, 0.0), (0.9, 0.9), (1, 1.8), (0.95, 3.2), (0.8, 3.3), (0.78, 2.9), (0, 2.9)]
    pod = lathe(steps, 12).size(size).rot(z=-90)
    if kind == "twin":
        nacelle = ball(1, 10).size(size * 3.2, size, size).at(long * 0.16, 0.0, 0.38).paint(paint, 0.4)
        return (nacelle + _propeller(draw, prop * 0.8, paint).at(long * 0.16 + size * 3.3, 0, 0.38)).mirror("z")
    if draw.chance("tail_engines", 0.35):
        return pod.at(-long * 0.34, radius * 0.55, radius * 0.9 + size).mirror("z").paint(paint, 0.5)
    places = [0.42] + ([0.72] if draw.chance("four_engines", 0.4) else [])
    pods = joined(pod.at(long * 0.06 - 0.35 * z, -radius * 0.85, z) for z in places)
    return pods.mirror("z").paint(draw.colour(), 0.5)


def _plane_windows(draw: Draw, kind: str, long: float, radius: float, nose: float, glass: Colour) -> Part:
    """Cockpit glass, and a row of cabin windows on airliners."""
    if kind == "fighter":
        return ball(1, 12).size(0.3, radius * 0.75, radius * 0.6).at(long * 0.2, radius * 0.75).paint(glass, 0.9)
    if kind == "biplane":
        well = cylinder(radius * 0.6, 0.05, n=10).at(-long * 0.02, radius * 0.98).paint(DARK)
        head = ball(radius * 0.4, 8).at(-long * 0.03, radius * 1.35).paint(draw.colour("wood"))
        screen = box(0.03, radius * 0.6, radius * 0.9).rot(z=20).at(long * 0.06, radius * 1.2)
        return well + head + screen.paint(glass, 0.8)
    if kind == "light":
        hood = slab([(-0.34, 0), (0.3, 0), (0.12, 0.16), (-0.12, 0.16)], radius * 1.5).at(long * 0.16, radius * 0.7)
        return hood.paint(glass, 0.8)
    edge = long / 2 - nose * 0.64
    screen = box(0.1, radius * 0.4, radius * 1.5, 0.02).rot(z=-25).at(edge, radius * 0.62)
    n = draw.whole("windows", 6, 10)
    step = long * 0.5 / n
    row = box(step * 0.5, radius * 0.34, radius * 1.94).row(n, dx=step).at(long * 0.03, radius * 0.36)
    return (screen + row).paint(glass, 0.7)


def _undercarriage(draw: Draw, tail_dragger: bool, long: float, radius: float) -> Part:
    """Two wheels below the wings and a third at the tail or the nose."""
    wheel = cylinder(0.085, 0.06, n=10).rot(x=90).paint(DARK)
    leg, spread = draw.number("leg", 0.14, 0.22), radius * 1.3
    main = rod((0, -radius * 0.6, radius * 0.4), (0, -radius * 0.6 - leg, spread), 0.022, n=5).paint(STEEL, 0.5)
    main += wheel.at(0, -radius * 0.6 - leg, spread)
    third = -long * 0.42 if tail_dragger else long * 0.36
    drop = -radius * 0.25 if tail_dragger else -radius * 0.6 - leg
    post = rod((third, 0, 0), (third, drop, 0), 0.02, n=5).paint(STEEL, 0.5)
    main = main.mirror("z").at(x=long * (0.2 if tail_dragger else -0.05))
    return main + post + wheel.size(0.7 if tail_dragger else 1).at(third, drop)


def _hull(long: float, beam: float, deep: float, sheer: float, stern: float, round_: float) -> Part:
    """A closed boat hull with its deck at y = 0, rising by `sheer` to the bow; `stern` is the width of the transom."""
    sections = []
    for t in np.linspace(0, 1, 9):
        half = beam / 2 * (stern + (1 - stern) * min(1.0, t / 0.4)) * (1 - max(0.0, (t - 0.45) / 0.55) ** 2.2) + 0.012
        top, keel = sheer * max(0.0, t - 0.3) ** 2 * 2, -deep * (1 - 0.75 * max(0.0, (t - 0.6) / 0.4) ** 2)
        low, knee = half * (0.35 + 0.3 * round_), half * (0.75 + 0.2 * round_)
        side = [(top, half), (keel * 0.45, knee), (keel * 0.85, low), (keel, 0.0)]
        ring = [*side, *[(y, -z) for y, z in side[-2::-1]]]
        rake = 0.12 * long * max(0.0, t - 0.6) * 2.5
        sections.append([((t - 0.5) * long + rake * (y - keel) / deep, y, z) for y, z in ring][::-1])
    return loft(sections, crease=50)


@shape("boat")
def boat(draw: Draw) -> Part:
    """A boat: sailing, rowing, speed, fishing boat or tug with a funnel; hull form, rig, cabin and load vary."""
    kind = draw.pick("kind", ["sail", "row", "speed", "fishing", "tug"], [3, 2, 2, 2, 2])
    long, beam = draw.number("length", 2.2, 2.8), draw.number("beam", 0.62, 0.85) * (0.85 if kind == "sail" else 1)
    deep, sheer = draw.number("depth", 0.3, 0.42), draw.number("sheer", 0.1, 0.32)
    stern, round_ = draw.number("stern", 0.55, 0.95), draw.number("bilge", 0.1, 0.9)
    paint, second = draw.colour(), draw.colour()
    hull = _hull(long, beam, deep, sheer, stern, round_)
    body = hull.paint(paint, 0.4)
    if draw.chance("bottom_paint", 0.6):
        body += hull.size(0.94, 0.62, 1.02).at(0, -deep * 0.4).paint(draw.colour(), 0.3)
    planks = draw.colour("wood") if draw.chance("wood_deck") else draw.colour()
    body += hull.size(0.96, 0.3, 0.88).at(y=0.02).paint(planks, 0.2)
    build = {"sail": _sailing, "row": _rowing, "speed": _speedboat, "fishing": _trawler, "tug": _tug}[kind]
    return body + build(draw, long, beam, second)


def _sailing(draw: Draw, long: float, beam: float, paint: Colour) -> Part:
    """One or two masts with triangular or gaff sails, a cabin, a rudder and a keel."""
    tall = long * draw.number("mast", 0.85, 1.15)
    foot, rig = long * draw.number("boom", 0.32, 0.42), draw.pick("rig", ["bermuda", "gaff", "two masts"])
    x = long * 0.12
    mast = rod((x, 0, 0), (x, tall, 0), 0.035, 0.022, n=6) + rod((x, 0.22, 0), (x - foot - 0.05, 0.25, 0), 0.025, n=6)

    def sail(corners: list[tuple[float, float]], bulge: float) -> Part:
        a, b, c, d = (np.array([px, py, 0.0]) for px, py in corners)
        u, v = np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 7))
        u, v = u[..., None], v[..., None]
        grid = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * d + u * c)
        grid = grid + np.array([0, 0, bulge]) * np.sin(math.pi * u) * np.sin(math.pi * v * 0.8)
        return sheet(grid)

    cloth, belly = draw.colour("paint"), draw.number("belly", 0.05, 0.18)
    head = (x - foot * 0.5, tall * 0.98) if rig == "gaff" else (x - 0.06, tall * 0.98)
    top = tall * (0.7 if rig == "gaff" else 0.95)
    main = sail([(x - 0.04, 0.28), (x - foot, 0.3), head, (x - 0.04, top)], belly).paint(cloth, 0.1)
    jib = sail([(long * 0.54, 0.22), (x + 0.1, 0.22), (x + 0.04, tall * 0.85), (x + 0.05, tall * 0.86)], belly)
    parts = main + jib.paint(draw.colour("paint") if draw.chance("other_jib") else cloth, 0.1)
    if rig == "gaff":
        mast += rod((x, top, 0), (head[0] - 0.05, head[1] + 0.04, 0), 0.022, n=5)
    if rig == "two masts":
        back = -long * 0.32
        mast += rod((back, 0, 0), (back, tall * 0.62, 0), 0.028, n=6)
        corners = [(back - 0.03, 0.25), (back - 0.42, 0.27), (back - 0.05, tall * 0.6), (back - 0.03, tall * 0.58)]
        parts += sail(corners, belly).paint(cloth, 0.1)
    flag = slab([(0, 0), (-0.26, -0.07), (0, -0.14)], 0.02).at(x, tall + 0.08).paint(draw.colour("bright"))
    cabin = box(long * 0.24, 0.14, beam * 0.5, 0.05).at(x - 0.14, 0.12).paint(paint, 0.4)
    cabin += box(long * 0.16, 0.06, beam * 0.52).at(x - 0.14, 0.13).paint(DARK, 0.6)
    return parts + mast.paint(draw.colour("wood"), 0.3) + flag + cabin


def _rowing(draw: Draw, long: float, beam: float, paint: Colour) -> Part:
    """Thwarts across a dark well, and a pair of oars; some with a small outboard motor."""
    wood, angle = draw.colour("wood"), draw.number("oar_angle", 15, 45)
    well = slab(ellipse(long * 0.72, beam * 0.74, 18), 0.06).rot(x=90).at(-long * 0.06, 0.07).paint(DARK)
    thwarts = box(0.18, 0.06, beam * 0.92).row(draw.whole("thwarts", 2, 4), dx=long * 0.2).at(-long * 0.08, 0.12)
    reach = draw.number("oar", 0.9, 1.2)
    oar = rod((0, 0, -0.3), (0, 0, reach), 0.028, n=6) + box(0.16, 0.03, 0.4, 0.01).at(0, 0, reach + 0.12)
    oars = oar.rot(x=14).rot(y=-angle).at(-0.05, 0.22, beam * 0.48).mirror("z").paint(wood, 0.2)
    rim = tube(lift(ellipse(long * 0.76, beam * 0.78, 20)), 0.03, 5, closed=True).rot(x=90).at(-long * 0.05, 0.09)
    parts = well + oars + (thwarts + rim).paint(paint)
    if draw.chance("outboard", 0.4):
        motor = box(0.2, 0.26, 0.2, 0.06).at(y=0.24) + box(0.08, 0.6, 0.08).at(y=-0.1)
        parts += motor.at(-long * 0.52).paint(DARK, 0.5)
    return parts


def _speedboat(draw: Draw, long: float, beam: float, paint: Colour) -> Part:
    """Raked windscreen, seats, an engine at the stern and a stripe."""
    seat = (box(0.24, 0.1, 0.22) + box(0.08, 0.26, 0.22, 0.03).rot(z=10).at(-0.12, 0.12)).at(y=0.12, z=beam * 0.2)
    seats = seat.row(draw.whole("seat_rows", 1, 2), dx=0.45).at(-long * 0.1).mirror("z").paint(draw.colour(), 0.3)
    well = box(long * 0.42, 0.06, beam * 0.7).at(-long * 0.1, 0.06).paint(DARK)
    lean, x = draw.number("screen_lean", 0.1, 0.26), long * 0.12
    z, w = beam * 0.3, beam * 0.4
    base = [(x - 0.25, 0.06, w), (x, 0.06, z), (x + 0.1, 0.06, 0), (x, 0.06, -z), (x - 0.25, 0.06, -w)]
    screen = sheet([base, [(a - lean, b + 0.26, c * 0.9) for a, b, c in base]]).paint(draw.colour("glass"), 0.8)
    bow = box(long * 0.26, 0.1, beam * 0.16).at(long * 0.28, 0.06).paint(paint, 0.5)
    stern = -long * 0.5
    if draw.pick("engine", ["outboard", "hatch"]) == "outboard":
        motor = box(0.24, 0.3, 0.26, 0.08).at(y=0.22) + box(0.1, 0.7, 0.1).at(y=-0.15)
        motor += box(0.06, 0.2, 0.06).rot(x=40).at(-0.08, -0.46)
        motor = motor.at(stern - 0.06).paint(DARK, 0.6)
    else:
        motor = box(0.4, 0.2, beam * 0.6, 0.05).at(stern + 0.34, 0.12).paint(paint, 0.5)
    parts = well + seats + screen + bow + motor
    if draw.chance("arch"):
        arch = tube(spline([(0, 0, w), (-0.1, 0.42, z), (-0.1, 0.42, -z), (0, 0, -w)], 10), 0.03, 6)
        parts += arch.at(stern + 0.55, 0.05).paint(STEEL, 0.6)
    return parts


def _wheelhouse(draw: Draw, long: float, wide: float, tall: float, paint: Colour) -> Part:
    """A cabin with windows all round and an overhanging roof, standing on y = 0."""
    walls = box(long, tall, wide).at(y=tall / 2).paint(paint, 0.4)
    panes = box(long * 0.34, tall * 0.36, wide + 0.03).row(2, dx=long * 0.46).at(y=tall * 0.66)
    panes += box(long + 0.03, tall * 0.36, wide * 0.36).row(2, dz=wide * 0.46).at(y=tall * 0.66)
    roof = box(long * 1.18, 0.05, wide * 1.15).at(y=tall).paint(draw.colour())
    return walls + panes.paint(draw.colour("glass"), 0.7) + roof


def _trawler(draw: Draw, long: float, beam: float, paint: Colour) -> Part:
    """Wheelhouse fore or aft, a mast with a boom, crates or a net drum on deck, a lifebuoy."""
    aft, tall = -1 if draw.chance("house_aft", 0.4) else 1, draw.number("house", 0.45, 0.65)
    house = _wheelhouse(draw, long * 0.22, beam * 0.6, tall, paint).at(aft * long * 0.14, 0.03)
    place, high = -aft * long * 0.1, draw.number("mast", 0.9, 1.3)
    mast = rod((place, 0, 0), (place, high, 0), 0.035, 0.02, n=6)
    mast += rod((place, 0.3, 0), (place - aft * 0.6, high * 0.85, 0), 0.025, n=5)
    mast += rod((place - aft * 0.6, high * 0.85, 0), (place - aft * 0.6, 0.35, 0), 0.012, n=4)
    if draw.chance("net_drum"):
        load = cylinder(0.15, beam * 0.5, n=12).paint(draw.colour())
        load += cylinder(0.2, 0.04, n=12).at(y=beam * 0.26).mirror("y").paint(STEEL, 0.5)
        load = load.rot(x=90).at(-aft * long * 0.3, 0.2)
    else:
        load = box(0.2, 0.18, 0.2).row(2, dz=0.24).row(2, dx=0.24).at(-aft * long * 0.3, 0.12).paint(draw.colour())
    ring = tube(lift(ellipse(0.22, 0.22, 12)), 0.035, 5, closed=True).at(aft * long * 0.14, tall * 0.28, beam * 0.32)
    return house + mast.paint(draw.colour("metal"), 0.4) + load + ring.paint((0.85, 0.3, 0.15))


def _tug(draw: Draw, long: float, beam: float, paint: Colour) -> Part:
    """A two-storey house with a funnel, tyres along the sides as fenders."""
    house = box(long * 0.42, 0.3, beam * 0.62, 0.06).at(0, 0.18).paint(paint, 0.4)
    holes = cylinder(0.06, beam * 0.66, n=8).rot(x=90).row(3, dx=long * 0.12).at(0, 0.2).paint(DARK, 0.6)
    bridge = _wheelhouse(draw, long * 0.2, beam * 0.5, draw.number("bridge", 0.32, 0.44), paint).at(long * 0.08, 0.32)
    tall, lean = draw.number("funnel", 0.5, 0.8), draw.number("funnel_lean", 0, 12)
    funnel = cylinder(0.12, tall, n=14).paint(draw.colour("bright"), 0.4)
    funnel += cylinder(0.128, tall * 0.22, n=14).at(y=tall * 0.4).paint(DARK)
    funnel += cylinder(0.126, tall * 0.14, n=14).at(y=tall * 0.12).paint(draw.colour("white"))
    funnels = funnel.rot(z=lean).row(draw.whole("funnels", 1, 2), dx=0.3).at(-long * 0.12, 0.3 + tall / 2)
    tyre = tube(lift(ellipse(0.17, 0.17, 10)), 0.035, 5, closed=True).row(draw.whole("fenders", 3, 5), dx=0.26)
    return house + holes + bridge + funnels + tyre.at(-0.25, -0.04, beam * 0.47).mirror("z").paint(DARK)


@shape("rocket")
def rocket(draw: Draw) -> Part:
    """A rocket on its tail: storybook, stepped launcher, or launcher with boosters; nose, fins, bands vary."""
    kind = draw.pick("kind", ["storybook", "stepped", "boosters"], [3, 2, 2])
    tall = draw.number("height", 1.5, 2.0) * (1.0 if kind == "storybook" else 1.2)
    radius, paint, second = draw.number("girth", 0.24, 0.38), draw.colour(), draw.colour()
    radius *= 1.1 if kind == "storybook" else 0.8
    top = radius * (draw.number("step", 0.5, 0.75) if kind == "stepped" else draw.number("shoulder", 0.7, 0.95))
    neck = tall * draw.number("neck", 0.5, 0.68)
    if kind == "storybook":
        wall = spline([(radius * 0.6, 0), (radius * 0.92, tall * 0.2), (radius, tall * 0.45), (top, tall)], 9)
    else:
        wall = np.array([(radius, 0), (radius, neck), (top, neck + radius * 0.5), (top, tall)])
    hull = lathe([(0, 0), *[(float(r), float(y)) for r, y in wall], (0, tall)], 20).paint(paint, 0.5)
    body = (
        hull
        + _nose(draw, top, radius * draw.number("nose", 1.4, 2.8)).at(y=tall).paint(second, 0.5)
        + _nozzles(draw, radius)
    )
    body += _fins(draw, radius * (0.8 if kind == "storybook" else 1.0), tall).paint(second, 0.4)
    body += _portholes(draw, tall, radius, tall * 0.68 if kind == "storybook" else neck * 0.85)
    if draw.chance("bands", 0.6):
        r, y = (radius * 0.95, tall * 0.24) if kind == "storybook" else (radius, neck * draw.number("band", 0.6, 0.9))
        body += cylinder(r + 0.012, tall * 0.05, n=20).at(y=y).paint(draw.colour("bright"), 0.4)
    if kind == "boosters":
        size, long = radius * draw.number("booster", 0.45, 0.65), tall * draw.number("booster_length", 0.45, 0.65)
        steps = [(0, 0), (size * 1.1, 0), (size, 0.15), (size, long), (size * 0.5, long + size), (0, long + size * 1.8)]
        tanks = lathe(steps, 12).at(x=radius + size * 0.9).ring(draw.pick("booster_count", [2, 4]), "y")
        body += tanks.at(y=-0.05).paint(draw.colour(), 0.4)
    return body


def _nose(draw: Draw, radius: float, long: float) -> Part:
    """Cone, ogive or round nose, some with a spike."""
    form = draw.pick("nose_form", ["cone", "ogive", "round"])
    t = np.linspace(0, 1, 2 if form == "cone" else 7)
    power = {"cone": 1.0, "ogive": 1.8, "round": 2.6}[form]
    profile = [(0.0, 0.0)] + [(radius * 1.02 * (1 - v**power), long * v * (0.7 if form == "round" else 1)) for v in t]
    cap = lathe(profile, 20)
    if draw.chance("spike"):
        cap += rod((0, profile[-1][1] - 0.06, 0), (0, profile[-1][1] + 0.22, 0), 0.024, 0.012, n=6)
    return cap


def _nozzles(draw: Draw, radius: float) -> Part:
    """One or several bells below, with or without a flame."""
    n, size = draw.pick("nozzles", [1, 3, 4]), radius * draw.number("nozzle", 0.5, 0.75)
    steps = [(0, 0.02), (0.5, 0.02), (0.6, -0.15), (1, -0.7), (0.9, -0.7), (0.4, -0.2), (0, -0.2)]
    bell = lathe(steps, 12).paint((0.25, 0.25, 0.28), 0.6)
    if draw.chance("flame", 0.3):
        bell += lathe([(0, -2.0), (0.5, -1.3), (0.75, -0.8), (0.4, -0.5), (0, -0.5)], 10).paint((0.95, 0.6, 0.15), 0.0)
    return bell.size(size) if n == 1 else bell.size(size * 0.6).at(x=radius * 0.5).ring(n, "y")


def _fins(draw: Draw, radius: float, tall: float) -> Part:
    """Three or four fins: swept down as legs, triangular, or clipped."""
    form, drop = draw.pick("fin_form", ["swept", "triangle", "clipped"]), draw.number("fin_drop", 0.05, 0.25)
    span, high = draw.number("fin_span", 0.2, 0.36), tall * draw.number("fin_height", 0.2, 0.36)
    leg = [(0, high), (span * 0.7, high * 0.5), (span, -drop), (span * 0.8, -drop), (span * 0.4, 0.05), (0, 0.08)]
    outlines = {
        "swept": spline(leg, 12),
        "triangle": np.array([(0, 0.0), (span, -0.02), (0, high)]),
        "clipped": np.array([(0, 0.02), (span, -0.06), (span, high * 0.4), (0, high)]),
    }
    fin = slab(outlines[form] + np.array([radius - 0.06, 0]), 0.05)
    return fin.ring(draw.whole("fins", 3, 4), "y").rot(y=draw.number("fin_turn", 0, 60))


def _portholes(draw: Draw, tall: float, radius: float, high: float) -> Part:
    """Round windows and a hatch on the front, and a flag on the side."""
    size = radius * draw.number("porthole", 0.35, 0.55)
    rim = lathe([(0, 0), (size, 0), (size, 0.05), (size * 0.78, 0.06), (0, 0.04)], 12).rot(x=90)
    glass = cylinder(size * 0.74, 0.05, n=12).rot(x=90).at(z=0.04)
    window = rim.paint(draw.colour("metal"), 0.7) + glass.paint(draw.colour("glass"), 0.8)
    n, step = draw.whole("portholes", 1, 2), tall * 0.22
    parts = window.row(n, dy=step).at(0, high - (n - 1) * step / 2, radius * 0.93)
    hatch = slab(rectangle(radius * 0.7, tall * 0.2, radius * 0.3), 0.06).paint(draw.colour(), 0.4)
    knob = ball(0.025, 6).at(radius * 0.22, 0, 0.04).paint(DARK)
    parts += (hatch + knob).at(0, tall * 0.22, radius * 0.93)
    mark = box(0.05, tall * 0.1, radius * 0.6).paint(draw.colour("bright"))
    mark += box(0.06, tall * 0.035, radius * 0.62).paint(draw.colour("white"))
    return parts + mark.at(radius * 0.97, tall * 0.45)
