"""Rotational symmetry of a shape about its upright axis, measured on pictures of it.

Objects of a class differ: a jar may have handles and a table may be round, so nothing is declared for classes. Only the
shape counts, drawn in clay: a label on a bottle is not seen from behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lie_ssl.render.renderer import render
from lie_ssl.render.view import RenderSettings, View, axis_rotation, typical_view

if TYPE_CHECKING:
    from lie_ssl.objects.mesh import Mesh

ALL_AROUND = 0  # as order: every turn leaves the shape as it is
ORDERS = (12, 10, 8, 6, 5, 4, 3, 2)  # tried from the largest; whatever looks the same after each of 12 turns is round
PRIMES = (2, 3, 5)  # that divide them
DIFFERENT, SHARE = 0.1, 0.15  # a pixel differs by more than 10 % of the range; at most 15 % of an object's pixels do
SETTINGS = RenderSettings(size=48, supersample=2, clay=True)
# Two looks at the object, after the typical view: from the side, and from above.
LOOKS = (np.eye(3), axis_rotation(0, 100.0) @ axis_rotation(2, 30.0))


def upright_order(mesh: Mesh) -> int:
    """The order n of the symmetry of a shape: it looks the same after turns by 360 / n degrees about its upright axis.

    Args:
        mesh: A normalised mesh.

    Returns:
        1 for a shape without symmetry, 2 for a rectangular table, 4 for a square one, :data:`ALL_AROUND` for a bottle.

    Example:
        >>> from lie_ssl.objects.shapes import make_instance
        >>> upright_order(make_instance("can", 0)[0]), upright_order(make_instance("chair", 0)[0])
        (0, 1)
    """
    first, seen = _pictures(mesh, 0), dict[float, bool]()

    def same(degrees: float) -> bool:
        if degrees not in seen:
            seen[degrees] = _alike(first, _pictures(mesh, degrees))
        return seen[degrees]

    if not any(same(360 / prime) for prime in PRIMES):
        return 1  # most shapes; a symmetry of a larger order has one of these too
    order = next((n for n in ORDERS if all(same(360 * k / n) for k in range(1, n))), 1)
    return ALL_AROUND if order == ORDERS[0] else order


def _pictures(mesh: Mesh, degrees: float) -> NDArray[np.float32]:
    turn = typical_view() @ axis_rotation(1, degrees) @ typical_view().T
    pictures: NDArray[np.float32] = render(mesh, [View(look @ turn) for look in LOOKS], SETTINGS, dtype="float32")
    return pictures


def _alike(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    background = np.array(SETTINGS.background, np.float32)
    shown = (np.abs(np.stack([first, second]) - background).max(axis=-1) > DIFFERENT / 10).any(axis=0)
    different = np.abs(first - second).max(axis=-1) > DIFFERENT
    return bool(different.sum() <= SHARE * shown.sum())
