"""Objectives by name. A new one is a file in this package, or your own class as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective
from lie_ssl.registry import Entry, Registry
from lie_ssl.serialization import from_plain

Told = Literal["nothing", "move"]
Kind = TypeVar("Kind", bound=type[PairObjective])


@dataclass(frozen=True)
class ObjectiveEntry(Entry[type[PairObjective]]):
    """A registered objective, with what training knows about a pair, and its look in figures."""

    told: Told = "nothing"
    colour: str | None = None
    marker: str | None = None
    note: str = ""


OBJECTIVES: Registry[ObjectiveEntry] = Registry("objective", "lie_ssl.objectives")


def objective(
    name: str, *, title: str, told: Told = "nothing", order: int = 1000, colour: str | None = None,
    marker: str | None = None, note: str = "",
) -> Callable[[Kind], Kind]:  # fmt: skip
    """Registers an objective. Its name on the command line and in the column `arm`, and its title, colour and order in
    all tables and figures come from here.

    Args:
        name: Its name: lower-case letters, digits and _.
        title: What follows the method's name in tables, as in "MAE Frames"; empty for the method alone.
        told: Whether training sees the difference of the poses ("move") or not ("nothing").
        order: Its position in tables.
        colour, marker: Its colour and marker in figures, as in matplotlib; the next free ones by default.
        note: A short explanation for readers, such as "the same pairs, no operator".

    Example:
        >>> @objective("doctest_toy", title="Toy")
        ... class Toy(PairObjective): ...
        >>> OBJECTIVES.title("doctest_toy"), OBJECTIVES.remove("doctest_toy")
        ('Toy', None)
    """
    if not name.isidentifier() or not name.isascii() or name != name.lower():
        raise UserError(f"an objective is called {name!r}, but a name must consist of lower-case letters, digits and _")

    def register(kind: Kind) -> Kind:
        OBJECTIVES.add(ObjectiveEntry(name, title, kind, order, told, colour, marker, note))
        return kind

    return register


def objective_type(name: str) -> type[PairObjective]:
    """The class of an objective, by its registered name or import path."""
    return OBJECTIVES.class_of(name, PairObjective)


def objective_entry(name: str) -> ObjectiveEntry:
    """The registry entry of an objective, by its registered name or import path."""
    kind = objective_type(name)
    for entry in OBJECTIVES.entries():
        if entry.value is kind:
            return entry
    raise UserError(f"{name!r} is not registered; decorate the class with @lie_ssl.objectives.objective(...)")


def trained_objectives() -> list[str]:
    """The names of all objectives that train something; `frozen` does not."""
    return [entry.name for entry in OBJECTIVES.entries() if entry.value.trains]


def objective_config(name: str, values: Mapping[str, Any] | None = None) -> ObjectiveConfig:
    """The settings of an objective: its defaults with the given values."""
    return from_plain(objective_type(name).Config, {**(values or {}), "name": name}, "objective")


def check_objective(config: ObjectiveConfig) -> None:
    """Rejects settings with the name of another objective."""
    if type(config) is not objective_type(config.name).Config:
        raise UserError(f"objective.name is {config.name!r}, but these are the settings of another objective")
