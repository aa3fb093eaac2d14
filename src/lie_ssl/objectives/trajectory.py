"""Trajectory: beside the contrast between frames, the embeddings of a clip should lie on a straight path.

After Wang et al.: Pose-Aware Self-Supervised Learning with Viewpoint Trajectory Regularization (2024, arXiv
2403.14973). Training knows the order of three frames at equal steps, and nothing of how far the object turned.

Embeddings are compared as unit vectors, so the straight paths are great circles. Only the direction of a step counts,
not its length, and the contrast pulls the first two frames together: where the steps become very short, their
directions are noise. Nothing says which embedding belongs to a move, so no move can be made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.info_nce import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective

SHORT = 1e-4  # steps shorter than this, between unit vectors, count less; equal frames do not count


@dataclass(frozen=True)
class TrajectoryConfig(ObjectiveConfig):
    """Settings of the contrast and of the straight path."""

    name: str = "trajectory"
    """Name of the objective."""
    contrast: float = 1.0
    """Weight of InfoNCE between the first two frames."""
    temperature: float = 0.2
    """Temperature of InfoNCE."""
    batch_norm: bool = True
    """Whether the projection head of InfoNCE has batch normalisation."""
    straight: float = 1.0
    """Weight of minus the cosine between the two steps of a clip; 0 for the contrast alone, on the same clips."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("contrast", "straight")
        if self.contrast == self.straight == 0:
            raise UserError("objective.contrast and objective.straight are 0, so clips would have no effect; use alone")
        if not self.temperature > 0:
            raise UserError(f"objective.temperature is {self.temperature}, but it must be above 0")
        if self.view != "clean":
            raise UserError(f"trajectory compares plain frames, but objective.view is {self.view}; set it to clean")

    @property
    def clip(self) -> int:
        return 3

    @property
    def separates(self) -> bool:
        return self.ssl + self.contrast > 0


@objective("trajectory", title="Trajectory", order=66, colour="#B15928", marker="8", note="clips, on a straight path")
class Trajectory(PairObjective):
    """Contrasts the first two frames of a clip as in Frames, and keeps the direction of the first step in the second.

    The two steps are compared in the tangent plane of the sphere at the middle frame. On a great circle the term is -1;
    it is 1 if the third frame turns back.
    """

    Config: ClassVar[type[ObjectiveConfig]] = TrajectoryConfig
    config: TrajectoryConfig

    def __init__(self, config: TrajectoryConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        self.loss: FramesLoss | None = None
        if config.contrast > 0:
            self.loss = FramesLoss(dim, temperature=config.temperature, batch_norm=config.batch_norm)

    def forward(self, pairs: Pairs) -> Terms:
        assert pairs.more is not None
        joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
        straight = joined.mean(-step_cosines(pairs.z, pairs.z_next, pairs.more[:, 0]))
        terms, total = {"straight": straight}, self.config.straight * straight
        if self.loss is not None:
            terms["frames"] = self.loss(pairs.z, pairs.z_next, negatives=pairs.negatives, objects=pairs.objects)
            total = total + self.config.contrast * terms["frames"]
        return Terms(total, terms)


def step_cosines(left: Tensor, centre: Tensor, right: Tensor) -> Tensor:
    """(B, M) each, embeddings of three frames in sequence -> (B,), the cosines between the step from the first to the
    second and that from the second to the third, without their parts along the second.

    Example:
        >>> angles = torch.tensor([0.0, 0.5, 1.0])
        >>> points = torch.stack([angles.cos(), angles.sin(), torch.zeros(3)], dim=1)
        >>> step_cosines(*points[:, None]).round(decimals=4)
        tensor([1.])
    """
    y = [functional.normalize(x, dim=1) for x in (left, centre, right)]
    steps = [_tangent(y[1] - y[0], y[1]), _tangent(y[2] - y[1], y[1])]
    first, second = (functional.normalize(step, dim=1, eps=SHORT) for step in steps)
    return torch.sum(first * second, dim=1)


def _tangent(step: Tensor, at: Tensor) -> Tensor:
    """(B, M), unit vectors (B, M) -> (B, M), the part of each step that is orthogonal to the unit vector."""
    return step - torch.sum(step * at, dim=1, keepdim=True) * at
