"""Things that stand outdoors: towers, birdhouses and mailboxes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lie_ssl.objects.shapes.curves import arc, lift, polygon, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, loft, rod, slab, tube


def _disc(radius: float, thickness: float, n: int = 14) -> Part:
    """A flat cylinder that faces the front."""
    return cylinder(radius, thickness, n=n).rot(x=90)


def _arch(width: float, height: float, thickness: float) -> Part:
    """A door or window with a round top, its foot in the middle of its lower edge."""
    top = arc(width / 2, 0, 180, 7) + np.array([0, height - width / 2])
    return slab(np.concatenate([[(width / 2, 0.0)], top, [(-width / 2, 0.0)]]), thickness)


def _pyramid(half: float, height: float, sides: int = 4) -> Part:
    """A pointed roof on y = 0 over a square (or a polygon), flat to the front."""
    return cylinder(half / math.cos(math.pi / sides), height, top=0.0, n=sides).rot(y=180 / sides).at(y=height / 2)


def _flag(draw: Draw, size: float) -> Part:
    """A pole with a flag that flies to the right."""
    cloth = slab(np.array([(0, 0), (size, -0.2 * size), (0, -0.5 * size)]), 0.02).at(y=1.2 * size).paint(draw.colour("bright"))
    return rod((0, 0, 0), (0, 1.25 * size, 0), 0.02, n=5).paint(draw.colour("metal")) + cloth


def _skyscraper(draw: Draw, tall: float) -> Part:
    """Stepped, straight, slanted or twisted storeys with bands or rows of windows, a door and something on the roof."""
    form, wide = draw.pick("form", ["stepped", "slanted", "twisted"]), draw.number("width", 0.5, 0.75)
    wall, glass = draw.colour(), draw.colour("glass")
    if form == "twisted":
        turn, top = draw.number("twist", 40, 110), draw.number("taper", 0.55, 0.9)
        heights = np.linspace(0, 1, 13)
        plans = [lift(rectangle(wide, wide, 0.08, 2), tall * h) for h in heights]
        turned = [p @ _flat_turn(turn * h) * (1 - (1 - top) * h, 1 - (1 - top) * h, 1) for p, h in zip(plans, heights, strict=True)]
        tower_ = joined(loft(turned[i : i + 2]).paint(wall if i % 2 else glass, 0.5) for i in range(12)).rot(x=-90)
        half = wide * top / 2
    elif form == "slanted":
        cut = draw.number("cut", 0.2, 0.45)
        side = np.array([(wide / 2, 0), (wide / 2, tall - cut), (-wide / 2, tall), (-wide / 2, 0)])
        tower_, half = slab(side, wide).paint(wall, 0.4) + _window_grid(draw, wide, 0.15, tall - cut - 0.1, glass), 0.0
    else:
        tiers, y, half = draw.whole("tiers", 1, 4), 0.0, wide / 2
        tower_ = Part()
        for i in range(tiers):
            rise = tall / tiers * (1.15 - 0.1 * i)
            tower_ += box(2 * half, rise, 2 * half).at(y=y + rise / 2).paint(wall) + _window_grid(draw, 2 * half, y + 0.12, y + rise - 0.08, glass)
            y, half = y + rise, half * draw.number(f"setback {i}", 0.62, 0.85)
        tower_ += box(2.0 * half, 0.08, 2.0 * half).at(y=y + 0.03).paint(draw.colour())
        tall, half = y + 0.05, half * 0.9
    if half:
        roof = draw.pick("roof", ["mast", "pyramid", "sign"])
        spike = rod((0.3 * half, 0, 0), (0.3 * half, 0.6, 0), 0.035, 0.012, n=6) + box(0.5 * half, 0.1, 0.5 * half).at(0.3 * half, 0.04)
        sign = box(1.4 * half, 0.2, 0.06).at(y=0.12, z=half * 0.7).paint(draw.colour("bright"))
        tower_ += {"mast": spike.paint(draw.colour("metal")), "pyramid": _pyramid(half, 0.5).paint(draw.colour()), "sign": sign}[roof].at(y=tall)
    canopy = box(0.4 * wide, 0.04, 0.2).at(y=0.18, z=wide / 2 + 0.08)
    door = box(0.3 * wide, 0.17, 0.06).at(y=0.085, z=wide / 2)
    return tower_ + door.paint(draw.colour("bright")) + canopy.paint(draw.colour("metal"))


def _flat_turn(degrees: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)])


def _window_grid(draw: Draw, wide: float, low: float, high: float, glass: Colour) -> Part:
    """Windows on all four sides of a square block: each is a bar that goes right through it."""
    style = draw.pick("windows", ["bands", "columns", "squares"])
    through, middle = wide + 0.03, (low + high) / 2
    if style == "bands":
        rows = max(1, min(9, int((high - low) / 0.13)))
        return box(through, 0.06, through).row(rows, dy=(high - low) / rows).at(y=middle).paint(glass, 0.6)
    columns = max(2, min(4, int(wide / 0.14)))
    bar = box(0.5 * wide / columns, high - low, through)
    if style == "squares":
        rows = max(1, min(8, int((high - low) / 0.15)))
        bar = box(0.5 * wide / columns, 0.08, through).row(rows, dy=(high - low) / rows)
    bars = bar.row(columns, dx=0.9 * wide / columns)
    return (bars + bars.rot(y=90)).at(y=middle).paint(glass, 0.6)


def _lighthouse(draw: Draw, tall: float) -> Part:
    """A tapering round tower with stripes, a gallery, a lit lantern room, a door, windows and a keeper's hut."""
    foot, neck = draw.number("foot", 0.3, 0.4), draw.number("neck", 0.16, 0.22)
    tall, bands = 0.85 * tall, draw.whole("stripes", 1, 6)
    first, second = draw.colour(), draw.colour()

    def radius(share: float) -> float:
        return foot + (neck - foot) * share

    shaft = joined(
        lathe([(0, a * tall), (radius(a), a * tall), (radius(b), b * tall), (0, b * tall)], 18).paint(second if i % 2 else first)
        for i, (a, b) in enumerate((i / bands, (i + 1) / bands) for i in range(bands))
    )
    gallery = cylinder(neck * 1.55, 0.06, n=18).at(y=tall + 0.03)
    rail = rod((neck * 1.45, tall, 0), (neck * 1.45, tall + 0.16, 0), 0.014, n=4).ring(8)
    rail += tube(lift(arc(neck * 1.45, 0, 345, 16)), 0.016, 4, closed=True).rot(x=90).at(y=tall + 0.16)
    room = cylinder(neck * 0.85, 0.3, n=12).at(y=tall + 0.2).paint(draw.colour("glass"), 0.8)
    lamp = box(neck * 1.1, 0.16, 0.5 * neck).at(y=tall + 0.2, z=neck * 0.62).paint(draw.colour("light"), 0.8)
    cap_height = draw.number("cap", 0.15, 0.3)
    cap = lathe([(0, 0), (neck * 1.1, 0), (neck * 0.8, 0.6 * cap_height), (0.03, cap_height), (0.03, cap_height + 0.1), (0, cap_height + 0.1)], 14)
    door = _arch(0.17, 0.3, 0.12).at(y=0.0, z=foot - 0.03).paint(draw.colour("dark"))
    panes = joined(box(0.1, 0.12, 0.1).at(y=s * tall, z=radius(s)) for s in (0.42, 0.75)).paint(draw.colour("glass"))
    ground = cylinder(foot * 1.5, 0.1, top=foot * 1.3, n=9).at(y=-0.05).paint(draw.colour("neutral"))
    whole = shaft + (gallery + rail).paint(draw.colour("black")) + room + lamp + cap.at(y=tall + 0.34).paint(draw.colour(), 0.4)
    if draw.chance("hut", 0.6):
        hut = box(0.5, 0.26, 0.34).at(0.45, 0.13) + slab(np.array([(0.2, 0), (0, 0.18), (-0.2, 0)]), 0.54).rot(y=90).at(0.45, 0.26)
        whole += hut.paint(draw.colour()) + box(0.12, 0.12, 0.36).at(0.52, 0.14).paint(draw.colour("glass"))
        ground = ground.size(1.5, 1, 1).at(0.18)
    return whole + door + panes + ground


