"""The registry of procedural classes: each is a function from random choices to a part."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from lie_ssl.errors import UserError
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.shapes.draw import Draw
from lie_ssl.objects.shapes.part import Part
from lie_ssl.registry import Entry, Registry

Shape = Callable[[Draw], Part]

SHAPES: Registry[Entry[Shape]] = Registry("procedural class", "lie_ssl.objects.shapes.families")


def shape(name: str) -> Callable[[Shape], Shape]:
    """Registers a function ``(Draw) -> Part`` under a class name."""

    def register(function: Shape) -> Shape:
        SHAPES.add(Entry(name, name, function))
        return function

    return register


def class_names() -> tuple[str, ...]:
    """All procedural classes, sorted."""
    return tuple(SHAPES)


def make_instance(class_name: str, instance: int, seed: int = 0) -> tuple[Mesh, Draw]:
    """Generates one instance: its mesh, normalised to the unit sphere, and its random choices."""
    if class_name not in SHAPES:
        names = class_names()
        near = difflib.get_close_matches(class_name, names, 3) or names[:3]
        raise UserError(f"there is no procedural class {class_name!r}; did you mean {', '.join(near)}?")
    draw = Draw(seed, class_name, instance)
    return SHAPES[class_name].value(draw).mesh().normalised(), draw
