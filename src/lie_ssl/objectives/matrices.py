"""Matrices: v consists of 3 x 3 matrices, which the rotation between the two frames multiplies from the left.

After EquiCaps (arXiv 2506.09895), without its capsules: only the term on the matrices is used, beside a contrast on u.

Each matrix is divided by its norm, so v cannot shrink to 0. But nothing keeps three axes: matrices of rank one, whose
columns are all parallel, fit every move as well as others do. They do not tell rotations about the axis of their
columns. The objective `rotations` has a term against that; here, look at how well all axes of a rotation can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.frames.kinds import AXES
from lie_ssl.lie.rotations import rotation_matrix
from lie_ssl.objectives._matrix import MatrixMover, MatrixObjective, MatrixObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms
from lie_ssl.objectives.registry import objective

SMALL = 1e-6  # avoids a division by zero


@dataclass(frozen=True)
class MatricesConfig(MatrixObjectiveConfig):
    """Settings of the contrast on u and of the error of the moved matrices."""

    name: str = "matrices"
    """Name of the objective."""
    equivariance: float = 5.0
    """Weight of the mean squared error between the rotated matrices and those of the other frame."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("equivariance")
        if self.equivariance == 0:
            raise UserError("objective.equivariance is 0, so v would learn nothing; set it above 0 or use frames")

    @property
    def unit(self) -> int:
        return 9

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return AXES


class Rotated(MatrixMover):
    """Multiplies all matrices of v by a rotation from the left; t is the rotation vector."""

    def __init__(self, dim: int, fixed: int) -> None:
        super().__init__(dim, fixed, rows=3, columns=3)

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), (B, 3) -> t, (B, 3), which is delta itself."""
        return delta.to(z.dtype)

    def __call__(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, 3) -> (u, R A_1, R A_2 ...), (B, M)."""
        return self.with_matrices(z, rotation_matrix(t)[:, None] @ self.matrices(z))


@objective("matrices", title="Matrices", told="move", order=65, colour="#6A3D9A", marker="H")
class Matrices(MatrixObjective):
    """z = (u, v): InfoNCE makes u invariant; v is read as 3 x 3 matrices A_i, which a rotation R carries to R A_i.

    The loss is the mean squared error between R A_i and the A_i of the other frame, each divided by its Frobenius norm.
    It is 0 if the columns of all matrices turn as the object does; then any rotation can be made.
    """

    Config: ClassVar[type[ObjectiveConfig]] = MatricesConfig
    config: MatricesConfig

    def __init__(self, config: MatricesConfig, dim: int, factors: Sequence[str]) -> None:
        if tuple(factors) != AXES:
            raise UserError(
                f"matrices reads rotations alone, but the factors are {', '.join(factors)}; use a data set without "
                "other factors of variation, or the objective lie"
            )
        super().__init__(config, dim, factors)
        self._mover = Rotated(dim, self.fixed)

    @property
    def mover(self) -> Rotated:
        return self._mover

    def forward(self, pairs: Pairs) -> Terms:
        joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
        t = self.mover.infer(pairs.z, pairs.z_next, pairs.delta)
        equivariance = joined.mean(self._errors(self.mover(pairs.z, t), pairs.z_next))
        terms, total = {"equivariance": equivariance}, self.config.equivariance * equivariance
        for name, frames in self.frames(pairs).items():
            terms[name], total = frames, total + self.config.contrast * frames
        return Terms(total, terms, t.detach())

    def _errors(self, z: Tensor, z_next: Tensor) -> Tensor:
        """(B,), the mean squared difference of all entries of the normalised matrices."""
        a, b = (
            functional.normalize(self.mover.matrices(x).flatten(2), dim=2, eps=SMALL) for x in (z, z_next)
        )  # (B, number, 9)
        return (a - b).square().mean(dim=(1, 2))
