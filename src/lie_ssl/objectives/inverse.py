"""Inverse dynamics: beside the contrast between frames, a network must tell the move from both embeddings.

After Lee et al.: Improving Transferability of Representations via Augmentation-Aware Self-Supervision (arXiv
2111.09613), which predicts the parameters of augmentations. The embedding is told the move, as in Lie, but nothing says
how the embedding itself moves: a pose can be read, but not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.info_nce import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective

WIDTH = 512  # of the network that predicts moves


@dataclass(frozen=True)
class InverseConfig(ObjectiveConfig):
    """Settings of inverse dynamics. With `contrast` 0 and `ssl` 0, it is a network for the move alone."""

    name: str = "inverse"
    """Name of the objective."""
    contrast: float = 1.0
    """Weight of InfoNCE between the two frames."""
    temperature: float = 0.2
    """Temperature of InfoNCE."""
    batch_norm: bool = True
    """Whether the projection head of InfoNCE has batch normalisation."""
    move: float = 1.0
    """Weight of the squared error of the cosine and sine of the move."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("contrast", "move")
        if self.move == 0:
            raise UserError("objective.move is 0, so the move would have no effect; set it above 0 or use frames")
        if not self.temperature > 0:
            raise UserError(f"objective.temperature is {self.temperature}, but it must be above 0")

    @property
    def separates(self) -> bool:
        return True  # equal embeddings would not tell the move

    def adapted(self) -> Self:
        """With the usual weight, validation objects are recognised a little better, but no angle is learned."""
        return replace(super().adapted(), move=30.0)

    @property
    def adapted_lr(self) -> float:
        return 1e-3

    def identity_dims(self, dim: int) -> int:
        return min(IDENTITY, dim) if self.contrast > 0 else 0  # what tells the pose sees all features

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return tuple(pose_kinds)


@objective("inverse", title="Inverse dynamics", told="move", order=60, colour="#D55E00", marker="<")
class Inverse(PairObjective):
    """Contrasts frames as in Frames, and predicts the cosine and sine of the move of every factor from [z; z']."""

    Config: ClassVar[type[ObjectiveConfig]] = InverseConfig
    config: InverseConfig

    def __init__(self, config: InverseConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        self.loss: FramesLoss | None = None
        if config.contrast > 0:
            self.loss = FramesLoss(dim, temperature=config.temperature, batch_norm=config.batch_norm)
        self.predictor = nn.Sequential(
            nn.Linear(2 * dim, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, 2 * len(self.factors)),
        )  # fmt: skip

    def forward(self, pairs: Pairs) -> Terms:
        joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
        move = joined.mean(self._errors(pairs))
        terms, total = {"move": move}, self.config.move * move
        if self.loss is not None:
            terms["frames"] = self.loss(pairs.z, pairs.z_next, negatives=pairs.negatives, objects=pairs.objects)
            total = total + self.config.contrast * terms["frames"]
        return Terms(total, terms)

    def _errors(self, pairs: Pairs) -> Tensor:
        """(B,), summed over the factors that change."""
        delta = pairs.delta.to(pairs.z.dtype)
        wanted = torch.stack([delta.cos(), delta.sin()], dim=2)
        errors = (self._predicted(pairs.z, pairs.z_next) - wanted).square().mean(dim=2)
        return (errors * (delta != 0)).sum(dim=1)

    def _predicted(self, z: Tensor, z_next: Tensor) -> Tensor:
        """(B, M), (B, M) -> (B, F, 2) cosine and sine of the moves."""
        found: Tensor = self.predictor(torch.cat([z, z_next], dim=1))
        return found.view(len(z), -1, 2)

    def read(self, z: Tensor, z_next: Tensor) -> Tensor:
        """(B, M), (B, M) embeddings -> (B, F) the moves of all factors, in radians."""
        cosine, sine = self._predicted(z, z_next).unbind(2)
        return torch.atan2(sine, cosine)
