"""Metrics of embeddings other than accuracy: one file per metric, which declares its columns.

A metric is a function of the context of an evaluation and a :class:`MoveTest`. It returns the values of its columns in
`equivariance.csv`; the report shows them under its title. To add a metric, write a file in this folder:

    @metric(
        "distance", title="distance", columns=(Column("distance", "mean distance of a move", digits=2),),
        about="Distance is the distance between the two embeddings of a move.",
    )
    def distance(context: Context, test: MoveTest) -> Values:
        z, z_next = context.features(test.moves.source), context.features(test.moves.target)
        return {"distance": float((z_next - z).norm(dim=1).mean())}

A metric that has several rows for the same moves, such as one for each pair of factors, has a table of its own: see
:func:`row_metric`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.schema import Column, LongTable
from lie_ssl.registry import Entry, Registry

__all__ = ["METRICS", "Measure", "Metric", "Values", "metric", "metric_tables", "row_metric", "with_measures"]

Values = Mapping[str, float]  # by column; the cells of missing columns stay empty
Measure = Callable[[Context, MoveTest], Values]
RowMeasure = Callable[[Context, MoveTest], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Metric(Entry[Measure]):
    """A registered metric.

    Args:
        columns: Its numeric columns, in the order of the file. Reports show those with a title.
        by_part: Whether it is measured for each part of the embedding. Otherwise it is measured once, on the whole
            embedding, and the rows of all parts have the same values.
        about: Explanation for the readers of a report.
        table, rows: A table of its own, and the function that yields its rows; None for most metrics.
    """

    columns: tuple[Column, ...] = ()
    by_part: bool = False
    about: str = ""
    table: LongTable | None = None
    rows: RowMeasure | None = None

    @property
    def shown(self) -> list[Column]:
        """The columns that reports show, in their order."""
        return sorted((c for c in self.columns if c.title), key=lambda c: c.order)

    def in_table(self, names: Iterable[str]) -> bool:
        """Whether a table with these columns has any column of the metric; tables of older versions may have none."""
        return not {c.name for c in self.columns}.isdisjoint(names)


METRICS: Registry[Metric] = Registry("metric", __name__)


def metric(
    name: str, *, title: str, columns: tuple[Column, ...], order: int = 1000, by_part: bool = False, about: str = ""
) -> Callable[[Measure], Measure]:
    """Registers a function as a metric.

    Args:
        name: Its name.
        title: The heading of its columns in reports.
        columns, by_part, about: See :class:`Metric`.
        order: Its position among all metrics; new ones come last, so that columns are only added on the right.
    """

    def register(measure: Measure) -> Measure:
        METRICS.add(Metric(name, title, measure, order, columns, by_part, about))
        return measure

    return register


def row_metric(name: str, *, title: str, table: LongTable, order: int = 1000) -> Callable[[RowMeasure], RowMeasure]:
    """Registers a function that yields rows of a table of its own, in the file `TABLE.csv` of an evaluation.

    It is called once for each kind of pose, for known and for unknown instances. The rows need no cells for method,
    arm, seed, poses and instances. An evaluation in which it yields nothing has no such file.

    Args:
        name, title, order: As in :func:`metric`.
        table: The table, which must be declared in :mod:`lie_ssl.protocol.schema`.
    """

    def register(rows: RowMeasure) -> RowMeasure:
        METRICS.add(Metric(name, title, _no_columns, order, table=table, rows=rows))
        return rows

    return register


def _no_columns(context: Context, test: MoveTest) -> Values:
    return {}


def metric_tables() -> list[LongTable]:
    """The tables of metrics that have their own."""
    return [entry.table for entry in METRICS.entries() if entry.table is not None]


def with_measures(table: LongTable) -> LongTable:
    """Appends the columns of all metrics to those of a table."""
    owners: dict[str, str] = dict.fromkeys(table.required, f"the table {table.name}")
    measures = []
    for entry in METRICS.entries():
        for column in entry.columns:
            if column.name in owners:
                raise UserError(
                    f"the metric {entry.name!r} has a column {column.name!r}, but so does {owners[column.name]}; "
                    "choose another name"
                )
            owners[column.name] = f"the metric {entry.name!r}"
            measures.append(column)
    return replace(table, measures=tuple(measures))
