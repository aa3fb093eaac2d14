"""Where objects come from: every source lists its instances and gives the mesh of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from lie_ssl.objects.mesh import Mesh


@dataclass(frozen=True)
class Entry:
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
    """What a source has: instances in a fixed order (by class, then instance) and what was left out of it."""

    entries: list[Entry]
    dropped: list[Dropped] = field(default_factory=list)


class Source(Protocol):
    """A source is small and picklable: worker processes receive a copy and load the meshes themselves."""

    @property
    def name(self) -> str: ...

    def catalogue(self, *, strict: bool = False) -> Catalogue:
        """All instances that can be drawn. With `strict` the first broken file raises `UserError`."""
        ...

    def mesh(self, entry: Entry) -> Mesh:
        """The mesh of one instance, normalised to the unit sphere."""
        ...
