"""Many runs that differ in a few settings, each in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.storage.files import write_whole
from lie_ssl.training.config import PretrainConfig, config_bytes, import_paths
from lie_ssl.training.folder import check_run


@dataclass(frozen=True)
class Trial:
    """One combination of settings."""

    name: str
    settings: dict[str, float]
    config: PretrainConfig


@dataclass(frozen=True)
class Outcome:
    """How the run of a trial ended; the error is empty or one sentence."""

    trial: Trial
    run: Path
    error: str = ""
    worked: bool = True  # False if there was nothing left to do


def combinations(
    base: PretrainConfig, values: Mapping[str, Sequence[float]], keep: Callable[[PretrainConfig], bool]
) -> list[Trial]:
    """Every combination of the values of dotted settings, such as optim.lr, that is worth a run."""
    trials = []
    for combination in product(*values.values()):
        settings = dict(zip(values, combination, strict=True))
        config = base
        for path, value in settings.items():
            config = changed(config, path, value)
        if keep(config):
            short = {path.rsplit(".", 1)[-1]: value for path, value in settings.items()}
            trials.append(Trial("-".join(f"{k}_{v:g}" for k, v in short.items()), short, config))
    return trials


def changed(config: Any, path: str, value: Any) -> Any:
    """A config with another value of a dotted setting."""
    first, _, rest = path.partition(".")
    return replace(config, **{first: changed(getattr(config, first), rest, value) if rest else value})


def run_trials(trials: Sequence[Trial], out: Path, jobs: int) -> Generator[Outcome]:
    """Runs `jobs` trials at a time, and gives each as it ends; finished ones come first, killed ones go on.

    Closing the iterator, Ctrl-C and SIGTERM end the processes as well.
    """
    waiting: list[Trial] = []
    for trial in trials:
        run = out / "runs" / trial.name
        try:
            finished = check_run(run, trial.config, FrameSet(trial.config.data))
        except UserError as error:
            yield Outcome(trial, run, str(error), worked=False)
            continue
        if finished:
            yield Outcome(trial, run, worked=False)
        else:
            waiting.append(trial)
    running: list[tuple[Trial, subprocess.Popen[bytes]]] = []
    with stoppable():
        try:
            while waiting or running:
                ended = [pair for pair in running if pair[1].poll() is not None]
                running = [pair for pair in running if pair not in ended]
                while waiting and len(running) < jobs:  # before the ended ones are looked at, which takes time
                    trial = waiting.pop(0)
                    running.append((trial, start(trial, out, jobs)))
                for trial, process in ended:
                    yield Outcome(trial, out / "runs" / trial.name, last_words(process, errors_of(trial, out)))
                time.sleep(0.1)
        finally:
            for _, process in running:
                process.terminate()
            for _, process in running:
                process.wait()


def start(trial: Trial, out: Path, jobs: int) -> subprocess.Popen[bytes]:
    """The trial in a process with its share of the cores; what it says goes to the folder `logs`."""
    config, errors = out / "configs" / f"{trial.name}.json", errors_of(trial, out)
    for folder in (config.parent, errors.parent):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(config, [config_bytes(trial.config)])
    cores = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    environment = os.environ | {"OMP_NUM_THREADS": str(max(1, cores // jobs))}
    command = [sys.executable, "-m", "lie_ssl", "pretrain", "--config", str(config)]
    command += ["--out", str(out / "runs" / trial.name)]
    command += [word for name in import_paths(trial.config) for word in ("--trust", name)]  # typed, or trusted before
    with errors.with_name(f"{trial.name}.out").open("wb") as said, errors.open("wb") as complained:
        return subprocess.Popen(command, stdout=said, stderr=complained, env=environment)


def errors_of(trial: Trial, out: Path) -> Path:
    return out / "logs" / f"{trial.name}.err"


def last_words(process: subprocess.Popen[bytes], errors: Path) -> str:
    """Why a process failed, in one sentence; empty if it did not."""
    if process.returncode == 0:
        return ""
    if process.returncode < 0:
        return (
            f"it was ended by the signal {signal.Signals(-process.returncode).name}; the same command goes on with it"
        )
    lines = errors.read_text(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("lie-ssl: ") if lines else f"it ended with the code {process.returncode}"


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM ends the processes too, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
