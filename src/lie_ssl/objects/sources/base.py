"""What a source of objects is: it lists its instances and gives the mesh of each."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.registry import Entry, Registry

if TYPE_CHECKING:  # what only lists or validates needs no numba
    from lie_ssl.objects.mesh import Mesh


@dataclass(frozen=True)
class CatalogueEntry:
    """One instance of one class. `key` is whatever the source needs to find it again (a path, a name in an archive)."""

    class_name: str
    instance: str  # unique within its class
    licence: str
    key: str = ""


@dataclass(frozen=True)
class Dropped:
    """An instance that was left out, and why, in words for the user."""

    key: str
    why: str


@dataclass(frozen=True)
class Catalogue:
    """What a source has: instances in a fixed order (by class, then instance) and what was left out of it.

    `notes` are sentences for the user about what was kept.
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
    """Lists objects and gives their meshes. A new source is one file in this package:

        @source("boxes", title="Boxes of all sizes", order=40)
        @dataclass(frozen=True)
        class Boxes(Source):
            ...

    A source is small and picklable: worker processes receive a copy and load the meshes themselves.
    """

    settings: ClassVar[tuple[str, ...]] = ()
    """Which of :data:`SPECIFIC_SETTINGS` it reads; the user is told when another one is given."""
    unlabelled: ClassVar[str | None] = None
    """The class of objects without a label, where the source may have such."""
    add_labels: ClassVar[str] = "sort them into folders by class"
    """What the user does about objects without a label."""
    add_instances: ClassVar[str] = "add objects"
    """What the user does about too few instances in a class."""

    @classmethod
    @abstractmethod
    def from_config(cls, config: SourceSettings) -> Self:
        """The source for these settings. It reads no file, and raises `UserError` for a setting that it cannot use."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the card of a data set calls it."""

    @abstractmethod
    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """All instances that can be drawn.

        Args:
            strict: Raise `UserError` at the first broken file, in place of leaving it out.
            classes: Those to list; none means all.
        """

    @abstractmethod
    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """The mesh of one instance, normalised to the unit sphere."""

    def expected_instances(self, classes: tuple[str, ...] = ()) -> int:
        """How many instances there will be at least, as far as that is known before anything is listed."""
        return 1


SPECIFIC_SETTINGS = ("path", "layout", "up")  # not every source has a use for these
SOURCES: Registry[Entry[type[Source]]] = Registry("source", "lie_ssl.objects.sources")

AnySource = TypeVar("AnySource", bound=Source)


def source(name: str, *, title: str, order: int = 1000) -> Callable[[type[AnySource]], type[AnySource]]:
    """Registers a :class:`Source`.

    Args:
        name: The word for `--source`.
        title: What the help says of it, in a few words.
        order: Its place in lists.
    """

    def register(kind: type[AnySource]) -> type[AnySource]:
        SOURCES.add(Entry(name, title, kind, order))
        return kind

    return register


def select_classes(entries: Iterable[CatalogueEntry], classes: tuple[str, ...]) -> list[CatalogueEntry]:
    """The entries of the given classes (none means all); one sentence for a class that the source does not have."""
    entries = list(entries)
    known = sorted({e.class_name for e in entries})
    for name in classes:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), known, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known)}."
            raise UserError(f"the source has no class {name!r}; {hint}")
    return [e for e in entries if not classes or e.class_name in classes]
