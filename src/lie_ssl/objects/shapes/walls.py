"""Round walls and what is on them: vessels with a label or motif, flat parts wrapped around a cylinder."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lie_ssl.objects.shapes.curves import Array
from lie_ssl.objects.shapes.part import Part
from lie_ssl.objects.shapes.solids import loft, sheet

_STEP = 15.0  # degrees between two columns of a wall
_STAND = 0.015  # distance of a label from the wall


@dataclass(frozen=True)
class Wall:
    """The outside of a vessel: a profile of (radius, y) from bottom to top, with a round, square, flat or wavy section.

    `corners` ranges from 0 (round) to 1 (square). Parts of the profile as narrow as `neck` have a round section.
    """

    profile: Array
    corners: float = 0.0
    flat: float = 1.0
    neck: float = 0.0
    waves: int = 0
    swell: float = 0.0

    def points(self, degrees: Array, radius: Array, height: Array) -> Array:
        """Points in direction `degrees` (0 is the front, 90 the right) at any radius and height, broadcast together."""
        angle, radius, height = np.broadcast_arrays(np.radians(degrees), radius, height)
        widest = float(self.profile[:, 0].max())
        body = np.clip((radius - self.neck) / (widest - self.neck), 0, 1) if self.neck else np.ones_like(radius)
        power = 2 + 6 * self.corners * body
        norm = (np.abs(np.cos(angle)) ** power + np.abs(np.sin(angle)) ** power) ** (1 / power)
        reach = radius / norm * (1 + self.swell * body * np.cos(self.waves * angle))
        depth = reach * (1 + (self.flat - 1) * body)
        return np.stack([reach * np.sin(angle), height, depth * np.cos(angle)], axis=-1)

    def radius_at(self, y: ArrayLike) -> Array:
        """The radius at a height."""
        return np.interp(np.asarray(y, np.float64), self.profile[:, 1], self.profile[:, 0])

    def solid(self, profile: ArrayLike | None = None) -> Part:
        """The surface of its own profile, or of another one with the same kind of section."""
        p = self.profile if profile is None else np.asarray(profile, np.float64)
        return loft(list(self.points(np.arange(0, 360, _STEP)[None], p[:, :1], p[:, 1:])), caps=False)

    def hollow(self, thickness: float) -> Part:
        """The outside, rim and inside of an open vessel."""
        inner = self.profile[self.profile[:, 1] > self.profile[0, 1] + thickness][::-1] - np.array([thickness, 0])
        inner = inner[inner[:, 0] > 0]
        return self.solid(np.concatenate([self.profile, inner, [(0, inner[-1, 1])]]))

    def patch(self, outline: str, y: float, height: float, width: float, centre: float = 0.0, layer: int = 1) -> Part:
        """A curved label on the wall, `width` degrees wide; labels with a higher `layer` lie on top."""
        grid = np.arange(-180, 180, _STEP / 2)
        inside = grid[np.abs(grid - centre) < width / 2 - 0.5]
        left, right = centre - width / 2, centre + width / 2
        columns = np.concatenate([[left, left], inside, [right, right]])
        top, bottom = _outline(outline, np.clip(2 * (columns - centre) / width, -1, 1))
        rows = np.linspace(0, 1, 7)[[0, *range(7), 6]][:, None]
        heights = y + height / 2 * (bottom + (top - bottom) * rows)
        # The border is inside the wall, so that the label has a closed edge.
        stand = np.full(heights.shape, _STAND * layer)
        stand[[0, -1]] = stand[:, [0, -1]] = -_STAND
        return sheet(self.points(columns[None], self.radius_at(heights) + stand, heights))


def _outline(name: str, u: Array) -> tuple[Array, Array]:
    """Upper and lower edges of a motif, from -1 to 1, at positions u from -1 to 1."""
    across, full = np.abs(u), np.ones_like(u)
    dome = np.sqrt(np.maximum(1 - u**2, 0))
    lobes = 0.3 + 0.7 * np.sqrt(np.maximum(1 - (2 * across - 1) ** 2, 0))
    edges = {
        "oval": (dome, -dome),
        "diamond": (1 - across, across - 1),
        "heart": (lobes, 1.3 * across - 1),
        "shield": (full, 0.2 - 1.2 * dome),
        "arched": (1.2 * dome - 0.2, -full),
        "slanted": (0.45 + 0.55 * u, 0.55 * u - 0.45),
    }
    return edges.get(name, (full, -full))


def wrapped(part: Part, radius: float) -> Part:
    """Wraps a flat part in the x-y plane around a vertical cylinder behind it."""
    bent = []
    for piece in part.pieces:
        x, y, z = piece.vertices.T
        around = np.stack([np.sin(x / radius), y, np.cos(x / radius)], axis=1)
        bent.append(replace(piece, vertices=around * np.stack([radius + z, 1 + 0 * z, radius + z], axis=1)))
    return Part(tuple(bent)).at(z=-radius)
