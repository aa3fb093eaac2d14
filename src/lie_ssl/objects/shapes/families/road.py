"""Road vehicles: car, bus. They drive to the right (+x), so that the viewer sees the side and the nose."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lie_ssl.objects.shapes.curves import cross_section, lift
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.palettes import COAL, LAMP, STEEL, TAIL_LIGHT
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, loft, quad, rod, slab
from lie_ssl.objects.shapes.wheels import tyre_wheel, wheel_rim


def _wheel_in_arch(draw: Draw, radius: float, thick: float, width: float) -> Part:
    """A wheel on the right side of a vehicle of that width, standing on y = 0 in its dark arch."""
    wheel = tyre_wheel(radius, thick, wheel_rim(draw, draw.colour("metal"))).at(0, radius, (width - thick) / 2 + 0.02)
    return wheel + disc(radius * 1.2, 0.1, 16).at(0, radius * 1.04, width / 2 - 0.03).paint(COAL)


@dataclass(frozen=True)
class CarForm:
    """Proportions of a kind of car: metres, and places along the body from -1 (tail) to 1 (nose)."""

    half: float
    belt: float
    roof: float
    screen: float
    roof_front: float
    roof_back: float
    rear: float
    windows: int
    width: float = 1.8
    clear: float = 0.2
    bonnet: float = 0.8


CARS = {
    "saloon": CarForm(2.25, 0.88, 1.42, 0.36, 0.06, -0.42, -0.7, 2),
    "hatchback": CarForm(1.85, 0.9, 1.5, 0.42, 0.12, -0.7, -0.93, 2),
    "estate": CarForm(2.3, 0.9, 1.48, 0.36, 0.08, -0.82, -0.95, 3),
    "van": CarForm(2.3, 1.05, 1.95, 0.74, 0.48, -0.92, -0.97, 3),
    "off-roader": CarForm(2.05, 1.08, 1.85, 0.36, 0.24, -0.9, -0.95, 2),
    "pickup": CarForm(2.45, 0.98, 1.65, 0.38, 0.16, -0.2, -0.27, 2),
    "sports": CarForm(2.1, 0.78, 1.17, 0.3, -0.06, -0.34, -0.86, 1),
}


@shape("car")
def car(draw: Draw) -> Part:
    """A car: saloon, hatchback, estate, van, off-roader, pickup or sports car; rims, lamps and extras vary."""
    kind = draw.pick("kind", list(CARS), [3, 2, 2, 2, 2, 2, 2])
    form, high = CARS[kind], kind in ("off-roader", "pickup")
    half, width = form.half * draw.number("length", 0.93, 1.08), draw.number("width", 1.65, 1.95)
    belt, roof = form.belt * draw.number("belt", 0.94, 1.06), form.roof * draw.number("roof", 0.95, 1.06)
    clear = draw.number("clearance", 0.16, 0.24) + (0.14 if high else 0)
    bonnet = belt - draw.number("bonnet_drop", 0.06, 0.22)
    form = replace(form, half=half, belt=belt, roof=roof, width=width, clear=clear, bonnet=bonnet)
    radius = draw.number("wheel", 0.3, 0.37) * (1.2 if high else 1.0)
    paint = draw.colour()
    stations = [
        (-1, clear + 0.15, belt - 0.2, 0.82), (-0.96, clear + 0.04, belt - 0.05, 0.94), (-0.8, clear, belt, 1),
        (form.screen, clear, belt, 1), (0.86, clear, bonnet, 0.96), (0.96, clear + 0.04, bonnet - 0.07, 0.9),
        (1, clear + 0.1, bonnet - 0.2, 0.8),
    ]  # fmt: skip
    body = loft([cross_section(x * half, low, top, width * w, 0.13) for x, low, top, w in stations]).paint(paint, 0.5)
    body += box(1.7 * half, 0.1, width * 0.8).at(y=clear - 0.02).paint(COAL)
    wheel = _wheel_in_arch(draw, radius, 0.24, width)
    body += (wheel.at(x=0.62 * half) + wheel.at(x=-0.6 * half)).mirror("z")
    body += _car_face(draw, form) + _car_doors(form)
    body += _cabin(form, draw.number("tumblehome", 0.06, 0.16), paint, draw.colour("glass"))
    return body + _car_extras(draw, kind, form, paint)


def _cabin(form: CarForm, lean: float, paint: Colour, glass: Colour) -> Part:
    """Roof, pillars and windows above the belt line; the sides lean inwards."""
    belt, roof = form.belt, form.roof
    a, b, c, d = (x * form.half for x in (form.screen, form.roof_front, form.roof_back, form.rear))
    outline = [(a, belt - 0.1), (a, belt), (b, roof - 0.03), (b - 0.15, roof), (c + 0.15, roof), (c, roof - 0.03)]
    outline += [(d, belt), (d, belt - 0.1)]

    def side(y: float) -> float:
        return form.width / 2 - 0.05 - lean * max(0.0, y - belt) / (roof - belt)

    house = loft([lift(outline, [s * side(y) for _, y in outline]) for s in (-1, 1)]).paint(paint, 0.5)
    low, high, rise = belt + 0.06, roof - 0.1, (roof - 0.1 - belt) / (roof - belt)
    front = np.array([a + 0.1 * (b - a) - 0.1, a + rise * (b - a) - 0.1])
    back = np.array([d + 0.1 * (c - d) + 0.1, d + rise * (c - d) + 0.1])
    windows = Part()
    for i in range(form.windows):
        start = i / form.windows + (0.025 if i else 0)
        end = (i + 1) / form.windows - (0.025 if i < form.windows - 1 else 0)
        (x0, x1), (x3, x2) = (front + (back - front) * t for t in (start, end))
        windows += quad([(x0, low, side(low)), (x1, high, side(high)), (x2, high, side(high)), (x3, low, side(low))])
    glazing, w = windows.mirror("z"), side(belt) - 0.08
    for foot, head in ((a, b), (d, c)):
        p = np.array([(foot, belt, -w), (foot, belt, w), (head, roof, lean - w), (head, roof, w - lean)])
        low_edge, high_edge = p[:2] + 0.08 * (p[2:] - p[:2]), p[:2] + 0.88 * (p[2:] - p[:2])
        glazing += quad([*low_edge, *high_edge[::-1]])
    return house + glazing.paint(glass, 0.8)


def _car_face(draw: Draw, form: CarForm) -> Part:
    """Lights, grille, bumpers and number plates."""
    half, width, bonnet = form.half, form.width, form.bonnet
    lamp = box(0.12, 0.14, draw.number("lamp_width", 0.2, 0.34))
    if draw.chance("round_lamps", 0.4):
        lamp = cylinder(0.12, 0.12, n=10).rot(z=90)
    lamps = lamp.at(half * 0.97, bonnet - 0.2, width * 0.32).mirror("z").paint(LAMP, 0.8)
    rear = box(0.1, 0.22, 0.2).at(-half * 0.975, form.belt - 0.2, width * 0.35).mirror("z").paint(TAIL_LIGHT, 0.6)
    grille = box(0.1, 0.18, width * draw.number("grille", 0.3, 0.5)).at(half * 0.985, bonnet - 0.32)
    bumper = box(0.14, 0.14, width * 0.9, 0.05).at(y=form.clear + 0.12)
    bumpers = (bumper.at(x=half - 0.02) + bumper.at(x=0.02 - half)).paint(draw.pick("bumper", [COAL, STEEL]), 0.5)
    plate = box(0.04, 0.12, 0.5).at(-half - 0.01, form.belt - 0.4).paint((0.95, 0.9, 0.7))
    return lamps + rear + grille.paint(COAL, 0.5) + plate + bumpers


def _car_doors(form: CarForm) -> Part:
    """Door gaps, door handles and wing mirrors."""
    half, belt, width = form.half, form.belt, form.width
    x = np.linspace(form.screen * half - 0.25, max(form.rear, -0.4) * half, form.windows + 1)[:3]
    height = belt - form.clear
    doors = joined(box(0.035, height - 0.2, 0.02).at(v, form.clear + height / 2, width / 2) for v in x)
    doors += joined(box(0.18, 0.05, 0.05).at(v + 0.2, belt - 0.15, width / 2) for v in x[1:])
    doors += box(0.12, 0.16, 0.22).at(form.screen * half - 0.2, belt + 0.12, width / 2 + 0.08)
    return doors.mirror("z").paint(COAL, 0.4)


def _car_extras(draw: Draw, kind: str, form: CarForm, paint: Colour) -> Part:
    """Optional parts of cars: a load bed, a spare wheel, a wing, a roof rack, a taxi sign, stripes."""
    half, belt, width = form.half, form.belt, form.width
    extra, parts = draw.pick("extra", ["none", "rack", "sign", "stripes"]), Part()
    if kind == "pickup":
        length = (form.rear + 0.97) * half
        walls = box(length, 0.24, 0.1).at(length / 2, 0.08, width / 2 - 0.08).mirror("z")
        walls += box(0.1, 0.24, width - 0.1).at(0, 0.08)
        bed = walls.paint(paint, 0.5) + box(length, 0.04, width * 0.85).at(length / 2, 0.02).paint(COAL)
        parts += bed.at(-0.97 * half, belt)
    elif kind == "off-roader":
        cover = disc(0.6, 0.1, 10).at(z=0.48).paint(paint)
        parts += tyre_wheel(0.36, 0.22, cover).rot(y=-90).at(-half - 0.1, belt)
    elif kind == "sports" and draw.chance("wing"):
        wing = box(0.3, 0.05, width * 0.9).at(y=0.28) + box(0.08, 0.3, 0.06).at(y=0.13, z=width * 0.3).mirror("z")
        parts += wing.at(-0.88 * half, belt).paint(paint, 0.5)
    top = Part()
    if extra == "rack":
        rail = rod((-0.5, 0.1, width * 0.3), (0.5, 0.1, width * 0.3), 0.03, n=5)
        top = (rail.mirror("z") + box(0.06, 0.05, width * 0.72).at(y=0.08).row(3, dx=0.4)).paint(COAL, 0.4)
    elif extra == "sign":
        top = slab([(-0.2, 0), (0.2, 0), (0.12, 0.2), (-0.12, 0.2)], 0.6).at(y=-0.02).paint(draw.colour("bright"))
    elif extra == "stripes":
        parts += box(half * 1.5, 0.1, width + 0.03).at(y=belt - 0.28).paint(draw.colour("paint"), 0.5)
    return parts + top.at((form.roof_front + form.roof_back) / 2 * half, form.roof)


@shape("bus")
def bus(draw: Draw) -> Part:
    """A bus: city bus, coach, double-decker or school bus with a bonnet; windows, doors, axles and stripes vary."""
    kind = draw.pick("kind", ["city", "coach", "double", "school"])
    half = draw.number("length", 6.5, 11.0) * (0.85 if kind == "double" else 1) / 2
    width, clear = draw.number("width", 2.2, 2.6), draw.number("clearance", 0.3, 0.45)
    top = draw.number("height", 2.7, 3.2) * {"double": 1.45, "coach": 1.15}.get(kind, 1.0)
    corner, radius = draw.number("corner", 0.12, 0.4), draw.number("wheel", 0.45, 0.55)
    paint, second, glass = draw.colour(), draw.colour(), draw.colour("glass")
    nose, rake = half - (1.0 if kind == "school" else 0.0), draw.number("rake", 0.0, 0.35)
    sections = [cross_section(-half, clear, top, width, corner), cross_section(nose - 0.4, clear, top, width, corner)]
    front = cross_section(nose, clear, top, width * 0.96, corner)
    front[:, 0] -= rake * np.clip((front[:, 1] - 1.3) / (top - 1.3), 0, 1)
    body = loft([*sections, front]).paint(paint, 0.45)
    if kind == "school":
        ends = ((half - 1.1, 1.65, 0.9), (half, 1.45, 0.8))
        bonnet = loft([cross_section(x, clear, y, width * w, 0.22) for x, y, w in ends])
        body += bonnet.paint(paint, 0.45) + box(0.1, 0.5, width * 0.45).at(half, 0.95).paint(COAL)
    levels = (
        [(1.45, 2.35), (2.85, top - 0.35)] if kind == "double" else [(1.85 if kind == "coach" else 1.4, top - 0.45)]
    )
    body += _bus_panes(draw, levels, half, nose, rake / (top - 1.3), width / 2).paint(glass, 0.8)
    body += _bus_doors(draw, nose, width, clear, 2.35 if kind == "double" else top - 0.45, glass)
    wheel = _wheel_in_arch(draw, radius, 0.35, width)
    places = [nose - 1.75, -half + 1.6] + ([-half + 2.8] if half > 4.3 and draw.chance("third_axle", 0.6) else [])
    body += joined(wheel.at(x=x) for x in places).mirror("z")
    if draw.chance("stripe", 0.7):
        stripe = box(2 * half - 0.1, draw.number("stripe", 0.15, 0.45), width + 0.06)
        body += stripe.at(-(half - nose) / 2, 1.08).paint(second)
    body += box(0.12, 0.2, 0.36).at(half - 0.02, 0.85, width * 0.34).mirror("z").paint(LAMP, 0.8)
    body += box(0.1, 0.35, 0.2).at(-half, 1.1, width * 0.4).mirror("z").paint(TAIL_LIGHT, 0.6)
    body += box(1.9 * half, 0.1, width * 0.85).at(y=clear).paint(COAL)
    sign = box(0.12, 0.3, width * 0.6).at(nose - rake + 0.02, top - 0.22)
    arm = rod((0, 0, 0), (0.4, 0, 0), 0.05, n=5) + box(0.1, 0.5, 0.2).at(0.4, -0.2)
    arms = arm.at(nose - rake - 0.1, top - 0.7, width / 2).mirror("z").paint(COAL)
    unit = box(draw.number("roof_unit", 1.0, 2.4), 0.22, width * 0.6).row(draw.whole("roof_units", 0, 2), dx=half)
    roof = unit.at(-half * 0.1, top + 0.08).paint(second)
    return body + sign.paint(draw.pick("sign", [COAL, LAMP])) + arms + roof


def _bus_panes(draw: Draw, levels: list[tuple[float, float]], half: float, nose: float, slope: float, z: float) -> Part:
    """Rows of side windows, a windscreen that leans back by `slope` and a rear window on every level."""
    count, gap = draw.whole("windows", 4, 8), draw.number("pillar", 0.08, 0.25)
    parts = Part()
    for i, (low, high) in enumerate(levels):
        # The door takes the front of the lower level on the right; the driver's window is there on the left.
        for end, side in ((nose - 0.5 if i else nose - 1.35, z), (nose - 0.5, -z)):
            step = (end + half - 0.3) / count
            pane = box(step - gap, high - low, 0.06).row(count, dx=step)
            parts += pane.at((end - half + 0.3) / 2, (low + high) / 2, side)
        x0, x1, w = nose - slope * (low - 1.3), nose - slope * (high - 1.3), z * 0.86
        parts += quad([(x0, low, -w), (x0, low, w), (x1, high, w), (x1, high, -w)], 0.08)
        parts += box(0.06, (high - low) * 0.7, z * 1.4).at(-half, (low + high) / 2 + 0.08)
    return parts


def _bus_doors(draw: Draw, nose: float, width: float, clear: float, high: float, glass: Colour) -> Part:
    """A front door on the right, and a middle door on some; two leaves of glass in a dark frame."""
    places = [nose - 0.8] + ([-0.3] if draw.chance("middle_door") else [])
    height = high - clear - 0.1
    frame = box(0.95, height, 0.1).paint(COAL, 0.3)
    leaf = box(0.34, height * 0.82, 0.14).row(2, dx=0.43).paint(glass, 0.8)
    return joined((frame + leaf).at(x, clear + 0.1 + height / 2, width / 2) for x in places)
