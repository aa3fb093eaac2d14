"""The columns of every long table, declared once: what they hold, what readers see, and which say what a row measures.

Whatever writes or reads such a table asks here. Two kinds of knowledge are declared with the code that makes it: the
columns of a metric in its file of :mod:`lie_ssl.protocol.metrics`, the title of a phase in its file of
:mod:`lie_ssl.protocol.phases`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.storage import tables
from lie_ssl.storage.paths import has_controls

PLAIN_WORD = re.compile(r"[\w-]+$")


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Every name once: the known ones in their own order, then the others by the alphabet.

    >>> in_order(["b", "z", "a", "z"], ["z", "b"])
    ['z', 'b', 'a']
    """
    places = {name: place for place, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (places.get(name, len(places)), name))


@dataclass(frozen=True)
class Word:
    """One of the words in a column: its title, and the same in short lines, as under a bar."""

    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """One column of a long table.

    Files have the columns as they are declared; readers see those with a title, by `order` and then as declared.

    Args:
        name: In the file.
        title: What readers see above it; none for a column that is in the file only.
        kind: str, int, float or bool.
        digits: After the decimal point, for readers.
        order: Its place among the columns that readers see.
        short: The title where there is little room.
        key: Whether it says which measurement a row is.
        chosen: Whether users choose the names in it; otherwise they are plain words of the protocol.
        words: The words that it holds, in the order in which readers see them; others come after them.
    """

    name: str
    title: str = ""
    kind: type = float
    digits: int = 3
    order: int = 1000
    short: str = ""
    key: bool = False
    chosen: bool = False
    words: Mapping[str, Word] = field(default_factory=dict)

    def title_of(self, word: str) -> str:
        """What readers see for a word; one that is not declared stands for itself."""
        return self.words[word].title if word in self.words else word

    def in_order(self, words: Iterable[str]) -> list[str]:
        """Every word once, as readers see them."""
        return in_order(words, self.words)


@dataclass(frozen=True)
class LongTable:
    """A table with one row a measurement, in the file `NAME.csv`."""

    name: str
    columns: tuple[Column, ...]
    measures: tuple[Column, ...] = ()  # after the others; a file may lack them, as one of before a metric was added

    @property
    def names(self) -> list[str]:
        """Of all columns, in the order of the file."""
        return [c.name for c in (*self.columns, *self.measures)]

    @property
    def required(self) -> list[str]:
        """Names of the columns that every file has."""
        return [c.name for c in self.columns]

    @property
    def keys(self) -> list[str]:
        """Names of the columns that say which measurement a row is."""
        return [c.name for c in self.columns if c.key]

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        """Rows -> a table with the columns in their order; nothing at all where there are no rows."""
        if strange := {name for row in rows for name in row} - set(self.names):
            raise ValueError(f"the table {self.name} has no column {', '.join(sorted(strange))}; declare it first")
        return pd.DataFrame(list(rows), columns=self.names) if rows else pd.DataFrame()

    def check(self, table: pd.DataFrame, folder: Path) -> pd.DataFrame:
        """Refuses a table without its columns, with text where numbers belong, or with names that are no words."""
        if table.empty:
            return pd.DataFrame()
        if missing := [name for name in self.required if name not in table]:
            raise UserError(f"{folder / self.name}.csv has no column {missing[0]!r}; evaluate again with this version")
        for column in (*self.columns, *self.measures):
            if column.name in table:
                _check_cells(table[column.name], column, folder / f"{self.name}.csv")
        return table


def _check_cells(cells: pd.Series, column: Column, path: Path) -> None:
    if column.kind is str:
        if cells.isna().any():
            raise UserError(f"{path} has an empty cell in the column {column.name}; evaluate again")
        for word in cells.unique():
            if not isinstance(word, str) or has_controls(word) or not (column.chosen or PLAIN_WORD.match(word)):
                raise UserError(f"{path} has {word!r} in the column {column.name}, which is no name")
        return
    numbers = pd.to_numeric(cells, errors="coerce")
    wrong = (numbers.isna() & cells.notna()).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise UserError(f"{path}, line {row + 2}: {cells.iloc[row]!r} in the column {column.name} is no number")
    if column.key and not np.isfinite(numbers).all():
        raise UserError(f"{path} has no number in the column {column.name} of some row; evaluate again")


