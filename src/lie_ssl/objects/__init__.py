"""The objects to render: meshes, procedural shapes, mesh files, and the sources that list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports
from lie_ssl.objects.sources.base import SOURCES, Catalogue, CatalogueEntry, Dropped, Source, source

if TYPE_CHECKING:
    from lie_ssl.objects.files import load_mesh
    from lie_ssl.objects.mesh import Mesh, make_mesh
    from lie_ssl.objects.shapes.registry import class_names, make_instance, shape

__all__ = [
    "SOURCES", "Catalogue", "CatalogueEntry", "Dropped", "Mesh", "Source", "class_names", "load_mesh", "make_instance",
    "make_mesh", "shape", "source",
]  # fmt: skip

# These need numba, so they are loaded on first use.
__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "files": ("load_mesh",),
        "mesh": ("Mesh", "make_mesh"),
        "shapes.registry": ("class_names", "make_instance", "shape"),
    },
)
