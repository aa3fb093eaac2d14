"""Screens: display, laptop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lie_ssl.objects.shapes.curves import lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.keys import draw_keys
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, disc, loft, rod, slab

_LAYER = 0.012  # distance between the layers on a screen


@dataclass(frozen=True)
class _Screen:
    """A screen about the origin that faces +z; `bend` > 0 brings its left and right edges forward."""

    width: float
    height: float
    bend: float = 0.0

    def plate(self, x: float, y: float, width: float, height: float, front: float, thickness: float) -> Part:
        """A plate that follows the bend, centred on (x, y); its front is at `front` in the middle of the screen."""
        across = np.linspace(x - width / 2, x + width / 2, 9 if self.bend else 2)
        depth = front + self.bend * across**2
        outline = np.concatenate(
            [np.stack([across, -depth], axis=1), np.stack([across, thickness - depth], axis=1)[::-1]]
        )
        return slab(outline, height).rot(x=-90).at(y=y)

    def tile(self, u: float, v: float, width: float, height: float, layer: int, colour: Colour) -> Part:
        """A rectangle of the picture with its lower left corner at (u, v), in fractions of the screen."""
        x, y = (u + width / 2 - 0.5) * self.width, (v + height / 2 - 0.5) * self.height
        front = layer * _LAYER
        plate = self.plate(x, y, width * self.width, height * self.height, front, _LAYER)
        return plate.paint(colour, 0.3)


def _picture(draw: Draw, screen: _Screen) -> Part:
    """The picture on a screen: windows, a landscape, a chart, lines of text, or dark with a streak of light."""
    motif, shift = draw.pick("picture", ["windows", "landscape", "chart", "text", "off"]), draw.number("shift", 0, 0.25)
    dark, bright = draw.colour("black"), [draw.colour("bright") for _ in range(4)]
    if motif == "off":
        glass = screen.tile(0, 0, 1, 1, 1, draw.colour("glass"))
        return glass + screen.tile(0.12 + shift, 0.2, 0.1, 0.68, 2, draw.colour("glass"))
    if motif == "landscape":
        sky, ground = screen.tile(0, 0, 1, 1, 1, draw.colour("pastel")), draw.colour("leaf")
        sun = disc(0.11 * screen.height, _LAYER, 12).paint(draw.colour("light"))
        x = (0.32 - shift) * screen.width
        sky += sun.at(x, 0.3 * screen.height, 2 * _LAYER + screen.bend * x**2)
        hill = screen.tile(0, 0, 0.45, 0.42 + shift, 3, draw.colour("dark"))
        return sky + screen.tile(0, 0, 1, 0.3 + shift, 2, ground) + hill
    if motif == "chart":
        base = screen.tile(0, 0, 1, 1, 1, draw.colour("white")) + screen.tile(0.06, 0.07, 0.86, 0.04, 2, dark)
        bars = [(0.1 + 0.17 * i, 0.15 + shift + 0.12 * i) for i in range(4)]
        return base + joined(screen.tile(u, 0.12, 0.1, h, 2, c) for (u, h), c in zip(bars, bright, strict=True))
    if motif == "text":
        ink, lengths = draw.colour("light"), (0.6, 0.35, 0.75, 0.5, 0.2)
        lines = [screen.tile(0.08, 0.78 - 0.16 * i, n, 0.07, 2, ink) for i, n in enumerate(lengths)]
        return screen.tile(0, 0, 1, 1, 1, dark) + joined(lines)
    window = screen.tile(0.12 + shift, 0.28, 0.5, 0.56, 2, draw.colour("white"))
    title = screen.tile(0.12 + shift, 0.76, 0.5, 0.08, 3, bright[3])
    icons = [screen.tile(0.03, 0.8 - 0.18 * i, 0.07, 0.11, 2, bright[i]) for i in range(3)]
    desk = screen.tile(0, 0, 1, 1, 1, draw.colour()) + screen.tile(0, 0, 1, 0.09, 2, dark)
    return desk + window + title + joined(icons)


def _flat_housing(draw: Draw, screen: _Screen, bezel: float, chin: float, depth: float) -> Part:
    """Frame, flat case and a box for the electronics behind it."""
    width, height = screen.width + 2 * bezel, screen.height + 2 * bezel + chin
    body, back = draw.colour(), draw.colour()
    case = screen.plate(0, -chin / 2, width, height, 0, depth).paint(body)
    hump = box(0.45 * width, 0.5 * height, 0.1, 0.05).at(y=-0.1 * height, z=-depth - 0.03).paint(back)
    if screen.bend:
        return case + hump
    opening = rectangle(screen.width, screen.height) + np.array([0, chin / 2])
    frame = slab(rectangle(width, height), 0.05, holes=[opening]).at(y=-chin / 2, z=0.025)
    return case + hump + frame.paint(body, 0.4)


def _tube_set(draw: Draw, screen: _Screen, bezel: float) -> Part:
    """The deep case of an old set: it narrows to the back, with knobs and slats on the right, an aerial and legs."""
    panel, depth = draw.number("knob panel", 0.22, 0.4), draw.number("tube", 0.5, 0.9)
    width, height = screen.width + 2 * bezel + panel, screen.height + 2 * bezel
    opening = rectangle(screen.width, screen.height, 0.12) - np.array([panel / 2, 0])
    front = slab(rectangle(width, height, 0.06), 0.1, holes=[opening]).at(z=0.05)
    front += box(width, height, 0.3, 0.06).at(z=-0.16)
    back = loft([lift(rectangle(width * s, height * s), z) for s, z in ((0.95, -0.3), (0.55, -depth))])
    knobs = disc(0.32 * panel, 0.1, 12).row(2, dy=0.23 * height).at(y=0.17 * height, z=0.15)
    slats = box(0.6 * panel, 0.03, 0.04).row(4, dy=0.07).at(y=-0.25 * height, z=0.11).paint(draw.colour("black"))
    whole = front.paint(draw.colour()) + back.paint(draw.colour("dark"))
    whole += (knobs.paint(draw.colour("metal"), 0.6) + slats).at(screen.width / 2 + 0.8 * bezel)
    if draw.chance("aerial", 0.6):
        top = draw.number("aerial length", 0.4, 0.7)
        wires = rod((-0.03, 0, 0), (-0.5 * top, top, 0), 0.015, n=5) + ball(0.09, 8)
        wires += rod((0.03, 0, 0), (0.35 * top, 0.9 * top, -0.05), 0.015, n=5)
        whole += wires.at(y=height / 2, z=-0.2).paint(draw.colour("metal"), 0.6)
    legs = box(0.7 * width, 0.08, 0.4).at(y=-0.03, z=-0.2)
    if draw.chance("legs"):
        legs = rod((0.36 * width, 0, -0.1), (0.43 * width, -0.45, 0.05), 0.05, 0.03, n=6)
        legs = (legs + rod((0.36 * width, 0, -0.3), (0.43 * width, -0.45, -0.5), 0.05, 0.03, n=6)).mirror()
    return (whole + legs.at(y=-height / 2).paint(draw.colour("wood"))).at(panel / 2)


def _stand(draw: Draw, width: float, bottom: float, depth: float) -> Part:
    """The stand of a flat display, below its lower edge at height `bottom`."""
    kind = draw.pick("stand", ["round foot", "plate", "two feet", "fork", "bent sheet"])
    rise, reach = draw.number("stand height", 0.14, 0.4), draw.number("stand reach", 0.3, 0.5)
    ground, z = bottom - rise, -depth - 0.05
    if kind == "two feet":
        root = (0.32 * width, bottom + 0.03, -depth / 2)
        foot = rod(root, (0.36 * width, ground, 0.6 * reach), 0.03, n=6)
        return (foot + rod(root, (0.36 * width, ground, -0.7 * reach), 0.03, n=6)).mirror()
    if kind == "bent sheet":
        spine = spline([(0.25, z - 0.02), (0, z - 0.1), (-rise, z - 0.02), (-rise, reach * 0.7)], 12)
        upper, lower = spine + np.array([0.03, 0.0]), spine - np.array([0.0, 0.05])
        side = np.concatenate([upper, lower[::-1]])[:, ::-1]
        return slab(side, 0.3 * width).rot(y=-90).at(y=bottom)
    neck = box(0.16, rise + 0.3, 0.08).at(y=bottom + 0.15 - rise / 2, z=z)
    if kind == "round foot":
        return neck + cylinder(reach, 0.05, top=reach * 0.9, n=20).at(y=ground + 0.025, z=z + 0.1)
    if kind == "plate":
        return neck + box(1.7 * reach, 0.05, reach).at(y=ground + 0.025, z=z + 0.1)
    prong = rod((0, ground + 0.05, z), (reach, ground + 0.02, reach * 0.8), 0.045, 0.03, n=6)
    return neck + prong.mirror() + rod((0, ground + 0.05, z), (0, ground + 0.02, z - 0.25), 0.045, n=6)


@shape("display")
def display(draw: Draw) -> Part:
    """A monitor or television: flat, curved, all-in-one with a chin, or an old tube set with knobs and aerial.

    Picture on the screen, kind of stand or legs, aspect, frame, tilt and depth vary.
    """
    kind = draw.pick("kind", ["monitor", "television", "curved", "all in one", "tube"], [3, 2, 2, 2, 3])
    height, bezel = draw.number("height", 0.8, 1.0), draw.number("bezel", 0.03, 0.11)
    aspects = {"monitor": (1.25, 1.7), "television": (1.6, 2.0), "curved": (1.8, 2.3), "tube": (1.05, 1.4)}
    aspect = draw.number("aspect", *aspects.get(kind, (1.4, 1.75)))
    screen = _Screen(height * aspect, height, draw.number("bend", 0.1, 0.2) if kind == "curved" else 0.0)
    depth, tilt = draw.number("depth", 0.05, 0.12), draw.number("tilt", -8, 3)
    picture = _picture(draw, screen)
    if kind == "tube":
        return picture + _tube_set(draw, screen, bezel + 0.04)
    chin = draw.number("chin", 0.16, 0.26) if kind == "all in one" else draw.number("lip", 0.0, 0.06)
    head = picture + _flat_housing(draw, screen, bezel, chin, depth)
    bottom, x = -height / 2 - bezel - chin, 0.4 * screen.width
    if chin > 0.1:
        logo = disc(0.35 * chin, 0.04, 10).at(y=bottom + chin / 2 + bezel / 2, z=0.05)
        head += logo.paint(draw.colour("metal"), 0.6)
    head += box(0.1, 0.03, 0.03).at(x, bottom + 0.045, 0.05 + screen.bend * x**2).paint(draw.colour("light"))
    return head.rot(x=tilt) + _stand(draw, screen.width, bottom, depth).paint(draw.colour(), 0.4)


def _lid(draw: Draw, width: float, height: float, thick: float, corner: float, colour: Colour) -> Part:
    """The upper half of a laptop, upright on y = 0, facing +z: shell, rim, picture, and a badge on the back."""
    bezel, badge = draw.number("bezel", 0.05, 0.13), draw.pick("badge", ["disc", "bar", "square"])
    screen = _Screen(width - 2 * bezel, height - 2 * bezel - 0.06)
    hole = rectangle(screen.width, screen.height)
    rim = slab(rectangle(width - 0.04, height - 0.04, corner, 3), 0.02, holes=[hole]).at(z=0.03)
    mark = disc(0.13, 0.04, 12) if badge == "disc" else box(0.5 if badge == "bar" else 0.2, 0.15, 0.04)
    lid = slab(rectangle(width, height, corner, 3), thick).at(z=-thick / 2).paint(colour, 0.4)
    lid += mark.at(y=0.1, z=-thick).paint(draw.colour("light"), 0.5) + rim.paint(draw.colour("black"))
    return (lid + _picture(draw, screen)).at(y=height / 2)


@shape("laptop")
def laptop(draw: Draw) -> Part:
    """An open laptop, slim, chunky or rounded; picture, opening, keys, touch pad, hinge, stickers and badge vary."""
    kind, hinges = draw.pick("kind", ["slim", "chunky", "rounded"]), draw.pick("hinges", [1, 2])
    width, opening = draw.number("width", 1.4, 1.8), draw.number("opening", 98, 128)
    depth = width * draw.number("aspect", 0.6, 0.74)
    thick = draw.number("thickness", 0.05, 0.09) * (2.0 if kind == "chunky" else 1.0)
    corner, body = draw.number("corner", 0.12, 0.22) if kind == "rounded" else 0.04, draw.colour()
    lid = _lid(draw, width, depth, 0.6 * thick, corner, draw.colour() if draw.chance("two-tone", 0.4) else body)
    whole = lid.at(y=0.03).rot(x=90 - opening).at(z=-depth / 2 + 0.03)
    whole += slab(rectangle(width, depth, corner, 3), thick).rot(x=-90).at(y=-thick / 2).paint(body, 0.4)
    keys = draw_keys(draw, depth * draw.number("key share", 0.085, 0.105), 0.035, ["flat", "tapered"])
    rows, columns = draw.whole("rows", 3, 4), draw.whole("columns", 9, 10)
    whole += keys.block(rows, columns, 0.84 * width).at(y=0.005, z=-depth / 2 + 0.14 + rows * keys.pitch)
    pad, x = draw.number("pad size", 0.16, 0.26), draw.pick("pad place", [0.0, -0.12])
    whole += box(1.5 * pad, 0.02, pad).at(x, 0.005, depth / 2 - pad / 2 - 0.07).paint(draw.colour("metal"), 0.4)
    if draw.chance("stickers", 0.4):
        sticker = box(0.14, 0.02, 0.1).at(0.4 * width, 0.005, 0.4 * depth)
        whole += sticker.paint(draw.colour("bright")) + sticker.at(-0.2).paint(draw.colour("bright"))
    dark = cylinder(0.04, 0.2 if hinges == 2 else 0.7 * width, n=8).rot(z=90).row(hinges, dx=0.68 * width)
    dark = dark.at(z=-depth / 2 + 0.01)
    dark += box(0.12, 0.04, 0.12).at(0.4 * width, -thick - 0.01, 0.38 * depth).mirror("x").mirror("z")
    return whole + dark.paint(draw.colour("black"))
