"""Pose by the objective's own network, for objectives that predict moves, such as inverse dynamics."""

from __future__ import annotations

import numpy as np
import torch

from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.metrics.alignment import angle_summary, factor_of
from lie_ssl.protocol.readout import angle_errors
from lie_ssl.protocol.schema import Column


@metric(
    "predicted",
    title="angle predicted by the objective",
    columns=(
        Column("predicted_median", "median error, degrees", digits=1),
        Column("predicted_mean", "mean error, degrees", digits=1),
        Column("predicted_near", "within 30 degrees, %", digits=1),
    ),
    order=80,
    about="The angle between two frames is predicted by the network with which the embedding was trained.",
)
@torch.no_grad()
def predicted(context: Context, test: MoveTest) -> Values:
    """Measures the error of the angle, if the objective predicts moves."""
    reader = context.subject.reader
    if reader is None:
        return {}
    index = factor_of(context, test.poses)
    found = reader.read(context.features(test.moves.source), context.features(test.moves.target))[:, index]
    true = context.deltas(test.moves.source, test.moves.target)[:, index]
    return angle_summary("predicted", angle_errors(found.double().numpy(), true.astype(np.float64)))
