"""The common part of the objectives whose v consists of matrices: z = (u, v), with a contrast between frames on u."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from lie_ssl.contrast.info_nce import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs


@dataclass(frozen=True)
class MatrixObjectiveConfig(ObjectiveConfig):
    """Settings of u and of its contrast."""

    contrast: float = 1.0
    """Weight of InfoNCE between the two frames on u."""
    temperature: float = 0.2
    """Temperature of InfoNCE."""
    batch_norm: bool = True
    """Whether the projection head of InfoNCE has batch normalisation."""
    fixed: int | float = 5 / 8
    """Size of u; below 1, its share of the embedding, and u also has what is left over by the matrices of v."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("contrast")
        if not self.temperature > 0:
            raise UserError(f"objective.temperature is {self.temperature}, but it must be above 0")
        if not self.fixed > 0 or (self.fixed >= 1 and self.fixed != int(self.fixed)):
            raise UserError(
                f"objective.fixed is {self.fixed}, but it must be a number of dimensions, 1 or more, or a share below 1"
            )

    @property
    def unit(self) -> int:
        """The size of v is a multiple of this."""
        return 1

    @property
    def separates(self) -> bool:
        return True  # equal embeddings would fit no move

    def adapted(self) -> Self:
        return replace(super().adapted(), fixed=IDENTITY)

    @property
    def adapted_lr(self) -> float:
        return 1e-3

    def identity_dims(self, dim: int) -> int:
        return int(self.fixed) if self.fixed >= 1 else dim - int((1 - self.fixed) * dim) // self.unit * self.unit

    @property
    def identity(self) -> int | None:
        return int(self.fixed) if self.fixed >= 1 else None


class MatrixObjective(PairObjective):
    """z = (u, v): InfoNCE between the two frames, as in Frames, makes u the same in every pose."""

    has_mover: ClassVar[bool] = True
    config: MatrixObjectiveConfig

    def __init__(self, config: MatrixObjectiveConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        self.fixed = config.identity_dims(dim)
        if dim <= self.fixed or (dim - self.fixed) % config.unit:
            raise UserError(
                f"objective.fixed leaves {max(0, dim - self.fixed)} of {dim} dimensions for v, but {config.name} needs "
                f"a multiple of {config.unit}; change objective.fixed or the size of the embedding"
            )
        self.loss: FramesLoss | None = None
        if config.contrast > 0:
            self.loss = FramesLoss(self.fixed, temperature=config.temperature, batch_norm=config.batch_norm)

    def frames(self, pairs: Pairs) -> dict[str, Tensor]:
        """The term `frames`, InfoNCE on u; nothing if its weight is 0."""
        if self.loss is None:
            return {}
        u, u_next = pairs.z[:, : self.fixed], pairs.z_next[:, : self.fixed]
        negatives = None if pairs.negatives is None else pairs.negatives[:, : self.fixed]
        return {"frames": self.loss(u, u_next, negatives=negatives, objects=pairs.objects)}


class MatrixMover:
    """Moves v, which consists of matrices, and leaves u as it is.

    Args:
        dim, fixed: Sizes of the embedding and of u.
        rows, columns: Those of each matrix.
    """

    def __init__(self, dim: int, fixed: int, rows: int, columns: int) -> None:
        self.dim, self.fixed = dim, fixed
        self.shape = ((dim - fixed) // (rows * columns), rows, columns)

    def matrices(self, z: Tensor) -> Tensor:
        """(B, M) -> the matrices of v, (B, number, rows, columns)."""
        return z[:, self.fixed :].reshape(len(z), *self.shape)

    def with_matrices(self, z: Tensor, matrices: Tensor) -> Tensor:
        """(B, M), (B, number, rows, columns) -> (B, M), with these matrices as v."""
        return torch.cat([z[:, : self.fixed], matrices.flatten(1)], dim=1)

    def moved_dims(self, delta: Tensor) -> Tensor:
        """(B, F) -> the indices of all dimensions of v."""
        return torch.arange(self.fixed, self.dim, device=delta.device)
