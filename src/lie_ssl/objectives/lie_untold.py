"""Lie untold: Lie without being told the moves. They are found in clips, by alignment.

Training knows which frames make a clip, and their order; not how far the object turns from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.lie.clips import clip_loss, steps_to_try
from lie_ssl.lie.move_contrast import check_moves
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives._operator import OperatorObjective, SplitObjectiveConfig, unit_rotations
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms, as_user_errors
from lie_ssl.objectives.registry import objective

# Half of the planes have speed 1. With the same number of all speeds, a fast one may win at first: with a third of the
# true t, planes of speed 3 explain all clips.
SPEEDS = (1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0)


def aligned_rotations(fixed: int | float = 5 / 8) -> OperatorConfig:
    """Rotations of planes at the speeds 1 to 4, on unit vectors, one for each factor; t is found by alignment."""
    return replace(unit_rotations(), sees=("align",), frequencies=SPEEDS, fixed=fixed)


@dataclass(frozen=True)
class LieUntoldConfig(SplitObjectiveConfig):
    """Settings of the likelihood of clips and the invariant part."""

    name: str = "lie_untold"
    """Name of the objective."""
    likelihood: float = 1.0
    """Weight of the negative log-likelihood of clips."""
    likelihood_temperature: float = 0.1
    """Temperature of that likelihood."""
    frames: int = 10
    """Frames of a clip, at equal steps; 3 or more."""
    forward: bool = True
    """Whether all clips turn the same way, by less than half a turn a step. It gives t the sign and the scale of the
    angle. Without it, t may have the other sign, which need not be the same for all objects."""
    operator: OperatorConfig = field(default_factory=aligned_rotations)
    """The Lie operator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("likelihood", "invariant")
        if self.frames < 3:
            raise UserError(f"objective.frames is {self.frames}, but a clip that tests a move has 3 frames or more")
        if not self.likelihood_temperature > 0:
            raise UserError(
                f"objective.likelihood_temperature is {self.likelihood_temperature}, but it must be above 0"
            )
        if self.view != "clean":
            raise UserError(f"lie_untold compares plain frames, but objective.view is {self.view}; set it to clean")
        if self.operator.fixed == 0 or self.operator.sees != ("align",):
            raise UserError("lie_untold needs objective.operator.fixed above 0 and objective.operator.sees align")

    @property
    def clip(self) -> int:
        return self.frames

    def adapted(self) -> Self:
        return replace(super(SplitObjectiveConfig, self).adapted(), operator=aligned_rotations(IDENTITY))

    @property
    def adapted_lr(self) -> float:
        return 1e-3


@objective(
    "lie_untold", title="Lie untold", order=48, colour="#882255", marker="*", note="clips, not told how far they turn"
)  # fmt: skip
class LieUntold(OperatorObjective):
    """z = (u, v): InfoNCE makes u invariant; one unknown step t of the group must explain all frames of a clip.

    See :func:`lie_ssl.lie.clips.clip_log_likelihood`. Of the differences between poses, it uses only which kind of pose
    moves.
    """

    Config: ClassVar[type[ObjectiveConfig]] = LieUntoldConfig
    config: LieUntoldConfig

    def __init__(self, config: LieUntoldConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        with as_user_errors("objective.operator: "):
            check_moves(self.mover)

    def forward(self, pairs: Pairs) -> Terms:
        found = super().forward(pairs)
        joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
        likelihood = joined.mean(self._likelihood(pairs))
        terms = found.terms | {"likelihood": likelihood}
        return Terms(found.total + self.config.likelihood * likelihood, terms, found.t)

    def _likelihood(self, pairs: Pairs) -> Tensor:
        """(B,), the negative log-likelihood of each clip."""
        assert pairs.more is not None
        operator, losses = self.mover, pairs.z.new_zeros(len(pairs.z))
        clips = torch.cat([pairs.z[:, None], pairs.z_next[:, None], pairs.more], dim=1)  # (B, L, M)
        clips = operator.normalise(clips.flatten(0, 1)).view_as(clips)[:, :, operator.fixed :]
        active = operator.active(pairs.delta)
        for share, v in enumerate(clips.split(operator.shares, dim=2)):
            rows = active[:, share].nonzero()[:, 0]
            steps = steps_to_try(operator, share, self.config.forward)
            own = clip_loss(operator, share, v[rows], self.config.likelihood_temperature, steps)
            losses = losses.index_add(0, rows, own)
        return losses
