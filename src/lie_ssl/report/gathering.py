"""Reads the data of a report: evaluations of runs, or tables collected from many of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.methods.registry import method_type
from lie_ssl.objectives.registry import objective_type
from lie_ssl.protocol.metrics import with_measures
from lie_ssl.protocol.results import read_results
from lie_ssl.protocol.schema import (
    ABLATION,
    ABLATION_EQUIVARIANCE,
    ACCURACY,
    CURVE,
    EQUIVARIANCE,
    LongTable,
    read_table,
)
from lie_ssl.report.names import Arm
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.tables import write_table
from lie_ssl.storage.trust import is_import_path
from lie_ssl.training.folder import CONFIG


@dataclass(frozen=True, eq=False)
class EvaluatedRun:
    """The evaluation of one run or encoder, and the folder of the run if it still exists."""

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
    """Long tables of all runs and seeds, with the columns of the CSV files; any of them may be empty."""

    accuracy: pd.DataFrame
    curve: pd.DataFrame
    equivariance: pd.DataFrame
    ablation: pd.DataFrame
    evaluated: tuple[EvaluatedRun, ...]
    notes: tuple[str, ...]  # sentences about different settings, which make results less comparable
    ablation_equivariance: pd.DataFrame = field(default_factory=pd.DataFrame)


def long_tables() -> dict[str, LongTable]:
    """The tables that reports need, with the columns of all metrics."""
    tables = (ACCURACY, CURVE, with_measures(EQUIVARIANCE), ABLATION, with_measures(ABLATION_EQUIVARIANCE))
    return {table.name: table for table in tables}


def gather(sources: Sequence[Path]) -> ReportData:
    """Reads the data of a report.

    Args:
        sources: Folders of runs, of evaluations, or of collected tables (accuracy.csv without a card, or ablation.csv).
    """
    if not sources:
        raise UserError("a report needs at least one run or evaluation; give their folders")
    known = long_tables()
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in known}
    evaluated = []
    for source in sources:
        folder = _folder(source)
        if (folder / CARD).exists() or not any(_has(folder, table) for table in (ACCURACY, ABLATION)):
            results, card = read_results(folder)
            evaluated.append(EvaluatedRun(folder, card, results.predictions, _run(folder)))
            tables = {name: getattr(results, name) for name in parts if not name.startswith("ablation")}
        else:
            tables = {name: read_table(folder / f"{name}.csv") for name in parts if _has(folder, known[name])}
        for name, table in tables.items():
            parts[name].append(known[name].check(table, folder))
    joined = {name: _joined(found, known[name]) for name, found in parts.items()}
    return ReportData(**joined, evaluated=tuple(evaluated), notes=tuple(_notes(evaluated)))


def register_trusted(report: ReportData, trust: Collection[str]) -> None:
    """Imports the objectives and methods that cards name by an import path, if it is trusted, for their titles."""
    for each in report.evaluated:
        trained = each.card["pretraining"] or {}
        for part, find in (("objective", objective_type), ("method", method_type)):
            name = trained.get(part, {}).get("name")
            if name in trust and is_import_path(name):
                find(name)


def _has(folder: Path, table: LongTable) -> bool:
    return (folder / f"{table.name}.csv").exists()


def _folder(source: Path) -> Path:
    """The folder with the tables: the source itself, or the evaluation in a run."""
    if not source.exists():
        raise UserError(f"there is no folder {source}; give the folder of a run or an evaluation")
    if not source.is_dir():
        raise UserError(f"{source} is a file; give the folder of a run or an evaluation")
    if _has(source / "evaluation", ACCURACY):
        return source / "evaluation"
    if (source / CONFIG).exists() and not _has(source, ACCURACY):
        raise UserError(f"the run {source} has not been evaluated; evaluate it with `lie-ssl evaluate {source}`")
    return source


def _run(folder: Path) -> Path | None:
    parent = folder.resolve().parent
    return parent if (parent / CONFIG).exists() and (parent / CARD).exists() else None


def _joined(parts: list[pd.DataFrame], known: LongTable) -> pd.DataFrame:
    """Joins tables, and rejects duplicate measurements, which would count as two seeds."""
    parts = [p for p in parts if len(p)]
    if not parts:
        return pd.DataFrame(columns=known.required)
    table = pd.concat(parts, ignore_index=True)
    twice = table[table.duplicated(known.keys)]
    if len(twice):
        first = twice.iloc[0]
        what = " ".join(str(first[key]) for key in known.keys[:2])
        raise UserError(
            f"{known.name}.csv has two numbers for {what} with seed {first['seed']}; give each evaluation once, and "
            "only evaluations of one data set and recipe"
        )
    return table


def _notes(evaluated: Sequence[EvaluatedRun]) -> list[str]:
    """Rejects evaluations on different data sets, and reports settings that should not differ."""
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
    """The name and values of the first setting in which two configs differ; empty if they are equal."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys([*first, *second]):
            if key not in ignored and (found := _difference(first.get(key), second.get(key))):
                return f"{key}.{found}" if isinstance(first.get(key), dict) else f"{key}{found}"
        return ""
    return "" if first == second else f": {json.dumps(first)} and {json.dumps(second)}"


def write_rows(report: ReportData, folder: Path) -> list[Path]:
    """Writes the joined tables that have rows; :func:`gather` can read the folder instead of the runs.

    Returns:
        The paths of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = {name: getattr(report, name) for name in long_tables()}
    paths = {folder / f"{name}.csv": table for name, table in tables.items() if len(table)}
    for path, table in paths.items():
        write_table(path, table)
    return list(paths)
