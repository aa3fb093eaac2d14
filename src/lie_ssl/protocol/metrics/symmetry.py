"""Rotations and turntable angles modulo the symmetry of the shape, for objects that look alike from several sides."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from lie_ssl.lie.rotation_fit import align_free, is_rotational
from lie_ssl.objects.shapes import make_instance
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.metrics.alignment import angle_summary, factor_of
from lie_ssl.protocol.metrics.rotations import Matrices, rotation_errors
from lie_ssl.protocol.schema import Column
from lie_ssl.render.symmetry import ALL_AROUND, upright_order
from lie_ssl.render.view import axis_rotation, typical_view
from lie_ssl.training.moving import reads_angles

TURNTABLE = "yaw"


@metric(
    "symmetry",
    title="rotation modulo symmetry",
    columns=(
        Column("symmetric_median", "median error, degrees", digits=1),
        Column("symmetric_mean", "mean error, degrees", digits=1),
        Column("symmetric_near", "within 30 degrees, %", digits=1),
        Column("symmetric_share", "objects with a symmetry, %", digits=1),
    ),
    order=70,
    about="The error of a rotation, but to the nearest of all rotations after which the shape looks the same: "
    "any turn of a bottle about its upright axis, quarter turns of a square table. The symmetry of every object is "
    "measured on pictures of it in clay.",
)
@torch.no_grad()
def symmetry(context: Context, test: MoveTest) -> Values:
    """Measures the error modulo the symmetry, for unknown objects of the built-in classes.

    Their shapes can be drawn again; known objects are many, and drawing all of them takes minutes. It applies to free
    rotations and to turntable poses, where the object turns about the axis of its symmetry.
    """
    operator, card = context.subject.operator, context.frames.card
    if operator is None or card["source"] != "procedural" or test.instances != "unknown":
        return {}
    source, target = test.moves.source, test.moves.target
    z, z_next = context.features(source), context.features(target)
    if is_rotational(operator):
        read = align_free(operator, z, z_next).rotation.double().numpy()
        orders = shape_orders(context, source)
        errors = symmetric_errors(read, context.rotations[source], context.rotations[target], orders)
    elif test.poses == TURNTABLE and reads_angles(operator, index := factor_of(context, test.poses)):
        angles = operator.align(z, z_next, factor=index).t.double().numpy()
        orders = shape_orders(context, source)
        errors = turned_errors(angles - context.deltas(source, target)[:, index], orders)
    else:
        return {}
    return angle_summary("symmetric", errors) | {"symmetric_share": float(100 * (orders != 1).mean())}


def shape_orders(context: Context, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(P,) rows of the index -> (P,) the orders of the symmetries of their objects."""
    own, seed = context.frames.index.loc[rows], int(context.frames.card["config"]["seed"])
    names = zip(own["class"], own["instance"], strict=True)
    return np.array([shape_order(str(c), str(i), seed) for c, i in names], np.int64)


def turned_errors(wrong: Matrices, orders: NDArray[np.int64]) -> Matrices:
    """(P,) differences of angles about the upright axis, in radians -> (P,) errors modulo the symmetry, in degrees.

    >>> turned_errors(np.radians([170.0, 170.0, 170.0]), np.array([1, 2, ALL_AROUND])).round(6).tolist()
    [170.0, 10.0, 0.0]
    """
    period = 360 / np.maximum(orders, 1)
    errors: Matrices = np.abs(np.remainder(np.degrees(wrong) + period / 2, period) - period / 2)
    return np.where(orders == ALL_AROUND, 0.0, errors)


@cache
def shape_order(class_name: str, instance: str, seed: int) -> int:
    """The order of the symmetry of a procedural object about its upright axis."""
    return upright_order(make_instance(class_name, int(instance), seed)[0])


def symmetric_errors(read: Matrices, first: Matrices, second: Matrices, orders: NDArray[np.int64]) -> Matrices:
    """The angle from the read rotation to the nearest one that carries the first pose to the looks of the second.

    Args:
        read: (P, 3, 3).
        first, second: The poses of both frames, applied after the typical view, (P, 3, 3).
        orders: (P,), of the symmetry about the upright axis; see :func:`lie_ssl.render.symmetry.upright_order`.

    Returns:
        (P,), in degrees.
    """
    from_object = typical_view()
    errors = rotation_errors(read, second @ first.transpose(0, 2, 1))
    for order in np.unique(orders):
        own = orders == order
        for k in range(1, int(order)):
            turn = from_object @ axis_rotation(1, 360 * k / order) @ from_object.T
            true = second[own] @ turn @ first[own].transpose(0, 2, 1)
            errors[own] = np.minimum(errors[own], rotation_errors(read[own], true))
    round_ = orders == ALL_AROUND
    errors[round_] = _round_errors(read[round_], first[round_] @ from_object, second[round_] @ from_object)
    return errors


def _round_errors(read: Matrices, first: Matrices, second: Matrices) -> Matrices:
    """The same for all turns about the upright axis: the largest trace of M Ry(a), where M is what is left over."""
    left = first.transpose(0, 2, 1) @ read.transpose(0, 2, 1) @ second
    along = np.hypot(left[:, 0, 0] + left[:, 2, 2], left[:, 0, 2] - left[:, 2, 0])
    angles: Matrices = np.degrees(np.arccos(np.clip((left[:, 1, 1] + along - 1) / 2, -1, 1)))
    return angles