METHOD = Column("method", "method", str, key=True, chosen=True)
ARM = Column("arm", "arm", str, key=True, chosen=True)
ABLATED = Column("ablation", "ablation", str, key=True, chosen=True)
PHASE = Column("phase", "phase", str, key=True)
OPTION = Column("option", "option", int, key=True, digits=0)
DIVERSE = Column("diverse", "diverse instances", float, key=True, digits=0)  # per cent of the training instances
SEED = Column("seed", "seed", int, key=True, digits=0)
POSES = Column(
    "poses", "poses", str, key=True,
    words={
        "2d": Word("2D poses"), "3d": Word("3D poses"), "so3": Word("free rotations"),
        "time": Word("moments of a clip"), "2d - 3d": Word("2D minus 3D"),
    },
)  # fmt: skip
SETTING = Column(
    "setting", "setting", str, key=True,
    words={
        "known_typical": Word("known instance in typical pose"),
        "known_new": Word("known instance in new pose", ("known,", "new pose")),
        "known_new_supervised": Word("known instance in pose new to the classifier"),
        "unknown_typical": Word("unknown instance in typical pose", ("unknown,", "typical pose")),
        "unknown_diverse": Word("unknown instance in diverse pose", ("unknown,", "diverse pose")),
    },
)  # fmt: skip
TURNED = ("known_new", "unknown_diverse")  # the settings of the paper's tables, and of accuracy against angle
# What is lost against the first setting: in every other one, and by self-occlusion, which is 2D minus 3D.
SELF_OCCLUSION, SELF_OCCLUSION_POSES = "self_occlusion", "2d - 3d"
GAP = Column(
    "gap", "gap", str, key=True,
    words={name: word for name, word in SETTING.words.items() if name != "known_typical"}
    | {SELF_OCCLUSION: Word("self-occlusion", ("self-", "occlusion"))},
)  # fmt: skip
INSTANCES = Column("instances", "instances", str, key=True, words={"known": Word("known"), "unknown": Word("unknown")})
PART = Column(
    "part", "part", str, key=True, words={"moved": Word("moved part"), "whole": Word("whole embedding")}
)  # fmt: skip
TOP1 = Column("top1", "top-1 accuracy in %", digits=1)
FRAMES = Column("frames", "frames", int, digits=0)
VALIDATION = Column("validation", "validation accuracy in %", digits=1)
RATE = Column("rate", "learning rate", key=True)
TEST = Column("test", "test", str, key=True, words={"upright": Word("upright"), "rotated": Word("rotated")})
RECIPE = Column("recipe", "recipe", str, chosen=True)  # added to the tables of a grid: its name and a hash of the unit

_CELL = (METHOD, ARM, PHASE, OPTION, DIVERSE)
ACCURACY = LongTable("accuracy", (*_CELL, POSES, SETTING, SEED, TOP1))
CURVE = LongTable(
    "curve", (*_CELL, POSES, SETTING, SEED, Column("angle", "angle in degrees", key=True), FRAMES, TOP1)
)  # fmt: skip
TRIALS = LongTable(
    "trials",
    (
        *_CELL, SEED, Column("optimiser", "optimiser", str, key=True), RATE,
        VALIDATION,
    ),
)  # fmt: skip
PREDICTIONS = LongTable(
    "predictions",
    (
        Column("row", "frame", int, key=True, digits=0), Column("class", "true class", str, chosen=True),
        Column("predicted", "answer", str, chosen=True),
    ),
)  # fmt: skip
EQUIVARIANCE = LongTable("equivariance", (METHOD, ARM, POSES, INSTANCES, PART, SEED))  # and what metrics measure
GAPS = LongTable("gaps", (*_CELL, SEED, POSES, GAP, Column("points", "points", digits=1)))
ABLATION = LongTable(
    "ablation", (METHOD, ABLATED, PHASE, DIVERSE, POSES, SETTING, SEED, TOP1, Column("drop", "points lost", digits=1))
)  # fmt: skip
ABLATION_EQUIVARIANCE = LongTable("ablation_equivariance", (METHOD, ABLATED, POSES, INSTANCES, PART, SEED))
TRANSFER = LongTable(
    "transfer",
    (
        Column("photos", "photographs", str, key=True, chosen=True), METHOD, ARM, SEED,
        TEST, TOP1, replace(RATE, key=False), FRAMES, Column("settings", kind=str, key=True),
    ),
)  # fmt: skip
MODELS = LongTable(
    "models",
    (
        Column("model", "model", str, key=True, chosen=True), Column("encoder", "encoder", str, chosen=True),
        Column("weights", "weights", str, chosen=True), Column("measured", "measured", bool),
        Column("words", "why not", str, chosen=True),
    ),
)  # fmt: skip
SWEEP = LongTable(  # the settings that are combined stand after the trial
    "sweep",
    (
        Column("trial", "trial", str, key=True, chosen=True), VALIDATION,
        Column("lie_ratio", "L_lie, last over first", digits=2), Column("passed", "passed", bool),
        Column("seconds", "seconds", digits=0), Column("status", "status", str, chosen=True),
    ),
)  # fmt: skip
TABLES = (
    ACCURACY, CURVE, TRIALS, PREDICTIONS, EQUIVARIANCE, GAPS, ABLATION, ABLATION_EQUIVARIANCE, TRANSFER, MODELS, SWEEP,
)  # fmt: skip
WORDS = {c.name for table in TABLES for c in table.columns if c.kind is str} | {RECIPE.name}


def read_table(path: Path) -> pd.DataFrame:
    """A long table as it was written; names stay words, and what older versions called otherwise has its new name."""
    return tables.read_table(path, WORDS)
