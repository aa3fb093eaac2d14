"""The whole protocol for one encoder: all registered phases and metrics, as long tables.

Phases (`lie_ssl.protocol.phases`) and metrics (`lie_ssl.protocol.metrics`) yield rows, which this module collects.
`lie_ssl.protocol.results` writes them to a folder with a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.context import Context, MoveTest, Say, Subject, check_labels
from lie_ssl.protocol.metrics import METRICS, Metric, with_measures
from lie_ssl.protocol.phases import PHASES, ordered_phases
from lie_ssl.protocol.schema import ACCURACY, CURVE, EQUIVARIANCE, PREDICTIONS, TRIALS

__all__ = ["EvaluateConfig", "Evaluation", "Results", "Say", "Subject", "check_labels"]

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Results:
    """Long tables with one row per measurement; their columns are in `lie_ssl.protocol.schema`."""

    accuracy: pd.DataFrame
    equivariance: pd.DataFrame
    curve: pd.DataFrame
    trials: pd.DataFrame
    predictions: pd.DataFrame  # by the linear classifier at the largest proportion, for the pictures in reports
    others: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # by name: the tables of metrics with their own


class Evaluation:
    """The evaluation of one encoder on one data set."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def run(self) -> Results:
        """Runs all phases and all metrics."""
        self.context.embed()
        tables = self.phases(*(entry.name for entry in ordered_phases()))
        equivariance = with_measures(EQUIVARIANCE).frame(list(self._metric_rows()))
        others = self._other_tables()
        self.context.features.save()
        return Results(equivariance=equivariance, others=others, **tables)

    def phases(self, *names: str) -> dict[str, pd.DataFrame]:
        """Runs the phases with the given names.

        Returns:
            Their tables by name.
        """
        tables = (ACCURACY, CURVE, TRIALS, PREDICTIONS)
        rows: dict[str, list[Row]] = {table.name: [] for table in tables}
        for name in names:
            for table, row in PHASES[name].value(self.context):
                rows[table.name].append(row)
        return {table.name: table.frame(rows[table.name]) for table in tables}

    def _metrics(self) -> list[Metric]:
        chosen = self.context.config.metrics
        return METRICS.entries() if chosen is None else [METRICS[name] for name in chosen]

    def _metric_rows(self) -> Iterator[Row]:
        """Yields a row per kind of pose, for known and unknown instances, and for each part of the embedding."""
        metrics = self._metrics()
        for tests in self.context.move_tests():
            shared: dict[str, float] = {}
            for entry in metrics:
                shared |= {} if entry.by_part else entry.value(self.context, tests[-1])
            for test in tests:
                row = self._cells(test) | {"part": test.part}
                for entry in metrics:
                    row |= entry.value(self.context, test) if entry.by_part else {}
                yield row | shared

    def _other_tables(self) -> dict[str, pd.DataFrame]:
        """The tables of metrics that have their own, as far as they have rows."""
        tables = {}
        for entry in self._metrics():
            if entry.table is None or entry.rows is None:
                continue
            tests = (tests[-1] for tests in self.context.move_tests())
            rows = [self._cells(test) | dict(row) for test in tests for row in entry.rows(self.context, test)]
            if rows:
                tables[entry.table.name] = entry.table.frame(rows)
        return tables

    def _cells(self, test: MoveTest) -> dict[str, Any]:
        """The cells that identify moves in the tables."""
        subject = self.context.subject
        return {
            "method": subject.method, "arm": subject.arm, "poses": test.poses, "instances": test.instances,
            "seed": subject.seed,
        }  # fmt: skip
