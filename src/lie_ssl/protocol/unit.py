"""A run and its evaluation as one piece of work, which can be killed and resumed, and done in another process."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from pathlib import Path

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.migration import legacy_evaluation
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import evaluate_run, read_results
from lie_ssl.serialization import from_plain, to_plain
from lie_ssl.storage.cards import check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.hashes import digest
from lie_ssl.storage.locks import patient_lock
from lie_ssl.storage.paths import inside
from lie_ssl.training.config import PretrainConfig, import_paths, read_config
from lie_ssl.training.jobs import Job
from lie_ssl.training.pretrain import pretrain
from lie_ssl.training.progress import ProgressReporter

EVALUATION, JOBS = "evaluation", "jobs"


def unit_job(name: str, config: PretrainConfig, evaluation: EvaluateConfig | None, run: Path, folder: Path) -> Job:
    """Writes the settings of a unit to a file in `folder`/jobs, from which any process can do it.

    Args:
        name: What it is called in messages.
        config: The run.
        evaluation: Its evaluation; None for none.
        run: The folder of the run.
        folder: Of the whole work.
    """
    file = inside(folder / JOBS, f"{run.name}.json")
    file.parent.mkdir(parents=True, exist_ok=True)
    protocol = None if evaluation is None else to_plain(evaluation)
    settings = {"run": str(run), "pretraining": to_plain(config), "evaluation": protocol}
    write_whole(file, [json.dumps(settings, indent=1).encode()])
    return Job(name, file, import_paths(config))


def run_unit_file(file: Path, trust: Collection[str], reporter: ProgressReporter) -> None:
    """Does what a file of :func:`unit_job` says."""
    remedy = "start the command again that made it"
    settings = read_json(file, remedy)
    check_fields(settings, {"run": str, "pretraining": dict, "evaluation": (dict, type(None))}, str(file), remedy)
    config = read_config(settings["pretraining"], f"{file}: pretraining", trust)
    run = Path(settings["run"])
    if run.is_dir():  # where a command was killed, its processes may still be ending
        with patient_lock(run, seconds=30):
            pass
    if settings["evaluation"] is None:
        pretrain(config, run, reporter)
    else:
        evaluation = from_plain(EvaluateConfig, settings["evaluation"], f"{file}: evaluation")
        train_and_evaluate(config, evaluation, run, reporter)


def train_and_evaluate(
    config: PretrainConfig, evaluation: EvaluateConfig, run: Path, reporter: ProgressReporter
) -> Results:
    """Does what is left to do of both, and gives the tables as they stand in the folder `evaluation` of the run."""
    from lie_ssl.training.pretrain import pretrain  # here, so that readers of tables need no lightning

    pretrain(config, run, reporter)
    out = run / EVALUATION
    if not _is_evaluated(out, config, evaluation):
        reporter.busy("evaluating")
        evaluate_run(run, evaluation, out, say=reporter.say, trust=import_paths(config))
    return read_results(out)[0]


def _is_evaluated(out: Path, config: PretrainConfig, evaluation: EvaluateConfig) -> bool:
    """The run's folder has been checked; the evaluation is written whole and could be one with other settings."""
    try:
        _, card = read_results(out)
    except UserError:
        return False
    same_data = card["data"]["card_hash"] == FrameSet(config.data).card["card_hash"]
    same_run = card["run"]["config_digest"] in config.known_digests() and card["which"] == "last"
    return bool(same_data and same_run and card["config"] == to_plain(evaluation))


def unit_digests(config: PretrainConfig, evaluation: EvaluateConfig, data_hash: str) -> tuple[str, str]:
    """Twelve hex digits, equal for runs and evaluations that give the same numbers: today's, and those of 0.1."""
    today, before = config.known_digests()
    plain = to_plain(evaluation)
    return digest([today, plain, data_hash]), digest([before, legacy_evaluation(plain), data_hash])


class Pace:
    """How long the rest will take, from what was done since it was made."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self._worked = total, 0, 0
        self._begin = time.perf_counter()

    def step(self, worked: bool = True) -> str:
        """Counts one more as done, with work or because it was done before, and says what is left."""
        self.done, self._worked = self.done + 1, self._worked + worked
        left = self.total - self.done
        text = f"{self.done} of {self.total}"
        if not left or not self._worked:
            return text
        return f"{text}, about {duration((time.perf_counter() - self._begin) / self._worked * left)} left"


def duration(seconds: float) -> str:
    """In words.

    >>> duration(42), duration(600), duration(3 * 3600)
    ('42 seconds', '10 minutes', '3.0 hours')
    """
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
