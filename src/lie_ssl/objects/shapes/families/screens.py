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
    motif, shift = draw.pick("picture", ["windows", "landscape", "chart", "text", "off"]), draw.number("shift", 0, 0.25)
    dark, bright = draw.colour("black"), [draw.colour("bright") for _ in range(4)]
    if motif == "off":
        glass = screen.tile(0, 0, 1, 1, 1, draw.colour("glass"))
        return glass + screen.tile(0.12 + shift, 0.2, 0.1, 0.68, 2, draw.colour("glass"))
    if motif == "landscape":
        sky, ground = screen.tile(0, 0, 1, 1, 1, draw.colour("pastel")), draw.colour("leaf")
        sun = cylinder(0.11 * screen.height, _LAYER, n=12).rot(x=90).paint(draw.colour("light"))
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
    knobs = cylinder(0.32 * panel, 0.1, n=12).rot(x=90).row(2, dy=0.23 * height).at(y=0.17 * height, z=0.15)
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
    """What a flat display stands on, under its lower edge at height `bottom`."""
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
        logo = cylinder(0.35 * chin, 0.04, n=10).rot(x=90).at(y=bottom + chin / 2 + bezel / 2, z=0.05)
        head += logo.paint(draw.colour("metal"), 0.6)
    head += box(0.1, 0.03, 0.03).at(x, bottom + 0.045, 0.05 + screen.bend * x**2).paint(draw.colour("light"))
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
        """Letter rows, each shifted a little against the one behind, and the space bar's row at z = 0."""
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
        row = self.run([1.0] * columns, width, [self.colour] * columns)
        lines = [row.at(z=-r * self.pitch) for r in range(1, rows)]
        front = [self.colour] * (columns - 1) + [self.accent if accent else self.colour]
        return (joined(lines) + self.run([1.0] * columns, width, front)).at(width / 2)


def _keys(draw: Draw, pitch: float, height: float, caps: list[str]) -> _Keys:
    cap, colour = draw.pick("caps", caps), draw.colour()
    edge = draw.colour() if draw.chance("two-tone keys") else colour
    return _Keys(pitch, draw.number("gap", 0.12, 0.28) * pitch, height, cap, colour, edge, draw.colour("bright"))


def _side_keys(keys: _Keys, rows: int, number_pad: bool) -> tuple[Part, float]:
    """Arrow keys and those above them, perhaps a number pad, from x = 0 to the right, and how wide they are."""
    pitch = keys.pitch
    side = keys.grid(1, 3, accent=False) + keys.grid(1, 1).at(pitch, z=-pitch)
    side += keys.grid(rows - 2, 3, accent=False).at(z=-3 * pitch)
    if number_pad:
        return side + keys.grid(rows + 1, 3).at(3.25 * pitch), 6.25 * pitch
    return side, 3 * pitch


