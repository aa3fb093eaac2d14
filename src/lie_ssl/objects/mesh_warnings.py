"""Problems of meshes that can be drawn nevertheless: warnings in Python, notes in the card of a data set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

from lie_ssl._text import count

T = TypeVar("T")


class MeshWarning(UserWarning):
    """A warning about one mesh. `reason` is the message without names, so that meshes can be counted by reason."""

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or sentence


def catch_mesh_warnings(load: Callable[[], T]) -> tuple[T, list[str]]:
    """Calls `load` and returns its result and the distinct reasons of its mesh warnings. Shows no warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = load()
    reasons = [w.message.reason for w in caught if isinstance(w.message, MeshWarning)]
    return result, list(dict.fromkeys(reasons))


def summarise(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Summarises pairs (mesh, reason) in one sentence per reason, with a count and an example.

    >>> summarise([("mug/a.obj", "a texture is missing"), ("mug/b.obj", "a texture is missing")])
    ['a texture is missing: 2 meshes (first: mug/a.obj)']
    """
    groups: dict[str, list[str]] = {}
    for mesh, reason in pairs:
        groups.setdefault(reason, []).append(mesh)
    first = {reason: own[0] if len(own) == 1 else f"first: {own[0]}" for reason, own in groups.items()}
    return [f"{reason}: {count(len(own), 'mesh', 'meshes')} ({first[reason]})" for reason, own in groups.items()]
