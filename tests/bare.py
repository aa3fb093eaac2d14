"""Python with some packages only, as in an environment where nothing else is installed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

CORE = ("torch", "numpy", "tyro", "rich")


class OnlyThese(PathFinder):
    """Finds Python's own modules and those of chosen packages; the rest is as good as not installed."""

    hidden: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in cls.hidden else super().find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, context: Any = None) -> Iterable[metadata.Distribution]:  # type: ignore[override]
        """For those who ask for versions before they import."""
        return (d for d in PathFinder.find_distributions(context) if _plain(d.name) in cls.packages)


def only(*extras: str) -> None:
    """From here on this process finds the packages of the core, of these extras, and what those packages need."""
    from lie_ssl.extras import EXTRAS, package_of

    wanted = [*CORE, *(package_of(module) for extra in extras for module in EXTRAS[extra].modules)]
    OnlyThese.packages = there = with_their_needs(wanted) | {"lie-ssl"}
    owners = metadata.packages_distributions().items()
    OnlyThese.hidden = frozenset(module for module, names in owners if not there & {*map(_plain, names)})
    sys.meta_path[:] = [OnlyThese if finder is PathFinder else finder for finder in sys.meta_path]
    assert not OnlyThese.hidden & set(sys.modules)


def with_their_needs(packages: Iterable[str]) -> frozenset[str]:
    """These packages and, step by step, all that they require without an extra."""
    found: set[str] = set()
    waiting = list(packages)
    while waiting:
        package = _plain(waiting.pop())
        if package in found:
            continue
        try:
            required = metadata.requires(package) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(package)
        waiting += [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in required if "extra ==" not in line]
    return frozenset(found)


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
