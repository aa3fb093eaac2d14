"""The ranges in which the factors of variation are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lie_ssl.errors import UserError
from lie_ssl.frames.factors.base import FACTORS, Range, all_factors


class Ranges(Mapping[str, Range]):
    """Factor -> (lowest, highest) value, checked and in the order of the registry; read-only and hashable.

    Factors that are left out, or that have their default range, do not vary and are not in the mapping.

    >>> Ranges({"scale": (0.5, 1.0), "hue": (0.0, 0.0), "light": (-60.0, 60.0)})
    Ranges({'light': (-60.0, 60.0), 'scale': (0.5, 1.0)})
    """

    def __init__(self, ranges: Mapping[str, Range] | None = None) -> None:
        given = {} if ranges is None else ranges
        if not isinstance(given, Mapping):
            raise UserError(f"ranges is {given!r}, but it takes named ranges, such as {{'hue': (0.0, 360.0)}}")
        checked = {name: FACTORS[name].value.check_range(given[name]) for name in given}
        self._ranges = {f.name: checked[f.name] for f in all_factors() if checked.get(f.name, f.default) != f.default}

    def __getitem__(self, name: str) -> Range:
        return self._ranges[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def __hash__(self) -> int:
        return hash(tuple(self._ranges.items()))

    def __repr__(self) -> str:
        return f"Ranges({self._ranges!r})"