def _clock_tower(draw: Draw, tall: float) -> Part:
    """A square tower with a clock on each side, corner stones, arched openings and a pointed, stepped or domed roof."""
    wide, head = draw.number("width", 0.42, 0.6), draw.number("clock storey", 1.08, 1.3)
    tall = 0.75 * tall
    wall, trim, dark = draw.colour(), draw.colour(), draw.colour("black")
    half, top = head * wide / 2, head * wide
    shaft = box(wide, tall, wide).at(y=tall / 2).paint(wall) + box(wide * 1.25, 0.12, wide * 1.25).at(y=0.06).paint(trim)
    storey = box(top, top, top).at(y=tall + top / 2).paint(wall)
    ledges = (box(top * 1.1, 0.06, top * 1.1).at(y=tall) + box(top * 1.12, 0.07, top * 1.12).at(y=tall + top)).paint(trim)
    hour, minute = draw.number("hour", 0, 360), draw.number("minute", 0, 360)
    hands = box(0.045, 0.26 * top, 0.02).at(y=0.12 * top).rot(z=hour) + box(0.035, 0.38 * top, 0.02).at(y=0.17 * top, z=0.012).rot(z=minute)
    ticks = box(0.03, 0.08 * top, 0.02).at(y=0.34 * top).ring(4, "z")
    face = _disc(0.43 * top, 0.06, 18).paint(trim) + _disc(0.38 * top, 0.09, 18).paint(draw.colour("white"))
    face += (hands.at(z=0.055) + ticks.at(z=0.05)).paint(dark)
    faces = joined(face.at(y=tall + top / 2, z=half).rot(y=a) for a in (0, 90, 180, 270))
    slit = _arch(0.16 * wide, 0.35 * tall, wide + 0.03).at(y=0.45 * tall).row(draw.whole("slits", 1, 2), dx=0.4 * wide)
    door = _arch(0.34 * wide, 0.3, 0.08).at(z=wide / 2).paint(draw.colour("wood"))
    roof, rise, colour = draw.pick("roof", ["spire", "dome", "belfry", "gable"]), draw.number("roof height", 0.35, 0.8), draw.colour()
    y = tall + top + 0.03
    if roof == "spire":
        crown = _pyramid(half, rise).paint(colour) + _pyramid(0.12, 0.25).at(half - 0.08, z=half - 0.08).mirror("x").mirror("z").paint(colour)
    elif roof == "dome":
        crown = lathe([(0, 0), (half, 0), (half * 0.95, 0.15), (half * 0.6, 0.3), (0.04, 0.4), (0.03, 0.6), (0, 0.6)], 16).paint(colour, 0.5)
    elif roof == "belfry":
        post = box(0.08, 0.3, 0.08).at(0.8 * half, 0.15, 0.8 * half).mirror("x").mirror("z").paint(wall)
        crown = post + cylinder(0.15, 0.18, top=0.06, n=10).at(y=0.16).paint(draw.colour("metal"), 0.6) + _pyramid(half, 0.7 * rise).at(y=0.3).paint(colour)
    else:
        crown = slab(np.array([(half * 1.1, 0), (0, 0.7 * rise), (-half * 1.1, 0)]), 2.1 * half).paint(colour)
    return shaft + storey + ledges + faces + (slit + slit.rot(y=90)).paint(draw.colour("glass")) + door + crown.at(y=y) + _flag(draw, 0.25).at(y=y + 0.3)