@shape("keyboard")
def keyboard(draw: Draw) -> Part:
    """A computer keyboard: compact, with arrow keys, full with number pad, or split in two turned halves.

    Key caps (flat, tapered, round), wrist rest, cable, knob, slope, case margin and thickness vary.
    """
    layout = draw.pick("layout", ["compact", "arrows", "full", "split"], [3, 3, 4, 2])
    rows, columns = draw.whole("rows", 3, 4), draw.whole("columns", 8, 9 if layout == "full" else 10)
    pitch, height = draw.number("pitch", 0.17, 0.21), draw.number("key height", 0.05, 0.1)
    keys = _keys(draw, pitch, height, ["flat", "tapered", "round"])
    margin, thick = draw.number("margin", 0.04, 0.12), draw.number("thickness", 0.06, 0.16)
    slope, width = draw.number("slope", 10, 22), columns * pitch * draw.number("key width", 1.0, 1.25)
    function_row, rest = draw.chance("function row", 0.7), draw.chance("wrist rest", 0.35)
    back, corner = -(rows + 1.2 * function_row) * pitch, draw.number("corner", 0.02, 0.12)
    body, soft = draw.colour(), draw.colour("dark")

    def case(wide: float) -> Part:
        plan = rectangle(wide + 2 * margin, pitch - back + 2 * margin, corner, 3)
        shell = slab(plan, thick).rot(x=-90).at(0, -thick / 2, back / 2).paint(body)
        pad = box(wide, 0.7 * thick, 0.3, 0.03).at(0, -0.62 * thick, pitch / 2 + margin + 0.14).paint(soft, 0.1)
        return shell + pad if rest else shell

    if layout == "split":
        turn = draw.number("split angle", 6, 14)
        half = keys.block(rows, max(5, columns // 2 + 1), 0.58 * width) + case(0.58 * width)
        board = half.at(0.36 * width).rot(y=-turn) + half.at(-0.36 * width).rot(y=turn)
        board += box(0.3 * width, 0.8 * thick, 0.4).at(0, -0.55 * thick, 0.6 * back).paint(body)
        return (board + _cable(draw, back - margin, thick)).rot(x=slope)
    board, right = keys.block(rows, columns, width), width / 2
    if layout != "compact":
        side, wide = _side_keys(keys, rows, layout == "full")
        board, right = board + side.at(right + 0.25 * pitch), right + 0.25 * pitch + wide
    if function_row:
        board += keys.run([1.0, 3.0, 3.0, 3.0], width, [keys.accent] + 3 * [keys.edge]).at(z=back)
        if layout != "compact" and draw.chance("knob", 0.5):
            knob = cylinder(0.45 * pitch, 0.14, n=12).at(right - 0.6 * pitch, 0.07, back)
            board += knob.paint(draw.colour("metal"), 0.6)
    foot = box(0.2, 0.16, 0.08).at(0.38 * width, -thick - 0.05, 0.8 * back).mirror().paint(draw.colour("black"))
    board += (case(right + width / 2) + foot).at(right / 2 - width / 4)
    return (board + _cable(draw, back - margin, thick)).rot(x=slope)


def _cable(draw: Draw, back: float, thick: float) -> Part:
    """A cable that leaves the back of a board, or nothing."""
    if not draw.chance("cable"):
        return Part()
    x, bow = draw.number("cable place", -0.5, 0.5), draw.number("cable bow", -0.4, 0.4)
    path = spline([(x, -thick / 2, back), (x, -thick / 2, back - 0.25), (x + bow, -thick, back - 0.4)], 8)
    return tube(path, 0.03, 5).paint(draw.colour("black"))


def _lid(draw: Draw, width: float, height: float, thick: float, corner: float, colour: Colour) -> Part:
    """The upper half of a laptop, upright on y = 0, facing +z: shell, rim, picture, and a badge on the back."""
    bezel, badge = draw.number("bezel", 0.05, 0.13), draw.pick("badge", ["disc", "bar", "square"])
    screen = _Screen(width - 2 * bezel, height - 2 * bezel - 0.06)
    hole = rectangle(screen.width, screen.height)
    rim = slab(rectangle(width - 0.04, height - 0.04, corner, 3), 0.02, holes=[hole]).at(z=0.03)
    mark = cylinder(0.13, 0.04, n=12).rot(x=90) if badge == "disc" else box(0.5 if badge == "bar" else 0.2, 0.15, 0.04)
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
    keys = _keys(draw, depth * draw.number("key share", 0.085, 0.105), 0.035, ["flat", "tapered"])
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


def _remote_case(draw: Draw, length: float, width: float, depth: float, spread: tuple[float, float, float]) -> Part:
    """Case, face plate, belly, battery cover and sensor window; `spread` widens its top, middle and lower end."""
    corner, body = draw.number("corner", 0.5, 0.9), draw.colour()
    heights = [0.5, 0.485, 0.46, 0.25, 0.0, -0.25, -0.46, -0.485, -0.5]
    wide = np.interp(heights, [-0.5, 0.0, 0.5], spread[::-1])
    wide[[0, -1]] *= corner
    wide[[1, -2]] *= (1 + corner) / 2
    right = np.stack([wide * width / 2, np.array(heights) * length], axis=1)
    outline = np.concatenate([right, right[::-1] * (-1, 1)])
    face = draw.colour() if draw.chance("face plate") else body
    case = slab(outline, depth).at(z=-depth / 2).paint(body) + slab(outline * (0.9, 0.97), 0.05).at(z=-0.01).paint(face)
    belly = slab(outline * (0.8, 0.94), 0.08).at(z=-depth)
    sensor = box(0.55 * width, 0.04, 0.6 * depth).at(y=length / 2, z=-depth / 2)
    cover = box(0.5 * width, 0.3 * length, 0.05).at(y=-0.22 * length, z=-depth - 0.04).paint(draw.colour())
    return case + (belly + sensor).paint(draw.colour("black"), 0.5) + cover


@shape("remote control")
def remote_control(draw: Draw) -> Part:
    """A remote control held upright: a bar, waisted, tapered, oval or with a small display.

    Button grid, direction ring, cross or rockers, sensor window, belly and colours vary.
    """
    form, waist = draw.pick("form", ["bar", "waisted", "tapered", "oval"]), draw.number("waist", 0.75, 0.9)
    length, width = draw.number("length", 1.5, 2.2), draw.number("width", 0.42, 0.62)
    spread = {"waisted": (1.0, waist, 1.0), "tapered": (1.0, 0.9, waist), "oval": (waist, 1.1, waist)}.get(
        form, (1, 1, 1)
    )
    whole = _remote_case(draw, length, width, draw.number("depth", 0.1, 0.2), spread)
    whole += (
        cylinder(0.06, 0.08, n=10).rot(x=90).at(-0.24 * width, 0.43 * length, 0.03).paint(draw.colour("bright"), 0.4)
    )
    y, inner = 0.36 * length, 0.85 * min(spread) * width
    if draw.chance("small display", 0.35):
        glass = box(0.8 * inner, 0.16 * length, 0.05).at(z=0.02).paint(draw.colour("light"), 0.6)
        digits = box(0.13 * inner, 0.09 * length, 0.02).row(2, dx=0.2 * inner).at(0.15 * inner, z=0.05)
        whole += (glass + digits.paint(draw.colour("black"))).at(y=y - 0.06 * length)
        y -= 0.16 * length
    radius, low = 0.36 * inner, -0.42 * length
    control = _pad(draw, radius)
    if draw.chance("control first"):
        front = control.at(y=y - radius) + _buttons(draw, inner, y - 2.2 * radius, low)
    else:
        front = _buttons(draw, inner, y, low + 2.2 * radius) + control.at(y=low + radius)
    if draw.chance("label"):
        front += box(0.4 * width, 0.04, 0.04).at(y=-0.46 * length).paint(draw.colour("metal"))
    return (whole + front.at(z=0.03)).rot(x=-6)
