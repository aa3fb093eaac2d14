"""Colours that also the colour-blind can tell apart (Okabe and Ito), one for each arm everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from lie_ssl.report.names import Arm

ARM_COLOURS = {"base": "#999999", "frames": "#56B4E9", "literal": "#E69F00", "lie": "#0072B2", "lie_off": "#CC79A7"}
OTHERS = ("#009E73", "#D55E00", "#F0E442")
MARKERS = {"base": "o", "frames": "s", "literal": "^", "lie": "D", "lie_off": "v"}


def colour_of(arm: Arm, arms: Sequence[Arm]) -> str:
    """Arms with names of their own take the colours that are left, in their order."""
    if arm.arm in ARM_COLOURS:
        return ARM_COLOURS[arm.arm]
    strange = list(dict.fromkeys(a.arm for a in arms if a.arm not in ARM_COLOURS))
    return OTHERS[strange.index(arm.arm) % len(OTHERS)]
