"""Independent pieces of work, several at a time.

The interface is narrow: jobs go in, outcomes come out in the order in which the jobs end, and nobody else needs to know
where they ran.
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
    """A piece of work whose settings are all in a file, so that any process can do it."""

    name: str
    """What it is called in messages."""
    file: Path
    """The settings, NAME.json; what the job prints goes to NAME.out and NAME.err beside it."""
    trust: tuple[str, ...] = ()
    """Import paths that the settings may have."""


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    job: Job
    error: str = ""
    """Empty, or why it failed in one sentence."""


Work = Callable[[Path, Collection[str], ProgressReporter], None]
"""What is done with the file of a job, its `trust` and a reporter. `lie-ssl job` does the same in other processes."""


def run_jobs(jobs: Iterable[Job], work: Work, at_once: int, reporter: JobsReporter) -> Generator[Outcome]:
    """Runs jobs and gives each as it ends; a job that fails does not stop the others.

    The next job is taken from the iterable when there is room for it. One job at a time runs in this process; several
    run in processes that share the cores evenly. Closing the generator, Ctrl-C and SIGTERM end these processes.

    Args:
        jobs: What is to be done, in this order.
        work: What a job consists of.
        at_once: How many jobs run at the same time.
        reporter: Receives their progress.
    """
    from lie_ssl.training.processes import run_in_processes

    if at_once == 1:
        yield from _run_here(jobs, work, reporter)
    else:
        yield from run_in_processes(jobs, at_once, max(1, core_budget() // at_once), reporter)


def _run_here(jobs: Iterable[Job], work: Work, reporter: JobsReporter) -> Generator[Outcome]:
    for job in jobs:
        reason = ""
        with reporter.part(job.name) as part:
            try:
                work(job.file, job.trust, part)
            except (UserError, ValueError, RuntimeError, OSError) as error:
                reason = str(error) or type(error).__name__
        yield Outcome(job, reason)
