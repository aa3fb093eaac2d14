"""Things with screens and keys: displays, laptops, keyboards and remote controls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lie_ssl.objects.shapes.curves import lift, rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, loft, rod, slab, tube

_LAYER = 0.012  # how far each thing on a screen stands out from what is behind it


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
        """A rectangle of the picture, in shares of the screen, with its lower left corner at (u, v)."""
        x, y = (u + width / 2 - 0.5) * self.width, (v + height / 2 - 0.5) * self.height
        front = layer * _LAYER
        plate = self.plate(x, y, width * self.width, height * self.height, front, _LAYER)
        return plate.paint(colour, 0.3)


def _picture(draw: Draw, screen: _Screen) -> Part:
    """What a screen shows: windows, a landscape, a chart, lines of text, or a dark screen with a streak of light."""
    motif = draw.pick("picture", ["windows", "landscape", "chart", "text", "off"])
    dark = draw.colour("black")
    shift = draw.number("picture shift", 0.0, 0.25)
    if motif == "off":
        glass = screen.tile(0, 0, 1, 1, 1, draw.colour("glass"))
        return glass + screen.tile(0.12 + shift, 0.2, 0.1, 0.68, 2, draw.colour("white")).paint(draw.colour("glass"), 0.8)
    if motif == "landscape":
        sun = cylinder(0.11 * screen.height, _LAYER, n=12).rot(x=90).paint(draw.colour("light"))
        x = (0.32 - shift) * screen.width
        return (
            screen.tile(0, 0, 1, 1, 1, draw.colour("pastel"))
            + screen.tile(0, 0, 1, 0.3 + shift, 2, draw.colour("leaf"))
            + screen.tile(0, 0, 0.45, 0.42 + shift, 3, draw.colour("dark"))
            + sun.at(x, 0.3 * screen.height, 2 * _LAYER + screen.bend * x**2)
        )
    if motif == "chart":
        bars = [screen.tile(0.1 + 0.17 * i, 0.12, 0.1, 0.15 + shift + 0.12 * i, 2, draw.colour("bright")) for i in range(4)]
        return screen.tile(0, 0, 1, 1, 1, draw.colour("white")) + joined(bars) + screen.tile(0.06, 0.07, 0.86, 0.04, 2, dark)
    if motif == "text":
        ink, lengths = draw.colour("light"), (0.6, 0.35, 0.75, 0.5, 0.2)
        lines = [screen.tile(0.08, 0.78 - 0.16 * i, n, 0.07, 2, ink) for i, n in enumerate(lengths)]
        return screen.tile(0, 0, 1, 1, 1, dark) + joined(lines)
    window = screen.tile(0.12 + shift, 0.28, 0.5, 0.56, 2, draw.colour("white"))
    title = screen.tile(0.12 + shift, 0.76, 0.5, 0.08, 3, draw.colour("bright"))
    icons = [screen.tile(0.03, 0.8 - 0.18 * i, 0.07, 0.11, 2, draw.colour("bright")) for i in range(3)]
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


def _tube_housing(draw: Draw, screen: _Screen, bezel: float) -> Part:
    """The deep case of an old set: it narrows to the back, with knobs and a loudspeaker on the right, and an aerial."""
    panel = draw.number("knob panel", 0.22, 0.4)
    width, height, depth = screen.width + 2 * bezel + panel, screen.height + 2 * bezel, draw.number("tube", 0.5, 0.9)
    opening = rectangle(screen.width, screen.height, 0.12) - np.array([panel / 2, 0])
    body = draw.colour()
    front = slab(rectangle(width, height, 0.06), 0.1, holes=[opening]).at(z=0.05) + box(width, height, 0.3, 0.06).at(z=-0.16)
    back = loft([lift(rectangle(width * s, height * s), z) for s, z in ((0.95, -0.3), (0.55, -depth))])
    x = screen.width / 2 + bezel * 0.8
    knob = cylinder(0.32 * panel, 0.1, n=12).rot(x=90).at(z=0.15)
    knobs = (knob.at(y=0.28 * height) + knob.at(y=0.05 * height)).paint(draw.colour("metal"), 0.6)
    slats = box(0.6 * panel, 0.03, 0.04).at(y=-0.25 * height, z=0.11).row(4, dy=0.07).paint(draw.colour("black"))
    set_ = front.paint(body) + back.paint(draw.colour("dark")) + (knobs + slats).at(x)
    if draw.chance("aerial", 0.6):
        root, top = height / 2, draw.number("aerial length", 0.4, 0.7)
        wires = rod((-0.03, root, -0.2), (-0.5 * top, root + top, -0.2), 0.015, n=5)
        wires += rod((0.03, root, -0.2), (0.35 * top, root + 0.9 * top, -0.25), 0.015, n=5)
        set_ += (wires + ball(0.09, 8).at(y=root, z=-0.2)).paint(draw.colour("metal"), 0.6)
    return set_.at(panel / 2)


def _stand(draw: Draw, width: float, bottom: float, depth: float) -> Part:
    """What a flat display stands on, under its lower edge at height `bottom`."""
    kind = draw.pick("stand", ["round foot", "plate", "two feet", "fork", "bent sheet"])
    rise, reach = draw.number("stand height", 0.14, 0.4), draw.number("stand reach", 0.3, 0.5)
    ground, z = bottom - rise, -depth - 0.05
    if kind == "two feet":
        foot = rod((0.32 * width, bottom + 0.03, -depth / 2), (0.36 * width, ground, reach * 0.6), 0.03, n=6)
        return (foot + rod((0.32 * width, bottom + 0.03, -depth / 2), (0.36 * width, ground, -reach * 0.7), 0.03, n=6)).mirror()
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
        tube_set = picture + _tube_housing(draw, screen, bezel + 0.04)
        low, high = tube_set.bounds()
        if draw.chance("legs"):
            half, z = (high[0] - low[0]) * 0.36, -0.1
            leg = rod((half, low[1], z), (half * 1.2, low[1] - 0.45, z + 0.15), 0.05, 0.03, n=6)
            leg += rod((half, low[1], z - 0.2), (half * 1.2, low[1] - 0.45, z - 0.4), 0.05, 0.03, n=6)
            return tube_set + leg.mirror().at((low[0] + high[0]) / 2).paint(draw.colour("wood"))
        return tube_set + box(0.7 * high[0], 0.08, 0.4).at((low[0] + high[0]) / 2, low[1] - 0.03, -0.2).paint(draw.colour())
    chin = draw.number("chin", 0.16, 0.26) if kind == "all in one" else draw.number("lip", 0.0, 0.06)
    head = picture + _flat_housing(draw, screen, bezel, chin, depth)
    bottom = -height / 2 - bezel - chin
    if chin > 0.1:
        logo = cylinder(0.35 * chin, 0.04, n=10).rot(x=90).at(y=bottom + chin / 2 + bezel / 2, z=0.05)
        head += logo.paint(draw.colour("metal"), 0.6)
    light = box(0.1, 0.03, 0.03).at(0.4 * screen.width, bottom + 0.045, 0.05 + screen.bend * (0.4 * screen.width) ** 2)
    head += light.paint(draw.colour("light"))
    return head.rot(x=tilt) + _stand(draw, screen.width, bottom, depth).paint(draw.colour(), 0.4)


def _key(width: float, depth: float, height: float, cap: str) -> Part:
    if cap == "round":
        return cylinder(min(width, depth) / 2, height, n=8) if width < 1.4 * depth else box(width, height, depth * 0.8)
    if cap == "flat":
        return box(width, height, depth)
    sections = [lift(rectangle(width * s, depth * s), z) for s, z in ((1.0, -height / 2), (0.78, height / 2))]
    return loft(sections).rot(x=-90)


@dataclass(frozen=True)
class _Keys:
    """How the keys of a board look."""

    pitch: float
    gap: float
    height: float
    cap: str
    colour: Colour
    edge: Colour
    accent: Colour

    def run(self, shares: list[float], width: float, paints: list[Colour]) -> Part:
        """A row of keys of the given relative widths, `width` wide in all, centred, on y = 0."""
        unit, x, keys = width / sum(shares), -width / 2, []
        for share, paint in zip(shares, paints, strict=True):
            key = _key(share * unit - self.gap, self.pitch - self.gap, self.height, self.cap)
            keys.append(key.at(x + share * unit / 2, self.height / 2).paint(paint, 0.3))
            x += share * unit
        return joined(keys)

    def block(self, rows: int, columns: int, width: float) -> Part:
        """Letter rows, each shifted a little against the one behind, and a row with the space bar; front row at z = 0."""
        lines = []
        for row in range(rows):
            lead = 1.0 + 0.3 * row
            paints = [self.edge] + [self.colour] * (columns - 2) + [self.accent if row == 1 else self.edge]
            shares = [lead] + [1.0] * (columns - 2) + [2.2 - 0.3 * row]
            lines.append(self.run(shares, width, paints).at(z=-(rows - row) * self.pitch))
        space = self.run([1.2, 1.2, 5.0, 1.2, 1.2], width, [self.edge, self.edge, self.colour, self.edge, self.edge])
        return space + joined(lines)

    def grid(self, rows: int, columns: int, accent: bool = True) -> Part:
        """A block of equal keys, its front row at z = 0, its left edge at x = 0; the last key is accented."""
        width = columns * self.pitch
        lines = [self.run([1.0] * columns, width, [self.colour] * columns).at(z=-r * self.pitch) for r in range(1, rows)]
        front = [self.colour] * (columns - 1) + [self.accent if accent else self.colour]
        return (joined(lines) + self.run([1.0] * columns, width, front)).at(width / 2)


def _keys(draw: Draw, pitch: float, height: float, caps: list[str]) -> _Keys:
    cap = draw.pick("caps", caps)
    colour = draw.colour()
    edge = draw.colour() if draw.chance("two-tone keys") else colour
    return _Keys(pitch, draw.number("gap", 0.12, 0.28) * pitch, height, cap, colour, edge, draw.colour("bright"))


@shape("keyboard")
def keyboard(draw: Draw) -> Part:
    """A computer keyboard: compact, with arrow keys, full with number pad, or split in two turned halves.

    Key caps (flat, tapered, round), wrist rest, cable, knob, slope, case margin and thickness vary.
    """
    layout = draw.pick("layout", ["compact", "arrows", "full", "split"], [3, 3, 4, 2])
    rows, columns = draw.whole("rows", 3, 4), draw.whole("columns", 8, 10 if layout != "full" else 9)
    keys = _keys(draw, draw.number("pitch", 0.17, 0.21), draw.number("key height", 0.05, 0.1), ["flat", "tapered", "round"])
    margin, thick = draw.number("margin", 0.04, 0.12), draw.number("thickness", 0.06, 0.16)
    slope, width = draw.number("slope", 10, 22), columns * keys.pitch * draw.number("key width", 1.0, 1.25)
    function_row = draw.chance("function row", 0.7)
    back = -(rows + (1.2 if function_row else 0)) * keys.pitch
    body, rest = draw.colour(), draw.chance("wrist rest", 0.35)

    def case(left: float, right: float) -> Part:
        depth = keys.pitch - back + 2 * margin
        outline = rectangle(right - left + 2 * margin, depth, draw.number("corner", 0.02, 0.12), 3)
        plan = slab(outline, thick).rot(x=-90).at((left + right) / 2, -thick / 2, back / 2)
        if rest:
            pad = box(right - left, 0.7 * thick, 0.3, 0.03).at((left + right) / 2, -0.62 * thick, keys.pitch / 2 + margin + 0.14)
            return plan.paint(body) + pad.paint(draw.colour("dark"), 0.1)
        return plan.paint(body)

    if layout == "split":
        gap = draw.number("split angle", 6, 14)
        half = keys.block(rows, max(5, columns // 2 + 1), 0.58 * width) + case(-0.29 * width, 0.29 * width)
        board = half.at(x=0.36 * width).rot(y=-gap) + half.at(x=-0.36 * width).rot(y=gap)
        board += box(0.3 * width, thick * 0.8, 0.4).at(y=-thick * 0.55, z=back * 0.6).paint(body)
        return board.rot(x=slope) + _cable(draw, back - margin, thick).rot(x=slope)
    board, right = keys.block(rows, columns, width), width / 2
    if layout != "compact":
        right += 0.25 * keys.pitch
        arrows = keys.grid(1, 3, accent=False) + keys.grid(1, 1).at(keys.pitch, z=-keys.pitch)
        page = keys.grid(2, 3, accent=False).at(z=-(rows - 1) * keys.pitch) if rows > 3 else keys.grid(1, 3).at(z=-3 * keys.pitch)
        board += (arrows + page).at(right)
        right += 3 * keys.pitch
    if layout == "full":
        board += keys.grid(rows + 1, 3).at(right + 0.25 * keys.pitch)
        right += 3.25 * keys.pitch
    if function_row:
        strip = keys.run([1.0, 0.3, 3.0, 0.3, 3.0], width, [keys.accent, keys.edge, keys.edge, keys.edge, keys.edge])
        board += strip.at(z=-(rows + 1.2) * keys.pitch)
        if draw.chance("knob", 0.4) and layout != "compact":
            board += cylinder(0.45 * keys.pitch, 0.14, n=12).at(right - 0.6 * keys.pitch, 0.07, back).paint(draw.colour("metal"), 0.6)
    foot = box(0.2, 0.16, 0.08).at(0.38 * width, -thick - 0.05, back * 0.8).mirror().at(right / 2 - width / 4)
    board += case(-width / 2, right) + foot.paint(draw.colour("black"))
    return board.rot(x=slope) + _cable(draw, back - margin, thick).rot(x=slope)


def _cable(draw: Draw, back: float, thick: float) -> Part:
    """A cable that leaves the back of a board, or nothing."""
    if not draw.chance("cable"):
        return Part()
    x, bow = draw.number("cable place", -0.5, 0.5), draw.number("cable bow", -0.4, 0.4)
    path = spline([(x, -thick / 2, back), (x, -thick / 2, back - 0.25), (x + bow, -thick, back - 0.4)], 8)
    return tube(path, 0.03, 5).paint(draw.colour("black"))


@shape("laptop")
def laptop(draw: Draw) -> Part:
    """An open laptop: slim, chunky or a tablet on a keyboard; picture, opening, keys, touch pad, hinge and badge vary."""
    kind = draw.pick("kind", ["slim", "chunky", "rounded"])
    width, aspect = draw.number("width", 1.4, 1.8), draw.number("aspect", 0.6, 0.74)
    depth, opening = width * aspect, draw.number("opening", 98, 128)
    thick = draw.number("thickness", 0.05, 0.09) * (2.0 if kind == "chunky" else 1.0)
    corner = draw.number("corner", 0.12, 0.22) if kind == "rounded" else 0.04
    bezel, body = draw.number("bezel", 0.05, 0.13), draw.colour()
    lid_colour = draw.colour() if draw.chance("two-tone", 0.4) else body
    screen = _Screen(width - 2 * bezel, depth - 2 * bezel - 0.06)
    base = slab(rectangle(width, depth, corner, 3), thick).rot(x=-90).at(y=-thick / 2).paint(body, 0.4)
    lid_thick = 0.6 * thick
    shell = slab(rectangle(width, depth, corner, 3), lid_thick).at(z=-lid_thick / 2).paint(lid_colour, 0.4)
    rim = slab(rectangle(width - 0.04, depth - 0.04, corner, 3), 0.02, holes=[rectangle(screen.width, screen.height)])
    badge = draw.pick("badge", ["disc", "bar", "square"])
    mark = {"disc": cylinder(0.13, 0.04, n=12).rot(x=90), "bar": box(0.5, 0.1, 0.04), "square": box(0.2, 0.2, 0.04)}[badge]
    lid = shell + mark.at(y=0.1, z=-lid_thick).paint(draw.colour("light"), 0.5) + rim.at(z=0.03).paint(draw.colour("black"))
    lid = (lid + _picture(draw, screen)).at(y=depth / 2 + 0.03).rot(x=90 - opening).at(z=-depth / 2 + 0.03)
    keys = _keys(draw, depth * draw.number("key share", 0.085, 0.105), 0.035, ["flat", "tapered"])
    pad_size = draw.number("pad size", 0.16, 0.26)
    rows, columns = draw.whole("rows", 3, 4), draw.whole("columns", 9, 10)
    key_front = -depth / 2 + 0.14 + rows * keys.pitch
    deck = keys.block(rows, columns, 0.84 * width).at(y=0.005, z=key_front)
    pad = box(1.5 * pad_size, 0.02, pad_size).at(draw.pick("pad place", [0.0, -0.12]), 0.005, depth / 2 - pad_size / 2 - 0.07)
    deck += pad.paint(draw.colour("metal"), 0.4)
    if draw.chance("stickers", 0.4):
        sticker = box(0.14, 0.02, 0.1).at(0.4 * width, 0.005, 0.4 * depth)
        deck += sticker.paint(draw.colour("bright")) + sticker.at(-0.2).paint(draw.colour("bright"))
    hinge = cylinder(0.04, 0.2, n=8).rot(z=90).at(0.34 * width, 0.0, -depth / 2 + 0.01).mirror()
    if draw.pick("hinge", ["two", "one"]) == "one":
        hinge = cylinder(0.04, 0.7 * width, n=8).rot(z=90).at(0, 0.0, -depth / 2 + 0.01)
    foot = box(0.12, 0.04, 0.12).at(0.4 * width, -thick - 0.01, 0.38 * depth).mirror("x").mirror("z")
    return base + lid + deck + hinge.paint(draw.colour("black")) + foot.paint(draw.colour("black"))


def _buttons(draw: Draw, width: float, top: float, bottom: float) -> Part:
    """Rows of buttons between two heights, round or square, with a line of coloured ones at the end."""
    form, columns = draw.pick("button form", ["round", "square", "wide"]), draw.whole("columns", 3, 4)
    pitch = 0.8 * width / columns
    rows = max(2, min(7, round((top - bottom) / pitch / draw.number("button rise", 0.75, 1.2))))
    rise = (top - bottom) / rows
    size = draw.number("button size", 0.62, 0.8)
    button = box(size * pitch, size * rise * (0.6 if form == "wide" else 1.0), 0.06)
    if form == "round":
        button = cylinder(size * min(pitch, rise) / 2, 0.06, n=8).rot(x=90)
    colour, buttons = draw.colour(), Part()
    for row in range(rows):
        y = top - (row + 0.5) * rise
        if row == rows - 1 and rows > 2 and draw.chance("colour row"):
            xs = [(i - (columns - 1) / 2) * pitch for i in range(columns)]
            buttons += joined(button.at(x, y).paint(draw.colour("bright"), 0.3) for x in xs)
        else:
            buttons += button.row(columns, dx=pitch).at(y=y).paint(colour, 0.3)
    return buttons


def _pad(draw: Draw, radius: float) -> Part:
    """The control in the middle: a ring with a centre, a cross, or two rockers for volume and channel."""
    kind = draw.pick("control", ["ring", "cross", "rockers"])
    colour, mark = draw.colour(), draw.colour("metal")
    if kind == "ring":
        ring = cylinder(radius, 0.06, n=20).rot(x=90).paint(colour, 0.4)
        tick = box(0.06, 0.03, 0.02).at(y=radius * 0.78, z=0.035).ring(4, "z").paint(mark)
        return ring + cylinder(radius * 0.45, 0.1, n=14).rot(x=90).paint(mark, 0.5) + tick
    if kind == "cross":
        cross = box(2 * radius, 0.6 * radius, 0.08) + box(0.6 * radius, 2 * radius, 0.08)
        return cross.paint(colour, 0.4) + cylinder(radius * 0.25, 0.11, n=10).rot(x=90).paint(mark)
    rocker = box(0.55 * radius, 1.8 * radius, 0.08, 0.1).at(0.7 * radius).mirror().paint(colour, 0.4)
    plus = (box(0.3 * radius, 0.04, 0.03) + box(0.04, 0.3 * radius, 0.03)).at(0.7 * radius, 0.55 * radius, 0.04)
    minus = box(0.3 * radius, 0.04, 0.03).at(0.7 * radius, -0.55 * radius, 0.04)
    return rocker + (plus + minus).mirror().paint(mark)


@shape("remote control")
def remote_control(draw: Draw) -> Part:
    """A remote control held upright: a bar, waisted, tapered, oval or with a small display.

    Button grid, direction ring, cross or rockers, sensor window, belly and colours vary.
    """
    form = draw.pick("form", ["bar", "waisted", "tapered", "oval"])
    length, width = draw.number("length", 1.5, 2.2), draw.number("width", 0.42, 0.62)
    depth, waist = draw.number("depth", 0.1, 0.2), draw.number("waist", 0.78, 0.9)
    half = {"bar": (1, 1, 1), "waisted": (1, waist, 1), "tapered": (1, 0.9, waist), "oval": (0.8, 1.1, 0.8)}[form]
    body, corner = draw.colour(), draw.number("corner", 0.5, 0.9)

    def side(s: float, d: float) -> Part:
        heights = np.array([0.5, 0.485, 0.46, 0.25, 0.0, -0.25, -0.46, -0.485, -0.5]) * (length - width * (1 - s))
        top, middle, low = half
        upper, lower = (top + middle) / 2, (middle + low) / 2
        spread = [corner * top, (1 + corner) / 2 * top, top, upper, middle, lower, low, (1 + corner) / 2 * low, corner * low]
        right = np.stack([np.array(spread) * width / 2 * s, heights], axis=1)
        return slab(np.concatenate([right, right[::-1] * [-1, 1]]), d)

    case = side(1.0, depth).at(z=-depth / 2).paint(body) + side(0.9, 0.05).at(z=-0.01).paint(
        draw.colour() if draw.chance("face plate") else body
    )
    belly = side(0.8, 0.08).at(z=-depth).paint(draw.colour("black"))
    cover = box(0.5 * width, 0.3 * length, 0.05).at(y=-0.22 * length, z=-depth - 0.04).paint(draw.colour())
    sensor = box(0.55 * width, 0.04, 0.6 * depth).at(y=length / 2, z=-depth / 2).paint(draw.colour("black"), 0.8)
    power = cylinder(0.06, 0.08, n=10).rot(x=90).at(-0.24 * width, 0.43 * length, 0.03).paint(draw.colour("bright"), 0.4)
    y, inner = 0.36 * length, 0.85 * min(half) * width
    parts = case + belly + cover + sensor + power
    if draw.chance("small display", 0.35):
        glass = box(0.8 * inner, 0.16 * length, 0.05).at(y=y - 0.06 * length, z=0.02).paint(draw.colour("light"), 0.6)
        digits = box(0.13 * inner, 0.09 * length, 0.02).row(2, dx=0.2 * inner).at(0.15 * inner, y - 0.06 * length, 0.05)
        parts += glass + digits.paint(draw.colour("black"))
        y -= 0.16 * length
    radius = 0.36 * inner
    if draw.chance("control first"):
        parts += _pad(draw, radius).at(y=y - radius, z=0.03) + _buttons(draw, inner, y - 2.2 * radius, -0.44 * length).at(z=0.03)
    else:
        parts += _buttons(draw, inner, y, -0.42 * length + 2.2 * radius).at(z=0.03)
        parts += _pad(draw, radius).at(y=-0.42 * length + radius, z=0.03)
    if draw.chance("label"):
        parts += box(0.4 * width, 0.04, 0.03).at(y=-0.47 * length, z=0.02).paint(draw.colour("metal"))
    return parts.rot(x=-6)


