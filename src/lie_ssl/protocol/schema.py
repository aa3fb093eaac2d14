"""The columns of all long tables: their types, their titles in reports, and which of them identify a row.

All code that writes or reads such a table uses these declarations. Three things are declared elsewhere, next to their
code: the columns of a metric (:mod:`lie_ssl.protocol.metrics`), the title of a phase (:mod:`lie_ssl.protocol.phases`)
and that of a kind of pose (:mod:`lie_ssl.frames.kinds`).
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
from lie_ssl.frames.kinds import KINDS
from lie_ssl.storage import tables
from lie_ssl.storage.paths import has_controls

PLAIN_WORD = re.compile(r"[\w-]+$")


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The distinct names: the known ones in the order of `known`, then the others alphabetically.

    >>> in_order(["b", "z", "a", "z"], ["z", "b"])
    ['z', 'b', 'a']
    """
    places = {name: place for place, name in enumerate(known)}
    return sorted(set(names), key=lambda name: (places.get(name, len(places)), name))


@dataclass(frozen=True)
class Category:
    """One of the values of a text column: its title, the title as short lines for the labels of bars, and a shorter
    title for narrow columns."""

    title: str
    lines: tuple[str, ...] = ()
    short: str = ""


@dataclass(frozen=True)
class Column:
    """One column of a long table.

    Files contain the columns in the order of declaration. Reports show those with a title, sorted by `order` and then
    in the order of declaration.

    Args:
        name: Its name in the file.
        title: Its heading in reports; empty for a column that is only in the file.
        kind: str, int, float or bool.
        digits: Digits after the decimal point in reports.
        order: Its position among the columns of a report.
        short: A shorter title for narrow tables.
        key: Whether it is one of the columns that identify a row.
        user_defined: Whether users choose the names in it; otherwise they consist of letters, digits, _ and -.
        categories: Its known values, in the order of reports; other values come after them.
    """

    name: str
    title: str = ""
    kind: type = float
    digits: int = 3
    order: int = 1000
    short: str = ""
    key: bool = False
    user_defined: bool = False
    categories: Mapping[str, Category] = field(default_factory=dict)

    def title_of(self, value: str) -> str:
        """The title of a value in reports; the value itself if it is not declared."""
        return self.categories[value].title if value in self.categories else value

    def short_of(self, value: str) -> str:
        """The shorter title of a value; its title if there is none."""
        return (self.categories[value].short if value in self.categories else "") or self.title_of(value)

    def in_order(self, values: Iterable[str]) -> list[str]:
        """The distinct values, in the order of reports."""
        return in_order(values, self.categories)


@dataclass(frozen=True)
class LongTable:
    """A table with one row per measurement, in the file `NAME.csv`."""

    name: str
    columns: tuple[Column, ...]
    measures: tuple[Column, ...] = ()  # the last columns; files written before a metric was added lack its columns

    @property
    def names(self) -> list[str]:
        """Names of all columns, in the order of the file."""
        return [c.name for c in (*self.columns, *self.measures)]

    @property
    def required(self) -> list[str]:
        """Names of the columns that every file has."""
        return [c.name for c in self.columns]

    @property
    def keys(self) -> list[str]:
        """Names of the columns that identify a row."""
        return [c.name for c in self.columns if c.key]

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        """Makes a table from rows, with the columns in their order. Without rows it is empty and has no columns."""
        if unknown := {name for row in rows for name in row} - set(self.names):
            raise ValueError(f"the table {self.name} has no column {', '.join(sorted(unknown))}; declare it first")
        return pd.DataFrame(list(rows), columns=self.names) if rows else pd.DataFrame()

    def check(self, table: pd.DataFrame, folder: Path) -> pd.DataFrame:
        """Rejects a table with missing columns, with text in a column of numbers, or with invalid names.

        Returns:
            The same table.
        """
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
            if not isinstance(word, str) or has_controls(word) or not (column.user_defined or PLAIN_WORD.match(word)):
                raise UserError(f"{path} has {word!r} in the column {column.name}, which is not a name; evaluate again")
        return
    numbers = pd.to_numeric(cells, errors="coerce")
    wrong = (numbers.isna() & cells.notna()).to_numpy()
    if wrong.any():
        row = int(wrong.argmax())
        raise UserError(
            f"{path}, line {row + 2}: {cells.iloc[row]!r} in the column {column.name} is not a number; evaluate again"
        )
    if column.key and not np.isfinite(numbers).all():
        raise UserError(f"{path} has rows without a number in the column {column.name}; evaluate again")


