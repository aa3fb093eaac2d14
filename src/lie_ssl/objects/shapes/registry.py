"""The register of procedural classes: a class is a function from dice to a part."""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Part

Shape = Callable[[Draw], Part]

_SHAPES: dict[str, Shape] = {}


def shape(name: str) -> Callable[[Shape], Shape]:
    """Registers a function ``(Draw) -> Part`` under a class name."""

    def register(function: Shape) -> Shape:
        if name in _SHAPES:
            raise ValueError(f"class {name!r} is registered twice")
        _SHAPES[name] = function
        return function

    return register


@cache
def class_names() -> tuple[str, ...]:
    """All procedural classes, sorted. A module in `families` registers its classes when it is imported."""
    families = import_module("lie_ssl.objects.shapes.families")
    for module in pkgutil.iter_modules(families.__path__, f"{families.__name__}."):
        import_module(module.name)
    return tuple(sorted(_SHAPES))


def make_instance(class_name: str, instance: int, seed: int = 0) -> tuple[Mesh, Draw]:
    """The mesh of one instance, normalised to the unit sphere, and the choices it was made from."""
    names = class_names()
    if class_name not in _SHAPES:
        near = difflib.get_close_matches(class_name, names, 3) or names[:3]
        raise UserError(f"there is no procedural class {class_name!r}; did you mean {', '.join(near)}?")
    draw = Draw(seed, class_name, instance)
    return _SHAPES[class_name](draw).mesh().normalised(), draw
