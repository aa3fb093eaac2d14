"""Pose by a network: how well a small MLP, trained for nothing else, reads the angle from two embeddings.

It shows how much any embedding knows of a pose; the operator reads the angle without such training.
"""

from __future__ import annotations

import numpy as np

from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.metrics.alignment import angle_summary
from lie_ssl.protocol.moves import Moves
from lie_ssl.protocol.readout import Angles, Readout, ReadoutConfig, angle_errors, train_readout
from lie_ssl.protocol.schema import Column

WITHOUT_ANGLE = ("so3", "time")  # kinds of pose whose moves are no angle


@metric(
    "readout",
    title="angle read by a network",
    columns=(
        Column("readout_median", "median error, degrees", digits=1),
        Column("readout_mean", "mean error, degrees", digits=1),
        Column("readout_near", "within 30 degrees, %", digits=1),
    ),
    order=40,
    about="The angle between two frames is read by a network of two hidden layers that was trained on known objects.",
)
def readout(context: Context, test: MoveTest) -> Values:
    """Trains the network once for each kind of pose, if the settings ask for it, and measures its errors."""
    if context.config.readout is None or test.poses in WITHOUT_ANGLE:
        return {}
    if test.poses not in context.readouts:
        context.readouts[test.poses] = _trained(context, test.poses, context.config.readout)
    z, z_next = context.features(test.moves.source), context.features(test.moves.target)
    found = context.readouts[test.poses].angles(z, z_next)
    return angle_summary("readout", angle_errors(found, _angles(context, test.moves)))


def _trained(context: Context, poses: str, config: ReadoutConfig) -> Readout:
    known, validation = (context.moves[poses][name] for name in ("known", "validation"))
    first = [int(np.flatnonzero(known.instance == number)[0]) for number in np.unique(known.instance)]
    objects = [known.candidates[i] for i in first]
    rows = np.concatenate(objects)
    groups = np.split(np.arange(len(rows)), np.cumsum([len(own) for own in objects])[:-1])
    angle = np.radians(context.frames.index["angle"].to_numpy(np.float64)[rows])
    chosen_on = context.features(validation.source), context.features(validation.target), _angles(context, validation)
    return train_readout(context.features(rows), angle, groups, chosen_on, config, context.config.seed)


def _angles(context: Context, moves: Moves) -> Angles:
    """The angles of moves, in radians."""
    angle = context.frames.index["angle"].to_numpy(np.float64)
    difference: Angles = np.radians(angle[moves.target] - angle[moves.source])
    return difference
