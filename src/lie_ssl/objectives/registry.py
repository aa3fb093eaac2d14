"""Objectives by name. A new one is a file in this package, or a class of your own as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective
from lie_ssl.registry import Entry, Registry, import_object
from lie_ssl.serialization import from_plain
from lie_ssl.storage.trust import is_import_path

Told = Literal["nothing", "move"]
Kind = TypeVar("Kind", bound=type[PairObjective])


@dataclass(frozen=True)
class ObjectiveEntry(Entry[type[PairObjective]]):
    """A registered objective: also what training is told about a pair, and how figures draw it."""

    told: Told = "nothing"
    colour: str | None = None
    marker: str | None = None
    note: str = ""


OBJECTIVES: Registry[ObjectiveEntry] = Registry("objective", "lie_ssl.objectives")


def objective(
    name: str, *, title: str, told: Told = "nothing", order: int = 1000, colour: str | None = None,
    marker: str | None = None, note: str = "",
) -> Callable[[Kind], Kind]:  # fmt: skip
    """Registers an objective. The word on the command line, the column `arm`, and the title, colour and order in every
    table and figure come from here.

    Args:
        name: The word on the command line: lower-case letters, digits and _.
        title: What follows the method's name in tables, as in "MAE Frames"; empty for the method alone.
        told: Whether training sees how far a pair moves.
        order: Its place in tables.
        colour, marker: In figures, as matplotlib names them; otherwise the next free ones are taken.
        note: A few words for first-time readers, such as "the same pairs, no operator".

    Example:
        >>> @objective("doctest_toy", title="Toy")
        ... class Toy(PairObjective): ...
        >>> OBJECTIVES.title("doctest_toy"), OBJECTIVES.remove("doctest_toy")
        ('Toy', None)
    """
    if not name.isidentifier() or not name.isascii() or name != name.lower():
        raise UserError(f"an objective is called {name!r}, but its name has lower-case letters, digits and _ only")

    def register(kind: Kind) -> Kind:
        OBJECTIVES.add(ObjectiveEntry(name, title, kind, order, told, colour, marker, note))
        return kind

    return register


def objective_type(name: str) -> type[PairObjective]:
    """The class behind a name of the registry or an import path."""
    if not is_import_path(name):
        return OBJECTIVES[name].value
    found = import_object(name, "objective")
    if not (isinstance(found, type) and issubclass(found, PairObjective) and hasattr(found, "Config")):
        raise UserError(
            f"{name!r} is no objective: it must be a subclass of lie_ssl.objectives.PairObjective with a Config"
        )
    return found


def objective_entry(name: str) -> ObjectiveEntry:
    """The registration behind a name of the registry or an import path."""
    kind = objective_type(name)
    for entry in OBJECTIVES.entries():
        if entry.value is kind:
            return entry
    raise UserError(f"{name!r} is not registered; decorate the class with @lie_ssl.objectives.objective(...)")


def objective_config(name: str, values: Mapping[str, Any] | None = None) -> ObjectiveConfig:
    """The settings of an objective, from its defaults and the given values."""
    return from_plain(objective_type(name).Config, {**(values or {}), "name": name}, "objective")


def check_objective(config: ObjectiveConfig) -> None:
    """Refuses settings that carry the name of another objective."""
    if type(config) is not objective_type(config.name).Config:
        raise UserError(f"objective.name is {config.name!r}, but these are the settings of another objective")
