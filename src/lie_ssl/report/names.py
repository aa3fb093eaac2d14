"""What methods and arms are called for readers, and the order in which they stand.

Settings, poses and measures have their names from `lie_ssl.protocol.schema` and the registered metrics and phases.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.schema import SETTING

BASE = "alone"
BAR_SETTINGS = tuple(name for name, word in SETTING.categories.items() if word.lines)  # that figures show


class Arm(NamedTuple):
    """One row of a table: a method, what was learned from pairs, and the option of the supervised phase."""

    method: str
    arm: str
    option: int = 1

    @property
    def name(self) -> str:
        """Such as "MAE Lie"; Option 2 (classifiers see moved neighbours too) is said, Option 1 is not."""
        words = [method_name(self.method), OBJECTIVES.title(self.objective)]
        notes = [self.variant, f"option {self.option}" if self.option != 1 else ""]
        return ", ".join([" ".join(w for w in words if w), *(note for note in notes if note)])

    @property
    def objective(self) -> str:
        """The name of its objective, without that of a variant."""
        return self.arm.partition("-")[0]

    @property
    def variant(self) -> str:
        """The word of a variant, empty for none."""
        return self.arm.partition("-")[2]

    @property
    def order(self) -> tuple[int, str, int, str, str, int]:
        return (*_place(self.method, METHODS), *_place(self.objective, OBJECTIVES), self.variant, self.option)


ARM_KEYS = list(Arm._fields)


def method_name(method: str) -> str:
    return METHODS.title(method)


def arms_of(table: pd.DataFrame, phase: str | None = None) -> list[Arm]:
    """All arms of a long table in the order of the paper. With a phase: the options that it has, and the arms without
    any number in it too, so that what is missing shows."""
    chosen = table if phase is None else table[table["phase"] == phase]
    found = {Arm(str(m), str(a), int(o)) for m, a, o in chosen[ARM_KEYS].drop_duplicates().itertuples(index=False)}
    present = {(arm.method, arm.arm) for arm in found}
    pairs = table[["method", "arm"]].drop_duplicates().itertuples(index=False)
    found |= {Arm(str(m), str(a)) for m, a in pairs if (m, a) not in present}
    return sorted(found, key=lambda arm: arm.order)


def _place(name: str, known: Iterable[str]) -> tuple[int, str]:
    names = list(known)
    return (names.index(name), "") if name in names else (len(names), name)
