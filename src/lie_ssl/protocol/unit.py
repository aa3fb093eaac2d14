"""A run and its evaluation as one unit of work, which can be interrupted, resumed and run in another process."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from pathlib import Path

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.migration import legacy_evaluation
from lie_ssl.objectives.registry import objective_type
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import evaluate_frozen, evaluate_run, read_results
from lie_ssl.serialization import from_plain, to_plain
from lie_ssl.storage.cards import check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.hashes import digest
from lie_ssl.storage.locks import blocking_lock
from lie_ssl.storage.paths import inside
from lie_ssl.training.config import PretrainConfig, import_paths, read_config
from lie_ssl.training.jobs import Job
from lie_ssl.training.progress import ProgressReporter
from lie_ssl.training.run import pretrain

EVALUATION, JOBS = "evaluation", "jobs"


def unit_job(name: str, config: PretrainConfig, evaluation: EvaluateConfig | None, run: Path, folder: Path) -> Job:
    """Writes the settings of a unit to a file in `folder`/jobs, so that any process can run it.

    Args:
        name: Its name in messages.
        config: The config of the run.
        evaluation: The settings of its evaluation; None to train only.
        run: Folder of the run.
        folder: Folder of the whole grid, ablation or sweep.
    """
    file = inside(folder / JOBS, f"{run.name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    protocol = None if evaluation is None else to_plain(evaluation)
    settings = {"run": str(run), "pretraining": to_plain(config), "evaluation": protocol}
    write_whole(file, [json.dumps(settings, indent=1).encode()])
    return Job(name, file, import_paths(config))


def run_unit_file(file: Path, trust: Collection[str], reporter: ProgressReporter) -> None:
    """Runs the unit whose settings :func:`unit_job` wrote to a file."""
    remedy = "run the command that wrote it again"
    settings = read_json(file, remedy)
    check_fields(settings, {"run": str, "pretraining": dict, "evaluation": (dict, type(None))}, str(file), remedy)
    config = read_config(settings["pretraining"], f"{file}: pretraining", trust)
    run = Path(settings["run"])
    if run.is_dir():  # processes of a killed command may still be running
        with blocking_lock(run, seconds=30):
            pass
    if settings["evaluation"] is None:
        pretrain(config, run, reporter)
    else:
        evaluation = from_plain(EvaluateConfig, settings["evaluation"], f"{file}: evaluation")
        train_and_evaluate(config, evaluation, run, reporter)


def train_and_evaluate(
    config: PretrainConfig, evaluation: EvaluateConfig, run: Path, reporter: ProgressReporter
) -> Results:
    """Trains and evaluates a run, as far as this is not done yet.

    Returns:
        The tables in the folder `evaluation` of the run.
    """

    out = run / EVALUATION
    if not objective_type(config.objective.name).trains:
        if not _is_evaluated(out, config, evaluation):
            reporter.busy("evaluating")
            evaluate_frozen(config, evaluation, out, reporter)
        return read_results(out)[0]
    pretrain(config, run, reporter)
    if not _is_evaluated(out, config, evaluation):
        reporter.busy("evaluating")
        evaluate_run(run, evaluation, out, say=reporter.say, trust=import_paths(config))
    return read_results(out)[0]


def _is_evaluated(out: Path, config: PretrainConfig, evaluation: EvaluateConfig) -> bool:
    """Whether a folder contains an evaluation of the run with the same data and settings."""
    try:
        _, card = read_results(out)
    except UserError:
        return False
    same_data = card["data"]["card_hash"] == FrameSet(config.data).card["card_hash"]
    if card["run"] is None:
        same_run = card.get("config_digest") == config.digest()
    else:
        same_run = card["run"]["config_digest"] in config.known_digests() and card["which"] == "last"
    return bool(same_data and same_run and card["config"] == to_plain(evaluation))


def unit_digests(config: PretrainConfig, evaluation: EvaluateConfig, data_hash: str) -> tuple[str, str]:
    """Hashes of 12 hex digits, equal for units with the same results: the current one, and that of lie_ssl 0.1."""
    today, before = config.known_digests()
    plain = to_plain(evaluation)
    return digest([today, plain, data_hash]), digest([before, legacy_evaluation(plain), data_hash])


class Eta:
    """Estimates the remaining time of several units from the time since its creation."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self._worked = total, 0, 0
        self._begin = time.perf_counter()

    def step(self, worked: bool = True) -> str:
        """Counts one more unit as done, and describes the progress.

        Args:
            worked: False if the unit had already been done, so that it does not count for the estimate.
        """
        self.done, self._worked = self.done + 1, self._worked + worked
        left = self.total - self.done
        text = f"{self.done} of {self.total}"
        if not left or not self._worked:
            return text
        return f"{text}, about {duration((time.perf_counter() - self._begin) / self._worked * left)} left"


def duration(seconds: float) -> str:
    """A duration in words.

    >>> duration(42), duration(600), duration(3 * 3600)
    ('42 seconds', '10 minutes', '3.0 hours')
    """
    if seconds < 90:
        return count(round(seconds), "second")
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
