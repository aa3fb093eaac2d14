"""Keyboard and remote control."""

from __future__ import annotations

import numpy as np

from lie_ssl.objects.shapes.curves import rectangle, spline
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.keys import Keys, draw_keys
from lie_ssl.objects.shapes.part import Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import box, cylinder, disc, slab, tube


def _side_keys(keys: Keys, rows: int, number_pad: bool) -> tuple[Part, float]:
    """Arrow keys, the keys above them and perhaps a number pad, to the right of x = 0, and their total width."""
    pitch = keys.pitch
    side = keys.grid(1, 3, accent=False) + keys.grid(1, 1).at(pitch, z=-pitch)
    side += keys.grid(rows - 2, 3, accent=False).at(z=-3 * pitch)
    if number_pad:
        return side + keys.grid(rows + 1, 3).at(3.25 * pitch), 6.25 * pitch
    return side, 3 * pitch


@shape("keyboard")
def keyboard(draw: Draw) -> Part:
    """A computer keyboard: compact, with arrow keys, full with number pad, or split into two rotated halves.

    Key caps (flat, tapered, round), wrist rest, cable, knob, slope, case margin and thickness vary.
    """
    layout = draw.pick("layout", ["compact", "arrows", "full", "split"], [3, 3, 4, 2])
    rows, columns = draw.whole("rows", 3, 4), draw.whole("columns", 8, 9 if layout == "full" else 10)
    pitch, height = draw.number("pitch", 0.17, 0.21), draw.number("key height", 0.05, 0.1)
    keys = draw_keys(draw, pitch, height, ["flat", "tapered", "round"])
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


def _buttons(draw: Draw, width: float, top: float, bottom: float) -> Part:
    """Rows of buttons between two heights, round or square, with a line of coloured ones at the end."""
    form, columns = draw.pick("button form", ["round", "square", "wide"]), draw.whole("columns", 3, 4)
    pitch = 0.8 * width / columns
    rows = max(2, min(7, round((top - bottom) / pitch / draw.number("button rise", 0.75, 1.2))))
    rise = (top - bottom) / rows
    size = draw.number("button size", 0.62, 0.8)
    button = box(size * pitch, size * rise * (0.6 if form == "wide" else 1.0), 0.06)
    if form == "round":
        button = disc(size * min(pitch, rise) / 2, 0.06, 8)
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
        ring = disc(radius, 0.06, 20).paint(colour, 0.4)
        tick = box(0.06, 0.03, 0.02).at(y=radius * 0.78, z=0.035).ring(4, "z").paint(mark)
        return ring + disc(radius * 0.45, 0.1, 14).paint(mark, 0.5) + tick
    if kind == "cross":
        cross = box(2 * radius, 0.6 * radius, 0.08) + box(0.6 * radius, 2 * radius, 0.08)
        return cross.paint(colour, 0.4) + disc(radius * 0.25, 0.11, 10).paint(mark)
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
    whole += disc(0.06, 0.08, 10).at(-0.24 * width, 0.43 * length, 0.03).paint(draw.colour("bright"), 0.4)
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
