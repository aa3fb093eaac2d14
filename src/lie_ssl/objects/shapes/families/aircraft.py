"""Airplanes. They head to the right (+x)."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import Array, ellipse, standing
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import DARK, STEEL
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, lathe, loft, rod, slab


def _rib(x: float, y: float, z: float, chord: float, thick: float) -> Array:
    """(8, 3) wing section at depth `z`, its leading edge at `x`."""
    along = np.array([0, -0.08, -0.35, -0.7, -1, -0.7, -0.35, -0.08])
    height = np.array([0, 0.45, 0.6, 0.35, 0, -0.25, -0.4, -0.4])
    return np.column_stack([x + along * chord, y + height * thick * chord, np.full(8, z)])


def _wing(root: float, tip: float, span: float, sweep: float, rise: float, thick: float = 0.13) -> Part:
    """One wing towards +z: chords at root and tip, and how far the tip lies back and up."""
    return loft([_rib(0, 0, 0, root, thick), _rib(-sweep, rise, span, tip, thick)], crease=60)


def _fuselage(length: float, radius: float, nose: float, tail: float, rise: float) -> Part:
    """A round body; `nose` and `tail` are the lengths of its tapered ends, `rise` lifts the end of the tail."""
    x0, x1 = -length / 2, length / 2
    steps = [(x0, 0.12, rise), (x0 + tail * 0.5, 0.62, rise * 0.5), (x0 + tail, 1.0, 0.0), (x1 - nose, 1.0, 0.0)]
    steps += [(x1 - nose * 0.5, 0.86, -0.02), (x1 - nose * 0.15, 0.5, -0.05), (x1, 0.1, -0.06)]
    sections = []
    for x, r, y in steps:
        ring = ellipse(2 * r * radius, 2 * r * radius, 16)
        sections.append(standing(ring, x, y * radius))
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
    length = draw.number("length", 2.0, 2.5) * (1.1 if kind == "airliner" else 0.9)
    radius = draw.number("girth", 0.13, 0.18) * {"fighter": 0.85, "light": 1.1, "biplane": 1.15}.get(kind, 1.0)
    paint, second, blunt = draw.colour(), draw.colour(), kind in ("light", "biplane")
    nose = length * (draw.number("nose", 0.06, 0.12) + (0 if blunt else 0.23 if kind == "fighter" else 0.08))
    body = _fuselage(length, radius, nose, length * draw.number("tail", 0.3, 0.45), 0.35).paint(paint, 0.5)
    body += _tail(draw, kind, length, radius, second) + _main_wings(draw, kind, length, radius, second)
    body += _plane_engines(draw, kind, length, radius, second)
    body += _plane_windows(draw, kind, length, radius, nose, draw.colour("glass"))
    if blunt or draw.chance("wheels_out", 0.4):
        body += _undercarriage(draw, blunt, length, radius)
    if draw.chance("stripe", 0.6):
        stripe = box(length * 0.55, radius * 0.28, radius * 2.06).at(length * 0.02, -radius * 0.1)
        body += stripe.paint(draw.colour("paint"), 0.4)
    return body


def _main_wings(draw: Draw, kind: str, length: float, radius: float, paint: Colour) -> Part:
    """The wings, low or high, straight or swept; two pairs with struts for a biplane."""
    span = draw.number("span", 0.95, 1.25) * {"fighter": 0.65, "biplane": 0.9}.get(kind, 1.0)
    chord = draw.number("chord", 0.36, 0.5) * {"fighter": 1.9, "airliner": 1.15}.get(kind, 0.85)
    sweep = draw.number("sweep", 0.0, 1.0)
    sweep = {"airliner": 0.35 + 0.25 * sweep, "fighter": chord * 0.8}.get(kind, 0.08 * sweep)
    tip = chord * (0.2 if kind == "fighter" else draw.number("taper", 0.35, 0.6) if kind == "airliner" else 0.75)
    front = length * (0.1 if kind in ("airliner", "fighter") else 0.2)
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


def _tail(draw: Draw, kind: str, length: float, radius: float, paint: Colour) -> Part:
    """Fin and tailplane: low, T-shaped, or two fins."""
    form = draw.pick("tail_form", ["low", "t-tail", "twin fins"])
    high, chord = draw.number("fin", 0.32, 0.46), draw.number("fin_chord", 0.28, 0.38)
    back = -length / 2 + chord + 0.02
    fin = _wing(chord, chord * 0.55, high, 0.22, 0.0, 0.09).rot(x=-90)
    plane = _wing(chord * 0.8, chord * 0.5, draw.number("tailplane", 0.34, 0.46), 0.14, 0.02, 0.09).mirror("z")
    if form == "t-tail" and kind != "fighter":
        return (fin.at(back, radius * 0.2) + plane.at(back - 0.2, radius * 0.2 + high * 0.97)).paint(paint, 0.4)
    if form == "twin fins":
        apart = radius * 1.1 if kind == "fighter" else 0.36
        fins = fin.size(1, 0.8, 1).rot(x=12).at(back, radius * 0.2, apart).mirror("z")
        return (fins + plane.at(back, radius * 0.25)).paint(paint, 0.4)
    return (fin.at(back, radius * 0.2) + plane.at(back - 0.02, radius * 0.3)).paint(paint, 0.4)


def _plane_engines(draw: Draw, kind: str, length: float, radius: float, paint: Colour) -> Part:
    """Jet pods under the wings or at the tail, propellers on the nose or the wings, or a jet nozzle."""
    prop = draw.number("propeller", 0.26, 0.36)
    if kind in ("light", "biplane"):
        ring = cylinder(radius * 0.9, 0.1, n=14).rot(z=90).at(length / 2 - 0.03, -radius * 0.05)
        return ring.paint(paint, 0.5) + _propeller(draw, prop, paint).at(length / 2 + 0.08, -radius * 0.05)
    if kind == "fighter":
        nozzle = lathe([(0, 0.02), (0.7, 0), (0.85, 0.3), (0, 0.3)], 12).size(radius).rot(z=-90)
        nozzle = nozzle.at(-length / 2 - 0.06, radius * 0.2)
        scoop = box(length * 0.3, radius * 0.9, radius * 0.6).at(0, -radius * 0.15, radius * 0.85).mirror("z")
        missile = lathe([(0, -0.25), (0.03, -0.25), (0.03, 0.18), (0, 0.28)], 7).rot(z=-90)
        pylon = box(0.2, radius * 0.7, 0.025).at(y=radius * 0.35)
        missile = (missile + pylon).at(-length * 0.1, -radius * 0.8, 0.42)
        return nozzle.paint(DARK, 0.5) + scoop.paint(paint, 0.4) + missile.mirror("z").paint(STEEL, 0.5)
    size = draw.number("engine", 0.08, 0.11)
    steps = [(0, 0.15), (0.5, 0.0), (0.9, 0.9), (1, 1.8), (0.95, 3.2), (0.8, 3.3), (0.78, 2.9), (0, 2.9)]
    pod = lathe(steps, 12).size(size).rot(z=-90)
    if kind == "twin":
        nacelle = ball(1, 10).size(size * 3.2, size, size).at(length * 0.16, 0.0, 0.38).paint(paint, 0.4)
        return (nacelle + _propeller(draw, prop * 0.8, paint).at(length * 0.16 + size * 3.3, 0, 0.38)).mirror("z")
    if draw.chance("tail_engines", 0.35):
        return pod.at(-length * 0.34, radius * 0.55, radius * 0.9 + size).mirror("z").paint(paint, 0.5)
    places = [0.42] + ([0.72] if draw.chance("four_engines", 0.4) else [])
    pods = joined(pod.at(length * 0.06 - 0.35 * z, -radius * 0.85, z) for z in places)
    return pods.mirror("z").paint(draw.colour(), 0.5)


def _plane_windows(draw: Draw, kind: str, length: float, radius: float, nose: float, glass: Colour) -> Part:
    """Cockpit glass, and a row of cabin windows on airliners."""
    if kind == "fighter":
        return ball(1, 12).size(0.3, radius * 0.75, radius * 0.6).at(length * 0.2, radius * 0.75).paint(glass, 0.9)
    if kind == "biplane":
        well = cylinder(radius * 0.6, 0.05, n=10).at(-length * 0.02, radius * 0.98).paint(DARK)
        head = ball(radius * 0.4, 8).at(-length * 0.03, radius * 1.35).paint(draw.colour("wood"))
        screen = box(0.03, radius * 0.6, radius * 0.9).rot(z=20).at(length * 0.06, radius * 1.2)
        return well + head + screen.paint(glass, 0.8)
    if kind == "light":
        hood = slab([(-0.34, 0), (0.3, 0), (0.12, 0.16), (-0.12, 0.16)], radius * 1.5).at(length * 0.16, radius * 0.7)
        return hood.paint(glass, 0.8)
    edge = length / 2 - nose * 0.64
    screen = box(0.1, radius * 0.4, radius * 1.5, 0.02).rot(z=-25).at(edge, radius * 0.62)
    n = draw.whole("windows", 6, 10)
    step = length * 0.5 / n
    row = box(step * 0.5, radius * 0.34, radius * 1.94).row(n, dx=step).at(length * 0.03, radius * 0.36)
    return (screen + row).paint(glass, 0.7)


def _undercarriage(draw: Draw, tail_dragger: bool, length: float, radius: float) -> Part:
    """Two wheels below the wings and a third at the tail or the nose."""
    wheel = disc(0.085, 0.06, 10).paint(DARK)
    leg, spread = draw.number("leg", 0.14, 0.22), radius * 1.3
    main = rod((0, -radius * 0.6, radius * 0.4), (0, -radius * 0.6 - leg, spread), 0.022, n=5).paint(STEEL, 0.5)
    main += wheel.at(0, -radius * 0.6 - leg, spread)
    third = -length * 0.42 if tail_dragger else length * 0.36
    drop = -radius * 0.25 if tail_dragger else -radius * 0.6 - leg
    post = rod((third, 0, 0), (third, drop, 0), 0.02, n=5).paint(STEEL, 0.5)
    main = main.mirror("z").at(x=length * (0.2 if tail_dragger else -0.05))
    return main + post + wheel.size(0.7 if tail_dragger else 1).at(third, drop)
