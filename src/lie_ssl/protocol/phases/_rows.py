"""Rows that several phases have in common: of a classifier in every setting, and of a trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.protocol.context import Context, Rows
from lie_ssl.protocol.phases import TableRows
from lie_ssl.protocol.schema import ACCURACY, CURVE, PREDICTIONS, TRIALS, TURNED

Answers = Callable[[Rows], Tensor]


@dataclass(frozen=True)
class Tested:
    """Which classifier is tested."""

    phase: str
    option: int
    proportion: float

    def keys(self, context: Context) -> dict[str, Any]:
        """What all its rows begin with."""
        return {
            "method": context.subject.method, "arm": context.subject.arm, "phase": self.phase, "option": self.option,
            "diverse": round(100 * self.proportion, 6), "seed": context.subject.seed,
        }  # fmt: skip


def trial_row(context: Context, tested: Tested, optimiser: str, rate: float, score: float) -> TableRows:
    """What an optimiser and a learning rate reached on validation instances, as a share."""
    yield TRIALS, tested.keys(context) | {"optimiser": optimiser, "rate": rate, "validation": 100 * score}


def accuracy_row(context: Context, tested: Tested, poses: str, setting: str, share: float) -> TableRows:
    """The share of right answers in a setting."""
    yield ACCURACY, tested.keys(context) | {"poses": poses, "setting": setting, "top1": 100 * share}


def classifier_rows(context: Context, tested: Tested, answers: Answers, keep: bool = False) -> TableRows:
    """A classifier in every setting: its accuracy, and that by angle where objects are turned.

    Args:
        answers: (rows,) of the index -> (rows,) numbers of classes; no frame is asked for twice.
        keep: Whether the answers themselves are kept too, as predictions.
    """
    known: dict[int, int] = {}
    for setting, poses, rows in context.tests(tested.proportion):
        fresh = rows[[int(r) not in known for r in rows]]
        known |= dict(zip(fresh.tolist(), answers(fresh).tolist(), strict=True))
        right = np.array([known[int(r)] for r in rows]) == context.frames.labels[rows]
        yield from accuracy_row(context, tested, poses, setting, float(right.mean()))
        if setting in TURNED:
            yield from _curve(context, tested.keys(context) | {"poses": poses, "setting": setting}, rows, right)
    if keep:
        true, classes = context.frames.index["class"].to_numpy(str), context.frames.classes
        for row in sorted(known):
            yield PREDICTIONS, {"row": row, "class": str(true[row]), "predicted": classes[known[row]]}


def _curve(context: Context, keys: dict[str, Any], rows: Rows, right: NDArray[np.bool_]) -> TableRows:
    angles = context.frames.index["angle"].to_numpy(np.float64)[rows]
    for angle in np.unique(angles):
        at = angles == angle
        counts = {"angle": float(angle), "frames": int(at.sum()), "top1": 100 * float(right[at].mean())}
        yield CURVE, keys | counts
