"""Where objects come from: every source lists its instances and gives the mesh of each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from lie_ssl.errors import UserError
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
    """What a source has: instances in a fixed order (by class, then instance) and what was left out of it.

    `notes` are sentences for the user about what was kept.
    """

    entries: list[Entry]
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def wanted_entries(entries: Iterable[Entry], classes: tuple[str, ...]) -> list[Entry]:
    """The entries of the given classes (none means all); one sentence for a class that the source does not have."""
    entries = list(entries)
    known = sorted({e.class_name for e in entries})
    for name in classes:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), known, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known)}."
            raise UserError(f"the source has no class {name!r}; {hint}")
    return [e for e in entries if not classes or e.class_name in classes]


class Source(Protocol):
    """A source is small and picklable: worker processes receive a copy and load the meshes themselves."""

    @property
    def name(self) -> str: ...

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """All instances that can be drawn, of the given classes (none means all).

        With `strict` the first broken file raises `UserError`.
        """
        ...

    def mesh(self, entry: Entry) -> Mesh:
        """The mesh of one instance, normalised to the unit sphere."""
        ...
