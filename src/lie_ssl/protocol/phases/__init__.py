"""Classifiers on an encoder: one file per phase, which yields rows of the long tables.

A phase is a function of the context of an evaluation. It yields rows together with their tables:

    @phase("centroid", title="Nearest class mean", order=40)
    def centroid(context: Context) -> TableRows:
        for proportion in context.config.proportions:
            ...
            yield from classifier_rows(context, ClassifierKey("centroid", 1, proportion), predict)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lie_ssl.protocol.context import Context
from lie_ssl.protocol.rows import TableRows
from lie_ssl.registry import Entry, Registry

__all__ = ["PHASES", "Phase", "RunPhase", "ordered_phases", "phase"]

RunPhase = Callable[[Context], TableRows]


@dataclass(frozen=True)
class Phase(Entry[RunPhase]):
    """A registered phase. `trains_encoder` says whether it also trains a copy of the encoder."""

    trains_encoder: bool = False


PHASES: Registry[Phase] = Registry("phase", __name__)


def phase(name: str, *, title: str, order: int = 1000, trains_encoder: bool = False) -> Callable[[RunPhase], RunPhase]:
    """Registers a function as a phase.

    Args:
        name: Its name in the column `phase`.
        title: Its title in reports.
        order: Its position among all phases in reports.
        trains_encoder: Whether it also trains a copy of the encoder; such phases run last, as they are slow.
    """

    def register(run: RunPhase) -> RunPhase:
        PHASES.add(Phase(name, title, run, order, trains_encoder))
        return run

    return register


def ordered_phases() -> list[Phase]:
    """All phases in the order in which they run and in which files have their rows: frozen encoders first."""
    return sorted(PHASES.entries(), key=lambda entry: entry.trains_encoder)
