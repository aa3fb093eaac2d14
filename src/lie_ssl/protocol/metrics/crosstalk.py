"""Cross-talk: whether a move of one factor is read wrong because another factor changes at the same time.

Shape letters: P moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lie_ssl.frames.factors import AngleFactor
from lie_ssl.frames.pairs import reaches
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import row_metric
from lie_ssl.protocol.moves import Moves
from lie_ssl.protocol.schema import CROSSTALK
from lie_ssl.training.moving import moved_factor, reads_angles

Numbers = NDArray[np.float64]


@row_metric("crosstalk", title="cross-talk between factors", table=CROSSTALK, order=60)
def crosstalk(context: Context, test: MoveTest) -> Iterator[dict[str, Any]]:
    """Yields a row for each ordered pair of factors that vary in these moves, if the operator reads them."""
    operator = context.subject.operator
    if operator is None:
        return
    errors = read_errors(context, operator, test.moves)
    for name, (wrong, true) in errors.items():
        for other, (_, change) in errors.items():
            if other != name:
                yield {"factor": name, "other": other} | disturbance(wrong, true, change)


def read_errors(context: Context, operator: LieOperator, moves: Moves) -> dict[str, tuple[Numbers, Numbers]]:
    """Reads the moves of all factors that change in a set of moves, each by alignment.

    Returns:
        For each factor the signed errors (P,) and the true moves (P,), in degrees for angles, otherwise as the factor
        measures differences (for scale, the logarithm of the ratio).
    """
    z, z_next = context.features(moves.source), context.features(moves.target)
    deltas = context.deltas(moves.source, moves.target).astype(np.float64)
    limits = reaches(context.frames.index, context.deltas.factors)
    found = {}
    for index, name in enumerate(context.deltas.factors):
        true = deltas[:, index]
        if not true.any() or not reads_angles(operator, index):
            continue
        with torch.no_grad():
            read = operator.align(z, z_next, factor=index, limit=limits[index]).t.double().numpy()
        wrong = read - true
        if isinstance(moved_factor(name), AngleFactor):
            wrong, true = np.degrees(wrong), np.degrees(true)
            wrong = 180 - np.mod(180 - wrong, 360)
        found[name] = wrong, true
    return found


def disturbance(wrong: Numbers, true: Numbers, change: Numbers) -> dict[str, float]:
    """How much the reading of one factor suffers from another.

    Args:
        wrong: (P,) signed errors of the reading.
        true: (P,) true moves of the factor. Their size is the error of a reader that always says: no move.
        change: (P,) moves of the other factor.

    Returns:
        Median and mean error of all moves, and without any reading; median and mean error of the third of the moves
        in which the other factor changes least (still) and of that in which it changes most (moving); and the slope of
        the signed error against the other factor's move (leak), 0 if it does not leak into the reading.
    """
    third = max(1, len(change) // 3)
    order = np.argsort(np.abs(change), kind="stable")
    groups = {"error": wrong, "no_move": true, "still": wrong[order[:third]], "moving": wrong[order[-third:]]}
    summary = {
        f"{name}_{word}": float(of(np.abs(values)))
        for name, values in groups.items() for word, of in (("median", np.median), ("mean", np.mean))
    }  # fmt: skip
    centred = change - change.mean()
    variance = float((centred**2).sum())
    leak = float((centred * wrong).sum() / variance) if variance > 0 else float("nan")
    return {"moves": float(len(wrong)), **summary, "leak": leak}
