"""A contrast between moves: the true move must carry z nearer to z^g than the moves of other pairs do.

Shape letters: B pairs, T moves, M embedding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.lie.algebras import Algebra
from lie_ssl.lie.curves import make_curve

if TYPE_CHECKING:
    from lie_ssl.lie.operator import LieOperator

EQUAL = 1e-3  # moves that differ by less are the same


def move_info_nce(
    operator: LieOperator, share: int, v: Tensor, v_next: Tensor, t: Tensor, moves: Tensor, temperature: float
) -> Tensor:
    """InfoNCE over moves, for one factor with one generator.

    The logits are the negative relative errors of exp(t L) v, divided by the temperature. Negatives are the other
    moves, and no move at all. A group that cannot tell two moves apart, such as a half turn from no turn, is penalised,
    which the distance between the moved and the true embedding alone does not do: speeds of 0, and even speeds only,
    have small distances too.

    Args:
        operator: A normalised operator.
        share: The factor.
        v, v_next: The factor's share of the normalised embeddings (B, M).
        t: The true moves (B,).
        moves: All moves of the batch (T,); those that equal a pair's own move are no negatives of it.
        temperature: Divides the logits.

    Returns:
        The losses (B,).
    """
    algebra = operator.algebras[share]
    assert isinstance(algebra, Algebra)
    curve = make_curve(algebra, 0, v, v_next)
    candidates = torch.cat([moves.new_zeros(1), moves])
    distances = torch.cat([curve.at(t[:, None]).distance, curve.grid(candidates)], dim=1)
    same = (candidates - t[:, None]).abs() < EQUAL
    same = torch.cat([torch.zeros_like(same[:, :1]), same], dim=1)
    logits = -distances / (2 * operator.group_counts[share] * temperature)
    targets = torch.zeros(len(v), dtype=torch.long, device=v.device)
    return functional.cross_entropy(logits.masked_fill(same, -torch.inf), targets, reduction="none").to(v.dtype)


def check_moves(operator: LieOperator) -> None:
    """Rejects operators whose moves cannot be contrasted."""
    if operator.unit_norm is None or operator.action != "exp":
        raise ValueError(
            "the contrast of moves needs unit lengths: LieOperator(algebra='commuting', normalise='share')"
        )
    if max(operator.sizes) > 1:
        raise ValueError("the contrast of moves needs one generator for each factor, and split_factors=True")