def _castle(draw: Draw, tall: float) -> Part:
    """A round, six-sided or square castle tower with battlements, gate, slits, a side turret and a flag."""
    sides, radius = draw.pick("plan", [4, 6, 16]), draw.number("radius", 0.38, 0.52)
    tall, flare = 0.62 * tall, draw.number("flare", 1.12, 1.3)
    wall, trim = draw.colour(), draw.colour()
    flat = radius * math.cos(math.pi / sides)

    def drum(r: float, height: float, top: float | None = None) -> Part:
        return cylinder(r, height, top, sides).rot(y=180 / sides)

    shaft = drum(radius * 1.12, tall, radius).at(y=tall / 2).paint(wall)
    crown = (drum(radius, 0.12, radius * flare).at(y=tall + 0.06) + drum(radius * flare, 0.16).at(y=tall + 0.2)).paint(trim)
    teeth = draw.whole("teeth", 2, 3) * 4 if sides == 4 else 12
    edge, tooth = flat * flare - 0.05, 0.16
    if sides == 4:
        n = teeth // 4 + 1
        row = box(tooth, 0.16, 0.1).row(n, dx=(2 * edge - 0.06) / (n - 1)).at(y=tall + 0.34, z=edge).ring(4)
    else:
        row = box(tooth, 0.16, 0.1).at(y=tall + 0.34, z=edge).ring(teeth if sides == 16 else 6)
    parts = shaft + crown + row.paint(trim)
    gate = _arch(0.3, 0.42, 0.14).at(z=flat * 1.08).paint(draw.colour("wood")) + _arch(0.4, 0.48, 0.1).at(z=flat * 1.08).paint(trim)
    slit = joined(_arch(0.09, 0.24, 0.1).at(x, s * tall, flat * 1.02) for x, s in ((0.0, 0.68), (0.0, 0.5))).paint(draw.colour("black"))
    parts += gate + slit + slit.rot(y=90) + slit.rot(y=180) + slit.rot(y=270)
    if draw.chance("turret", 0.6):
        rise = draw.number("turret height", 0.5, 0.9)
        turret = lathe([(0, -0.25), (0.17, 0), (0.17, rise), (0, rise)], 12).paint(wall)
        hat = cylinder(0.24, 0.35, top=0.0, n=12).at(y=rise + 0.17).paint(draw.colour())
        parts += (turret + hat + box(0.07, 0.14, 0.1).at(y=0.7 * rise, z=0.14).paint(draw.colour("black"))).at(radius, tall - 0.35, 0.1)
    if draw.chance("pointed roof", 0.4):
        parts += drum(radius, 0.6, 0.0).at(y=tall + 0.56).paint(draw.colour())
        return parts + _flag(draw, 0.3).at(y=tall + 0.8)
    return parts + _flag(draw, 0.5).at(-0.3 * radius, tall + 0.2)


