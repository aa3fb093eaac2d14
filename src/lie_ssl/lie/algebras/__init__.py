"""Algebras by name, each in its own file, which registers it."""

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
    """Creates an algebra by name.

    Args:
        name: Its registered name.
        dim: Number of dimensions that the group moves.
        n_generators: Number of generators.
        settings: Settings of its class (scale, frequencies, rank ...).
    """
    check_algebra(name)
    own = list(inspect.signature(ALGEBRAS[name]).parameters)[2:]
    for setting in settings:
        if setting not in own:
            raise ValueError(f"the algebra {name!r} has no setting {setting!r}; it has {', '.join(own)}")
    return ALGEBRAS[name](dim, n_generators, **settings)


def check_algebra(name: str) -> None:
    """Rejects a name that is not registered."""
    if name not in ALGEBRAS:
        near = difflib.get_close_matches(name, ALGEBRAS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ALGEBRAS)}"
        raise ValueError(f"there is no algebra {name!r}; {hint}")


__all__ = ["ALGEBRAS", "Algebra", "algebra", "check_algebra", "closure_error", "commutators", "make_algebra"]
