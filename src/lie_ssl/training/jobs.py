"""Runs independent jobs, several in parallel.

The interface is narrow: jobs go in, outcomes come out in the order in which the jobs finish, and no caller needs to
know where they ran.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

from lie_ssl.errors import UserError
from lie_ssl.threads import core_budget
from lie_ssl.training.progress import JobsReporter, ProgressReporter


@dataclass(frozen=True)
class Job:
    """A job whose settings are all in a file, so that any process can run it."""

    name: str
    """Its name in messages."""
    file: Path
    """Its settings, NAME.json; its output goes to NAME.out and NAME.err in the same folder."""
    trust: tuple[str, ...] = ()
    """Import paths that are allowed in the settings."""


@dataclass(frozen=True)
class Outcome:
    """The result of a job."""

    job: Job
    error: str = ""
    """Why it failed, in one sentence; empty if it succeeded."""


Work = Callable[[Path, Collection[str], ProgressReporter], None]
"""Runs a job, given its file, its `trust` and a reporter. `lie-ssl job` does the same in another process."""


def run_jobs(jobs: Iterable[Job], work: Work, workers: int, reporter: JobsReporter) -> Generator[Outcome]:
    """Runs jobs and yields the outcome of each as it finishes; a job that fails does not stop the others.

    The next job is taken from the iterable when a worker is free. A single worker is this process; several are child
    processes that share the cores evenly. Closing the generator, Ctrl-C and SIGTERM stop these processes.

    Args:
        jobs: The jobs, in order.
        work: Runs a single job.
        workers: Maximum number of jobs in parallel.
        reporter: Receives their progress.
    """
    from lie_ssl.training.processes import run_in_processes

    if workers == 1:
        yield from _run_here(jobs, work, reporter)
    else:
        yield from run_in_processes(jobs, workers, max(1, core_budget() // workers), reporter)


def _run_here(jobs: Iterable[Job], work: Work, reporter: JobsReporter) -> Generator[Outcome]:
    for job in jobs:
        reason = ""
        with reporter.part(job.name) as part:
            try:
                work(job.file, job.trust, part)
            except (UserError, ValueError, RuntimeError, OSError) as error:
                reason = str(error) or type(error).__name__
        yield Outcome(job, reason)
