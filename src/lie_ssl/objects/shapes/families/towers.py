"""Towers: skyscraper, lighthouse, clock tower, castle, mast, television tower, water tower, pagoda."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from lie_ssl.objects.shapes.curves import arc, lift, lying, rectangle
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import arch, ball, box, cylinder, disc, hoop, lathe, loft, rod, slab, tube


def _flag(draw: Draw, size: float) -> Part:
    """A pole with a flag that flies to the right."""
    cloth = slab([(0, 1.2 * size), (size, size), (0, 0.7 * size)], 0.02).paint(draw.colour("bright"))
    return rod((0, 0, 0), (0, 1.25 * size, 0), 0.02, n=5).paint(draw.colour("metal")) + cloth


def _pyramid(half: float, height: float) -> Part:
    """A pointed roof on y = 0 over a square."""
    return cylinder(half * math.sqrt(2), height, top=0.0, n=4).rot(y=45).at(y=height / 2)


def _skyscraper(draw: Draw, height: float) -> Part:
    """Stepped storeys with a mast, a point or a sign on the roof, or one block with a slanted top."""
    width, wall, glass = draw.number("width", 0.5, 0.75), draw.colour(), draw.colour("glass")
    half, roof = width / 2, draw.pick("roof", ["mast", "point", "sign", "slant"])
    style = draw.pick("windows", ["bands", "columns", "squares"])
    door = box(draw.number("door", 0.2, 0.4) * width, 0.17, 0.06).at(y=0.085, z=half).paint(draw.colour("bright"))
    canopy = box(draw.number("canopy", 0.35, 0.6) * width, 0.04, 0.2).at(y=0.18, z=half + 0.08)
    block = door + canopy.paint(draw.colour("metal"))
    if roof == "slant":
        top = height - draw.number("slant", 0.2, 0.45)
        block += slab([(half, 0), (half, top), (-half, height), (-half, 0)], width).paint(wall, 0.4)
        return block + _windows(style, width, 0.25, top - 0.1, glass)
    tiers, y = draw.whole("tiers", 1, 4), 0.0
    for i in range(tiers):
        rise = height / tiers * (1.15 - 0.1 * i)
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


def _windows(style: str, width: float, low: float, high: float, glass: Colour) -> Part:
    """Windows on all four sides of a square block: each is a bar that goes right through it."""
    rows, columns = max(1, min(9, int((high - low) / 0.12))), max(2, min(4, int(width / 0.14)))
    through = width + 0.03
    if style == "bands":
        bars = box(through, 0.06, through).row(rows, dy=(high - low) / rows)
        return bars.at(y=(low + high) / 2).paint(glass, 0.6)
    bar = box(0.5 * width / columns, high - low, through)
    if style == "squares":
        bar = box(0.5 * width / columns, 0.08, through).row(rows, dy=(high - low) / rows)
    bars = bar.row(columns, dx=0.9 * width / columns)
    return (bars + bars.rot(y=90)).at(y=(low + high) / 2).paint(glass, 0.6)


def _lighthouse(draw: Draw, height: float) -> Part:
    """A tapering round tower with stripes, a gallery, a lit lantern room, a door, windows and a keeper's hut."""
    foot, neck, cap = draw.number("foot", 0.3, 0.4), draw.number("neck", 0.16, 0.22), draw.number("cap", 0.15, 0.3)
    bands, paints = draw.whole("stripes", 1, 6), (draw.colour(), draw.colour())
    rim, height = draw.number("gallery", 1.35, 1.65) * neck, 0.85 * height
    whole = cylinder(1.5 * foot, 0.1, n=9).size(1.4, 1, 1).at(0.15, -0.05).paint(draw.colour("neutral"))
    for i in range(bands):
        low, high = (foot + (neck - foot) * k / bands for k in (i, i + 1))
        whole += cylinder(low, height / bands, high).at(y=(i + 0.5) * height / bands).paint(paints[i % 2])
    posts = rod((rim, 0, 0), (rim, 0.16, 0), 0.014, n=4).ring(8) + cylinder(1.1 * rim, 0.06).at(y=0.03)
    rail = tube(lift(arc(rim, 0, 345, 16)), 0.016, 4, closed=True).rot(x=90).at(y=0.16)
    room = (posts + rail).paint(draw.colour("black"))
    room += cylinder(0.85 * neck, 0.36, n=12).at(y=0.18).paint(draw.colour("glass"), 0.8)
    room += box(1.1 * neck, 0.16, 0.5 * neck).at(y=0.2, z=0.62 * neck).paint(draw.colour("light"), 0.8)
    hat = lathe([(0, 0), (1.1 * neck, 0), (0.8 * neck, 0.6 * cap), (0.03, cap), (0.03, cap + 0.1), (0, cap + 0.1)], 14)
    whole += (room + hat.at(y=0.34).paint(draw.colour(), 0.4)).at(y=height)
    panes = box(0.1, 0.12, 0.1).at(y=0.42 * height, z=0.58 * foot + 0.42 * neck)
    panes += box(0.1, 0.12, 0.1).at(y=0.75 * height, z=0.25 * foot + 0.75 * neck)
    if draw.chance("hut", 0.6):
        roof = slab([(0.2, 0), (0, 0.18), (-0.2, 0)], 0.54).rot(y=90).at(0.45, 0.26)
        whole += box(0.5, 0.26, 0.34).at(0.45, 0.13).paint(draw.colour()) + roof.paint(draw.colour())
        panes += box(0.12, 0.12, 0.36).at(0.52, 0.14)
    door = arch(0.17, 0.3, 0.12).at(z=foot - 0.03).paint(draw.colour("dark"))
    return whole + door + panes.paint(draw.colour("glass"))


