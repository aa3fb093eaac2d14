"""Python with only some packages, as in an environment where nothing else is installed."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

CORE = ("torch", "numpy", "tyro", "rich")


class RestrictedFinder(PathFinder):
    """Finds only the standard library and chosen packages."""

    hidden: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in cls.hidden else super().find_spec(fullname, path, target)

    @classmethod
    def find_distributions(cls, context: Any = None) -> Iterable[metadata.Distribution]:  # type: ignore[override]
        """Finds versions of these packages only."""
        return (d for d in PathFinder.find_distributions(context) if _plain(d.name) in cls.packages)


def only(*extras: str) -> None:
    """Restricts this process to the packages of the core, of these extras, and their dependencies."""
    from lie_ssl.extras import EXTRAS, package_of

    packages = [*CORE, *(package_of(module) for extra in extras for module in EXTRAS[extra].modules)]
    RestrictedFinder.packages = there = with_dependencies(packages) | {"lie-ssl"}
    owners = metadata.packages_distributions().items()
    RestrictedFinder.hidden = frozenset(module for module, names in owners if not there & {*map(_plain, names)})
    sys.meta_path[:] = [RestrictedFinder if finder is PathFinder else finder for finder in sys.meta_path]
    assert not RestrictedFinder.hidden & set(sys.modules)


def with_dependencies(packages: Iterable[str]) -> frozenset[str]:
    """These packages and all their dependencies without extras."""
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
