"""Jobs in processes of this machine."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from lie_ssl.threads import child_environment
from lie_ssl.training.events import EventReader
from lie_ssl.training.jobs import Job, Outcome
from lie_ssl.training.progress import JobsReporter

PAUSE = 0.1  # seconds between two looks at the processes
GRACE = 20.0  # seconds that a process has to end after SIGTERM


def run_in_processes(jobs: Iterable[Job], at_once: int, threads: int, reporter: JobsReporter) -> Generator[Outcome]:
    """Runs `at_once` jobs at a time with so many threads each, and gives each as it ends."""
    waiting, running = iter(jobs), list[Child]()
    with stoppable():
        try:
            while True:
                ended = [child for child in running if child.has_ended()]
                running = [child for child in running if child not in ended]
                while len(running) < at_once and (job := next(waiting, None)) is not None:
                    running.append(Child(job, threads, reporter))
                for child in ended:  # only now, for whoever receives the outcome may take their time
                    child.close()
                    yield Outcome(child.job, failure(child.process.returncode, child.errors))
                if not running and not ended:
                    return
                time.sleep(PAUSE)
        finally:
            stop(running)


class Child:
    """A job in a process of its own, which ends when this process does, however that happens."""

    def __init__(self, job: Job, threads: int, reporter: JobsReporter) -> None:
        self.job, self.errors = job, job.file.with_suffix(".err")
        output = job.file.with_suffix(".out")
        with output.open("wb") as out, self.errors.open("wb") as err:
            # `lie-ssl job` ends with its input. In a group of its own, Ctrl-C in the terminal does not reach it.
            self.process = subprocess.Popen(
                command(job), stdin=subprocess.PIPE, stdout=out, stderr=err, env=child_environment(threads),
                process_group=0,
            )  # fmt: skip
        self._part = reporter.part(job.name)
        self._events = EventReader(output, self._part.__enter__())

    def has_ended(self) -> bool:
        """Passes on the progress so far, and says whether there will be more."""
        ended = self.process.poll() is not None
        self._events.forward()
        return ended

    def close(self) -> None:
        """Waits for the process, which has been told to end, and ends it by force if it does not listen."""
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._part.__exit__(None, None, None)


def command(job: Job) -> list[str]:
    """What is typed to run a job."""
    trusted = [word for name in job.trust for word in ("--trust", name)]
    return [sys.executable, "-m", "lie_ssl", "job", str(job.file), *trusted]


def stop(children: Sequence[Child]) -> None:
    """Ends all of them at the same time."""
    for child in children:
        child.process.terminate()
    for child in children:
        child.close()


def failure(code: int, errors: Path) -> str:
    """Why a process failed, in one sentence; empty if it did not."""
    if code == 0:
        return ""
    if code == -signal.SIGKILL:
        return "it was ended by the signal SIGKILL, perhaps because memory is short; the same command resumes it"
    if code < 0:
        return f"it was ended by the signal {signal.Signals(-code).name}; the same command resumes it"
    lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return f"it ended with the code {code}"
    # A sentence for users needs no more; after a traceback, its last line alone says little.
    told = lines[-1].startswith("lie-ssl: ")
    return lines[-1].removeprefix("lie-ssl: ") if told else f"{lines[-1]} (more in {errors})"


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
