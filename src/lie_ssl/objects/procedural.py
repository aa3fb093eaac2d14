"""The procedural classes as a source of objects."""

from __future__ import annotations

from dataclasses import dataclass

from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.registry import class_names, make_instance
from lie_ssl.objects.sources import Catalogue, Entry, wanted_entries


@dataclass(frozen=True)
class Procedural:
    """Any number of instances of the built-in classes, each fixed by (seed, class, number)."""

    instances: int
    seed: int = 0

    @property
    def name(self) -> str:
        return "procedural"

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        counts = {c: self.instances if not classes or c in classes else 1 for c in class_names()}
        entries = [Entry(c, f"{i:04d}", "MIT", str(i)) for c, count in counts.items() for i in range(count)]
        return Catalogue(wanted_entries(entries, classes))

    def mesh(self, entry: Entry) -> Mesh:
        return make_instance(entry.class_name, int(entry.key), self.seed)[0]
