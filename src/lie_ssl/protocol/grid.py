"""A grid of runs and their evaluations, with joint tables.

The rows of a unit contain its hash; a unit is done when its rows are in the tables. Several processes can work on the
same grid, also on several machines with a shared folder: each takes the next unit that no other is working on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.frames.config import to_dict
from lie_ssl.migration import legacy_evaluation
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.results import read_results
from lie_ssl.protocol.schema import read_table
from lie_ssl.protocol.unit import EVALUATION, Eta, run_unit_file, unit_job
from lie_ssl.serialization import suggestion, to_plain
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.hashes import digest
from lie_ssl.storage.locks import blocking_lock, try_lock
from lie_ssl.storage.paths import inside
from lie_ssl.storage.tables import sorted_places, write_table
from lie_ssl.training.capacity import worker_count
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.jobs import Job, Outcome, run_jobs
from lie_ssl.training.progress import JobsReporter, ProgressReporter
from lie_ssl.training.run import pretrain

ACCURACY = "accuracy"
FIRST, CARDS = "first", "cards"
TABLES = ("equivariance", "curve", "trials", ACCURACY)  # the last one marks a unit as done
UNIT_KEYS = ["method", "arm", "seed"]


@dataclass(frozen=True)
class Unit:
    """One run and its evaluation."""

    pretraining: PretrainConfig
    evaluation: EvaluateConfig

    @property
    def key(self) -> tuple[str, str, str]:
        """Method, arm and seed."""
        return self.pretraining.subject, self.pretraining.arm, str(self.pretraining.seed)

    @property
    def name(self) -> str:
        return "/".join(self.key)


@dataclass(frozen=True)
class Recipe:
    """A data set and the units to run on it, in this order. If there is a `first` run, all units start from it."""

    name: str
    data: DataConfig
    units: tuple[Unit, ...]
    first: PretrainConfig | None = None

    def hash_of(self, unit: Unit) -> str:
        """The recipe's name and 12 hex digits, equal for units that give the same results."""
        return self.known_hashes(unit)[0]

    def known_hashes(self, unit: Unit) -> tuple[str, str]:
        """The current hash of a unit, and that of the same unit in tables of lie_ssl 0.1."""
        data, plain = to_dict(self.data), to_plain(unit.evaluation)
        evaluations = (plain, legacy_evaluation(plain))
        own = unit.pretraining.known_digests()
        first = [()] * 2 if self.first is None else [(each,) for each in self.first.known_digests()]
        today, before = (digest([data, own[i], evaluations[i], *first[i]]) for i in range(2))
        return f"{self.name}-{today}", f"{self.name}-{before}"


def select_units(recipe: Recipe, only: Sequence[str]) -> list[Unit]:
    """The units of a recipe that match one of several patterns, or all units if there is no pattern.

    Args:
        recipe: The recipe.
        only: Patterns: a method, an arm, a seed, or several of them joined, such as mae/lie/0.
    """
    known = sorted({part for unit in recipe.units for part in unit.key})
    for pattern in only:
        for part in pattern.split("/"):
            if part not in known:
                raise UserError(f"the recipe {recipe.name} has no {part!r}{suggestion(part, known)}")
    found = [u for u in recipe.units if not only or any(set(p.split("/")) <= set(u.key) for p in only)]
    if not found:
        raise UserError(f"the recipe {recipe.name} has no unit {' or '.join(only)}; choose others with --only")
    return found


def run_units(
    recipe: Recipe, units: Sequence[Unit], data: Path, work: Path, out: Path, reporter: JobsReporter,
    jobs: int | None = 1,
) -> list[str]:  # fmt: skip
    """Runs all units that are not done. If one fails, the others continue.

    Units that another process is working on are checked again at the end, in case that process was killed.

    Args:
        recipe: The recipe.
        units: The units of the recipe to run.
        data: Folder of the data set.
        work: Folder for the runs.
        out: Folder for the tables and cards.
        reporter: Receives the progress.
        jobs: How many units to run in parallel; None for one per core, as far as memory allows.

    Returns:
        The names of the units that failed.
    """
    (out / CARDS).mkdir(parents=True, exist_ok=True)
    failed: list[str] = []
    done = done_units(out, recipe)
    todo = [u for u in units if u.name not in done]
    if len(todo) < len(units):
        reporter.say(f"{len(units) - len(todo)} of {len(units)} units are already done")
    if todo and recipe.first is not None:
        run_first(recipe.first, data, work, reporter)
    before = len(todo) + 1
    while 0 < len(todo) < before:  # until other processes are working on all that are left
        before, queue = len(todo), Queue(recipe, data, work, out, reporter, len(todo))
        workers = worker_count(jobs, [unit.pretraining for unit in todo], data)
        outcomes = run_jobs(queue.jobs(todo), run_unit_file, workers, reporter)
        with closing(queue), closing(outcomes):
            failed += [outcome.job.name for outcome in outcomes if not queue.collect(outcome)]
        todo = queue.locked
    return failed