def _clock_tower(draw: Draw, height: float) -> Part:
    """A square tower with a clock on each side, arched windows and a spire, dome, belfry or gable on top."""
    width, height, rise = draw.number("width", 0.42, 0.6), 0.75 * height, draw.number("roof height", 0.35, 0.8)
    top = width * draw.number("clock storey", 1.08, 1.3)
    half, wall, trim, roof = top / 2, draw.colour(), draw.colour(), draw.colour()
    walls = box(width, height, width).at(y=height / 2) + box(top, top, top).at(y=height + half)
    ledges = box(1.1 * top, 0.06, 1.1 * top).at(y=height) + box(1.12 * top, 0.07, 1.12 * top).at(y=height + top)
    ledges += box(1.25 * width, 0.12, 1.25 * width).at(y=0.06)
    hands = box(0.045, 0.26 * top, 0.02).at(y=0.12 * top).rot(z=draw.number("hour", 0, 360))
    hands += box(0.035, 0.38 * top, 0.02).at(y=0.17 * top, z=0.012).rot(z=draw.number("minute", 0, 360))
    hands += box(0.03, 0.08 * top, 0.02).at(y=0.34 * top).ring(4, "z")
    face = disc(0.43 * top, 0.06, 18).paint(trim) + disc(0.38 * top, 0.09, 18).paint(draw.colour("white"))
    face = (face + hands.at(z=0.055).paint(draw.colour("black"))).at(y=height + half, z=half).ring(4)
    slit = (
        arch(0.16 * width, 0.35 * height, width + 0.03)
        .at(y=0.45 * height)
        .row(draw.whole("slits", 1, 2), dx=0.4 * width)
    )
    whole = walls.paint(wall) + ledges.paint(trim) + face + slit.ring(4).paint(draw.colour("glass"))
    whole += arch(0.34 * width, 0.3, 0.08).at(z=width / 2).paint(draw.colour("wood"))
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
        whole += (posts + bell).at(y=height + top + 0.33)
        crown = _pyramid(half, 0.7 * rise).at(y=0.3)
    return whole + (crown.paint(roof, 0.4) + _flag(draw, 0.25).at(y=0.3)).at(y=height + top + 0.03)


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
    slit = (arch(0.09, 0.24, 0.1).at(y=upper * tall) + arch(0.09, 0.24, 0.1).at(y=0.45 * tall)).at(z=front).ring(4)
    whole = drum(1.12 * radius, radius, 0, tall).paint(wall) + slit.paint(draw.colour("black"))
    whole += (crown + arch(gate + 0.1, gate + 0.2, 0.1).at(z=front + 0.02)).paint(trim)
    whole += arch(gate, gate + 0.14, 0.14).at(z=front + 0.02).paint(draw.colour("wood"))
    if draw.chance("turret", 0.6):
        rise = draw.number("turret height", 0.5, 0.9)
        turret = lathe([(0, -0.25), (0.17, 0), (0.17, rise), (0, rise)], 12).paint(wall)
        turret += cylinder(0.24, 0.35, top=0.0, n=12).at(y=rise + 0.17).paint(draw.colour())
        whole += turret.at(radius, tall - 0.35, 0.1)
    if draw.chance("pointed roof", 0.4):
        return whole + drum(radius, 0, tall + 0.26, 0.6).paint(draw.colour()) + _flag(draw, 0.3).at(y=tall + 0.8)
    return whole + _flag(draw, 0.5).at(-0.3 * radius, tall + 0.2)


