"""Runs jobs in child processes."""

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

POLL_INTERVAL = 0.1  # seconds
GRACE_PERIOD = 20.0  # seconds between SIGTERM and SIGKILL


def run_in_processes(jobs: Iterable[Job], workers: int, threads: int, reporter: JobsReporter) -> Generator[Outcome]:
    """Runs up to `workers` jobs in parallel, each with `threads` threads, and yields outcomes as they finish."""
    waiting, running = iter(jobs), list[Child]()
    with exit_on_sigterm():
        try:
            while True:
                ended = [child for child in running if child.has_ended()]
                running = [child for child in running if child not in ended]
                while len(running) < workers and (job := next(waiting, None)) is not None:
                    running.append(Child(job, threads, reporter))
                for child in ended:  # after starting others, because the consumer of an outcome may be slow
                    child.close()
                    yield Outcome(child.job, failure_reason(child.process.returncode, child.errors))
                if not running and not ended:
                    return
                time.sleep(POLL_INTERVAL)
        finally:
            stop(running)


class Child:
    """A job in its own process, which ends when this process ends, even if it is killed."""

    def __init__(self, job: Job, threads: int, reporter: JobsReporter) -> None:
        self.job, self.errors = job, job.file.with_suffix(".err")
        output = job.file.with_suffix(".out")
        with output.open("wb") as out, self.errors.open("wb") as err:
            # `lie-ssl job` exits when its stdin is closed. In its own process group it does not receive Ctrl-C.
            self.process = subprocess.Popen(
                command(job), stdin=subprocess.PIPE, stdout=out, stderr=err, env=child_environment(threads),
                process_group=0,
            )  # fmt: skip
        self._part = reporter.part(job.name)
        self._events = EventReader(output, self._part.__enter__())

    def has_ended(self) -> bool:
        """Forwards new progress and returns whether the process has ended."""
        ended = self.process.poll() is not None
        self._events.forward()
        return ended

    def close(self) -> None:
        """Waits for the process to exit, and kills it after a grace period."""
        try:
            self.process.wait(GRACE_PERIOD)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._part.__exit__(None, None, None)


def command(job: Job) -> list[str]:
    """The command line of a job."""
    trusted = [word for name in job.trust for word in ("--trust", name)]
    return [sys.executable, "-m", "lie_ssl", "job", str(job.file), *trusted]


def stop(children: Sequence[Child]) -> None:
    """Stops all children in parallel."""
    for child in children:
        child.process.terminate()
    for child in children:
        child.close()


def failure_reason(code: int, errors: Path) -> str:
    """Why a process failed, in one sentence; empty if it did not."""
    if code == 0:
        return ""
    if code == -signal.SIGKILL:
        return "it was killed by the signal SIGKILL, perhaps because memory ran out; the same command resumes it"
    if code < 0:
        return f"it was stopped by the signal {signal.Signals(-code).name}; the same command resumes it"
    lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if not lines:
        return f"it exited with code {code}"
    # A message for users is enough by itself; the last line of a traceback is not.
    is_message = lines[-1].startswith("lie-ssl: ")
    return lines[-1].removeprefix("lie-ssl: ") if is_message else f"{lines[-1]} (more in {errors})"


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turns SIGTERM into SystemExit, so that the child processes are stopped, as with Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def exit_cleanly(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, exit_cleanly)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
