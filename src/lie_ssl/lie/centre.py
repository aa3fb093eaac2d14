"""Centre and spread of a batch of pairs, about which a centred group acts.

Shape letters: B batch, M dimensions of a share.
"""

from __future__ import annotations

import torch
from torch import Tensor

SMALL = 1e-6  # avoids a division by zero for constant dimensions


def share_affine(
    weights: Tensor, first: Tensor, second: Tensor, standardised: bool, centre: Tensor, spread: Tensor
) -> tuple[Tensor, Tensor]:
    """Computes centre and spread (M,) of both frames.

    Args:
        weights: (B,), 1 for pairs that affect the share and 0 for others.
        first, second: (B, M), the share of both frames.
        standardised: Whether the spread is that of the pairs.
        centre, spread: (M,), the values to keep if there are no pairs; the spread also if it is not standardised.
    """
    count = 2 * weights.sum()
    mean = (weights[:, None] * (first + second)).sum(dim=0) / count.clamp_min(1)
    centre = torch.where(count > 0, mean, centre)
    if standardised:
        squares = (first - mean).square() + (second - mean).square()
        # Every dimension by itself: with a common variance, one large dimension would hide the others.
        deviation = ((weights[:, None] * squares).sum(dim=0) / count.clamp_min(1) + SMALL).sqrt()
        spread = torch.where(count > 0, deviation, spread)
    return centre, spread
