"""The procedural classes as a source of objects."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.registry import class_names, make_instance
from lie_ssl.objects.sources import Catalogue, Entry


@dataclass(frozen=True)
class Procedural:
    """Any number of instances of the built-in classes, each fixed by (seed, class, number)."""

    instances: int
    classes: tuple[str, ...] = ()  # none means all
    seed: int = 0

    @property
    def name(self) -> str:
        return "procedural"

    def catalogue(self, *, strict: bool = False) -> Catalogue:
        names = self.classes or class_names()
        return Catalogue([Entry(c, f"{i:04d}", "MIT", str(i)) for c in names for i in range(self.instances)])

    def mesh(self, entry: Entry) -> Mesh:
        return make_instance(entry.class_name, int(entry.key), self.seed)[0]


def checked_classes(wanted: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The wanted classes in sorted order; one sentence for a name that the source does not have."""
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, 3)
            hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(known[:8])}, ..."
            raise UserError(f"the source has no class {name!r}; {hint}")
    return tuple(sorted(set(wanted)))
