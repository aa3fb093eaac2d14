"""Progress in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lie_ssl.storage.paths import shown as printable
from lie_ssl.training.progress import ProgressReporter


class Line:
    """One line with a bar: steps, steps a second, time left, loss. What is said is printed above all lines."""

    def __init__(self, progress: Progress, name: str = "") -> None:
        self._progress, self._prefix = progress, f"{printable(name)}: " if name else ""
        self._task = progress.add_task("", total=None, visible=False, rate="", loss="")
        self._what = ""

    def step(self, done: int, total: int, loss: float) -> None:
        self._show("training", total, done)
        task = next(task for task in self._progress.tasks if task.id == self._task)
        rate = f"{task.speed:.1f} steps/s" if task.speed else ""
        self._progress.update(self._task, completed=done, total=total, rate=rate, loss=f"loss {loss:.4g}")

    def busy(self, what: str) -> None:
        """A bar that moves without saying how far it is."""
        self._show(what, None, 0)

    def say(self, text: str) -> None:
        line = f"{self._prefix}{printable(text)}"
        self._progress.console.print(line, highlight=False, soft_wrap=True, markup=False)

    def remove(self) -> None:
        self._progress.remove_task(self._task)

    def _show(self, what: str, total: int | None, done: int) -> None:
        if what == self._what:
            return
        self._what = what
        description = f"{self._prefix}{what}"
        self._progress.reset(self._task, completed=done, visible=True, description=description, rate="", loss="")
        task = next(task for task in self._progress.tasks if task.id == self._task)
        task.total = total  # which reset would take for "as before" where it is None
        self._progress.start()


class Bar:
    """Lines with bars: one for a run, and one for each of several that run side by side."""

    def __init__(self, shown: bool = True) -> None:
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[loss]}"),
        )  # fmt: skip
        self._shown = shown
        self._progress = Progress(*columns, console=Console(file=sys.stdout))
        self._line = Line(self._progress)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress.live.is_started:
            self._progress.stop()

    def step(self, done: int, total: int, loss: float) -> None:
        if self._shown:
            self._line.step(done, total, loss)

    def busy(self, what: str) -> None:
        if self._shown:
            self._line.busy(what)

    def say(self, text: str) -> None:
        if self._shown:
            self._line.say(text)

    @contextmanager
    def part(self, name: str) -> Iterator[ProgressReporter]:
        """A line of its own for as long as it is needed."""
        line = Line(self._progress, name)
        try:
            yield line
        finally:
            line.remove()
