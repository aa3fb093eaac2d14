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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lie_ssl.errors import UserError
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.schema import Column, LongTable
from lie_ssl.registry import Entry, Registry

__all__ = ["METRICS", "Measure", "Metric", "Values", "metric", "with_measures"]

Values = Mapping[str, float]  # by column; the cells of missing columns stay empty
Measure = Callable[[Context, MoveTest], Values]


@dataclass(frozen=True)
class Metric(Entry[Measure]):
    """A registered metric.

    Args:
        columns: Its numeric columns, in the order of the file. Reports show those with a title.
        by_part: Whether it is measured for each part of the embedding. Otherwise it is measured once, on the whole
            embedding, and the rows of all parts have the same values.
        about: Explanation for the readers of a report.
    """

    columns: tuple[Column, ...] = ()
    by_part: bool = False
    about: str = ""

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
