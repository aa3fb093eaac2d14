"""Running an evaluation again from its card, and comparing every number."""

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
from lie_ssl.training.pretrain import choose_device, pretrain
from lie_ssl.training.progress import ProgressReporter


@dataclass(frozen=True)
class Comparison:
    """Of two tables of accuracies, row by row."""

    rows: int
    agreeing: int
    largest: float  # difference in points; nan if no row is in both tables
    where: str  # the row of the largest difference, or one that is in one table only

    @property
    def same(self) -> bool:
        return self.rows == self.agreeing

    def __str__(self) -> str:
        place = "" if self.same and self.largest == 0 else f" ({self.where})"
        return f"{self.agreeing} of {self.rows} rows agree; the largest difference is {self.largest:g} points{place}"


def recorded(evaluation: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The accuracies and the card of an evaluation: of its folder, or of a card that a recipe keeps with its tables."""
    if not evaluation.is_file():
        results, card = read_results(evaluation)
        return results.accuracy, card
    card, path = read_card(evaluation), evaluation.parents[1] / "accuracy.csv"
    if not path.exists():
        raise UserError(f"{evaluation} belongs to no table: there is no {path}")
    table = read_table(path)
    own = table[np.logical_and.reduce([table[key] == card[key] for key in ("method", "arm", "seed")])]
    if own.empty:
        raise UserError(f"{path} has no rows of {card['method']}, {card['arm']}, seed {card['seed']}")
    return own, card


def reproduce_card(
    evaluation: Path, out: Path, reporter: ProgressReporter, *, data: str = "", test_data: str = "",
    tolerance: float = 0.0, trust: Collection[str] = (),
) -> Comparison:  # fmt: skip
    """Pretrains and evaluates again in a new folder, from the configs in the card alone, and compares the accuracies.

    `test_data` is the data set of the evaluation, where that is another one than the run's. `trust` names the import
    paths that the card's configs may have.
    """
    accuracy, card = recorded(evaluation)
    if card["run"] is None:
        raise UserError(f"{evaluation} is the evaluation of an encoder without a run; only runs can be reproduced")
    config = read_config(card["pretraining"], f"{evaluation}: pretraining", trust)
    settings = from_plain(EvaluateConfig, card["config"], f"{evaluation}: config")
    folder = data or config.data
    tested = test_data or folder
    check_data(folder, card["run"]["data"], "pretraining", "--data")
    check_data(tested, card["data"], "evaluation", "--test-data")
    with run_threads(config, FrameSet(folder)):
        different = changes(card, choose_device(config))
    for line in different:
        reporter.say(line)
    run = pretrain(replace(config, data=folder), out / "run", reporter)
    evaluate_run(run, settings, out / EVALUATION, tested, card["which"], say=reporter.say, trust=trust)
    return compare(accuracy, read_results(out / EVALUATION)[0].accuracy, tolerance)


def check_data(folder: str, wanted: dict[str, Any], phase: str, flag: str) -> None:
    """Refuses a data set that is not the card's, to the last byte."""
    found = FrameSet(folder).card["card_hash"]
    if found != wanted["card_hash"]:
        raise UserError(
            f"{folder} is not the data set of the card's {phase} (recipe {wanted['recipe']}, config "
            f"{wanted['config_hash']}, card {wanted['card_hash'][:12]}, not {found[:12]}); give that one with {flag}"
        )


def changes(card: dict[str, Any], device: str) -> list[str]:
    """What is different here from where the card was written, and could change a number."""
    lines = []
    for phase, place, part in (("pretraining", device, card["run"]), ("evaluation", "cpu", card)):
        here, there = versions() | machine(place, 1), part["versions"] | part["machine"]
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name):
                lines.append(f"{name} is {here.get(name)} here and was {there.get(name)} in the {phase}")
    return lines


def compare(before: pd.DataFrame, after: pd.DataFrame, tolerance: float = 0.0) -> Comparison:
    """Rows that are in one table only do not agree."""
    both = before.merge(after, on=ACCURACY.keys, how="outer", suffixes=("", "_again"))
    differences = (both["top1"] - both["top1_again"]).abs()
    agreeing = differences <= tolerance
    worst = int(np.argmax(differences.fillna(np.inf)))
    where = ", ".join(f"{key} {both[key].iloc[worst]}" for key in ACCURACY.keys)
    return Comparison(len(both), int(agreeing.sum()), float(differences.max()), where)
