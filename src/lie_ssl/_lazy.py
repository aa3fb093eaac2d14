"""Packages that load their modules on first use, so that importing one brings no optional package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from lie_ssl.extras import explained


def lazy_exports(
    package: str, modules: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Makes the `__getattr__` and `__dir__` of a package whose names live in its modules.

    Args:
        package: The package's `__name__`.
        modules: Names to export, by the module that defines them.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        except ModuleNotFoundError as error:
            if (missing := explained(error)) is None:
                raise
            raise missing from error

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names
