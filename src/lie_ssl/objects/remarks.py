"""What is worth knowing about meshes that can be drawn all the same: warnings in Python, notes on a data set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class MeshWarning(UserWarning):
    """A sentence about one mesh. `reason` says the same without names, so that meshes can be counted by it."""

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or sentence


def catch_mesh_warnings(load: Callable[[], T]) -> tuple[T, list[str]]:
    """What `load` returns, and the reasons of its :class:`MeshWarning`, each once. No warning is shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = load()
    reasons = [w.message.reason for w in caught if isinstance(w.message, MeshWarning)]
    return result, list(dict.fromkeys(reasons))


def summarise(remarks: Iterable[tuple[str, str]]) -> list[str]:
    """Pairs (mesh, reason) -> one sentence a reason, with a count and an example.

    >>> summarise([("mug/a.obj", "a texture is missing"), ("mug/b.obj", "a texture is missing")])
    ['a texture is missing: 2 meshes (first: mug/a.obj)']
    """
    groups: dict[str, list[str]] = {}
    for mesh, reason in remarks:
        groups.setdefault(reason, []).append(mesh)
    first = {reason: own[0] if len(own) == 1 else f"first: {own[0]}" for reason, own in groups.items()}
    return [f"{reason}: {meshes(len(own))} ({first[reason]})" for reason, own in groups.items()]


def meshes(count: int) -> str:
    """A number of meshes in words for the user."""
    return "1 mesh" if count == 1 else f"{count:,} meshes"