def _lattice(draw: Draw, tall: float) -> Part:
    """A mast of four legs with cross bracing, straight or curved, with platforms, dishes and an aerial."""
    foot, waist = draw.number("foot", 0.35, 0.5), draw.number("curve", 0.35, 0.85)
    steps, colour, second = draw.whole("steps", 4, 6), draw.colour(), draw.colour()
    shares = np.linspace(0, 1, steps + 1)
    halves = foot * (1 - shares) ** (1 / waist) + 0.06
    levels = tall * shares**0.9
    frame = Part()
    for i in range(steps):
        a, b, y, z = halves[i], halves[i + 1], levels[i], levels[i + 1]
        leg = rod((a, y, a), (b, z, b), 0.035, n=4) + rod((a, y, a), (-b, z, b), 0.02, n=4) + rod((-a, y, a), (b, z, b), 0.02, n=4)
        beam = rod((-b, z, b), (b, z, b), 0.022, n=4)
        frame += (leg + beam).ring(4).paint(second if i % 2 else colour, 0.3)
    deck = draw.whole("deck", 1, steps - 2)
    frame += box(2.6 * halves[deck], 0.07, 2.6 * halves[deck]).at(y=levels[deck]).paint(draw.colour())
    aerial = rod((0, tall - 0.05, 0), (0, tall + draw.number("aerial", 0.3, 0.6), 0), 0.04, 0.015, n=6).paint(second)
    bowl = lathe([(0, 0), (0.1, 0.02), (0.17, 0.09), (0.15, 0.09), (0.0, 0.03)], 12).rot(x=90).paint(draw.colour("white"))
    dish = bowl.at(y=levels[-2], z=halves[-2] + 0.03) + bowl.rot(y=80).at(halves[-3] + 0.03, levels[-3] + 0.05)
    hut = box(0.3, 0.22, 0.24).at(0.25 * foot, 0.11, foot * 0.7).paint(draw.colour())
    return frame + aerial + dish + hut + box(2.6 * foot, 0.05, 2.6 * foot).at(y=-0.03).paint(draw.colour("neutral"))


