"""A grid of runs and their evaluations, whose rows are gathered in a few tables.

A unit's rows carry the hash of the recipe; a unit whose rows are there is done.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.frames.config import to_dict
from lie_ssl.frames.lock import folder_lock
from lie_ssl.plain import suggestion, to_plain
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import ACCURACY_KEYS, EQUIVARIANCE_KEYS, append_table
from lie_ssl.protocol.unit import Pace, train_and_evaluate
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.keeper import Watcher

ACCURACY = "accuracy"
# The accuracies are written last: they say that a unit's rows are whole.
KEYS = {
    "equivariance": EQUIVARIANCE_KEYS,
    "curve": [*ACCURACY_KEYS, "angle"],
    "trials": ["method", "arm", "phase", "option", "diverse", "seed", "optimiser", "rate"],
    ACCURACY: ACCURACY_KEYS,
}


@dataclass(frozen=True)
class Unit:
    """One run and its evaluation."""

    pretraining: PretrainConfig
    evaluation: EvaluateConfig

    @property
    def words(self) -> tuple[str, str, str]:
        """Method, arm and seed."""
        return self.pretraining.method.name, self.pretraining.arm, str(self.pretraining.seed)

    @property
    def name(self) -> str:
        return "/".join(self.words)


@dataclass(frozen=True)
class Recipe:
    """A data set, and the units that are run on it in this order."""

    name: str
    data: DataConfig
    units: tuple[Unit, ...]

    @property
    def hash(self) -> str:
        """The name and twelve hex digits, equal for recipes that give the same numbers."""
        units = [(u.pretraining.digest(), to_plain(u.evaluation)) for u in self.units]
        text = json.dumps([to_dict(self.data), units], sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def chosen_units(recipe: Recipe, only: Sequence[str]) -> list[Unit]:
    """Units that one of the words names: a method, an arm, a seed, or some of them joined, as in mae/lie/0."""
    known = sorted({word for unit in recipe.units for word in unit.words})
    for word in only:
        for part in word.split("/"):
            if part not in known:
                raise UserError(f"the recipe {recipe.name} has no {part!r}{suggestion(part, known)}")
    found = [u for u in recipe.units if not only or any(set(w.split("/")) <= set(u.words) for w in only)]
    if not found:
        raise UserError(f"the recipe {recipe.name} has no unit that is {' or '.join(only)}")
    return found


def run_units(recipe: Recipe, units: Sequence[Unit], data: Path, work: Path, out: Path, watcher: Watcher) -> list[str]:
    """Runs what is left to run, and gives the names of the units that failed; the rest go on."""
    out.mkdir(parents=True, exist_ok=True)
    failed = []
    with folder_lock(out):
        done = done_units(out, recipe.hash)
        todo = [u for u in units if u.name not in done]
        if len(todo) < len(units):
            watcher.say(f"{len(units) - len(todo)} of {len(units)} units are done already")
        pace = Pace(len(todo))
        for unit in todo:
            config = replace(unit.pretraining, data=str(data))
            run = work / "_".join(unit.words)
            watcher.say(f"{unit.name}: training and evaluation in {run}")
            try:
                results = train_and_evaluate(config, unit.evaluation, run, watcher)
            except (UserError, ValueError) as error:
                failed.append(unit.name)
                watcher.say(f"{unit.name} failed: {error}; {pace.step()}")
                continue
            append_results(out, results, recipe.hash)
            watcher.say(f"{unit.name} is done: {pace.step()}")
    return failed


def append_results(out: Path, results: Results, recipe: str) -> None:
    """Adds the rows of a unit to the tables; those of the same unit by another recipe are replaced."""
    for name, keys in KEYS.items():
        append_table(out / f"{name}.csv", getattr(results, name).assign(recipe=recipe), keys)


def done_units(out: Path, recipe: str) -> set[str]:
    """Names of the units whose rows with this recipe's hash are there."""
    path = out / f"{ACCURACY}.csv"
    if not path.exists():
        return set()
    table = pd.read_csv(path)
    if "recipe" not in table:
        raise UserError(f"{path} is not of a recipe: it has no column `recipe`; choose another --out")
    own = table.loc[table["recipe"] == recipe, ["method", "arm", "seed"]].drop_duplicates()
    return {f"{row.method}/{row.arm}/{row.seed}" for row in own.itertuples()}
