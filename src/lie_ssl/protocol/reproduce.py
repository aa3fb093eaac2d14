"""Repeats an evaluation from its card, and compares all accuracies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.results import evaluate_run, read_card, read_results
from lie_ssl.protocol.schema import ACCURACY, read_table
from lie_ssl.protocol.unit import EVALUATION
from lie_ssl.serialization import from_plain
from lie_ssl.training.capacity import run_threads
from lie_ssl.training.config import read_config
from lie_ssl.training.folder import machine, versions
from lie_ssl.training.progress import ProgressReporter
from lie_ssl.training.run import choose_device, pretrain


@dataclass(frozen=True)
class Comparison:
    """The comparison of two tables of accuracies, row by row."""

    rows: int
    agreeing: int
    largest: float  # largest difference in points; nan if no row is in both tables
    where: str  # the row with the largest difference, or a row that is in one table only

    @property
    def same(self) -> bool:
        return self.rows == self.agreeing

    def __str__(self) -> str:
        place = "" if self.same and self.largest == 0 else f" ({self.where})"
        return f"{self.agreeing} of {self.rows} rows agree; the largest difference is {self.largest:g} points{place}"


def read_recorded(evaluation: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Reads the accuracies and the card of an evaluation.

    Args:
        evaluation: The folder of the evaluation, or a card in the folder `cards` of a recipe's tables.
    """
    if not evaluation.is_file():
        results, card = read_results(evaluation)
        return results.accuracy, card
    card, path = read_card(evaluation), evaluation.parents[1] / "accuracy.csv"
    if not path.exists():
        raise UserError(f"there is no {path} with the results of {evaluation}; give the folder of an evaluation")
    table = read_table(path)
    own = table[np.logical_and.reduce([table[key] == card[key] for key in ("method", "arm", "seed")])]
    if own.empty:
        raise UserError(
            f"{path} has no rows of {card['method']}, {card['arm']}, seed {card['seed']}, to which {evaluation} "
            "belongs; give the folder of an evaluation"
        )
    return own, card


def reproduce_card(
    evaluation: Path, out: Path, reporter: ProgressReporter, *, data: str | None = None,
    test_data: str | None = None, tolerance: float = 0.0, trust: Collection[str] = (),
) -> Comparison:  # fmt: skip
    """Repeats pretraining and evaluation in a new folder, from the configs in a card, and compares the accuracies.

    Args:
        evaluation: The folder of the evaluation, or a card in the folder `cards` of a recipe's tables.
        out: Folder for the new run and evaluation.
        reporter: Receives the progress.
        data: Folder of the run's data set; None for the one in the card.
        test_data: Folder of the data set of the evaluation; None if it is that of the run.
        tolerance: Difference in points up to which accuracies agree.
        trust: Import paths that the configs may name. Importing runs code.
    """
    accuracy, card = read_recorded(evaluation)
    if card["run"] is None:
        raise UserError(
            f"{evaluation} is the evaluation of an encoder without a run, which cannot be repeated; give that of a run"
        )
    config = read_config(card["pretraining"], f"{evaluation}: pretraining", trust)
    settings = from_plain(EvaluateConfig, card["config"], f"{evaluation}: config")
    folder = config.data if data is None else data
    tested = folder if test_data is None else test_data
    check_data(folder, card["run"]["data"], "pretraining", "--data")
    check_data(tested, card["data"], "evaluation", "--test-data")
    with run_threads(config, FrameSet(folder)):
        lines = environment_changes(card, choose_device(config))
    for line in lines:
        reporter.say(line)
    run = pretrain(replace(config, data=folder), out / "run", reporter)
    evaluate_run(run, settings, out / EVALUATION, tested, card["which"], say=reporter.say, trust=trust)
    return compare(accuracy, read_results(out / EVALUATION)[0].accuracy, tolerance)


def check_data(folder: str, wanted: dict[str, Any], phase: str, flag: str) -> None:
    """Rejects a data set that differs from the card's in any byte."""
    found = FrameSet(folder).card["card_hash"]
    if found != wanted["card_hash"]:
        raise UserError(
            f"{folder} is not the data set of the card's {phase} (recipe {wanted['recipe']}, config "
            f"{wanted['config_hash']}, card {wanted['card_hash'][:12]}, not {found[:12]}); give that one with {flag}"
        )


def environment_changes(card: dict[str, Any], device: str) -> list[str]:
    """The differences in versions and hardware since the card was written, which could change results."""
    lines = []
    for phase, place, part in (("pretraining", device, card["run"]), ("evaluation", "cpu", card)):
        here, there = versions() | machine(place, 1), part["versions"] | part["machine"]
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                lines.append(f"{name} is {here.get(name)} here and was {there.get(name)} in the {phase}")
    return lines


def compare(before: pd.DataFrame, after: pd.DataFrame, tolerance: float = 0.0) -> Comparison:
    """Compares the accuracies of two tables; rows that are in one table only do not agree."""
    both = before.merge(after, on=ACCURACY.keys, how="outer", suffixes=("", "_again"))
    differences = (both["top1"] - both["top1_again"]).abs()
    agreeing = differences <= tolerance
    worst = int(np.argmax(differences.fillna(np.inf)))
    where = ", ".join(f"{key} {both[key].iloc[worst]}" for key in ACCURACY.keys)
    return Comparison(len(both), int(agreeing.sum()), float(differences.max()), where)
