"""Reads a move: the t of a one-parameter group that carries one embedding nearest to another.

Shape letters: B batch, M embedding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from lie_ssl.contrast.checks import check_embedding
from lie_ssl.lie.algebras import Algebra
from lie_ssl.lie.curves import Point, make_curve
from lie_ssl.lie.search import lowest_minima

if TYPE_CHECKING:
    from lie_ssl.lie.operator import LieOperator


class Alignment(NamedTuple):
    """The moves between two batches of embeddings, (B,) each.

    The errors are the term of the factor in `LieLoss(relative=True)`: |y - x|^2 / (2 |x| |y|) of the moved vector x and
    the target y, or for a normalised operator the mean over groups of planes of |y - x|^2 / 2. They are 0 for equal
    vectors and 1 for unrelated ones of equal length; 1 too if one of the vectors is zero.
    """

    t: Tensor  # the coordinate that carries z nearest to z_next
    error: Tensor  # what remains
    second: Tensor  # the second-best local minimum; nan if there is none
    second_error: Tensor  # its error; inf if there is none. One near `error` warns of a symmetry


def align(operator: LieOperator, z: Tensor, z_next: Tensor, factor: int | None, limit: float) -> Alignment:
    """Finds the t that minimises |exp(t L) v - v_next|^2: the best of a grid, refined by Newton's method.

    v is the factor's share of the normalised embedding, as seen from the operator's centre. If all planes turn by whole
    turns over the search range, as with integer speeds and limit = pi, the range is a circle, and t is in
    [-limit, limit). Otherwise it is an interval, and t and the second-best t may be one of its ends.

    The gradient of t is that of the implicit function theorem. It is zero at the ends of an interval and where t is not
    determined. A row that is not finite gives nan.

    Args:
        operator: The operator.
        z, z_next: Embeddings (B, M).
        factor: Index of the factor; None if there is only one.
        limit: Largest |t|.
    """
    factor = _check(operator, z, z_next, factor, limit)
    share, column = (factor, 0) if len(operator.shares) > 1 else (0, sum(operator.counts[:factor]))
    algebra = operator.algebras[share]
    assert isinstance(algebra, Algebra)
    good = z.isfinite().all(dim=1, keepdim=True) & z_next.isfinite().all(dim=1, keepdim=True)
    with torch.autocast(z.device.type, enabled=False):
        v, v_next = (_share(operator, torch.where(good, x, 0), share) for x in (z, z_next))
        with torch.no_grad():
            curve = make_curve(algebra, column, v, v_next)
            t, found = lowest_minima(curve, limit)
            determined = found & (curve.closes(2 * limit) | (t.abs() < limit))
        if torch.is_grad_enabled():
            curve = make_curve(algebra, column, v, v_next)
        point = curve.at(t)
        slope, curvature = point.slope, point.curvature.detach()
        determined = determined & (curvature > 0)
        # Newton's step from the minimum is zero, but it has the gradient of the minimum.
        t = t - torch.where(determined, (slope - slope.detach()) / torch.where(determined, curvature, 1), 0)
        error = _error(operator, share, curve.at(t) if t.requires_grad else point, v_next)
    t, error = (x.to(torch.promote_types(z.dtype, z_next.dtype)) for x in (t, error))
    t, error = t.masked_fill(~(found & good), torch.nan), error.masked_fill(~found, torch.inf)
    error = error.masked_fill(~good, torch.nan)
    return Alignment(t[:, 0], error[:, 0], t[:, 1], error[:, 1])


def _share(operator: LieOperator, z: Tensor, share: int) -> Tensor:
    """(B, M) -> what the group of this share acts on, normalised and as seen from the centre."""
    v = operator.normalise(z)[:, operator.fixed :]
    if operator.centred:
        v = (v - operator.centre.to(v.dtype)) / operator.spread.to(v.dtype)
    v = v.split(operator.shares, dim=1)[share]
    if operator.unit_norm is not None and v.shape[1] % 2:  # an odd last dimension has no unit length
        v = torch.cat([v[:, :-1], torch.zeros_like(v[:, -1:])], dim=1)
    return v


def _error(operator: LieOperator, share: int, point: Point, v_next: Tensor) -> Tensor:
    """The errors (B, 2) at a point, as in :class:`LieLoss`."""
    if operator.unit_norm is not None:
        return point.distance / (2 * operator.group_counts[share])
    if operator.standardised[share]:
        return point.distance / (2 * operator.shares[share])
    squares = point.size * v_next.to(point.size.dtype).square().sum(dim=1, keepdim=True)
    known = squares > 0
    return torch.where(known, point.distance / (2 * torch.where(known, squares, 1).sqrt()), 1)


def _check(operator: LieOperator, z: Tensor, z_next: Tensor, factor: int | None, limit: float) -> int:
    """Validates the arguments and returns the index of the factor."""
    counts = operator.counts
    for name, x in (("z", z), ("z_next", z_next)):
        check_embedding(name, x, operator.dim)
        operator.check_weights(name, x)
    if len(z) != len(z_next):
        raise ValueError(f"z has {len(z)} rows and z_next {len(z_next)}, but they must be equal")
    if operator.action != "exp":
        raise ValueError(f"align needs a group, but the action is {operator.action!r}; use action='exp'")
    if factor is None and len(counts) > 1:
        raise ValueError(f"the operator has {len(counts)} factors; give the index of one of them as factor")
    factor = 0 if factor is None else factor
    if not 0 <= factor < len(counts):
        raise ValueError(f"factor is {factor}, but it must be 0 to {len(counts) - 1}")
    if counts[factor] != 1:
        raise ValueError(f"align needs a factor with one generator, but factor {factor} has {counts[factor]}")
    if not 0 < limit < math.inf:
        raise ValueError(f"limit is {limit}, but it must be finite and above 0")
    return factor
