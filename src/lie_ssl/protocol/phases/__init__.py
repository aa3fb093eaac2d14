"""How the classes are learned from an encoder: one file a phase, which yields rows of the long tables.

A phase is a function of the evaluation's context. Its rows say which table they belong to:

    @phase("centroid", title="Nearest class mean", order=40)
    def centroid(context: Context) -> TableRows:
        for proportion in context.config.proportions:
            ...
            yield from classifier_rows(context, Tested("centroid", 1, proportion), answers)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lie_ssl.protocol.context import Context
from lie_ssl.protocol.schema import LongTable
from lie_ssl.registry import Entry, Registry

__all__ = ["PHASES", "Phase", "RunPhase", "TableRows", "phase", "to_run"]

TableRows = Iterator[tuple[LongTable, Mapping[str, Any]]]
RunPhase = Callable[[Context], TableRows]


@dataclass(frozen=True)
class Phase(Entry[RunPhase]):
    """A registered phase; `tunes` is true where the encoder learns too, a copy of it."""

    tunes: bool = False


PHASES: Registry[Phase] = Registry("phase", __name__)


def phase(name: str, *, title: str, order: int = 1000, tunes: bool = False) -> Callable[[RunPhase], RunPhase]:
    """Registers a function as a phase.

    Args:
        name: The word in the column `phase`.
        title: What readers see.
        order: Its place among all phases in reports.
        tunes: Whether the encoder learns too; such phases run after the others, as they take long.
    """

    def register(run: RunPhase) -> RunPhase:
        PHASES.add(Phase(name, title, run, order, tunes))
        return run

    return register


def to_run() -> list[Phase]:
    """All phases as they are run and as their rows stand in files: those with a frozen encoder first."""
    return sorted(PHASES.entries(), key=lambda entry: entry.tunes)