def _television_tower(draw: Draw, tall: float) -> Part:
    """A slim concrete shaft with a ball, saucer or drum high up and a banded aerial; a hall at the foot."""
    foot, pod = draw.number("foot", 0.16, 0.24), draw.number("pod", 0.24, 0.36)
    form, place = draw.pick("pod form", ["ball", "saucer", "drum"]), draw.number("pod height", 0.62, 0.75) * tall
    shaft = lathe([(0, 0), (foot * 1.5, 0), (foot, 0.2), (0.09, place), (0.07, 0.8 * tall), (0, 0.8 * tall)], 14).paint(draw.colour())
    body, glass = draw.colour(), draw.colour("glass")
    if form == "ball":
        head = ball(pod, 16).paint(body, 0.6) + cylinder(pod * 1.02, 0.1, n=16).paint(glass, 0.7)
    elif form == "saucer":
        head = lathe([(0, -0.18), (0.12, -0.16), (pod * 1.2, 0), (pod * 1.2, 0.08), (0.3 * pod, 0.2), (0, 0.2)], 18).paint(body, 0.4)
        head += cylinder(pod * 1.23, 0.06, n=18).at(y=0.04).paint(glass, 0.7)
    else:
        head = cylinder(0.7 * pod, 0.4, top=pod, n=18).paint(body, 0.4) + cylinder(0.9 * pod, 0.08, top=0.92 * pod, n=18).at(y=0.05).size(1.06, 1, 1.06).paint(glass, 0.7)
    bands = [rod((0, (0.8 + 0.08 * i) * tall, 0), (0, (0.88 + 0.08 * i) * tall, 0), 0.05 - 0.012 * i, n=6) for i in range(3)]
    paints = [draw.colour("bright"), draw.colour("white")]
    hall = box(0.7, 0.16, 0.5).at(0.2, 0.08, 0.15).paint(draw.colour()) + box(0.5, 0.08, 0.52).at(0.22, 0.09, 0.16).paint(glass)
    cabin = box(0.14, 0.2, 0.14).at(y=0.35 * place, z=0.15).paint(draw.colour("bright"))
    return shaft + head.at(y=place) + joined(b.paint(paints[i % 2]) for i, b in enumerate(bands)) + hall + cabin


def _water_tower(draw: Draw, tall: float) -> Part:
    """A tank with a pointed or domed roof on four to six legs, with braces, a ladder and a stripe."""
    legs, radius = draw.whole("legs", 4, 6), draw.number("tank", 0.4, 0.55)
    rise, height = 0.5 * tall, draw.number("tank height", 0.45, 0.7)
    foot, colour = radius * draw.number("splay", 1.0, 1.25), draw.colour()
    leg = rod((0, 0, foot), (0, rise, 0.8 * radius), 0.045, n=5).ring(legs)
    ring = tube(lift(arc((foot + radius * 0.8) / 2, 0, 330, 12)), 0.025, 4, closed=True).rot(x=90).at(y=rise / 2)
    pipe = cylinder(0.07, rise, n=8).at(y=rise / 2)
    bowl = lathe([(0, -0.2), (0.5 * radius, -0.14), (radius, 0.03), (radius, height), (0, height)], 18).paint(draw.colour())
    stripe = cylinder(radius * 1.02, 0.12, n=18).at(y=0.5 * height).paint(draw.colour())
    hat = [(0, 0), (1.1 * radius, 0), (0.04, 0.4), (0, 0.4)]
    if draw.pick("roof", ["cone", "dome"]) == "dome":
        hat = [(0, 0), (1.02 * radius, 0), (0.85 * radius, 0.16), (0.45 * radius, 0.27), (0, 0.3)]
    top = lathe(hat, 18).at(y=height).paint(draw.colour()) + ball(0.06, 6).at(y=height + 0.38).paint(colour)
    sign = box(0.5 * radius, 0.26, 0.06).at(y=0.5 * height, z=radius * 0.98).paint(draw.colour("bright"))
    x, z = 0.6 * radius, 0.85 * radius
    rails = rod((x, 0, z), (x, rise + height, z), 0.018, n=4) + rod((x + 0.13, 0, z - 0.06), (x + 0.13, rise + height, z - 0.06), 0.018, n=4)
    rungs = rod((x, 0, z), (x + 0.13, 0, z - 0.06), 0.014, n=4).row(9, dy=(rise + height) / 10).at(y=(rise + height) / 2)
    return (leg + ring + pipe).paint(colour, 0.3) + (bowl + stripe + top + sign).at(y=rise) + (rails + rungs).paint(draw.colour("metal"))


