"""Keys of keyboards and laptops: caps, rows and blocks. They stand on y = 0, with the front row at z = 0."""

from __future__ import annotations

from dataclasses import dataclass

from lie_ssl.objects.shapes.curves import lift, rectangle
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Colour, Part, joined
from lie_ssl.objects.shapes.solids import box, cylinder, loft


def key_cap(width: float, depth: float, height: float, cap: str) -> Part:
    """One key about the origin: round, flat, or tapered towards its top."""
    if cap == "round":
        return cylinder(min(width, depth) / 2, height, n=8) if width < 1.4 * depth else box(width, height, depth * 0.8)
    if cap == "flat":
        return box(width, height, depth)
    sections = [lift(rectangle(width * s, depth * s), z) for s, z in ((1.0, -height / 2), (0.78, height / 2))]
    return loft(sections).rot(x=-90)


@dataclass(frozen=True)
class Keys:
    """The style of the keys of a keyboard."""

    pitch: float
    gap: float
    height: float
    cap: str
    colour: Colour
    edge: Colour
    accent: Colour

    def run(self, shares: list[float], width: float, paints: list[Colour]) -> Part:
        """A centred row of keys on y = 0 with the given relative widths, `width` wide in total."""
        unit, x, keys = width / sum(shares), -width / 2, []
        for share, paint in zip(shares, paints, strict=True):
            key = key_cap(share * unit - self.gap, self.pitch - self.gap, self.height, self.cap)
            keys.append(key.at(x + share * unit / 2, self.height / 2).paint(paint, 0.3))
            x += share * unit
        return joined(keys)

    def block(self, rows: int, columns: int, width: float) -> Part:
        """Rows of letter keys, each slightly offset from the next, and the row of the space bar at z = 0."""
        lines = []
        for row in range(rows):
            lead = 1.0 + 0.3 * row
            paints = [self.edge] + [self.colour] * (columns - 2) + [self.accent if row == 1 else self.edge]
            shares = [lead] + [1.0] * (columns - 2) + [2.2 - 0.3 * row]
            lines.append(self.run(shares, width, paints).at(z=-(rows - row) * self.pitch))
        space = self.run([1.2, 1.2, 5.0, 1.2, 1.2], width, [self.edge, self.edge, self.colour, self.edge, self.edge])
        return space + joined(lines)

    def grid(self, rows: int, columns: int, accent: bool = True) -> Part:
        """A block of equal keys, front row at z = 0, left edge at x = 0; the last key has an accent colour."""
        width = columns * self.pitch
        row = self.run([1.0] * columns, width, [self.colour] * columns)
        lines = [row.at(z=-r * self.pitch) for r in range(1, rows)]
        front = [self.colour] * (columns - 1) + [self.accent if accent else self.colour]
        return (joined(lines) + self.run([1.0] * columns, width, front)).at(width / 2)


def draw_keys(draw: Draw, pitch: float, height: float, caps: list[str]) -> Keys:
    """Draws the style of keys: cap, gap and colours."""
    cap, colour = draw.pick("caps", caps), draw.colour()
    edge = draw.colour() if draw.chance("two-tone keys") else colour
    return Keys(pitch, draw.number("gap", 0.12, 0.28) * pitch, height, cap, colour, edge, draw.colour("bright"))
