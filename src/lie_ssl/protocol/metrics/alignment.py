"""Pose by alignment: the angle between two frames is the move that carries one embedding to the other.

Nothing is trained for it: the operator itself reads the angle.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.readout import angle_errors
from lie_ssl.protocol.schema import Column
from lie_ssl.training.moving import reads_angles

NEAR = 30.0  # degrees


@metric(
    "alignment",
    title="angle read by the operator",
    columns=(
        Column("align_median", "median error, degrees", digits=1),
        Column("align_mean", "mean error, degrees", digits=1),
        Column("align_near", "within 30 degrees, %", digits=1),
        Column("align_remaining"),
    ),
    order=30,
    about="The angle between two frames is read by aligning their embeddings with the operator, without any training.",
)
@torch.no_grad()
def alignment(context: Context, test: MoveTest) -> Values:
    """Measures the error of the angle, if the operator has one generator for it and t is the angle."""
    operator, index = context.subject.operator, factor_of(context, test.poses)
    if operator is None or not reads_angles(operator, index):
        return {}
    z, z_next = context.features(test.moves.source), context.features(test.moves.target)
    found = operator.align(z, z_next, factor=index)
    true = context.deltas(test.moves.source, test.moves.target)[:, index]
    errors = angle_errors(found.t.double().numpy(), true.astype(np.float64))
    return angle_summary("align", errors) | {"align_remaining": float(found.error.mean())}


def factor_of(context: Context, poses: str) -> int:
    """The factor of the operator that a kind of pose belongs to."""
    factors = context.deltas.factors
    return factors.index(poses) if poses in factors else 0


def angle_summary(prefix: str, errors: NDArray[np.float64]) -> dict[str, float]:
    """Median and mean of errors in degrees, and the percentage within 30 degrees."""
    return {
        f"{prefix}_median": float(np.median(errors)), f"{prefix}_mean": float(errors.mean()),
        f"{prefix}_near": float(100 * (errors <= NEAR).mean()),
    }  # fmt: skip
