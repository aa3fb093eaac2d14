"""What a report is made of: evaluations of runs, or tables that were collected from many of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.protocol.ablate import COLUMNS as ABLATION_COLUMNS
from lie_ssl.protocol.ablate import OPERATOR_KEYS
from lie_ssl.protocol.ablate import TABLE as ABLATION
from lie_ssl.protocol.results import ACCURACY_KEYS, EQUIVARIANCE_KEYS, read_results
from lie_ssl.report.names import MEASURES, Arm
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.paths import has_controls
from lie_ssl.storage.tables import read_table, write_table
from lie_ssl.training.folder import CONFIG

ACCURACY = "accuracy.csv"
COLUMNS = {
    "accuracy": [*ACCURACY_KEYS, "top1"],
    "curve": [*ACCURACY_KEYS, "angle", "frames", "top1"],
    "equivariance": EQUIVARIANCE_KEYS,
    "ablation": ABLATION_COLUMNS,
    "ablation_equivariance": OPERATOR_KEYS,
}


TEXT = ("method", "arm", "phase", "poses", "setting", "instances", "part", "ablation")
PLAIN = ("phase", "poses", "setting", "instances", "part")  # words of the protocol's own
KEYS = ("option", "diverse", "seed")  # numbers that say which measurement a row is
PLAIN_WORD = re.compile(r"[\w-]+$")


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The evaluation of one run: its card, its predictions, and the run's folder if that is still there."""

    folder: Path
    card: dict[str, Any]
    predictions: pd.DataFrame
    run: Path | None

    @property
    def arm(self) -> Arm:
        return Arm(self.card["method"], self.card["arm"])

    @property
    def seed(self) -> int:
        return int(self.card["seed"])

    @property
    def name(self) -> str:
        return f"{self.arm.name}, seed {self.seed}"


@dataclass(frozen=True, eq=False)
class ReportData:
    """Long tables over all runs and seeds, in the columns of the CSVs; any of them may be empty."""

    accuracy: pd.DataFrame
    curve: pd.DataFrame
    equivariance: pd.DataFrame
    ablation: pd.DataFrame
    evaluated: tuple[Evaluated, ...]
    notes: tuple[str, ...]  # sentences about what makes the numbers less comparable
    ablation_equivariance: pd.DataFrame = field(default_factory=pd.DataFrame)


def gather(sources: Sequence[Path]) -> ReportData:
    """Reads run folders, evaluation folders, and folders of collected tables (accuracy.csv ... without a card, or
    ablation.csv)."""
    if not sources:
        raise UserError("a report needs at least one run or evaluation; name their folders")
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in COLUMNS}
    evaluated = []
    for source in sources:
        folder = _folder(source)
        if (folder / CARD).exists() or not any((folder / name).exists() for name in (ACCURACY, ABLATION)):
            results, card = read_results(folder)
            evaluated.append(Evaluated(folder, card, results.predictions, _run(folder)))
            tables = {name: getattr(results, name) for name in parts if not name.startswith("ablation")}
        else:
            tables = {name: read_table(folder / f"{name}.csv") for name in parts if (folder / f"{name}.csv").exists()}
        for name, table in tables.items():
            parts[name].append(_checked(table, name, folder))
    joined = {name: _joined(found, name) for name, found in parts.items()}
    return ReportData(**joined, evaluated=tuple(evaluated), notes=tuple(_notes(evaluated)))


def _folder(source: Path) -> Path:
    """The folder with the tables: the source itself, or the evaluation inside a run."""
    if not source.exists():
        raise UserError(f"there is no folder {source}; name a run or an evaluation")
    if not source.is_dir():
        raise UserError(f"{source} is a file; name the folder of a run or of an evaluation")
    if (source / "evaluation" / ACCURACY).exists():
        return source / "evaluation"
    if (source / CONFIG).exists() and not (source / ACCURACY).exists():
        raise UserError(f"the run {source} has not been evaluated; do it with `lie-ssl evaluate {source}`")
    return source


def _run(folder: Path) -> Path | None:
    parent = folder.resolve().parent
    return parent if (parent / CONFIG).exists() and (parent / CARD).exists() else None


