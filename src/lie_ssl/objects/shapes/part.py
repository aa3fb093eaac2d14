"""A part of an object: a coloured surface that can be moved, rotated, scaled, mirrored and repeated.

Parts are joined with ``+``. Every method returns a new part. Parts may overlap, as the renderer's depth buffer resolves
it. Axes: x right, y up, z towards the viewer (the front). Angles are degrees.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lie_ssl.objects.mesh import Mesh, join, make_mesh

Array = NDArray[np.float64]
Colour = tuple[float, float, float]
Axis = Literal["x", "y", "z"]
AXES: dict[Axis, int] = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, eq=False)
class Piece:
    """Triangles of one colour: vertices (V, 3), faces (F, 3); edges with an angle above `crease` stay sharp."""

    vertices: Array
    faces: NDArray[np.int32]
    colour: Colour = (0.7, 0.7, 0.7)
    shine: float = 0.2
    crease: float = 40.0


@dataclass(frozen=True, eq=False)
class Part:
    """Pieces that move together."""

    pieces: tuple[Piece, ...] = ()

    def __add__(self, other: Part) -> Part:
        return Part(self.pieces + other.pieces)

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Part:
        """Shifts the part by (x, y, z)."""
        return self._moved(np.eye(3), np.array([x, y, z], np.float64))

    def on(self, y: float = 0.0) -> Part:
        """Shifts the part vertically so that its lowest point is at height `y`."""
        return self.at(y=y - self.bounds()[0][1])

    def rot(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Part:
        """Rotates the part about the origin: first about x, then y, then z."""
        return self._moved(_rotation("z", z) @ _rotation("y", y) @ _rotation("x", x), np.zeros(3))

    def size(self, x: float = 1.0, y: float | None = None, z: float | None = None) -> Part:
        """Scales the part about the origin; one number scales all three axes."""
        return self._moved(np.diag([x, x if y is None else y, x if z is None else z]), np.zeros(3))

    def mirror(self, axis: Axis = "x") -> Part:
        """Adds the mirror image across the plane through the origin (one table leg becomes two)."""
        flip = np.eye(3)
        flip[AXES[axis], AXES[axis]] = -1
        return self + self._moved(flip, np.zeros(3))

    def ring(self, n: int, axis: Axis = "y") -> Part:
        """Makes `n` copies, evenly spaced around an axis through the origin."""
        return joined(self._moved(_rotation(axis, 360 * i / n), np.zeros(3)) for i in range(n))

    def row(self, n: int, dx: float = 0.0, dy: float = 0.0, dz: float = 0.0) -> Part:
        """Makes a row of `n` copies, centred at the position of this part."""
        return joined(self.at(dx * k, dy * k, dz * k) for k in (i - (n - 1) / 2 for i in range(n)))

    def paint(self, colour: Colour, shine: float | None = None) -> Part:
        """Paints all pieces in one colour (sRGB, 0 to 1); `shine` ranges from 0 (matt) to 1 (polished metal)."""
        return Part(
            tuple(
                Piece(p.vertices, p.faces, colour, p.shine if shine is None else shine, p.crease) for p in self.pieces
            )
        )

    def bounds(self) -> tuple[Array, Array]:
        """The minimum and maximum coordinates, each (3,)."""
        points = np.concatenate([p.vertices for p in self.pieces])
        return points.min(axis=0), points.max(axis=0)

    def mesh(self) -> Mesh:
        """The part as a renderable mesh, not yet normalised."""
        return join(
            [make_mesh(p.vertices, p.faces, colours=p.colour, shine=p.shine, crease=p.crease) for p in self.pieces]
        )

    def _moved(self, matrix: Array, shift: Array) -> Part:
        # A reflection turns triangles inside out, so their winding is reversed.
        inside_out = np.linalg.det(matrix) < 0
        return Part(
            tuple(
                Piece(
                    p.vertices @ matrix.T + shift,
                    p.faces[:, ::-1] if inside_out else p.faces,
                    p.colour,
                    p.shine,
                    p.crease,
                )
                for p in self.pieces
            )
        )


def joined(parts: Iterable[Part]) -> Part:
    """Joins parts into one."""
    return Part(tuple(piece for part in parts for piece in part.pieces))


def _rotation(axis: Axis, degrees: float) -> Array:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = [(1, 2), (2, 0), (0, 1)][AXES[axis]]
    matrix = np.eye(3)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix
