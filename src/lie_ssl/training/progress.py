"""Who is told how a run goes: a bar on the terminal, a test, another process, or nobody."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class ProgressReporter(Protocol):
    """Receives the progress of a run."""

    def step(self, done: int, total: int, loss: float) -> None:
        """A logged step of training."""

    def busy(self, what: str) -> None:
        """Something without steps has begun."""

    def say(self, text: str) -> None:
        """A line for the user."""


class JobsReporter(ProgressReporter, Protocol):
    """Receives the progress of several runs side by side as well."""

    def part(self, name: str) -> AbstractContextManager[ProgressReporter]:
        """The reporter of one of them, for as long as it runs."""


class NullReporter:
    """Reports nothing."""

    def step(self, done: int, total: int, loss: float) -> None:
        pass

    def busy(self, what: str) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def part(self, name: str) -> AbstractContextManager[ProgressReporter]:
        return nullcontext(self)