def _checked(table: pd.DataFrame, name: str, folder: Path) -> pd.DataFrame:
    """Refuses a table without its columns, with text where numbers belong, or with names that are no words."""
    missing = [c for c in COLUMNS[name] if c not in table.columns]
    if len(table) and missing:
        raise UserError(f"{folder / name}.csv has no column {missing[0]!r}; evaluate again with this version")
    if table.empty:
        return pd.DataFrame()
    for column in [c for c in (*COLUMNS[name], *MEASURES) if c in table.columns]:
        if column in TEXT:
            if table[column].isna().any():
                raise UserError(f"{folder / name}.csv has an empty cell in the column {column}; evaluate again")
            for word in table[column].unique():
                if not isinstance(word, str) or has_controls(word) or (column in PLAIN and not PLAIN_WORD.match(word)):
                    raise UserError(f"{folder / name}.csv has {word!r} in the column {column}, which is no name")
        elif column in KEYS and not np.isfinite(pd.to_numeric(table[column], errors="coerce")).all():
            raise UserError(f"{folder / name}.csv has no number in the column {column} of some row; evaluate again")
        elif not pd.api.types.is_numeric_dtype(table[column]):
            numbers = pd.to_numeric(table[column], errors="coerce")
            row = int((numbers.isna() & table[column].notna()).to_numpy().argmax())
            wrong = table[column].iloc[row]
            raise UserError(f"{folder / name}.csv, line {row + 2}: {wrong!r} in the column {column} is no number")
    return table


def _joined(parts: list[pd.DataFrame], name: str) -> pd.DataFrame:
    """All rows; twice the same measurement would pass for two seeds, so it is refused."""
    parts = [p for p in parts if len(p)]
    if not parts:
        return pd.DataFrame(columns=COLUMNS[name])
    table = pd.concat(parts, ignore_index=True)
    keys = [c for c in COLUMNS[name] if c not in ("top1", "drop", "frames")]
    twice = table[table.duplicated(keys)]
    if len(twice):
        first = twice.iloc[0]
        what = " ".join(str(first[k]) for k in ("method", "ablation" if name.startswith("ablation") else "arm"))
        raise UserError(
            f"{name}.csv has two numbers for {what} with seed {first['seed']}; name each evaluation once, and "
            "evaluations of one data set and recipe only"
        )
    return table


def _notes(evaluated: Sequence[Evaluated]) -> list[str]:
    """Refuses evaluations on different data sets, and says where settings differ that should not."""
    differing: dict[str, list[str]] = {}
    for each in evaluated[1:]:
        first = evaluated[0]
        if each.card["data"]["card_hash"] != first.card["data"]["card_hash"]:
            raise UserError(
                f"{each.folder} was evaluated on another data set than {first.folder}; make a report for each data set"
            )
        if found := _difference(first.card["config"], each.card["config"]):
            differing.setdefault(f"evaluated with other settings than {first.name} ({found})", []).append(each.name)
        twin = next(e for e in evaluated if e.arm == each.arm)
        if found := _difference(twin.card["pretraining"], each.card["pretraining"], ("seed", "data", "log", "workers")):
            differing.setdefault(f"trained with other settings than {twin.name} ({found})", []).append(each.name)
    return [f"{what[0].upper()}{what[1:]}: {'; '.join(names)}." for what, names in differing.items()]


def _difference(first: Any, second: Any, ignored: tuple[str, ...] = ()) -> str:
    """Name and values of the first setting in which two configs differ; empty if they agree."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key not in ignored and (found := _difference(first.get(key), second.get(key))):
                return f"{key}.{found}" if isinstance(first.get(key), dict) else f"{key}{found}"
        return ""
    return "" if first == second else f": {json.dumps(first)} and {json.dumps(second)}"


def write_rows(report: ReportData, folder: Path) -> list[Path]:
    """Writes the joined tables that have rows; the folder can be given to :func:`gather` in place of the runs."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {name: getattr(report, name) for name in COLUMNS}
    paths = {folder / f"{name}.csv": table for name, table in tables.items() if len(table)}
    for path, table in paths.items():
        write_table(path, table)
    return list(paths)
