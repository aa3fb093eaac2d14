"""The names of methods and arms in reports, and their order.

Names of settings and poses come from `lie_ssl.protocol.schema`, those of metrics and phases from their registries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.schema import SETTING

BASE = "alone"
FROZEN = "frozen"  # a published encoder as it is
BAR_SETTINGS = tuple(name for name, category in SETTING.categories.items() if category.lines)  # shown in figures


class Arm(NamedTuple):
    """One row of a table: a method, an objective with its variant, and the option of the supervised phase."""

    method: str
    arm: str
    option: int = 1

    @property
    def name(self) -> str:
        """A name such as "MAE Lie" or "MAE Lie, option 2"; Option 1 is not mentioned."""
        words = [method_name(self.method), OBJECTIVES.title(self.objective)]
        notes = [self.variant, f"option {self.option}" if self.option != 1 else ""]
        return ", ".join([" ".join(w for w in words if w), *(note for note in notes if note)])

    @property
    def objective(self) -> str:
        """The name of its objective, without the variant."""
        return self.arm.partition("-")[0]

    @property
    def variant(self) -> str:
        """The name of its variant; empty for none."""
        return self.arm.partition("-")[2]

    @property
    def order(self) -> tuple[int, str, int, str, str, int]:
        return (*_place(self.method, METHODS), *_place(self.objective, OBJECTIVES), self.variant, self.option)


ARM_KEYS = list(Arm._fields)


def method_name(method: str) -> str:
    return METHODS.title(method)


def arms_of(table: pd.DataFrame, phase: str | None = None) -> list[Arm]:
    """All arms of a long table, in the order of the paper.

    Args:
        table: The table.
        phase: Restricts the options to those of a phase. Arms without results in it are included, so that tables show
            what is missing.
    """
    chosen = table if phase is None else table[table["phase"] == phase]
    found = {Arm(str(m), str(a), int(o)) for m, a, o in chosen[ARM_KEYS].drop_duplicates().itertuples(index=False)}
    present = {(arm.method, arm.arm) for arm in found}
    pairs = table[["method", "arm"]].drop_duplicates().itertuples(index=False)
    found |= {Arm(str(m), str(a)) for m, a in pairs if (m, a) not in present}
    return sorted(found, key=lambda arm: arm.order)


def baseline_of(method: str, arms: Iterable[Arm]) -> Arm:
    """The arm with which others of a method are compared: the frozen encoder if there is one, else the method alone."""
    frozen = Arm(method, FROZEN)
    return frozen if frozen in arms else Arm(method, BASE)


def _place(name: str, known: Iterable[str]) -> tuple[int, str]:
    names = list(known)
    return (names.index(name), "") if name in names else (len(names), name)
