"""A run and its evaluation as one piece of work that can be killed and gone on with."""

from __future__ import annotations

import time
from pathlib import Path

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.migration import legacy_evaluation
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import evaluate_run, read_results
from lie_ssl.serialization import to_plain
from lie_ssl.storage.hashes import digest
from lie_ssl.training.config import PretrainConfig, import_paths
from lie_ssl.training.progress import ProgressReporter

EVALUATION = "evaluation"


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
