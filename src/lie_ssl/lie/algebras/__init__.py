"""Algebras by name; one small file each, which registers itself."""

from __future__ import annotations

import difflib
import inspect
import pkgutil
from importlib import import_module
from typing import Any

from lie_ssl.lie.algebras.base import ALGEBRAS, Algebra, algebra, closure_error, commutators

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")


def make_algebra(name: str, dim: int, n_generators: int, **settings: Any) -> Algebra:
    """An algebra by name on `dim` dimensions; `settings` are those of its class (scale, frequencies, rank ...)."""
    check_algebra(name)
    own = list(inspect.signature(ALGEBRAS[name]).parameters)[2:]
    for setting in settings:
        if setting not in own:
            raise ValueError(f"the algebra {name!r} has no setting {setting!r}; it has {', '.join(own)}")
    return ALGEBRAS[name](dim, n_generators, **settings)


def check_algebra(name: str) -> None:
    """Refuses a name that no algebra is registered under."""
    if name not in ALGEBRAS:
        near = difflib.get_close_matches(name, ALGEBRAS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ALGEBRAS)}."
        raise ValueError(f"there is no algebra {name!r}; {hint}")


__all__ = ["ALGEBRAS", "Algebra", "algebra", "check_algebra", "closure_error", "commutators", "make_algebra"]
