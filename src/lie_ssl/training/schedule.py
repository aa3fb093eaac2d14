"""The learning rate over a run, as a factor of the base rate. All shapes stand here, side by side.

Pretraining takes :func:`warmup_cosine` or :func:`constant`, linear evaluation :func:`half_cosine`, finetuning
:func:`capped_cosine`. Steps count from 0.
"""

from __future__ import annotations

import math
from typing import Literal

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from lie_ssl.errors import UserError

Schedule = Literal["cosine", "constant"]


def warmup_cosine(step: int, steps: int, warmup: int, floor: float = 0.0) -> float:
    """Linear from 1 / warmup to 1 in the first `warmup` steps, then half a cosine down to `floor` at the last step.

    Steps count from 0, so the last is steps - 1; what comes after it stays there. A run that is all warm-up ends at 1.

    >>> [round(warmup_cosine(step, 6, 2), 3) for step in range(6)]
    [0.5, 1.0, 0.854, 0.5, 0.146, 0.0]
    """
    if not 0 <= warmup <= steps or steps < 1:
        raise UserError(f"A warm-up of {warmup} steps does not fit a run of {steps}; choose 0 to {max(steps, 1)}.")
    if not 0 <= floor <= 1:
        raise UserError(f"The learning rate was told to end at {floor} times its base; choose a number from 0 to 1.")
    peak, last = max(warmup - 1, 0), steps - 1
    if step < warmup or peak == last:
        return constant(step, warmup)
    done = min((step - peak) / (last - peak), 1.0)
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2


def half_cosine(step: int, steps: int) -> float:
    """Half a cosine from 1 at step 0 down to 0 at step `steps`, which is the one after the last.

    >>> [round(half_cosine(step, 4), 3) for step in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    """
    return (1 + math.cos(math.pi * step / steps)) / 2


def capped_cosine(step: int, steps: int, warmup: int) -> float:
    """:func:`half_cosine`, but never above the line of a warm-up over the first `warmup` steps.

    >>> [round(capped_cosine(step, 4, 2), 3) for step in range(4)]
    [0.5, 0.854, 0.5, 0.146]
    """
    return min((step + 1) / warmup, half_cosine(step, steps))


def constant(step: int, warmup: int = 0) -> float:
    """Linear from 1 / warmup to 1 in the first `warmup` steps, then 1 for ever."""
    if step < 0 or warmup < 0:
        raise UserError(f"Step {step} with a warm-up of {warmup} steps makes no sense; choose numbers of 0 or more.")
    return (step + 1) / warmup if step < warmup else 1.0


def scheduler(
    optimizer: Optimizer, schedule: Schedule = "cosine", *, steps: int, warmup: int = 0, floor: float = 0.0
) -> LambdaLR:
    """Multiplies the rates of all groups by the schedule; call its `step` after every step of the optimizer.

    `steps` and `floor` mean nothing to the constant schedule.
    """
    if schedule == "cosine":
        return LambdaLR(optimizer, lambda step: warmup_cosine(step, steps, warmup, floor))
    if schedule == "constant":
        return LambdaLR(optimizer, lambda step: constant(step, warmup))
    raise UserError(f"There is no learning-rate schedule {schedule!r}; choose cosine or constant.")
