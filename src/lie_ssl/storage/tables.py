"""CSV files that a spreadsheet can open without running anything."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.migration import RENAMED_CELLS
from lie_ssl.storage.files import write_whole

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def csv_safe(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would take it for a formula.

    >>> csv_safe("=1+1"), csv_safe("mug")
    ("'=1+1", 'mug')
    """
    return f"'{text}" if text.startswith(FORMULA) or _is_escaped(text) else text


def csv_text(cell: str) -> str:
    """What :func:`csv_safe` was given."""
    return cell[1:] if _is_escaped(cell) else cell


def _is_escaped(cell: str) -> bool:
    """An apostrophe, or several, before a formula: a text that begins so gets one more, so that none is lost."""
    rest = cell.lstrip("'")
    return len(rest) < len(cell) and rest.startswith(FORMULA)


def table_bytes(table: pd.DataFrame, float_format: str | None = None) -> bytes:
    """A table as CSV."""
    safe = table.rename(columns=lambda name: csv_safe(str(name)))
    for position, kind in enumerate(table.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            cells = table.iloc[:, position].tolist()
            safe.isetitem(position, [csv_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return safe.to_csv(index=False, float_format=float_format).encode()


def write_table(path: Path, table: pd.DataFrame) -> None:
    """A CSV, whole or not at all."""
    write_whole(path, [table_bytes(table, float_format="%.6g")])


def read_table(path: Path, words: Collection[str] = ()) -> pd.DataFrame:
    """What :func:`write_table` wrote, in the words of today; an empty table for a file without columns.

    `words` are the columns whose cells stay words even where they look like a number or like nothing ("007", "NA").
    """
    try:
        names = dict.fromkeys(words, str)
        table = pd.DataFrame()
        if path.stat().st_size > 2:
            table = pd.read_csv(path, dtype=names, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}; make it again") from error
    table = table.rename(columns=csv_text)
    for name in table.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]]:
        table[name] = table[name].map(lambda cell: csv_text(cell) if isinstance(cell, str) else cell)
    for name, renamed in RENAMED_CELLS.items():
        if name in table:
            table[name] = [renamed.get(cell, cell) for cell in table[name]]
    return table


def sorted_places(keys: Sequence[Hashable], order: Sequence[Hashable]) -> list[int]:
    """Places of rows, such that those whose keys are in `order` come in this order; all others stay where they are.

    A table to which several processes add their rows as they end is then always the same.

    >>> sorted_places(["c", "?", "a", "a"], ["a", "b", "c"])
    [2, 1, 3, 0]
    """
    ranks = {key: rank for rank, key in enumerate(order)}
    known = [place for place, key in enumerate(keys) if key in ranks]
    ordered = iter(sorted(known, key=lambda place: ranks[keys[place]]))
    return [next(ordered) if key in ranks else place for place, key in enumerate(keys)]
