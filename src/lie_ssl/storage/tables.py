"""CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.migration import RENAMED_CELLS
from lie_ssl.storage.files import write_whole

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet reads these as the start of a formula


def csv_safe(text: str) -> str:
    """Puts an apostrophe before a text that a spreadsheet would read as a formula.

    >>> csv_safe("=1+1"), csv_safe("mug")
    ("'=1+1", 'mug')
    """
    return f"'{text}" if text.startswith(FORMULA) or _is_escaped(text) else text


def csv_text(cell: str) -> str:
    """Reverses :func:`csv_safe`."""
    return cell[1:] if _is_escaped(cell) else cell


def _is_escaped(cell: str) -> bool:
    """Whether apostrophes stand before a formula; such a text gets one more, so that none is lost."""
    rest = cell.lstrip("'")
    return len(rest) < len(cell) and rest.startswith(FORMULA)


def table_bytes(table: pd.DataFrame, float_format: str | None = None) -> bytes:
    """A table as the bytes of a CSV file."""
    safe = table.rename(columns=lambda name: csv_safe(str(name)))
    for position, kind in enumerate(table.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            cells = table.iloc[:, position].tolist()
            safe.isetitem(position, [csv_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return safe.to_csv(index=False, float_format=float_format).encode()


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Writes a table as a CSV file, atomically."""
    write_whole(path, [table_bytes(table, float_format="%.6g")])


def read_table(path: Path, words: Collection[str] = ()) -> pd.DataFrame:
    """Reads what :func:`write_table` wrote, with old names replaced; a file without columns gives an empty table.

    Args:
        path: The file.
        words: Columns whose cells stay text even if they look like a number or a missing value ("007", "NA").
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
    """The row order in which keys in `order` follow that order and all other rows keep their positions.

    With it, a table to which several processes add rows is always the same in the end.

    >>> sorted_places(["c", "?", "a", "a"], ["a", "b", "c"])
    [2, 1, 3, 0]
    """
    ranks = {key: rank for rank, key in enumerate(order)}
    known = [place for place, key in enumerate(keys) if key in ranks]
    ordered = iter(sorted(known, key=lambda place: ranks[keys[place]]))
    return [next(ordered) if key in ranks else place for place, key in enumerate(keys)]