METHOD = Column("method", "method", str, key=True, user_defined=True)
ARM = Column("arm", "arm", str, key=True, user_defined=True)
ABLATED = Column("ablation", "ablation", str, key=True, user_defined=True)
PHASE = Column("phase", "phase", str, key=True)
OPTION = Column("option", "option", int, key=True, digits=0)
DIVERSE = Column("diverse", "diverse instances", float, key=True, digits=0)  # per cent of the training instances
SEED = Column("seed", "seed", int, key=True, digits=0)
POSES = Column(
    "poses", "poses", str, key=True,
    categories={name: Category(kind.title, short=kind.short) for name, kind in KINDS.items()}
    | {"2d - 3d": Category("2D minus 3D")},
)  # fmt: skip
SETTING = Column(
    "setting", "setting", str, key=True,
    categories={
        "known_typical": Category("known instance in typical pose"),
        "known_new": Category("known instance in new pose", ("known,", "new pose")),
        "known_new_supervised": Category("known instance in pose new to the classifier"),
        "unknown_typical": Category("unknown instance in typical pose", ("unknown,", "typical pose")),
        "unknown_diverse": Category("unknown instance in diverse pose", ("unknown,", "diverse pose")),
    },
)  # fmt: skip
NEW_POSE_SETTINGS = ("known_new", "unknown_diverse")  # shown in the paper's tables, and by angle
# The loss of accuracy from the first setting to each of the others, and by self-occlusion: 2D minus 3D.
SELF_OCCLUSION, SELF_OCCLUSION_POSES = "self_occlusion", "2d - 3d"
GAP = Column(
    "gap", "gap", str, key=True,
    categories={name: category for name, category in SETTING.categories.items() if name != "known_typical"}
    | {SELF_OCCLUSION: Category("self-occlusion", ("self-", "occlusion"))},
)  # fmt: skip
INSTANCES = Column(
    "instances", "instances", str, key=True, categories={"known": Category("known"), "unknown": Category("unknown")}
)
PART = Column(
    "part", "part", str, key=True, categories={"moved": Category("moved part"), "whole": Category("whole embedding")}
)  # fmt: skip
TOP1 = Column("top1", "top-1 accuracy in %", digits=1)
FRAMES = Column("frames", "frames", int, digits=0)
VALIDATION = Column("validation", "validation accuracy in %", digits=1)
RATE = Column("rate", "learning rate", key=True)
TEST = Column(
    "test", "test", str, key=True, categories={"upright": Category("upright"), "rotated": Category("rotated")}
)  # fmt: skip
RECIPE = Column("recipe", "recipe", str, user_defined=True)  # of a grid: the recipe's name and a hash of the unit

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
        Column("row", "frame", int, key=True, digits=0), Column("class", "true class", str, user_defined=True),
        Column("predicted", "prediction", str, user_defined=True),
    ),
)  # fmt: skip
EQUIVARIANCE = LongTable("equivariance", (METHOD, ARM, POSES, INSTANCES, PART, SEED))  # and the columns of metrics
CROSSTALK = LongTable(  # angles in degrees; other factors as they measure differences
    "crosstalk",
    (
        METHOD, ARM, POSES, INSTANCES, SEED,
        Column("factor", "factor that is read", str, key=True), Column("other", "other factor", str, key=True),
        Column("moves", "moves", int, digits=0), Column("error_median", "median error", digits=1),
        Column("error_mean", "mean error", digits=1), Column("no_move_median", "median move", digits=1),
        Column("no_move_mean", "mean move", digits=1),
        Column("still_median", "median error, other factor still", digits=1),
        Column("still_mean", "mean error, other factor still", digits=1),
        Column("moving_median", "median error, other factor moving", digits=1),
        Column("moving_mean", "mean error, other factor moving", digits=1), Column("leak", "leak", digits=3),
    ),
)  # fmt: skip
SPEEDS = LongTable(
    "speeds",
    (
        METHOD, ARM, POSES, INSTANCES, SEED, Column("factor", "factor", str, key=True),
        Column("plane", "plane", int, key=True, digits=0), Column("speed", "speed", digits=2),
        Column("energy", "part of v", digits=3),
    ),
)  # fmt: skip
GAPS = LongTable("gaps", (*_CELL, SEED, POSES, GAP, Column("points", "points", digits=1)))
ABLATION = LongTable(
    "ablation", (METHOD, ABLATED, PHASE, DIVERSE, POSES, SETTING, SEED, TOP1, Column("drop", "points lost", digits=1))
)  # fmt: skip
ABLATION_EQUIVARIANCE = LongTable("ablation_equivariance", (METHOD, ABLATED, POSES, INSTANCES, PART, SEED))
TRANSFER = LongTable(
    "transfer",
    (
        Column("photos", "photographs", str, key=True, user_defined=True), METHOD, ARM, SEED,
        TEST, TOP1, replace(RATE, key=False), FRAMES, Column("settings", kind=str, key=True),
    ),
)  # fmt: skip
PHOTOS = Column("photos", "photographs", str, key=True, user_defined=True)
UPRIGHT = LongTable(  # accuracies in per cent, angles in degrees; one row for each way to classify
    "upright",
    (
        PHOTOS, METHOD, ARM, SEED,
        Column("upright", "upright", digits=1), Column("rotated", "rotated", digits=1),
        Column("relative_median", "angle between two", digits=1), Column("relative_mean", "mean", digits=1),
        Column("relative_within_30", "within 30", digits=1),
        Column("absolute_median", "angle of one", digits=1), Column("absolute_mean", "mean", digits=1),
        Column("absolute_within_30", "within 30", digits=1), FRAMES, Column("settings", kind=str, key=True),
    ),
)  # fmt: skip
MODELS = LongTable(
    "models",
    (
        Column("model", "model", str, key=True, user_defined=True),
        Column("encoder", "encoder", str, user_defined=True), Column("weights", "weights", str, user_defined=True),
        Column("measured", "measured", bool), Column("words", "reason", str, user_defined=True),
    ),
)  # fmt: skip
SWEEP = LongTable(  # the settings of the grid come after the trial
    "sweep",
    (
        Column("trial", "trial", str, key=True, user_defined=True), VALIDATION,
        Column("lie_ratio", "L_lie, last over first", digits=2), Column("passed", "passed", bool),
        Column("seconds", "seconds", digits=0), Column("status", "status", str, user_defined=True),
    ),
)  # fmt: skip
TABLES = (
    ACCURACY, CURVE, TRIALS, PREDICTIONS, EQUIVARIANCE, CROSSTALK, SPEEDS, GAPS, ABLATION, ABLATION_EQUIVARIANCE,
    TRANSFER, UPRIGHT, MODELS, SWEEP,
)  # fmt: skip
TEXT_COLUMNS = {c.name for table in TABLES for c in table.columns if c.kind is str} | {RECIPE.name}


def read_table(path: Path) -> pd.DataFrame:
    """Reads a long table. Text columns stay text, and names of older versions are replaced by the current ones."""
    return tables.read_table(path, TEXT_COLUMNS)
