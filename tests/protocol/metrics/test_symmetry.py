"""Errors of rotations modulo the symmetry of a shape, and the symmetry itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from lie_ssl.objects.shapes import make_instance
from lie_ssl.protocol.metrics.symmetry import symmetric_errors, turned_errors
from lie_ssl.render.symmetry import ALL_AROUND, upright_order
from lie_ssl.render.view import typical_view

RANDOM = np.random.default_rng(0)
FIRST, SECOND = (Rotation.random(40, rng=RANDOM) for _ in range(2))
TYPICAL = Rotation.from_matrix(typical_view())


def about_upright(degrees: np.ndarray) -> Rotation:
    """Turns of the object about its upright axis, as rotations that are applied after the typical view."""
    return TYPICAL * Rotation.from_rotvec(np.outer(degrees, [0, 1, 0]), degrees=True) * TYPICAL.inv()


def errors(read: Rotation, order: int) -> np.ndarray:
    return symmetric_errors(read.as_matrix(), FIRST.as_matrix(), SECOND.as_matrix(), np.full(40, order))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 12, ALL_AROUND])
def test_a_turn_of_the_symmetry_is_no_error(order: int) -> None:
    steps = RANDOM.uniform(0, 360, 40) if order == ALL_AROUND else RANDOM.integers(order, size=40) * 360 / order
    read = SECOND * about_upright(steps) * FIRST.inv()
    assert errors(read, order) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("order", [2, 5, ALL_AROUND])
def test_the_error_is_that_to_the_nearest_of_all_equivalent_rotations(order: int) -> None:
    read = Rotation.random(40, rng=RANDOM)
    steps = np.arange(0, 360, 0.25 if order == ALL_AROUND else 360 / order)
    true = [SECOND * about_upright(np.full(40, a)) * FIRST.inv() for a in steps]
    nearest = np.degrees(np.min([(t * read.inv()).magnitude() for t in true], axis=0))
    assert errors(read, order) == pytest.approx(nearest, abs=0.2)
    assert (errors(read, order) <= errors(read, 1) + 1e-9).all()


def test_orders_are_not_mixed_up() -> None:
    half = SECOND * about_upright(np.full(40, 180.0)) * FIRST.inv()
    orders = np.tile([1, 2, ALL_AROUND, 3], 10)
    found = symmetric_errors(half.as_matrix(), FIRST.as_matrix(), SECOND.as_matrix(), orders)
    assert found.reshape(10, 4).mean(axis=0) == pytest.approx([180, 0, 0, 60], abs=0.1)


@pytest.mark.parametrize(("name", "order"), [("can", ALL_AROUND), ("chair", 1), ("mug", 1), ("earphone", 2)])
def test_the_symmetry_of_shapes(name: str, order: int) -> None:
    assert upright_order(make_instance(name, 0)[0]) == order


def test_a_square_table_has_quarter_turns() -> None:
    orders = {upright_order(make_instance("table", i)[0]) for i in range(6)}
    assert 2 in orders
    assert 1 not in orders


@pytest.mark.parametrize("order", [1, 2, 4, ALL_AROUND])
def test_turns_on_a_turntable_agree_with_rotations_of_space(order: int) -> None:
    wrong = RANDOM.uniform(-360, 360, 40)
    read = SECOND * about_upright(wrong) * FIRST.inv()
    assert turned_errors(np.radians(wrong), np.full(40, order)) == pytest.approx(errors(read, order), abs=1e-3)
