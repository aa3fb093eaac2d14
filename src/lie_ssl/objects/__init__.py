"""What is shown: meshes, procedural shapes, mesh files, and the sources that list them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lie_ssl.objects.sources.base import SOURCES, Catalogue, CatalogueEntry, Dropped, Source, source

if TYPE_CHECKING:
    from lie_ssl.objects.files import load_mesh
    from lie_ssl.objects.mesh import Mesh, make_mesh
    from lie_ssl.objects.shapes.registry import class_names, make_instance, shape

__all__ = [
    "SOURCES", "Catalogue", "CatalogueEntry", "Dropped", "Mesh", "Source", "class_names", "load_mesh", "make_instance",
    "make_mesh", "shape", "source",
]  # fmt: skip

# What needs numba is loaded when it is first asked for.
_MODULES = {
    "Mesh": "mesh", "class_names": "shapes.registry", "load_mesh": "files", "make_instance": "shapes.registry",
    "make_mesh": "mesh", "shape": "shapes.registry",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Also what has not been loaded yet."""
    return sorted({*globals(), *__all__})
