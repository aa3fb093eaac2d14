"""The colour and marker of an arm, the same everywhere: those of its objective, or the next free ones.

They can be told apart by the colour-blind (Okabe and Ito).
"""

from __future__ import annotations

from collections.abc import Sequence

from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.report.names import Arm

FREE = ("#009E73", "#D55E00", "#F0E442")
FREE_MARKER = "x"


def colour_of(arm: Arm, arms: Sequence[Arm]) -> str:
    """Arms without a colour of their own take those that are left, in their order."""
    if (own := _registered(arm)) is not None:
        return own
    others = list(dict.fromkeys(each.arm for each in arms if _registered(each) is None))
    return FREE[others.index(arm.arm) % len(FREE)]


def marker_of(arm: Arm) -> str:
    """The marker of its objective."""
    return (OBJECTIVES[arm.objective].marker if arm.objective in OBJECTIVES else None) or FREE_MARKER


def _registered(arm: Arm) -> str | None:
    return OBJECTIVES[arm.objective].colour if arm.objective in OBJECTIVES and not arm.variant else None
