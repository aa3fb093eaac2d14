"""Reads a data set: the index as a table, the pictures as arrays."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.card import INDEX, read_card
from lie_ssl.frames.codec import DamagedFrameError, decode
from lie_ssl.frames.factors.base import FACTORS
from lie_ssl.frames.index import read_index
from lie_ssl.frames.shards import Shard, shard_length


def shard_name(number: int) -> str:
    return f"frames-{number:05d}.bin"


def check_places(index: pd.DataFrame, folder: Path) -> None:
    """Rejects an index that refers to missing pictures."""
    remedy = "make or copy the data set again"
    for number, slots in index.groupby("shard")["slot"]:
        length = shard_length(folder / shard_name(int(str(number))))
        if slots.min() < 0 or slots.max() >= length:
            wrong = int(slots.min()) if slots.min() < 0 else int(slots.max())
            name = shard_name(int(str(number)))
            raise UserError(f"{folder / INDEX} refers to frame {wrong} of {name}, which has {length}; {remedy}")


def check_factors(card: dict[str, Any], folder: Path) -> None:
    """Rejects a data set with an unknown factor of variation, as the distance of two frames would be undefined."""
    factors = card.get("factors", [])
    for name in factors if isinstance(factors, list) else [factors]:
        if name not in FACTORS:
            raise UserError(
                f"{folder} varies in {name!r:.60}, but no factor of this name is registered; import the code that "
                "registers it first"
            )


class FrameSet:
    """A pose data set on disk.

    >>> frames = FrameSet("data/demo")                                  # doctest: +SKIP
    >>> chairs = frames.index.query("`class` == 'chair'")               # doctest: +SKIP
    >>> pictures = frames.read(chairs.index[:8])  # (8, H, W, C) uint8  # doctest: +SKIP
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.card: dict[str, Any] = read_card(self.folder)
        self.size: int = self.card["size"]
        self.channels: int = self.card["channels"]
        self._shards: dict[int, Shard] = {}

    @cached_property
    def index(self) -> pd.DataFrame:
        """A table with one row per frame; see :mod:`lie_ssl.frames.index` for the columns."""
        check_factors(self.card, self.folder)
        index = read_index(self.folder / INDEX)
        check_places(index, self.folder)
        if len(index) != (count := self.card["counts"]["frames"]):
            words = f"{self.folder / INDEX} has {len(index):,} frames, but the card {count:,}"
            raise UserError(f"{words}; make or copy the data set again")
        return index

    @cached_property
    def classes(self) -> list[str]:
        """Class names, in the order of their labels."""
        return sorted(self.index["class"].unique())

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(rows,) class label of every frame."""
        return np.searchsorted(self.classes, self.index["class"].to_numpy(str)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        counts = self.card["counts"]
        return f"FrameSet({str(self.folder)!r}, {counts['frames']} frames, {counts['classes']} classes, {self.size} px)"

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return self.index[["shard", "slot"]].to_numpy(np.int32)

    def read(self, rows: Sequence[int] | NDArray[np.integer | np.bool_] | pd.Index | pd.Series) -> NDArray[np.uint8]:
        """Reads the pictures of the given rows of the index, in that order.

        Args:
            rows: Row numbers, or a mask with one entry for every row.

        Returns:
            The pictures (len(rows), size, size, channels) uint8.
        """
        rows = np.asarray(rows)
        if rows.dtype == bool and rows.shape == (len(self),):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise UserError("rows must be a list of row numbers of the index, or a mask with one entry for every row")
        rows = rows.astype(np.int64)
        if len(rows) and (rows.min() < 0 or rows.max() >= len(self)):
            raise UserError(f"{self.folder} has {len(self)} frames, so there is no frame {int(rows.max())}")
        out = np.empty((len(rows), self.size, self.size, self.channels), np.uint8)
        for row, picture, (shard, slot) in zip(rows, out, self._places[rows], strict=True):
            try:
                decode(self._shard(int(shard))[slot], picture)
            except DamagedFrameError as error:
                raise UserError(f"{self.describe(int(row))} {error}; `lie-ssl data verify` finds all damage") from error
        return out

    def inputs(self, rows: NDArray[np.integer]) -> NDArray[Any]:
        """Reads the given rows as the input of an encoder: pictures (len(rows), channels, size, size) uint8."""
        return self.read(rows).transpose(0, 3, 1, 2)

    def describe(self, row: int) -> str:
        """A description of a frame, for messages."""
        frame, (shard, slot) = self.index.loc[row], self._places[row]
        where = f"slot {slot} of {shard_name(int(shard))} in {self.folder}"
        return f"frame {row} ({frame['class']}/{frame['instance']}, {frame['pose']} {frame['angle']:g}, {where})"

    def _shard(self, number: int) -> Shard:
        if number not in self._shards:
            path = self.folder / shard_name(number)
            try:
                self._shards[number] = Shard(path)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._shards:
                    raise
                self._shards.clear()  # too many open files: close all and open this one
                self._shards[number] = Shard(path)
        return self._shards[number]

    def __getstate__(self) -> dict[str, Any]:
        # Worker processes open the files themselves.
        return self.__dict__ | {"_shards": {}}