def _pagoda(draw: Draw, tall: float) -> Part:
    """Three to five storeys, each with a wide roof with turned-up corners, a door and a spire."""
    storeys, sides = draw.whole("storeys", 3, 5), draw.pick("plan", [4, 6, 8])
    wide, shrink = draw.number("width", 0.4, 0.52), draw.number("shrink", 0.8, 0.9)
    eaves, step = draw.number("eaves", 1.5, 1.9), 0.85 * tall / storeys
    wall, roof, trim = draw.colour(), draw.colour(), draw.colour()
    whole = cylinder(1.45 * wide, 0.12, n=sides).rot(y=180 / sides).at(y=-0.06).paint(draw.colour("neutral"))
    for i in range(storeys):
        r, y = wide * shrink**i, i * step
        body = cylinder(r, step, n=sides).rot(y=180 / sides).at(y=y + step / 2).paint(wall)
        pane = _arch(0.5 * r, 0.42 * step, 0.05).at(y=y + 0.12 * step if i else 0.0, z=r * math.cos(math.pi / sides))
        rims = [(0.5, 0.45), (0.75, 0.2), (1.0, 0.12), (1.0, 0.04), (0.6, 0.1)]
        skirt = lathe([(0, 0.45 * step)] + [(eaves * r * s, step * (h - 0.1)) for s, h in rims][::1], sides, crease=20)
        corner = rod((0, 0.04 * step, eaves * r * 0.85), (0, 0.26 * step, eaves * r * 1.12), 0.035, n=4).ring(sides).paint(trim)
        whole += body + (skirt.paint(roof) + corner).rot(y=180 / sides).at(y=y + 0.72 * step)
        whole += joined(pane.rot(y=a) for a in (0, 90, 180, 270)).paint(draw.colour("dark") if i else trim)
    spire = rod((0, 0, 0), (0, 0.4, 0), 0.03, n=6) + ball(0.08, 8).at(y=0.12) + ball(0.055, 8).at(y=0.26)
    return whole + spire.at(y=storeys * step).paint(draw.colour("metal"), 0.7) + _flag(draw, 0.3).at(0.9 * wide, 0.0, 0.9 * wide)


_TOWERS: dict[str, Callable[[Draw, float], Part]] = {
    "skyscraper": _skyscraper, "lighthouse": _lighthouse, "clock tower": _clock_tower, "castle": _castle,
    "lattice": _lattice, "television tower": _television_tower, "water tower": _water_tower, "pagoda": _pagoda,
}  # fmt: skip


@shape("tower")
def tower(draw: Draw) -> Part:
    """A tower: skyscraper, lighthouse, clock tower, castle, lattice mast, television tower, water tower or pagoda.

    Each has its own plan, storeys, roof, openings and details; height and widths vary.
    """
    kind = draw.pick("kind", list(_TOWERS), [4, 3, 3, 3, 2, 2, 2, 2])
    return _TOWERS[kind](draw, draw.number("height", 1.7, 2.4))


