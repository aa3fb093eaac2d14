"""Bedroom: bed, pillow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lie_ssl.objects.shapes.bodies import cushion
from lie_ssl.objects.shapes.curves import Array, arc, bent, ellipse
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.registry import shape
from lie_ssl.objects.shapes.solids import ball, box, cylinder, lathe, rod, sheet, slab, tube


@shape("bed")
def bed(draw: Draw) -> Part:
    """A bed with its foot to the front: plain, four-poster or bunk; panel, arched, barred or padded head; made up."""
    width, length = draw.number("width", 0.9, 1.8), draw.number("length", 1.9, 2.25)
    height, mattress = draw.number("frame height", 0.28, 0.48), draw.number("mattress", 0.18, 0.32)
    head, foot = draw.number("headboard", 0.35, 0.8), draw.number("footboard", 0.05, 0.35)
    kind = draw.pick("kind", ["plain", "four-poster", "bunk"], [5, 1.3, 1.3])
    board = draw.pick("headboard", ["panel", "arched", "bars", "padded"])
    has_foot = draw.chance("footboard", 0.5)
    if kind == "bunk":
        width, mattress = min(width, 1.15), 0.18
    frame, cloth = draw.colour(), draw.colour()
    level = height + mattress
    head_part = _headboard(board, width, level + head, frame, cloth).at(z=-length / 2 - 0.03)
    rails = box(width, 0.2, length).at(y=height - 0.06)
    if has_foot:
        low = _headboard("bars" if board == "bars" else "panel", width, level + foot, frame, cloth)
        rails += low.at(z=length / 2 + 0.03)
    result = head_part + rails.paint(frame) + _bedding(draw, width, length, mattress).at(y=height)
    x, z = width / 2 - 0.06, length / 2 - 0.06
    if kind == "plain":
        return result + box(0.1, height, 0.1).at(x, height / 2, z).mirror().mirror("z").paint(frame)
    tall = level + draw.number("post height", 1.0, 1.4)
    result += cylinder(0.06, tall, n=8).at(x + 0.03, tall / 2, z + 0.08).mirror().mirror("z").paint(frame)
    if kind == "four-poster":
        beams = box(2 * x + 0.1, 0.07, 0.07).at(y=tall - 0.04, z=z + 0.08).mirror("z")
        beams += box(0.07, 0.07, length).at(x + 0.03, tall - 0.04).mirror()
        cloth_top = box(width + 0.06, 0.05, length + 0.06).at(y=tall).paint(cloth, 0.05)
        return result + beams.paint(frame) + (cloth_top if draw.chance("canopy", 0.6) else Part())
    upper = level + 0.75
    bunk = (box(width + 0.06, 0.2, length + 0.1) + box(0.05, 0.1, length).at(x, 0.3).mirror()).at(y=upper).paint(frame)
    ladder = rod([width / 2 + 0.25, 0, 0.3], [width / 2 + 0.07, tall, 0.3], 0.035, n=5).row(2, dz=0.36)
    for t in (0.18, 0.36, 0.54, 0.72, 0.9):
        ladder += box(0.05, 0.05, 0.36).at(width / 2 + 0.25 - 0.18 * t, tall * t, 0.3)
    made_up = _bedding(draw, width - 0.1, length, mattress).at(y=upper + 0.1)
    return result + bunk + made_up + ladder.paint(draw.colour())


def _headboard(kind: str, width: float, height: float, frame: Colour, cloth: Colour) -> Part:
    """A board standing on y = 0 in the x-y plane."""
    if kind == "bars":
        path = bent([(-width / 2, 0, 0), (-width / 2, height, 0), (width / 2, height, 0), (width / 2, 0, 0)], 0.18)
        bars = box(0.045, height - 0.2, 0.03).row(6, dx=width / 6.2).at(y=0.1 + height / 2)
        return (tube(path, 0.045, 7) + bars + box(width, 0.06, 0.05).at(y=0.26)).paint(frame, 0.5)
    if kind == "padded":
        button = ball(0.04, 6).row(4, dx=width / 4.5).row(2, dy=0.24).at(y=height - 0.22, z=0.09)
        pad = cushion(width + 0.08, 0.16, height - 0.15, 0.06).rot(x=90).at(y=height / 2 + 0.075)
        return (pad + button).paint(cloth, 0.05) + box(0.08, 0.3, 0.08).at(width / 2 - 0.1, 0.15).mirror().paint(frame)
    if kind == "arched":
        top = np.column_stack([np.linspace(1, -1, 13) * width / 2, height - 0.28 * np.linspace(-1, 1, 13) ** 2])
        inner = top * [0.82, 0.88] + [0, 0.02]
        board = slab(np.concatenate([[[-width / 2, 0.1], [width / 2, 0.1]], top]), 0.09)
        field = slab(np.concatenate([[[-width * 0.41, 0.3], [width * 0.41, 0.3]], inner]), 0.14)
        return board.paint(frame) + field.paint(cloth)
    posts = box(0.09, height + 0.04, 0.11).at(width / 2, height / 2).mirror()
    posts += box(width + 0.14, 0.07, 0.13).at(y=height)
    return (posts + box(width, height - 0.2, 0.06).at(y=height / 2 + 0.1)).paint(frame)


def _bedding(draw: Draw, width: float, length: float, mattress: float) -> Part:
    """Mattress, blanket with its fold turned back, and pillows; lies on y = 0, head at -z."""
    turned = draw.number("fold", 0.2, 0.42)
    sheets = draw.colour("pastel")
    parts = cushion(width - 0.06, mattress, length - 0.06, 0.06).at(y=mattress / 2 + 0.03)
    parts = parts.paint(draw.colour("white"), 0.05)
    covered = length * (1 - turned)
    blanket = cushion(width + 0.02, mattress * 0.85, covered, 0.06, 0.02)
    blanket = blanket.at(y=mattress * 0.62 + 0.05, z=(length - covered) / 2)
    fold = cushion(width + 0.05, mattress * 0.85, 0.22, 0.05).at(y=mattress * 0.62 + 0.075, z=length / 2 - covered)
    parts += blanket.paint(draw.colour(), 0.05) + fold.paint(sheets, 0.05)
    n = draw.whole("pillows", 1, 2) if width > 1.25 else 1
    pillow = cushion(min(0.72, width / n * 0.84), 0.16, 0.38, 0.08, 0.03).rot(x=14)
    parts += pillow.at(y=mattress + 0.12, z=-length / 2 + 0.26).row(n, dx=width / 2 - 0.02).paint(sheets, 0.05)
    if draw.chance("runner", 0.4):
        band = cushion(width + 0.06, mattress * 0.8, length * 0.16, 0.05).at(y=mattress * 0.62 + 0.1, z=length * 0.3)
        parts += band.paint(draw.colour(), 0.05)
    return parts


@dataclass(frozen=True)
class _Stuffing:
    """The front of a pillow; u and v run from -1 to 1 across it. `pinch` draws in its edges, `dent` its middle."""

    form: str
    width: float
    height: float
    thick: float
    pinch: float
    full: float
    dent: float

    def surface(self, u: Array, v: Array, out: float) -> Array:
        """Points of the front, `out` above the cloth."""
        if self.form == "round":
            x, y = u * np.sqrt(1 - v**2 / 2), v * np.sqrt(1 - u**2 / 2)
            rise = np.clip(1 - x**2 - y**2, 0, 1) ** self.full
        else:
            x, y = u * (1 - self.pinch * (1 - v**2) * u**2), v * (1 - self.pinch * (1 - u**2) * v**2)
            rise = (np.clip(1 - u**2, 0, 1) * np.clip(1 - v**2, 0, 1)) ** self.full
        rise = rise * (1 - self.dent * np.exp(-9 * (u**2 + v**2)))
        return np.stack([x * self.width / 2, y * self.height / 2, rise * self.thick / 2 + out], axis=-1)

    def seam(self) -> Array:
        """(32, 3) points around the edge, anticlockwise from the right."""
        turn = np.linspace(0, 2 * math.pi, 33)[:-1]
        circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        square = circle / np.abs([np.cos(turn), np.sin(turn)]).max(axis=0)[:, None]
        return self.surface(square[:, 0], square[:, 1], 0.0)


@shape("pillow")
def pillow(draw: Draw) -> Part:
    """A stuffed pillow leaning back: square, oblong, round or a bolster; piped, frilled or tasselled, with a motif."""
    width, ratio = draw.number("width", 1.0, 1.5), draw.number("ratio", 0.62, 0.85)
    thick, pinch = draw.number("thickness", 0.4, 0.66), draw.number("pinch", 0.04, 0.16)
    full, lean = draw.number("fullness", 0.4, 0.7), draw.number("lean", 4, 20)
    form = draw.pick("form", ["square", "oblong", "round", "bolster"], [4, 4, 2, 1])
    trim = draw.pick("trim", ["none", "piping", "frill", "tassels"])
    motif = draw.pick("motif", ["stripes", "band", "heart", "star", "corner", "buttons"])
    cloth, accent = draw.colour(), draw.colour()
    if form == "bolster":
        return _bolster(draw, width, thick * 0.5, trim, motif, cloth, accent).rot(x=-lean)
    height = width * (ratio if form == "oblong" else 1.0)
    dent = 0.35 if motif == "buttons" else 0.0
    stuffing = _Stuffing(form, width, height, thick, pinch, full, dent)
    steps = np.sin(np.linspace(-math.pi / 2, math.pi / 2, 13))
    u, v = np.meshgrid(steps, steps)
    front = sheet(stuffing.surface(u, v, 0.0), crease=80)
    result = (front + front.rot(y=180)).paint(cloth, 0.05)
    result += _pillow_motif(draw, motif, stuffing).paint(accent, 0.05)
    if motif == "buttons":
        result += ball(0.08, 10).size(1, 1, 0.6).at(z=thick / 2 * (1 - dent) + 0.01).mirror("z").paint(accent)
    tag = box(0.16, 0.12, 0.03).at(width * 0.49, -height * 0.22).paint(draw.colour("white"), 0.05)
    return (result + _trim(trim, form, stuffing.seam(), accent) + tag).rot(x=-lean)


# Positions of straight bands: left, right, bottom and top, each from -1 to 1 across the pillow.
_BANDS = {
    "stripes": [(left, left + 0.2, -0.97, 0.97) for left in (-0.8, -0.3, 0.2, 0.7)],
    "band": [(-0.95, 0.95, -0.5, -0.05), (-0.95, 0.95, -0.74, -0.6)],
    "corner": [(0.15, 0.97, 0.15, 0.97), (-0.97, 0.0, -0.97, 0.0)],
    "buttons": [(0.62, 0.94, -0.97, 0.97)],
}


def _pillow_motif(draw: Draw, motif: str, stuffing: _Stuffing) -> Part:
    """The motif on the front: straight bands, a heart or a star."""
    parts = Part()
    for left, right, bottom, top in _BANDS.get(motif, ()):
        u, v = np.meshgrid(np.linspace(left, right, 11), np.linspace(bottom, top, 11))
        parts += sheet(stuffing.surface(u, v, 0.03), crease=80)
    if motif in ("heart", "star"):
        outline = _heart() if motif == "heart" else _star(draw.whole("star points", 4, 6))
        grow = np.linspace(0, draw.number("motif size", 0.4, 0.6), 5)[:, None, None]
        cells = grow * np.concatenate([outline, outline[:1]])
        u, v = cells[..., 0] * stuffing.height / stuffing.width, cells[..., 1]
        parts += sheet(stuffing.surface(u, v, 0.03), crease=80)
    return parts


def _heart() -> Array:
    t = np.linspace(0, 2 * math.pi, 25)[:-1]
    across, up = 16 * np.sin(t) ** 3, 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
    return np.stack([across, up + 2], axis=1) / 16


def _star(points: int) -> Array:
    outer, inner = arc(1.0, 90, 450, points + 1)[:-1], arc(0.45, 90 + 180 / points, 450 + 180 / points, points + 1)[:-1]
    return np.stack([outer, inner], axis=1).reshape(-1, 2)


def _trim(kind: str, form: str, seam: Array, colour: Colour) -> Part:
    if kind == "piping":
        return tube(seam, 0.03, 6, closed=True).paint(colour, 0.05)
    if kind == "frill":
        wave = 1.13 + 0.03 * np.cos(np.arange(len(seam)) * math.pi)
        return slab(seam[:, :2] * wave[:, None], 0.035).paint(colour, 0.05)
    if kind == "tassels":
        corners = seam[4::8] if form != "round" else seam[::4]
        one = [rod(c, c * 1.16, 0.035, 0.075, n=6) + ball(0.055, 6).at(*(c * 1.02)) for c in corners]
        return joined(one).paint(colour, 0.05)
    return Part()


def _bolster(draw: Draw, length: float, radius: float, trim: str, motif: str, cloth: Colour, accent: Colour) -> Part:
    """A roll lying along x: flat, gathered or knotted ends, bands around it and a label on the front."""
    ends = draw.pick("ends", ["flat", "gathered", "knotted"])
    x = length / 2
    tail = {
        "flat": [(0.96, x - 0.06), (0.82, x), (0.45, x + 0.03), (0, x + 0.02)],
        "gathered": [(0.9, x), (0.5, x + 0.1), (0, x + 0.06)],
        "knotted": [(0.75, x), (0.25, x + 0.08), (0.8, x + 0.32), (0, x + 0.3)],
    }[ends]
    half = [(r * radius, y) for r, y in [(1.08, 0.0), (1.05, x * 0.5), (1.0, x - 0.1), *tail]]
    roll = lathe([(r, -y) for r, y in reversed(half[1:])] + half, 20, crease=60)
    at = [-0.7, -0.45, 0.1, 0.5] if motif in ("stripes", "band", "corner") else [0.72]
    bands = joined(cylinder(radius * 1.1, 0.12, n=20).at(y=k * x) for k in at)
    bow = radius * 1.13 * arc(1, 70, 130, 6)
    patch = sheet([np.insert(bow, 1, y, axis=1) for y in (-0.25, 0.25)])
    result = roll.paint(cloth, 0.05) + bands.paint(accent, 0.05) + patch.paint(draw.colour(), 0.05)
    if trim in ("piping", "frill"):
        edge = ellipse(2.1 * radius, 2.1 * radius, 20)
        result += tube(np.insert(edge, 1, x - 0.08, axis=1), 0.035, 6, closed=True).mirror("y").paint(accent, 0.05)
    elif ends != "knotted":
        result += ball(0.09, 8).at(y=x + 0.05).mirror("y").paint(accent, 0.05)
    return result.rot(z=-90)
