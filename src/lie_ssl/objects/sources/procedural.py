"""The built-in procedural classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.registry import class_names, make_instance
from lie_ssl.objects.sources.base import Catalogue, CatalogueEntry, Source, SourceSettings, select_classes, source


@source("procedural", title="the built-in classes, any number of instances", order=10)
@dataclass(frozen=True)
class Procedural(Source):
    """Any number of instances of the built-in classes, each determined by (seed, class, number)."""

    instances: int
    seed: int = 0

    add_instances: ClassVar[str] = "increase --instances"

    @classmethod
    def from_config(cls, config: SourceSettings) -> Self:
        return cls(config.instances, config.seed)

    @property
    def name(self) -> str:
        return "procedural"

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        """Lists the instances of some classes; `strict` has no effect, as nothing can be broken."""
        counts = {c: self.instances if not classes or c in classes else 1 for c in class_names()}
        entries = [CatalogueEntry(c, f"{i:04d}", "MIT", str(i)) for c, count in counts.items() for i in range(count)]
        return Catalogue(select_classes(entries, classes))

    def mesh(self, entry: CatalogueEntry) -> Mesh:
        """Generates the mesh of an instance."""
        return make_instance(entry.class_name, int(entry.key), self.seed)[0]

    def expected_instances(self, classes: tuple[str, ...] = ()) -> int:
        """The exact number of instances, as it is a setting."""
        return self.instances * (len(classes) or len(class_names()))