def _gable(width: float, wall: float, rise: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array([(width / 2, 0), (width / 2, wall), (0, wall + rise), (-width / 2, wall), (-width / 2, 0)])


def _gable_roof(width: float, depth: float, wall: float, rise: float, over: float, paints: tuple[Colour, Colour]) -> Part:
    """Two boards over a gable whose ridge runs to the front, and a ridge cap."""
    pitch = math.degrees(math.atan2(rise, width / 2))
    length = math.hypot(rise, width / 2) + over
    board = box(length, 0.07, depth + 2 * over).at(length / 2).rot(z=-pitch).at(y=wall + rise + 0.03)
    left = box(length, 0.07, depth + 2 * over).at(-length / 2).rot(z=pitch).at(y=wall + rise + 0.03)
    return (board + left).paint(paints[0]) + box(0.12, 0.08, depth + 2.2 * over).at(y=wall + rise + 0.06).paint(paints[1])


def _entrance(draw: Draw, name: str, radius: float) -> Part:
    """A dark hole, round, square-topped or a doorway, with a ring and a perch or ledge; faces +z."""
    form, perch = draw.pick(f"hole {name}", ["round", "ringed", "door"]), draw.pick(f"perch {name}", ["rod", "ledge", "branch"])
    dark, wood = draw.colour("black"), draw.colour("wood")
    if form == "door":
        hole = _arch(1.7 * radius, 2.4 * radius, 0.06).at(y=-1.2 * radius).paint(dark, 0.0)
    else:
        hole = _disc(radius, 0.06, 16).paint(dark, 0.0)
    if form == "ringed":
        hole += _disc(1.35 * radius, 0.04, 16).paint(draw.colour(), 0.3)
    if perch == "ledge":
        return hole + box(2.4 * radius, 0.04, 0.2).at(y=-1.7 * radius, z=0.1).paint(wood)
    tilt = 0.1 if perch == "branch" else 0.0
    return hole + rod((0, -1.9 * radius, -0.02), (-tilt, -1.9 * radius + tilt, 0.3), 0.03, n=6).paint(wood)


def _bird(draw: Draw) -> Part:
    """A small bird that looks to the left, standing on y = 0."""
    feather = draw.colour("bright")
    body = ball(0.12, 10).size(1.3, 1, 0.9).rot(z=-20).at(y=0.13) + ball(0.08, 8).at(-0.13, 0.25)
    tail = slab(np.array([(0.08, 0.12), (0.34, 0.1), (0.34, 0.02), (0.1, 0.04)]), 0.08)
    beak = cylinder(0.03, 0.09, top=0.0, n=6).rot(z=90).at(-0.24, 0.25).paint(draw.colour("light"))
    return body.paint(feather) + tail.paint(draw.colour()) + beak


def _house_body(draw: Draw, form: str, width: float, wall: float, depth: float) -> tuple[Part, float, float]:
    """Walls and roof of a birdhouse, with the height of its top and of the front wall that can carry holes."""
    rise, over = draw.number("roof rise", 0.25, 0.5), draw.number("overhang", 0.08, 0.18)
    colour, roof, ridge = draw.colour(), draw.colour(), draw.colour()
    floor = box(width + 0.16, 0.07, depth + 0.2).at(y=-0.03, z=0.02).paint(draw.colour())
    if form == "lean-to":
        side = np.array([(depth / 2, 0), (depth / 2, wall), (-depth / 2, wall + rise), (-depth / 2, 0)])
        walls = slab(side, width).rot(y=-90)
        lean = math.degrees(math.atan2(rise, depth))
        board = box(width + 2 * over, 0.07, math.hypot(depth, rise) + 2.5 * over).rot(x=lean).at(y=wall + rise / 2 + 0.03, z=0.04)
        return walls.paint(colour) + board.paint(roof) + floor, wall + rise, wall
    if form == "barrel":
        walls = lathe([(0, 0), (0.42 * width, 0), (0.52 * width, 0.5 * wall), (0.44 * width, wall), (0, wall)], 18).paint(colour)
        hoops = (cylinder(0.5 * width, 0.05, n=18).at(y=0.2 * wall) + cylinder(0.5 * width, 0.05, n=18).at(y=0.86 * wall)).paint(ridge)
        hat = lathe([(0, 0), (0.52 * width + over, -0.03), (0.52 * width + over, 0.03), (0.05, rise), (0.05, rise + 0.06), (0, rise + 0.06)], 18)
        return walls + hoops + hat.at(y=wall).paint(roof), wall + rise, wall
    if form == "A-frame":
        wall, rise = 0.06, wall + 0.8 * rise
    walls = slab(_gable(width, wall, rise), depth).paint(colour)
    top = _gable_roof(width, depth, wall, rise, over, (roof, ridge)) + floor
    if form == "chimney":
        top += box(0.14, 0.4, 0.14).at(0.22 * width, wall + rise - 0.05, -0.1).paint(draw.colour())
        top += box(0.18, 0.06, 0.18).at(0.22 * width, wall + rise + 0.15, -0.1).paint(ridge)
    return walls + top, wall + rise, wall if form != "A-frame" else 0.75 * rise


def _mount(draw: Draw, top: float, depth: float) -> Part:
    """How a birdhouse is put up: on a post, hung from a rope, on a back board or on a tree stump."""
    kind, wood = draw.pick("mount", ["post", "rope", "back board", "trunk"]), draw.colour("wood")
    length = draw.number("mount length", 0.35, 0.8)
    if kind == "post":
        brace = rod((0, -0.3, 0.03), (0.16, -0.03, 0.03), 0.03, n=5).mirror()
        return (box(0.14, length + 0.1, 0.14).at(y=-length / 2) + brace).paint(wood)
    if kind == "rope":
        loop = spline([(0, top, -0.2), (0, top + 0.3 * length, -0.03), (0, top + 0.6 * length, 0.02), (0, top + 0.3 * length, 0.07), (0, top, 0.2)], 14)
        return tube(loop, 0.022, 5).paint(draw.colour())
    if kind == "back board":
        board = box(0.26, top + length, 0.07).at(y=(top + length) / 2 - length / 2, z=-depth / 2 - 0.03)
        nails = _disc(0.03, 0.03, 6).at(z=-depth / 2 + 0.01)
        return board.paint(wood) + (nails.at(y=-0.35 * length) + nails.at(y=top + 0.35 * length)).paint(draw.colour("metal"))
    trunk = lathe([(0, -length - 0.05), (0.2, -length - 0.05), (0.13, -length + 0.12), (0.11, 0), (0, 0)], 8, crease=20)
    twig = rod((0.08, -0.6 * length, 0), (0.35, -0.35 * length, 0.05), 0.05, 0.025, n=6)
    leaf = ball(0.1, 6).size(1.3, 0.5, 0.8).at(0.4, -0.33 * length, 0.05).paint(draw.colour("leaf"))
    return (trunk + twig).paint(wood) + leaf


@shape("birdhouse")
def birdhouse(draw: Draw) -> Part:
    """A birdhouse: gabled, with chimney, lean-to, A-frame or barrel; on a post, rope, back board or trunk.

    Holes and perches (one or two), roof pitch, overhang, a bird on the roof and proportions vary.
    """
    form = draw.pick("form", ["gable", "chimney", "lean-to", "A-frame", "barrel"], [3, 2, 2, 2, 2])
    width, wall, depth = draw.number("width", 0.6, 0.85), draw.number("wall", 0.55, 0.95), draw.number("depth", 0.5, 0.7)
    radius = draw.number("hole radius", 0.1, 0.15)
    depth = width if form == "barrel" else depth
    house, top, front = _house_body(draw, form, width, wall, depth)
    z = depth / 2 + (0.0 if form == "barrel" else 0.01)
    if front > 0.75 and form != "A-frame" and draw.chance("two holes"):
        house += _entrance(draw, "upper", 0.85 * radius).at(0.0, 0.82 * front, z) + _entrance(draw, "lower", 0.85 * radius).at(0.0, 0.36 * front, z)
    else:
        house += _entrance(draw, "single", radius).at(0.0, 0.6 * front, z)
    plaque = box(0.16, 0.1, 0.04).at(0.28 * width, 0.12, z - 0.01 if form != "barrel" else 0.4 * width).paint(draw.colour("bright"))
    if draw.chance("bird", 0.25):
        house += _bird(draw).at(0.0, top + 0.06, 0.1)
    return house + plaque + _mount(draw, top, depth)
