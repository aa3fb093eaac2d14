"""Predictor: a network told the move predicts a slowly moving projection of the other frame.

After Garrido et al.: Learning and Leveraging World Models in Visual Representation Learning (2024), arXiv 2403.00504
(IWM), and Ghaemi, Muller and Bakhtiari: seq-JEPA (2025), arXiv 2505.03176. There the target is the output of a slowly
moving average (EMA) of the whole encoder. Here an objective sees embeddings only, so the encoder has no average: the
target is an averaged copy of a projection head, applied to the current embedding of the other frame. IWM also predicts
patches, and seq-JEPA sequences of views; here one embedding predicts another.

What can go wrong: the target follows the encoder at once, so the average alone does not prevent that all embeddings
become equal. The weight `contrast` does; with 0, look at k-NN accuracy. A predictor may also ignore the move, if
projections say nothing but what an object is.

Shape letters: T pairs of the joined batch.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.heads import ProjectionHead
from lie_ssl.errors import UserError
from lie_ssl.objectives._moves import (
    MoveContrastConfig,
    MoveContrastObjective,
    feature_count,
    join,
    move_features,
    nothing,
)
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class PredictorConfig(MoveContrastConfig):
    """Settings of the prediction of a frame's projection from the other frame and the move."""

    name: str = "predictor"
    """Name of the objective."""
    width: int = 512
    """Width of the projector, of the code of the move and of the predictor."""
    cosine: float = 1.0
    """Weight of the cosine distance between the predicted and the target projection."""
    momentum: float = 0.996
    """Share of the target head that is kept in each step; the rest comes from the projector."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_told("cosine")
        if not 0 <= self.momentum <= 1:
            raise UserError(f"objective.momentum is {self.momentum}, but it must lie in [0, 1]")


@objective("predictor", title="Predictor", told="move", order=63, colour="#661100", marker="h")
class Predictor(MoveContrastObjective):
    """Contrasts frames as in Frames, and predicts each frame's target projection from the other frame and the move.

    The loss is 1 - cos(p(y, g), y'), the mean of both directions; the move back is -delta. y is the projection of one
    frame, and y' that of the other by the target head, a slowly moving average of the projector. No gradient reaches
    the other frame through y'. Unlike in IWM and seq-JEPA, the encoder itself has no average.
    """

    Config: ClassVar[type[ObjectiveConfig]] = PredictorConfig
    config: PredictorConfig

    def __init__(self, config: PredictorConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        width = config.width
        self.projector = ProjectionHead(dim, width, width)
        self.target = constant_copy(self.projector)
        self.code = nn.Linear(feature_count(factors), width)
        self.predictor = ProjectionHead(2 * width, width, width)

    def forward(self, pairs: Pairs) -> Terms:
        return self.with_frames(pairs, "cosine", self._cosine(pairs))

    def _cosine(self, pairs: Pairs) -> Tensor:
        """This process's share of the mean."""
        joined, z, z_next, delta, _ = together = join(pairs)
        if joined.total == 0:
            return nothing(self, pairs)
        y = self.projector(torch.cat([z, z_next]))
        code = self.code(move_features(torch.cat([delta, -delta])))
        predicted = self.predictor(torch.cat([y, code], dim=1))
        errors = 1 - functional.cosine_similarity(predicted, self._targets(z, z_next), dim=1)
        return joined.mean(errors.view(2, -1).mean(dim=0)[together.own])

    @torch.no_grad()
    def _targets(self, z: Tensor, z_next: Tensor) -> Tensor:
        """(2 T, width): what the first frames and what the second frames must predict. Then moves the target head."""
        targets: Tensor = self.target(torch.cat([z_next, z]))
        if self.training:
            for name, weight in self.projector.named_parameters():
                self.target.get_buffer(name).lerp_(weight, 1 - self.config.momentum)
        return targets


def constant_copy(module: nn.Module) -> nn.Module:
    """A copy whose weights are buffers: optimisers do not see them, and checkpoints and skipped steps restore them."""
    copied = copy.deepcopy(module)
    for part in copied.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            delattr(part, name)
            part.register_buffer(name, weight.detach())
    return copied
