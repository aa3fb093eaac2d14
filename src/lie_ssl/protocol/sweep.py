"""A sweep: trains all trials of a grid, and chooses the best one by validation accuracy.

The folder contains sweep.csv (all trials), best.json (the config of the best trial), the runs, and the settings and
output of the jobs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.selection import choose_trial, lie_ratio, validation_accuracy
from lie_ssl.protocol.unit import Eta, run_unit_file, unit_job
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.locks import folder_lock
from lie_ssl.storage.tables import write_table
from lie_ssl.training.capacity import worker_count
from lie_ssl.training.config import LogConfig, PretrainConfig, config_bytes, import_paths
from lie_ssl.training.folder import check_run, read_run_card
from lie_ssl.training.jobs import run_jobs
from lie_ssl.training.progress import JobsReporter
from lie_ssl.training.sampling import pair_sampler
from lie_ssl.training.sweep import Trial, combinations

TABLE, BEST = "sweep.csv", "best.json"


def prevents_collapse(config: PretrainConfig) -> bool:
    """Whether the objective keeps embeddings apart; without that, the best solution is that all are equal."""
    return config.objective.separates


@dataclass(frozen=True)
class Grid:
    """The trials of a sweep: a config, and values of settings, of which all combinations are tried."""

    base: PretrainConfig
    values: Mapping[str, tuple[float, ...]]  # by dotted name, such as optim.lr
    ratio: float | None = None  # choose among runs that reduce L_lie on validation pairs to this share; None for all
    keep: Callable[[PretrainConfig], bool] = prevents_collapse
    probe: ProbeConfig = field(default_factory=ProbeConfig)

    def trials(self) -> list[Trial]:
        """All trials. With a filter, runs are checked once per epoch, as it needs the loss after the first epoch."""
        base = replace(self.base, log=self._log_config()) if self.ratio is not None else self.base
        return combinations(base, self.values, self.keep)

    def _log_config(self) -> LogConfig:
        epoch, steps = epoch_steps(self.base), self.base.optim.steps
        if steps < 2 * epoch:
            raise UserError(
                f"the filter compares the first epoch with the last, but {count(steps, 'step')} are less than two "
                f"epochs; give --optim.steps {2 * epoch} or more, or --ratio None"
            )
        return replace(self.base.log, check_every=epoch, save_every=self.base.log.save_every or max(1, steps // 10))


def epoch_steps(config: PretrainConfig) -> int:
    """The optimiser steps in which every training instance occurs about once."""
    return max(1, len(pair_sampler(config, FrameSet(config.data))) // config.optim.accumulate)


@dataclass(frozen=True)
class TrialOutcome:
    """How a trial ended; the error is empty or one sentence."""

    trial: Trial
    run: Path
    error: str = ""
    worked: bool = True  # False if nothing had to be trained


def run_trials(trials: Sequence[Trial], out: Path, jobs: int | None, reporter: JobsReporter) -> Generator[TrialOutcome]:
    """Runs `jobs` trials in parallel and yields each as it ends; finished ones come first, killed ones are resumed."""
    runs = {trial.name: out / "runs" / trial.name for trial in trials}
    waiting: dict[str, Trial] = {}
    for trial in trials:
        try:
            finished, error = check_run(runs[trial.name], trial.config, FrameSet(trial.config.data)), ""
        except UserError as problem:
            finished, error = False, str(problem)
        if finished or error:
            yield TrialOutcome(trial, runs[trial.name], error, worked=False)
        else:
            waiting[trial.name] = trial
    started = (unit_job(name, trial.config, None, runs[name], out) for name, trial in waiting.items())
    workers = worker_count(jobs, [trial.config for trial in waiting.values()])
    with closing(run_jobs(started, run_unit_file, workers, reporter)) as outcomes:
        for outcome in outcomes:
            yield TrialOutcome(waiting[outcome.job.name], runs[outcome.job.name], outcome.error)


def sweep(grid: Grid, out: Path, jobs: int | None, reporter: JobsReporter) -> pd.DataFrame:
    """Runs all trials that are not finished, and chooses the best one. If a trial fails, the others continue.

    Args:
        grid: The trials.
        out: Folder of the sweep.
        jobs: How many trials to run in parallel; None for one per core, as far as memory allows.
        reporter: Receives the progress.

    Returns:
        The table of all trials.
    """
    trials = grid.trials()
    if not trials:
        raise UserError(
            "no combination of the grid has a loss that keeps embeddings apart, so there is nothing to run; give the "
            "weight of such a loss a value above 0"
        )
    out.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, Any]] = {}
    with folder_lock(out), closing(run_trials(trials, out, jobs, reporter)) as outcomes:
        eta = Eta(len(trials))
        for outcome in outcomes:
            row = _row(outcome, grid)
            rows[outcome.trial.name] = row
            table = pd.DataFrame([rows[t.name] for t in trials if t.name in rows])
            write_table(out / TABLE, table)
            reporter.say(f"{describe(row, grid.ratio)}; {eta.step(outcome.worked)}")
    name, note = choose_trial(table, grid.ratio)
    best = next(t for t in trials if t.name == name)
    write_whole(out / BEST, [config_bytes(best.config)])
    reporter.say(f"the best trial is {name}, {note}")
    return table


def _row(outcome: TrialOutcome, grid: Grid) -> dict[str, Any]:
    row: dict[str, Any] = {"trial": outcome.trial.name, **outcome.trial.settings}
    try:
        if outcome.error:
            raise UserError(outcome.error)
        accuracy, ratio = validation_accuracy(outcome.run, grid.probe, import_paths(grid.base)), lie_ratio(outcome.run)
        seconds, status = float(read_run_card(outcome.run)["seconds"]), "finished"
    except UserError as error:
        accuracy, ratio, seconds, status = math.nan, math.nan, math.nan, f"failed: {error}"
    passed = status == "finished" and (grid.ratio is None or ratio <= grid.ratio)
    return row | {
        "validation": accuracy, "lie_ratio": ratio, "passed": passed, "seconds": seconds, "status": status,
    }  # fmt: skip


def describe(row: Mapping[str, Any], ratio: float | None) -> str:
    """One line with the result of a trial."""
    if row["status"] != "finished":
        return f"{row['trial']} {row['status']}"
    fell = "" if math.isnan(row["lie_ratio"]) else f", L_lie at {row['lie_ratio']:.2f} of its first value"
    passed = "" if ratio is None else ", passed" if row["passed"] else ", filtered out"
    return f"{row['trial']}: validation {row['validation']:.1f} %{fell}{passed}"
