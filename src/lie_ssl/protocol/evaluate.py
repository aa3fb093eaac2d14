"""The whole protocol for one encoder: every phase and every metric that is registered, as long tables.

Phases (`lie_ssl.protocol.phases`) and metrics (`lie_ssl.protocol.metrics`) yield rows; this module gathers them.
`lie_ssl.protocol.results` writes them into a folder with a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lie_ssl.frames import FrameSet
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.context import Context, Say, Subject, check_labels
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.metrics import METRICS, with_measures
from lie_ssl.protocol.phases import PHASES, to_run
from lie_ssl.protocol.schema import ACCURACY, CURVE, EQUIVARIANCE, PREDICTIONS, TRIALS

__all__ = ["EvaluateConfig", "Evaluation", "Results", "Say", "Subject", "check_labels"]

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Results:
    """Long tables, one row a measurement; `lie_ssl.protocol.schema` has their columns."""

    accuracy: pd.DataFrame
    equivariance: pd.DataFrame
    curve: pd.DataFrame
    trials: pd.DataFrame
    predictions: pd.DataFrame  # of the linear classifier at the largest proportion, for pictures


class Evaluation:
    """One subject on one data set.

    Args:
        subject: The encoder, its operator if it has one, and their names.
        frames: The data set.
        config: The protocol's settings.
        features: The embeddings of the data set's frames.
        say: Where sentences about the work go.
    """

    def __init__(
        self, subject: Subject, frames: FrameSet, config: EvaluateConfig, features: Features, say: Say = lambda _: None
    ) -> None:
        self.context = Context(subject, frames, config, features, say)

    def run(self) -> Results:
        """All phases and all metrics."""
        self.context.embed()
        tables = self.phases(*(entry.name for entry in to_run()))
        equivariance = with_measures(EQUIVARIANCE).frame(list(self._measured()))
        self.context.features.save()
        return Results(equivariance=equivariance, **tables)

    def phases(self, *names: str) -> dict[str, pd.DataFrame]:
        """The tables of some phases, by their names."""
        tables = (ACCURACY, CURVE, TRIALS, PREDICTIONS)
        rows: dict[str, list[Row]] = {table.name: [] for table in tables}
        for name in names:
            for table, row in PHASES[name].value(self.context):
                rows[table.name].append(row)
        return {table.name: table.frame(rows[table.name]) for table in tables}

    def _measured(self) -> Iterator[Row]:
        """A row for every kind of pose, for known and unknown instances, and for every part of the embedding."""
        subject, metrics = self.context.subject, METRICS.entries()
        for tests in self.context.move_tests():
            shared: dict[str, float] = {}
            for entry in metrics:
                shared |= {} if entry.by_part else entry.value(self.context, tests[-1])
            for test in tests:
                row: dict[str, Any] = {
                    "method": subject.method, "arm": subject.arm, "poses": test.poses, "instances": test.instances,
                    "part": test.part, "seed": subject.seed,
                }  # fmt: skip
                for entry in metrics:
                    row |= entry.value(self.context, test) if entry.by_part else {}
                yield row | shared
