"""Free rotations by alignment: the rotation between two frames, read by the operator without any training."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lie_ssl.lie.rotation_fit import align_free, is_rotational
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.metrics.alignment import angle_summary
from lie_ssl.protocol.schema import Column
from lie_ssl.render.view import typical_view

Matrices = NDArray[np.float64]


@metric(
    "rotations",
    title="rotation read by the operator",
    columns=(
        Column("rotation_median", "median error, degrees", digits=1),
        Column("rotation_mean", "mean error, degrees", digits=1),
        Column("rotation_near", "within 30 degrees, %", digits=1),
        Column("upright_median", "median error of the upright axis, degrees", digits=1),
        Column("rotation_remaining"),
    ),
    order=31,
    about="The rotation between two frames is read by aligning their embeddings with the operator, without any "
    "training. The error is the angle of the rotation from the read to the true one; a random guess is off by 126 "
    "degrees on average. For objects that look the same from all sides, such as bottles, only the upright axis can be "
    "read.",
)
@torch.no_grad()
def rotations(context: Context, test: MoveTest) -> Values:
    """Measures the error of the rotation, if the operator's moves are rotations of space."""
    operator = context.subject.operator
    if operator is None or not is_rotational(operator):
        return {}
    found = align_free(operator, context.features(test.moves.source), context.features(test.moves.target))
    first, second = (context.rotations[rows] for rows in (test.moves.source, test.moves.target))
    read = found.rotation.double().numpy()
    upright = typical_view()[:, 1]
    axes = axis_errors(read, first @ upright, second @ upright)
    return (
        angle_summary("rotation", rotation_errors(read, second @ first.transpose(0, 2, 1)))
        | {"upright_median": float(np.median(axes)), "rotation_remaining": float(found.error.mean())}
    )  # fmt: skip


def rotation_errors(found: Matrices, true: Matrices) -> Matrices:
    """(P, 3, 3), (P, 3, 3) -> (P,) angles in degrees of the rotations from one to the other."""
    cosine = (np.einsum("pij,pij->p", found, true) - 1) / 2
    angles: Matrices = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return angles


def axis_errors(found: Matrices, first: Matrices, second: Matrices) -> Matrices:
    """(P, 3, 3), (P, 3), (P, 3) -> (P,) angles in degrees between the turned first axis and the second one."""
    cosine = np.einsum("pij,pj,pi->p", found, first, second)
    angles: Matrices = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return angles