def _lattice(draw: Draw, height: float) -> Part:
    """A mast of four legs with cross bracing, straight or curved, with a deck, dishes, a hut and an aerial."""
    foot, steps = draw.number("foot", 0.35, 0.5), draw.whole("steps", 4, 6)
    shares, paints = np.linspace(0, 1, steps + 1), (draw.colour(), draw.colour())
    halves, levels = foot * (1 - shares) ** (1 / draw.number("curve", 0.35, 0.85)) + 0.06, height * shares**0.9
    whole = box(2.6 * foot, 0.05, 2.6 * foot).at(y=-0.03).paint(draw.colour("neutral"))
    for i in range(steps):
        a, b, low, high = halves[i], halves[i + 1], levels[i], levels[i + 1]
        side = rod((a, low, a), (b, high, b), 0.035, n=4) + rod((a, low, a), (-b, high, b), 0.02, n=4)
        side += rod((-a, low, a), (b, high, b), 0.02, n=4) + rod((-b, high, b), (b, high, b), 0.022, n=4)
        whole += side.ring(4).paint(paints[i % 2], 0.3)
    deck = draw.whole("deck", 1, steps - 2)
    edge = draw.number("deck edge", 2.3, 3.0) * halves[deck]
    whole += box(edge, 0.07, edge).at(y=levels[deck]).paint(draw.colour())
    whole += rod((0, height - 0.05, 0), (0, height + draw.number("aerial", 0.3, 0.6), 0), 0.04, 0.015, n=6).paint(
        paints[0]
    )
    bowl = lathe([(0, 0), (0.1, 0.02), (0.17, 0.09), (0.15, 0.09), (0.0, 0.03)], 12).rot(x=90)
    dishes = bowl.at(y=levels[-2], z=halves[-2] + 0.03) + bowl.rot(y=80).at(halves[-3] + 0.03, levels[-3] + 0.05)
    hut = box(0.3, 0.22, 0.24).at(0.25 * foot, 0.11, 0.7 * foot)
    return whole + dishes.paint(draw.colour("white")) + hut.paint(draw.colour())


def _twisted(draw: Draw, height: float) -> Part:
    """A skyscraper whose storeys turn and shrink on their way up, glass and wall in turn, with a mast on top."""
    width, turn, top = draw.number("width", 0.5, 0.75), draw.number("twist", 40, 110), draw.number("taper", 0.55, 0.9)
    wall, glass, half = draw.colour(), draw.colour("glass"), width * top / 2
    storeys = 12
    plan, shares = rectangle(width, width, 0.08, 2), np.linspace(0, 1, storeys + 1)
    levels = []
    for share in shares:
        angle = np.radians(turn * share)
        spin = np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
        levels.append(lying(plan @ spin * (1 - (1 - top) * share), height * share))
    whole = joined(loft(levels[i : i + 2]).paint(wall if i % 2 else glass, 0.5) for i in range(storeys))
    roof = box(half, 0.1, half).rot(y=turn).at(y=height + 0.04).paint(draw.colour())
    mast = rod((0, height, 0), (0, height + draw.number("mast", 0.3, 0.6), 0), 0.035, 0.012, n=6)
    roof += mast.paint(draw.colour("metal"))
    canopy = box(0.4 * width, 0.04, 0.2).at(y=0.18, z=width / 2 + 0.08).paint(draw.colour("metal"))
    return whole + roof + canopy + box(0.3 * width, 0.17, 0.06).at(y=0.085, z=width / 2).paint(draw.colour("bright"))