class Queue:
    """Turns units into jobs: locks each while it runs, and adds its rows to the tables when it has finished."""

    def __init__(
        self, recipe: Recipe, data: Path, work: Path, out: Path, reporter: ProgressReporter, total: int
    ) -> None:
        self.recipe, self.data, self.work, self.out, self.reporter = recipe, data, work, out, reporter
        self.locked: list[Unit] = []  # units that another process is working on
        self._eta = Eta(total)
        self._running: dict[str, tuple[Unit, ExitStack]] = {}

    def jobs(self, units: Sequence[Unit]) -> Iterator[Job]:
        """Yields a job for each unit that is neither done nor locked by another process, and locks it."""
        for unit in units:
            place = inside(self.work / ".queue", "_".join(unit.key))
            place.mkdir(parents=True, exist_ok=True)
            lock = ExitStack()
            held = lock.enter_context(try_lock(place))
            if not held:
                self.locked.append(unit)
            if not held or unit.name in done_units(self.out, self.recipe):
                lock.close()
                why = "is done" if held else "is running"
                self.reporter.say(f"{unit.name} {why} in another process: {self._eta.step(worked=False)}")
                continue
            self._running[unit.name] = unit, lock
            yield self._job(unit)

    def _job(self, unit: Unit) -> Job:
        run = self._folder(unit)
        self.reporter.say(f"training and evaluating {unit.name} in {run}")
        start = unit.pretraining.start if self.recipe.first is None else str(self.work / FIRST)
        config = replace(unit.pretraining, data=str(self.data), start=start)
        return unit_job(unit.name, config, unit.evaluation, run, self.work)

    def collect(self, outcome: Outcome) -> bool:
        """Adds the rows of a finished unit to the tables, and its card to the folder of cards.

        They replace those of the same unit with other settings.

        Returns:
            False if the unit failed.
        """
        unit, lock = self._running.pop(outcome.job.name)
        with lock:
            error = outcome.error
            if not error:
                try:
                    self._add(unit)
                except (UserError, ValueError, OSError) as problem:
                    error = str(problem)
            result = f"failed: {error}; " if error else "is done: "
            self.reporter.say(f"{unit.name} {result}{self._eta.step()}")
        return not error

    def _add(self, unit: Unit) -> None:
        folder = self._folder(unit)
        results, _ = read_results(folder / EVALUATION)
        order = [u.key for u in self.recipe.units]
        with blocking_lock(self.out):
            write_whole(self.out / CARDS / f"{folder.name}.json", [(folder / EVALUATION / CARD).read_bytes()])
            tables = dict(results.others) | {name: getattr(results, name) for name in TABLES}
            for name, table in tables.items():
                add_rows(self.out / f"{name}.csv", table.assign(recipe=self.recipe.hash_of(unit)), order)

    def _folder(self, unit: Unit) -> Path:
        return inside(self.work, "_".join(unit.key))

    def close(self) -> None:
        """Releases the locks of all units that have not finished."""
        for _, lock in self._running.values():
            lock.close()


def run_first(config: PretrainConfig, data: Path, work: Path, reporter: ProgressReporter) -> None:
    """Trains the run from which the units start, or waits for another process that is training it."""
    place = work / ".queue" / FIRST
    place.mkdir(parents=True, exist_ok=True)
    with blocking_lock(place, seconds=24 * 3600):
        pretrain(replace(config, data=str(data)), work / FIRST, reporter)


def add_rows(path: Path, rows: pd.DataFrame, order: Sequence[tuple[str, str, str]]) -> None:
    """Adds the rows of a unit to a CSV file, and replaces those of the same method, arm and seed.

    Args:
        path: The file.
        rows: The rows of the unit.
        order: The keys (method, arm, seed) of all units, in the order of the file.
    """
    if path.exists():
        old = read_table(path)
        same = pd.MultiIndex.from_frame(old[UNIT_KEYS]).isin(pd.MultiIndex.from_frame(rows[UNIT_KEYS]))
        rows = pd.concat([old[~same], rows], ignore_index=True)
    names = [tuple(map(str, key)) for key in rows[UNIT_KEYS].itertuples(index=False)]
    write_table(path, rows.iloc[sorted_places(names, order)])


def done_units(out: Path, recipe: Recipe) -> set[str]:
    """Names of the units of a recipe whose rows, with the right hash, are in the tables."""
    path = out / f"{ACCURACY}.csv"
    if not path.exists():
        return set()
    table = read_table(path)
    if "recipe" not in table:
        raise UserError(f"{path} is not a table of a recipe, as it has no column `recipe`; choose another --out")
    found = set(table["recipe"])
    return {unit.name for unit in recipe.units if found.intersection(recipe.known_hashes(unit))}
