"""Frames: the control, InfoNCE between the two frames of a pair, without the difference of their poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lie_ssl.contrast import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class FramesConfig(ObjectiveConfig):
    """Settings of InfoNCE between the two frames of a pair."""

    name: str = "frames"
    """Name of the objective."""
    frames: float = 1.0
    """Weight of InfoNCE between the two frames."""
    temperature: float = 0.2
    """Temperature of InfoNCE."""
    batch_norm: bool = True
    """Whether the projection head has batch normalisation."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("frames")
        if self.frames == 0:
            raise UserError("objective.frames is 0, so pairs would have no effect; set it above 0 or use alone")
        if not self.temperature > 0:
            raise UserError(f"objective.temperature is {self.temperature}, but it must be above 0")

    @property
    def separates(self) -> bool:
        return True


@objective(
    "frames", title="Frames", order=20, colour="#56B4E9", marker="s", note="the same pairs, no operator"
)  # fmt: skip
class Frames(PairObjective):
    """Pulls the two frames of an instance together and pushes all other frames away, on the whole embedding.

    Its projection head, negatives and tuning are those of Lie, so any difference between the two is due to the
    operator.
    """

    Config: ClassVar[type[ObjectiveConfig]] = FramesConfig
    config: FramesConfig

    def __init__(self, config: FramesConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        self.loss = FramesLoss(dim, temperature=config.temperature, batch_norm=config.batch_norm)

    def forward(self, pairs: Pairs) -> Terms:
        frames = self.loss(pairs.z, pairs.z_next, negatives=pairs.negatives, objects=pairs.objects)
        return Terms(self.config.frames * frames, {"frames": frames})
