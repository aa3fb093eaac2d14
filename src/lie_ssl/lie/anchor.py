"""An anchor: typical poses share a phase, so that one picture tells its angle.

The anchor c is one given unit vector for all pictures. v of a picture in the pose a must be near exp(a L) c. The head
that makes v is free to turn every plane, so nothing is lost by giving c instead of learning it. c has one direction for
each speed; the other planes of v stay free to describe the single picture, which the angle between two pictures needs.

Shape letters: B batch, T angles, M embedding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lie_ssl.lie.algebras import Algebra
from lie_ssl.lie.curves import Curve, make_curve
from lie_ssl.lie.move_contrast import check_moves

if TYPE_CHECKING:
    from lie_ssl.lie.alignment import Alignment
    from lie_ssl.lie.operator import LieOperator


def anchor_of(operator: LieOperator, share: int, like: Tensor) -> Tensor:
    """The anchor c of a share (m,): the first direction of every plane, with a length of 1 in all."""
    planes = operator.shares[share] // 2
    c = like.new_zeros(operator.shares[share])
    c[: 2 * planes : 2] = planes**-0.5
    return c


def anchor_info_nce(operator: LieOperator, z: Tensor, poses: Tensor, moves: Tensor) -> Tensor:
    """InfoNCE over poses: the true pose must carry the anchor nearer to v than the poses of other pictures do.

    Pictures in equal poses stay among the negatives. The optimum is then the likelihood of a picture in a pose, however
    frequent this pose is in the data. Without them, the pose of many pictures, such as the typical one, would be read
    too often.

    Args:
        operator: An operator with an anchor.
        z: Normalised embeddings (B, M).
        poses: The pose of each picture, in radians from the typical one (B, F); nan for factors without a pose.
        moves: The poses of all pictures of the batch (T, F).

    Returns:
        The losses (B,), the sum over the factors that have a pose.
    """
    assert operator.anchor is not None
    losses = z.new_zeros(len(z))
    for share, v in enumerate(z[:, operator.fixed :].split(operator.shares, dim=1)):
        rows = poses[:, share].isfinite().nonzero()[:, 0]
        own, others = poses[rows, share], moves[moves[:, share].isfinite(), share]
        curve = _curve(operator, share, v[rows])
        distances = torch.cat([curve.at(own[:, None]).distance, curve.grid(others)], dim=1)
        logits = -distances / (2 * operator.group_counts[share] * operator.anchor)
        losses = losses.index_add(0, rows, (logits.logsumexp(dim=1) - logits[:, 0]).to(z.dtype))
    return losses


def _curve(operator: LieOperator, share: int, v: Tensor) -> Curve:
    """The distance of the moved anchor to v (B, m), as a function of the pose."""
    algebra = operator.algebras[share]
    assert isinstance(algebra, Algebra)
    return make_curve(algebra, 0, anchor_of(operator, share, v).expand_as(v), v)


def read_anchor(operator: LieOperator, z: Tensor, factor: int | None, limit: float) -> Alignment:
    """Reads the pose of single pictures: the t that carries the anchor nearest to v; see :func:`align`."""
    _check(operator)
    factor = _factor(operator, factor)
    v = [anchor_of(operator, share, z) for share in range(len(operator.shares))]
    typical = torch.cat([z.new_zeros(operator.fixed), *v]).expand_as(z)
    return operator.align(typical, z, factor, limit=limit)


@torch.no_grad()
def anchor_density(operator: LieOperator, z: Tensor, angles: Tensor, factor: int | None) -> Tensor:
    """How likely each of some poses is: log-probabilities (B, T) for embeddings (B, M) and angles (T,) in radians.

    They sum to 1 over the given angles, which should cover all poses evenly.
    """
    _check(operator)
    assert operator.anchor is not None
    share = _factor(operator, factor)
    v = operator.normalise(z)[:, operator.fixed :].split(operator.shares, dim=1)[share]
    logits = -_curve(operator, share, v).grid(angles.to(v.device)) / (
        2 * operator.group_counts[share] * operator.anchor
    )
    return logits.log_softmax(dim=1).to(z.dtype)


def check_anchor(operator: LieOperator) -> None:
    """Rejects operators that cannot have an anchor."""
    try:
        check_moves(operator)
    except ValueError as error:
        raise ValueError(f"an anchor compares poses, so {error}") from error


def _check(operator: LieOperator) -> None:
    if operator.anchor is None:
        raise ValueError("the operator has no anchor, so one picture does not tell its pose; set anchor")


def _factor(operator: LieOperator, factor: int | None) -> int:
    if factor is None and len(operator.shares) > 1:
        raise ValueError(f"the operator has {len(operator.shares)} factors; give the index of one of them as factor")
    return factor or 0
