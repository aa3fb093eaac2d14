"""Algebras by name; one small file each."""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from lie_ssl.lie.algebras.base import Algebra, closure_error, commutators
from lie_ssl.lie.algebras.block import Block
from lie_ssl.lie.algebras.commuting import Commuting
from lie_ssl.lie.algebras.general import General
from lie_ssl.lie.algebras.low_rank import LowRank
from lie_ssl.lie.algebras.skew import Skew

ALGEBRAS: dict[str, type[Algebra]] = {
    "general": General,
    "skew": Skew,
    "commuting": Commuting,
    "low_rank": LowRank,
    "block": Block,
}


def make_algebra(name: str, dim: int, n_generators: int, **settings: Any) -> Algebra:
    """An algebra by name on `dim` dimensions; `settings` are those of its class (scale, frequencies, rank ...)."""
    if name not in ALGEBRAS:
        near = difflib.get_close_matches(name, ALGEBRAS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(ALGEBRAS)}."
        raise ValueError(f"there is no algebra {name!r}; {hint}")
    own = list(inspect.signature(ALGEBRAS[name]).parameters)[2:]
    for setting in settings:
        if setting not in own:
            raise ValueError(f"the algebra {name!r} has no setting {setting!r}; it has {', '.join(own)}")
    return ALGEBRAS[name](dim, n_generators, **settings)


__all__ = ["ALGEBRAS", "Algebra", "Block", "Commuting", "General", "LowRank", "Skew", "closure_error", "commutators",
           "make_algebra"]  # fmt: skip