def _television_tower(draw: Draw, height: float) -> Part:
    """A slim concrete shaft with a ball, saucer or drum high up and a banded aerial; a hall at the foot."""
    foot, pod = draw.number("foot", 0.16, 0.24), draw.number("pod", 0.24, 0.36)
    form, place = draw.pick("pod form", ["ball", "saucer", "drum"]), draw.number("pod height", 0.62, 0.75) * height
    shaft = lathe([(0, 0), (foot * 1.5, 0), (foot, 0.2), (0.09, place), (0.07, 0.8 * height), (0, 0.8 * height)], 14)
    body, glass, paints = draw.colour(), draw.colour("glass"), (draw.colour("bright"), draw.colour("white"))
    if form == "ball":
        head = ball(pod, 16).paint(body, 0.6) + cylinder(pod * 1.02, 0.1, n=16).paint(glass, 0.7)
    elif form == "saucer":
        bowl = [(0, -0.18), (0.12, -0.16), (pod * 1.2, 0), (pod * 1.2, 0.08), (0.3 * pod, 0.2), (0, 0.2)]
        head = lathe(bowl, 18).paint(body, 0.4) + cylinder(pod * 1.23, 0.06).at(y=0.04).paint(glass, 0.7)
    else:
        panes = cylinder(0.93 * pod, 0.08, 0.99 * pod).at(y=0.05)
        head = cylinder(0.7 * pod, 0.4, pod).paint(body, 0.4) + panes.paint(glass, 0.7)
    whole = shaft.paint(draw.colour()) + head.at(y=place)
    for i in range(3):
        low, high = ((0.8 + 0.08 * k) * height for k in (i, i + 1))
        whole += rod((0, low, 0), (0, high, 0), 0.05 - 0.012 * i, n=6).paint(paints[i % 2])
    hall = box(0.7, 0.16, 0.5).at(0.2, 0.08, 0.15).paint(draw.colour())
    hall += box(0.5, 0.08, 0.52).at(0.22, 0.09, 0.16).paint(glass)
    return whole + hall + box(0.14, 0.2, 0.14).at(y=0.35 * place, z=0.15).paint(draw.colour("bright"))


def _water_tower(draw: Draw, tall: float) -> Part:
    """A tank with a pointed or domed roof on four to six legs, with a brace, a pipe, a ladder, a sign and a stripe."""
    legs, radius = draw.whole("legs", 4, 6), draw.number("tank", 0.4, 0.55)
    rise, height = 0.5 * tall, draw.number("tank height", 0.45, 0.7)
    foot, colour = radius * draw.number("splay", 1.0, 1.25), draw.colour()
    stand = rod((0, 0, foot), (0, rise, 0.8 * radius), 0.045, n=5).ring(legs)
    stand += hoop((foot + radius * 0.8) / 2, 0.025, 4, 12).rot(x=90).at(y=rise / 2)
    stand += cylinder(0.07, rise, n=8).at(y=rise / 2)
    bowl = [(0, -0.2), (0.5 * radius, -0.14), (radius, 0.03), (radius, height), (0, height)]
    tank = lathe(bowl, 18).paint(draw.colour())
    tank += cylinder(radius * 1.02, 0.12).at(y=0.5 * height).paint(draw.colour())
    hats = {
        "cone": [(0, 0), (1.1 * radius, 0), (0.04, 0.4), (0, 0.4)],
        "dome": [(0, 0), (1.02 * radius, 0), (0.85 * radius, 0.16), (0.45 * radius, 0.27), (0, 0.3)],
    }
    hat = hats[draw.pick("roof", list(hats))]
    tank += lathe(hat, 18).at(y=height).paint(draw.colour()) + ball(0.06, 6).at(y=height + hat[-1][1]).paint(colour)
    tank += box(0.5 * radius, 0.26, 0.06).at(y=0.5 * height, z=radius * 0.98).paint(draw.colour("bright"))
    x, z, top = 0.6 * radius, 0.85 * radius, rise + height
    rail = rod((x, 0, z), (x, top, z), 0.018, n=4)
    ladder = rail + rail.at(0.13, z=-0.06)
    ladder += rod((x, 0, z), (x + 0.13, 0, z - 0.06), 0.014, n=4).row(9, dy=top / 10).at(y=top / 2)
    return stand.paint(colour, 0.3) + tank.at(y=rise) + ladder.paint(draw.colour("metal"))


