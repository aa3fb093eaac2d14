"""Speeds: how fast the group turns each plane of v, and how much of v lies in that plane.

A pose that returns after a full turn needs whole speeds. Learned speeds (`lie_learned`) are told nothing about this, so
the table shows whether they found it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from lie_ssl.lie import LieOperator
from lie_ssl.lie.algebras.commuting import Commuting
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import row_metric
from lie_ssl.protocol.schema import SPEEDS


@row_metric("speeds", title="speeds of the group", table=SPEEDS, order=70)
@torch.no_grad()
def speeds(context: Context, test: MoveTest) -> Iterator[dict[str, Any]]:
    """Yields a row for each plane of every factor that changes in moves of unknown instances."""
    operator = context.subject.operator
    if operator is None or operator.unit_norm is None or test.instances != "unknown":
        return
    changes = (context.deltas(test.moves.source, test.moves.target) != 0).any(axis=0).tolist()
    z = context.features(test.moves.rows)
    for index, (factor, change) in enumerate(zip(context.deltas.factors, changes, strict=True)):
        if change:
            for plane, (speed, energy) in enumerate(plane_energies(operator, z, index)):
                yield {"factor": factor, "plane": plane, "speed": speed, "energy": energy}


def plane_energies(operator: LieOperator, z: torch.Tensor, share: int) -> list[tuple[float, float]]:
    """The planes of one factor's share of v, the slowest first.

    Args:
        operator: A normalised operator, which turns planes of neighbouring dimensions.
        z: Embeddings (B, M).
        share: The factor.

    Returns:
        For each plane its speed, without the sign, and its mean part of the squared length of the share.
    """
    algebra = operator.algebras[share]
    assert isinstance(algebra, Commuting)
    v = operator.normalise(z)[:, operator.fixed :].split(operator.shares, dim=1)[share]
    squares = v[:, : v.shape[1] // 2 * 2].unflatten(1, (-1, 2)).square().sum(dim=2).mean(dim=0)
    energies = squares / v.square().sum(dim=1).mean()
    return sorted(zip(algebra.speed[0].abs().tolist(), energies.tolist(), strict=True))
