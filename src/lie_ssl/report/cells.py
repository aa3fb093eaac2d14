"""The parts of tables in reports: cells, rows, and groups of columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from lie_ssl.protocol.schema import Column
from lie_ssl.report.summary import over_seeds

MISSING = math.nan


@dataclass(frozen=True)
class Cell:
    """A mean over seeds; missing values are nan."""

    mean: float = MISSING
    error: float = MISSING  # standard error
    difference: float = MISSING  # from the baseline of the same method
    multiple: float = MISSING  # ratio to the baseline
    digits: int = 1
    best: bool = False  # whether it is the best of its method, at the shown digits

    @property
    def empty(self) -> bool:
        return math.isnan(self.mean)


@dataclass(frozen=True)
class Row:
    """A row; tables separate blocks of rows from each other."""

    name: str
    cells: tuple[Cell, ...]
    block: str = ""


@dataclass(frozen=True)
class Table:
    """A table whose columns are in groups, each with a heading."""

    name: str  # name of its file
    title: str
    corner: str  # heading of the first column
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The group and the heading of every column."""
        return [(group, column) for group, columns in self.groups for column in columns]


def lookup(table: pd.DataFrame, keys: list[str], column: Column) -> Callable[..., Cell]:
    """Returns a function from the values of the keys to the mean and error over the seeds; empty if not measured."""
    return cells_of(over_seeds(table, keys, column.name), keys, column.digits)


def cells_of(means: pd.DataFrame, keys: list[str], digits: int) -> Callable[..., Cell]:
    """As :func:`lookup`, for a table with means and errors."""
    places = means[keys].itertuples(index=False, name=None)
    numbers = zip(places, means["mean"], means["error"], strict=True)
    cells = {tuple(k): Cell(float(m), float(e), digits=digits) for k, m, e in numbers}
    return lambda *key: cells.get(key, Cell(digits=digits))


def with_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Marks the highest mean of every column and block, if there are at least two."""
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
    """Splits tables into one table per group of columns, with the group in its title, for narrow terminals."""
    found = []
    for table in tables:
        start = 0
        for heading, columns in table.groups:
            own = slice(start, start + len(columns))
            rows = tuple(replace(row, cells=row.cells[own]) for row in table.rows)
            found.append(replace(table, title=f"{table.title}: {heading}", groups=(("", columns),), rows=rows))
            start += len(columns)
    return found
