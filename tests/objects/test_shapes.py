"""Modelling functions: closed solids with the right volume that face outwards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.objects.shapes import (
    Part,
    arc,
    ball,
    box,
    cylinder,
    ellipse,
    lathe,
    lift,
    loft,
    polygon,
    rectangle,
    rod,
    sheet,
    slab,
    spline,
    tube,
)  # fmt: skip


def volume(part: Part) -> float:
    """Signed volume by the divergence theorem: positive if the faces face outwards."""
    total = 0.0
    for piece in part.pieces:
        a, b, c = (piece.vertices[piece.faces[:, i]] for i in range(3))
        total += float((a * np.cross(b, c)).sum() / 6)
    return total


def is_closed(part: Part) -> bool:
    """Whether every edge is shared by two faces that traverse it in opposite directions."""
    for piece in part.pieces:
        _, place = np.unique(np.round(piece.vertices, 9), axis=0, return_inverse=True)
        faces = place.reshape(-1)[piece.faces]
        edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        forward = {tuple(e) for e in edges.tolist() if e[0] != e[1]}
        if any((b, a) not in forward for a, b in forward):
            return False
    return True


SOLIDS = {
    "box": (box(1, 2, 3), 6.0),
    "rounded box": (box(2, 2, 1, round=0.5), 4 - (4 - math.pi) * 0.25),
    "ball": (ball(1.0, 60), 4 / 3 * math.pi),
    "cylinder": (cylinder(1.0, 2.0, n=90), 2 * math.pi),
    "cone": (cylinder(1.0, 3.0, top=0.0, n=90), math.pi),
    "lathe": (lathe([(0, 0), (1, 0), (1, 1), (0, 1)], n=90), math.pi),
    "rod": (rod((0, 0, 0), (1, 2, 2), 0.1, n=60), 3 * math.pi * 0.01),
    "ring": (tube(lift(arc(1, 0, 360 * 59 / 60, 60)), 0.1, n=30, closed=True), 2 * math.pi * math.pi * 0.01),
    "slab with a hole": (slab(rectangle(2, 2), 1, holes=[rectangle(1, 1)]), 3.0),
    "loft": (loft([lift(rectangle(1, 1), z) for z in (0.0, 2.0)]), 2.0),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_closed_and_have_the_right_volume(name: str) -> None:
    part, expected = SOLIDS[name]
    assert is_closed(part)
    assert volume(part) == pytest.approx(expected, rel=0.02)


@given(st.floats(-3, 3), st.floats(-180, 180), st.floats(0.2, 3), st.sampled_from(["x", "y", "z"]), st.integers(1, 6))
def test_transformations_preserve_the_volume(shift: float, angle: float, scale: float, axis: str, count: int) -> None:
    part = slab([(0, 0), (2, 0), (1, 1.5)], 0.5)
    once = volume(part)
    assert volume(part.at(shift, -shift, 1).rot(angle, 2 * angle, 7)) == pytest.approx(once)
    assert volume(part.size(scale)) == pytest.approx(once * scale**3)
    assert volume(part.mirror(axis)) == pytest.approx(2 * once)  # type: ignore[arg-type]
    assert volume(part.ring(count, axis)) == pytest.approx(count * once)  # type: ignore[arg-type]
    assert volume(part.row(count, dx=0.3)) == pytest.approx(count * once)


def test_on_puts_the_lowest_point_on_the_floor() -> None:
    low, high = ball(1.0).at(3, 7, 1).on(0.5).bounds()
    assert low[1] == pytest.approx(0.5)
    assert high[1] == pytest.approx(2.5)


def test_a_spline_passes_through_its_points() -> None:
    points = np.array([[0.0, 0], [1, 2], [3, 1], [4, 4]])
    curve = spline(points, n=31)
    assert np.abs(curve[[0, 10, 20, 30]] - points).max() < 1e-12
    ring = spline(points, n=40, closed=True)
    assert np.abs(ring[[0, 10, 20, 30]] - points).max() < 1e-12


def test_outlines() -> None:
    assert np.ptp(ellipse(4, 2, 40), axis=0) == pytest.approx([4, 2])
    assert np.ptp(rectangle(3, 2, round=0.3), axis=0) == pytest.approx([3, 2])
    assert np.linalg.norm(polygon(2, 5), axis=1) == pytest.approx(2)
    x, y = rectangle(3, 2, round=0.3).T
    assert (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() > 0  # anticlockwise


def test_paint_and_sheet() -> None:
    cloth = sheet(np.array([[[0, 0, 0], [1, 0, 0]], [[0, 1, 0], [1, 1, 0.0]]])).paint((1, 0, 0), 0.9)
    mesh = (cloth + box(1, 1, 1).paint((0, 0, 1))).mesh()
    assert mesh.n_faces == 2 + 12
    assert set(map(tuple, mesh.colours[:, 0].tolist())) == {(1, 0, 0), (0, 0, 1)}
