"""Rows of the long tables that phases yield: those of a classifier in all settings, and of a trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.protocol.context import Context, Rows
from lie_ssl.protocol.schema import ACCURACY, CURVE, NEW_POSE_SETTINGS, PREDICTIONS, TRIALS, LongTable

TableRows = Iterator[tuple[LongTable, Mapping[str, Any]]]
Predict = Callable[[Rows], Tensor]


@dataclass(frozen=True)
class ClassifierKey:
    """Identifies a classifier in the tables."""

    phase: str
    option: int
    proportion: float

    def cells(self, context: Context) -> dict[str, Any]:
        """The cells that are the same in all rows of the classifier."""
        return {
            "method": context.subject.method, "arm": context.subject.arm, "phase": self.phase, "option": self.option,
            "diverse": round(100 * self.proportion, 6), "seed": context.subject.seed,
        }  # fmt: skip


def trial_row(context: Context, key: ClassifierKey, optimiser: str, rate: float, score: float) -> TableRows:
    """The validation accuracy, from 0 to 1, of an optimiser and a learning rate."""
    yield TRIALS, key.cells(context) | {"optimiser": optimiser, "rate": rate, "validation": 100 * score}


def accuracy_row(context: Context, key: ClassifierKey, poses: str, setting: str, accuracy: float) -> TableRows:
    """The accuracy, from 0 to 1, in a setting."""
    yield ACCURACY, key.cells(context) | {"poses": poses, "setting": setting, "top1": 100 * accuracy}


def classifier_rows(
    context: Context, key: ClassifierKey, predict: Predict, keep_predictions: bool = False
) -> TableRows:
    """Tests a classifier in all settings: its accuracy and, in new poses, its accuracy by angle.

    Args:
        context: The evaluation.
        key: Identifies the classifier.
        predict: (rows,) of the index -> (rows,) indices of classes; called at most once for each frame.
        keep_predictions: Whether to yield the predictions too.
    """
    known: dict[int, int] = {}
    for setting, poses, rows in context.tests(key.proportion):
        new = rows[[int(r) not in known for r in rows]]
        known |= dict(zip(new.tolist(), predict(new).tolist(), strict=True))
        correct = np.array([known[int(r)] for r in rows]) == context.frames.labels[rows]
        yield from accuracy_row(context, key, poses, setting, float(correct.mean()))
        if setting in NEW_POSE_SETTINGS:
            yield from _curve(context, key.cells(context) | {"poses": poses, "setting": setting}, rows, correct)
    if keep_predictions:
        true, classes = context.frames.index["class"].to_numpy(str), context.frames.classes
        for row in sorted(known):
            yield PREDICTIONS, {"row": row, "class": str(true[row]), "predicted": classes[known[row]]}


def _curve(context: Context, cells: dict[str, Any], rows: Rows, correct: NDArray[np.bool_]) -> TableRows:
    angles = context.frames.index["angle"].to_numpy(np.float64)[rows]
    for angle in np.unique(angles):
        at = angles == angle
        counts = {"angle": float(angle), "frames": int(at.sum()), "top1": 100 * float(correct[at].mean())}
        yield CURVE, cells | counts
