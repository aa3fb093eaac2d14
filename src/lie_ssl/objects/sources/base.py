"""The interface of a source of objects: it lists instances and loads their meshes."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.registry import Entry, Registry

if TYPE_CHECKING:  # listing and validating do not need numba
    from lie_ssl.objects.mesh import Mesh


@dataclass(frozen=True)
class CatalogueEntry:
    """One instance of a class. `key` identifies it within the source (a path, or a name in an archive)."""

    class_name: str
    instance: str  # unique within its class
    licence: str
    key: str = ""


@dataclass(frozen=True)
class Dropped:
    """An instance that was left out, and the reason, for the user."""

    key: str
    why: str


@dataclass(frozen=True)
class Catalogue:
    """The instances of a source, ordered by class and instance, and those that were left out.

    `notes` are sentences for the user about the instances.
    """

    entries: list[CatalogueEntry]
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class SourceSettings(Protocol):
    """The settings of a data set that a source may read; `DataConfig` has them."""

    @property
    def path(self) -> str | None: ...
    @property
    def layout(self) -> str: ...
    @property
    def up(self) -> str: ...
    @property
    def instances(self) -> int: ...
    @property
    def seed(self) -> int: ...


class Source(ABC):
    """Lists objects and loads their meshes. A new source is one file in this package:

        @source("boxes", title="Boxes of all sizes", order=40)
        @dataclass(frozen=True)
        class Boxes(Source):
            ...

    A source is small and picklable: worker processes receive a copy and load the meshes themselves.
    """

    settings: ClassVar[tuple[str, ...]] = ()
    """The :data:`SPECIFIC_SETTINGS` that it reads; the user is warned about others."""
    unlabelled: ClassVar[str | None] = None
    """The class of objects without a label, if the source may have any."""
    add_labels: ClassVar[str] = "sort them into folders by class"
    """How the user can label objects, for messages."""
    add_instances: ClassVar[str] = "add objects"
    """How the user can add instances to a class, for messages."""

    @classmethod
    @abstractmethod
    def from_config(cls, config: SourceSettings) -> Self:
        """Builds the source from settings. Reads no files, and raises `UserError` for an invalid setting."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the card of a data set."""

    @abstractmethod
    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """Lists all instances that can be drawn.

        Args:
            strict: Raise `UserError` at the first broken file instead of leaving it out.
            classes: The classes to list; all by default.
        """

    @abstractmethod
    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """Loads the mesh of an instance, normalised to the unit sphere."""

    def expected_instances(self, classes: tuple[str, ...] = ()) -> int:
        """A lower bound of the number of instances, known without listing them."""
        return 1


SPECIFIC_SETTINGS = ("path", "layout", "up")  # settings that only some sources use
SOURCES: Registry[Entry[type[Source]]] = Registry("source", "lie_ssl.objects.sources")

AnySource = TypeVar("AnySource", bound=Source)


def source(name: str, *, title: str, order: int = 1000) -> Callable[[type[AnySource]], type[AnySource]]:
    """Registers a :class:`Source`.

    Args:
        name: The value of `--source`.
        title: A short description for the help.
        order: Its position in lists.
    """

    def register(kind: type[AnySource]) -> type[AnySource]:
        SOURCES.add(Entry(name, title, kind, order))
        return kind

    return register


def select_classes(entries: Iterable[CatalogueEntry], classes: tuple[str, ...]) -> list[CatalogueEntry]:
    """Selects the entries of some classes, all by default; raises `UserError` for an unknown class."""
    entries = list(entries)
    known = sorted({e.class_name for e in entries})
    for name in classes:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), known, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known)}."
            raise UserError(f"the source has no class {name!r}; {hint}")
    return [e for e in entries if not classes or e.class_name in classes]