def _pagoda(draw: Draw, height: float) -> Part:
    """Three to five storeys, each with a wide roof with turned-up corners, a door, windows and a spire."""
    storeys, sides = draw.whole("storeys", 3, 5), draw.pick("plan", [4, 6, 8])
    width, shrink = draw.number("width", 0.4, 0.52), draw.number("shrink", 0.8, 0.9)
    eaves, step = draw.number("eaves", 1.5, 1.9), 0.85 * height / storeys
    wall, roof, trim, dark = draw.colour(), draw.colour(), draw.colour(), draw.colour("dark")
    turn, inward = 180 / sides, math.cos(math.pi / sides)
    whole = cylinder(1.45 * width, 0.12, n=sides).rot(y=turn).at(y=-0.06).paint(draw.colour("neutral"))
    rims = [(0.6, 0.0), (1.0, -0.06), (1.0, 0.02), (0.82, 0.1), (0.66, 0.35)]
    for i in range(storeys):
        r, y = width * shrink**i, i * step
        edge = eaves * r
        skirt = lathe([*[(edge * s, step * h) for s, h in rims], (0, 0.45 * step)], sides, crease=20)
        corner = rod((0, 0.0, edge * 0.85), (0, 0.2 * step, edge * 1.08), 0.035, n=4).ring(sides)
        cover = (skirt.paint(roof) + corner.paint(trim)).rot(y=turn).at(y=y + 0.72 * step)
        pane = arch(0.5 * r, 0.42 * step, 0.05).at(y=y + 0.12 * step if i else 0.0, z=r * inward)
        whole += cylinder(r, step, n=sides).rot(y=turn).at(y=y + step / 2).paint(wall) + cover
        whole += pane.ring(4 if sides != 6 else 6).paint(dark if i else trim)
    spire = rod((0, 0, 0), (0, 0.4, 0), 0.03, n=6) + ball(0.08, 8).at(y=0.12) + ball(0.055, 8).at(y=0.26)
    whole += spire.at(y=storeys * step).paint(draw.colour("metal"), 0.7)
    return whole + _flag(draw, 0.3).at(0.9 * width, 0.0, 0.9 * width)


@shape("tower")
def tower(draw: Draw) -> Part:
    """A tower: skyscraper, lighthouse, clock, castle, television or water tower, lattice mast or pagoda.

    Each has its own plan, storeys, roof, openings and details; height and widths vary.
    """
    kinds: dict[str, Callable[[Draw, float], Part]] = {
        "skyscraper": _skyscraper,
        "lighthouse": _lighthouse,
        "clock tower": _clock_tower,
        "castle": _castle,
        "mast": _lattice,
        "twisted": _twisted,
        "television tower": _television_tower,
        "water tower": _water_tower,
        "pagoda": _pagoda,
    }
    return kinds[draw.pick("kind", list(kinds), [3, 3, 3, 3, 2, 1.5, 2, 2, 2])](draw, draw.number("height", 1.7, 2.4))
