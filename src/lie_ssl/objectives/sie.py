"""SIE: one half of the embedding is the same in both frames; a matrix that depends on the move carries the other half.

After Garrido, Najman and LeCun: Self-supervised learning of split invariant equivariant representations (2023), arXiv
2302.10283. Both halves are compared in projected spaces, so embeddings themselves cannot be moved.

What can go wrong: the equivariant half may become invariant, if the matrix can be the identity for every move. So it is
linear in the features of the move, without a bias, and no feature is constant. Cosines and sines of a full circle of
moves cannot add up to a constant; they can nearly do so for small moves, and do if a circle has nine poses or fewer.

Shape letters: B pairs, T pairs of the joined batch, C features of a move, P projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.methods.vicreg import expander, off_diagonal, variance_hinge
from lie_ssl.objectives._moves import MoveConfig, both_frames, feature_count, join, move_features, nothing
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective

WEIGHTS = ("invariance", "equivariance", "variance", "covariance")


@dataclass(frozen=True)
class SIEConfig(MoveConfig):
    """Settings of SIE."""

    name: str = "sie"
    """Name of the objective."""
    width: int = 256
    """Width of the projectors, and of the matrix that moves the equivariant half."""
    invariance: float = 10.0
    """Weight of the squared distance between the projected invariant halves."""
    equivariance: float = 4.5
    """Weight of the squared distance between the moved and the true projected equivariant half."""
    variance: float = 10.0
    """Weight of the hinge loss on the standard deviations of both projected views and of the moved half."""
    covariance: float = 1.0
    """Weight of the squared covariances of both projected views."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights(*WEIGHTS)
        self.check_told("equivariance")

    @property
    def separates(self) -> bool:
        return self.ssl + self.variance > 0

    def identity_dims(self, dim: int) -> int:
        return (dim + 1) // 2


@objective("sie", title="SIE", told="move", order=62, colour="#999933", marker="p")
class SIE(PairObjective):
    """z = (u, v) in halves: the projection of u is invariant, and that of v is multiplied by a matrix W(g) of the move.

    Variance and covariance are those of VICReg on the joined projections. They keep embeddings apart, without
    negatives. The moved half must vary too, as its error alone would shrink it.
    """

    Config: ClassVar[type[ObjectiveConfig]] = SIEConfig
    config: SIEConfig

    def __init__(self, config: SIEConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        if dim < 2:
            raise UserError(f"sie splits embeddings in halves, but they have {dim} dimension; use a larger one")
        self.halves = (config.identity_dims(dim), dim - config.identity_dims(dim))
        widths = (config.width,) * 3
        self.invariant, self.equivariant = (expander(half, widths) for half in self.halves)
        self.move = LinearMove(feature_count(factors), config.width)

    def forward(self, pairs: Pairs) -> Terms:
        """In a distributed run, every process computes the loss of the joined batch, as covariances need all rows."""
        joined, z, z_next, delta, _ = join(pairs)
        if joined.total < 2:  # no variance
            zero = nothing(self, pairs)
            return Terms(zero, {f"sie_{name}": zero for name in WEIGHTS})
        (u, v), (u_next, v_next) = z.split(self.halves, dim=1), z_next.split(self.halves, dim=1)
        i, i_next = both_frames(self.invariant, u, u_next)
        e, e_next = both_frames(self.equivariant, v, v_next)
        moved: Tensor = self.move(e, move_features(delta))
        views = torch.cat([i, e], dim=1), torch.cat([i_next, e_next], dim=1)
        terms = {
            "invariance": functional.mse_loss(i, i_next),
            "equivariance": functional.mse_loss(moved, e_next),
            "variance": (variance_hinge(views[0]) + variance_hinge(views[1])) / 2 + variance_hinge(moved),
            "covariance": off_diagonal(views[0]) + off_diagonal(views[1]),
        }
        total = torch.stack([getattr(self.config, name) * terms[name] for name in WEIGHTS]).sum()
        return Terms(total, {f"sie_{name}": term for name, term in terms.items()})  # VICReg has terms of these names


class LinearMove(nn.Module):
    """W(g) e with W(g) = sum_i g_i W_i, which is linear in the features g of the move and has no constant part.

    Args:
        features: C.
        dim: P.
    """

    def __init__(self, features: int, dim: int) -> None:
        super().__init__()
        bound = dim**-0.5  # as in nn.Linear
        self.basis = nn.Parameter(torch.empty(features, dim, dim).uniform_(-bound, bound))

    def matrix(self, g: Tensor) -> Tensor:
        """(B, C) -> (B, P, P), W(g)."""
        return torch.einsum("bc,cij->bij", g, self.basis)

    def forward(self, e: Tensor, g: Tensor) -> Tensor:
        """(B, P), (B, C) -> (B, P), W(g) e, without a matrix for each row."""
        parts = (e @ self.basis.flatten(0, 1).T).unflatten(1, self.basis.shape[:2])
        moved: Tensor = (g[:, :, None] * parts).sum(dim=1)
        return moved
