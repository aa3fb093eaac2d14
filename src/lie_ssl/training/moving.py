"""Reads, makes and searches moves with a trained model: `model.pose`, `model.turn` and `model.find`.

Shape letters: B pictures, Q queries, N pictures of a gallery, M embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator


class Pose(NamedTuple):
    """How far objects turned from one picture to another, on the CPU.

    Attributes:
        degrees: (B,) the angles, in [-180, 180).
        error: (B,) what the best move leaves of the difference: 0 for a perfect fit, 1 for unrelated embeddings.
        second: (B,) the second-best angles; nan if there is none.
        second_error: (B,) their errors. If one is close to `error`, the object may look the same in both poses.
    """

    degrees: Tensor
    error: Tensor
    second: Tensor
    second_error: Tensor


class Found(NamedTuple):
    """Pictures of a gallery, the best first.

    Attributes:
        rows: (Q, k) their positions in the gallery.
        scores: (Q, k) their similarities to the query, at most 1.
    """

    rows: Tensor
    scores: Tensor


def factor_index(operator: LieOperator | None, factors: Sequence[str], factor: str | None) -> int:
    """The position of a factor of variation; with a single factor, the name may be left out."""
    if operator is None:
        raise UserError("this model has no operator, so it cannot read or make moves; train one with the objective lie")
    if factor is None and len(factors) == 1:
        factor = factors[0]
    if factor is None or factor not in factors:
        given = "name the factor that moves" if factor is None else f"there is no factor {factor!r}"
        raise UserError(f"{given}; the model knows {', '.join(factors)}")
    index = list(factors).index(factor)
    if not reads_angles(operator, index):
        raise UserError(
            f"the operator of this model infers the moves of {factor} and has no angle for them, so it cannot read or "
            "make them; train one with the objective lie"
        )
    return index


def reads_angles(operator: LieOperator, index: int) -> bool:
    """Whether the moves of a factor are angles: it has one generator, whose coordinate is the angle itself."""
    sees = getattr(operator.coordinates[index], "sees", None)
    return operator.action == "exp" and operator.counts[index] == 1 and sees == "linear"


@torch.no_grad()
def read_pose(operator: LieOperator, first: Tensor, second: Tensor, index: int) -> Pose:
    """(B, M), (B, M) embeddings -> how far each object turned."""
    found = operator.align(first, second, factor=index)
    degrees = (torch.rad2deg(x.double()).float().cpu() for x in (found.t, found.second))
    angle, other = degrees
    return Pose(angle, found.error.cpu(), other, found.second_error.cpu())


@torch.no_grad()
def turn(operator: LieOperator, z: Tensor, degrees: float | Sequence[float] | Tensor, index: int) -> Tensor:
    """(B, M) embeddings and one angle, or (B,) angles -> the embeddings of the turned objects (B, M)."""
    try:
        angles = torch.as_tensor(degrees, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        angles = torch.full((), torch.nan)
    if angles.ndim > 1 or (angles.ndim == 1 and len(angles) != len(z)) or not bool(torch.isfinite(angles).all()):
        raise UserError(f"degrees must be one finite number, or one for each of the {len(z)} embeddings")
    t = z.new_zeros(len(z), operator.n_generators)
    t[:, sum(operator.counts[:index])] = torch.deg2rad(angles).to(z)
    moved: Tensor = operator(operator.normalise(z), t)
    return moved


@torch.no_grad()
def find(operator: LieOperator, queries: Tensor, gallery: Tensor, index: int, k: int) -> Found:
    """Ranks a gallery (N, M) by its similarity to queries (Q, M), which were moved already.

    The similarity is the mean of two cosines: of u, which says what it is, and of the factor's part of v, which says
    how it is turned.
    """
    if k < 1:
        raise UserError(f"k is {k}, but it must be 1 or more")
    if not len(gallery):
        raise UserError("the gallery has no pictures; give at least one")
    delta = torch.zeros(1, len(operator.counts))
    delta[0, index] = 1.0
    parts = (torch.arange(operator.fixed), operator.moved_dims(delta).cpu())
    scores = torch.zeros(len(queries), len(gallery))
    used = [dims for dims in parts if len(dims)]
    for dims in used:
        a, b = (functional.normalize(operator.normalise(x)[:, dims], dim=1) for x in (queries, gallery))
        scores += (a @ b.T) / len(used)
    best = scores.topk(min(k, len(gallery)), dim=1)
    return Found(best.indices, best.values)
