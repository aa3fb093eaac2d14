"""What tables for readers are made of: cells, rows, and groups of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from lie_ssl.protocol.schema import Column
from lie_ssl.report.summary import over_seeds

NOTHING = math.nan


@dataclass(frozen=True)
class Cell:
    """A mean over seeds; what is not there is not a number."""

    mean: float = NOTHING
    error: float = NOTHING  # standard error
    difference: float = NOTHING  # to the baseline of the same method
    multiple: float = NOTHING  # of the baseline
    digits: int = 1
    best: bool = False  # of its method, as the digits show it

    @property
    def empty(self) -> bool:
        return math.isnan(self.mean)


@dataclass(frozen=True)
class Row:
    """Rows of the same block belong together."""

    name: str
    cells: tuple[Cell, ...]
    block: str = ""


@dataclass(frozen=True)
class Table:
    """Columns come in groups with a heading each."""

    name: str  # of a file
    title: str
    corner: str  # heading of the first column
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Group and heading of every column."""
        return [(group, column) for group, columns in self.groups for column in columns]


def lookup(table: pd.DataFrame, keys: list[str], column: Column) -> Callable[..., Cell]:
    """Values of the keys -> the cell of a column, as mean and error over the seeds; empty for what is not there."""
    return cells_of(over_seeds(table, keys, column.name), keys, column.digits)


def cells_of(means: pd.DataFrame, keys: list[str], digits: int) -> Callable[..., Cell]:
    """The same for a table that has means and errors already."""
    places = means[keys].itertuples(index=False, name=None)
    numbers = zip(places, means["mean"], means["error"], strict=True)
    cells = {tuple(k): Cell(float(m), float(e), digits=digits) for k, m, e in numbers}
    return lambda *key: cells.get(key, Cell(digits=digits))


def with_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Marks the highest mean of every column and block; not where there is nothing to compare it with."""
    out = []
    for row in rows:
        others = [r for r in rows if r.block == row.block]
        cells = [
            replace(cell, best=_highest(cell, [r.cells[i] for r in others])) for i, cell in enumerate(row.cells)
        ]  # fmt: skip
        out.append(replace(row, cells=tuple(cells)))
    return tuple(out)


def _highest(cell: Cell, others: Sequence[Cell]) -> bool:
    values = [round(c.mean, c.digits) for c in others if not c.empty]
    return not cell.empty and len(values) > 1 and round(cell.mean, cell.digits) == max(values)


def group_tables(tables: Iterable[Table]) -> list[Table]:
    """Each group of columns as a table of its own with the group in its title, for narrow pages."""
    found = []
    for table in tables:
        start = 0
        for heading, columns in table.groups:
            own = slice(start, start + len(columns))
            rows = tuple(replace(row, cells=row.cells[own]) for row in table.rows)
            found.append(replace(table, title=f"{table.title}: {heading}", groups=(("", columns),), rows=rows))
            start += len(columns)
    return found
