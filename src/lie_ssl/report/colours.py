"""The colour and marker of an arm in all plots: those of its objective, or extra ones.

The colours are distinguishable for colour-blind readers (Okabe and Ito).
"""

from __future__ import annotations

from collections.abc import Sequence

from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.report.names import Arm

EXTRA_COLOURS = ("#009E73", "#D55E00", "#F0E442")
EXTRA_MARKER = "x"


def colour_of(arm: Arm, arms: Sequence[Arm]) -> str:
    """The colour of its objective; other arms get the extra colours in turn."""
    if (own := _registered(arm)) is not None:
        return own
    others = list(dict.fromkeys(each.arm for each in arms if _registered(each) is None))
    return EXTRA_COLOURS[others.index(arm.arm) % len(EXTRA_COLOURS)]


def marker_of(arm: Arm) -> str:
    """The marker of its objective, or the extra one."""
    return (OBJECTIVES[arm.objective].marker if arm.objective in OBJECTIVES else None) or EXTRA_MARKER


def _registered(arm: Arm) -> str | None:
    return OBJECTIVES[arm.objective].colour if arm.objective in OBJECTIVES and not arm.variant else None
