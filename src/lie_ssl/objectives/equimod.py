"""EquiMod: beside the contrast between frames, the projection of one frame and the move must predict the other's.

After Devillers and Lefort: EquiMod: An Equivariance Module to Improve Visual Instance Discrimination (2022), arXiv
2211.01244, which predicts the effect of augmentations.

What can go wrong: with negatives of other objects only (`form` pairs), a projection that says nothing but what an
object is predicts the other frame perfectly, and the move is ignored. With the object's own first frame among the
negatives (`form` original), that projection leaves a loss of log 2 or more.

Shape letters: T pairs of the joined batch, P projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.contrast.heads import ProjectionHead
from lie_ssl.errors import UserError
from lie_ssl.objectives._moves import (
    MoveContrastConfig,
    MoveContrastObjective,
    both_frames,
    feature_count,
    join,
    move_features,
    nothing,
)
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms
from lie_ssl.objectives.registry import objective

Form = Literal["pairs", "original"]


@dataclass(frozen=True)
class EquiModConfig(MoveContrastConfig):
    """Settings of EquiMod."""

    name: str = "equimod"
    """Name of the objective."""
    width: int = 512
    """Width of the projector, of the code of the move and of the prediction."""
    equivariance: float = 1.0
    """Weight of NT-Xent between the predicted and the true projection of the second frame."""
    equivariance_temperature: float = 0.2
    """Temperature of this NT-Xent."""
    form: Form = "pairs"
    """The negatives of a prediction: both frames of other objects (pairs), or also the projection that it starts from
    (original)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_told("equivariance")
        self.check_temperatures("equivariance_temperature")
        if self.form not in get_args(Form):
            raise UserError(f"objective.form is {self.form!r}, but it must be one of {', '.join(get_args(Form))}")

    @property
    def separates(self) -> bool:
        return True


@objective("equimod", title="EquiMod", told="move", order=61, colour="#332288", marker=">")
class EquiMod(MoveContrastObjective):
    """Contrasts frames as in Frames, and predicts the projection y' of the second frame from y and a code of the move.

    The prediction must be nearer to y' than to the projections of other objects: NT-Xent with the prediction as anchor,
    from the first frame to the second. Instances seen in one pose only are negatives of the first contrast alone.
    """

    Config: ClassVar[type[ObjectiveConfig]] = EquiModConfig
    config: EquiModConfig

    def __init__(self, config: EquiModConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        width = config.width
        self.projector = nn.Sequential(ProjectionHead(dim, width, width), nn.BatchNorm1d(width, affine=False))
        self.code = nn.Sequential(nn.Linear(feature_count(factors), width), nn.BatchNorm1d(width))
        self.predictor = nn.Sequential(nn.Linear(2 * width, width), nn.BatchNorm1d(width))

    def forward(self, pairs: Pairs) -> Terms:
        return self.with_frames(pairs, "equivariance", self._equivariance(pairs))

    def _equivariance(self, pairs: Pairs) -> Tensor:
        """This process's share of the mean."""
        joined, z, z_next, delta, objects = together = join(pairs)
        if joined.total < 2:  # no other object, and no statistics for batch-norm
            return nothing(self, pairs)
        y, y_next = both_frames(self.projector, z, z_next)
        predicted = self.predictor(torch.cat([y, self.code(move_features(delta))], dim=1))
        losses = prediction_nt_xent(
            *(functional.normalize(x, dim=1) for x in (predicted, y, y_next)), rows=together.own, objects=objects,
            temperature=self.config.equivariance_temperature, own_negative=self.config.form == "original",
        )  # fmt: skip
        return joined.mean(losses)


def prediction_nt_xent(
    predicted: Tensor, y: Tensor, y_next: Tensor, *, rows: slice, objects: Tensor | None = None,
    temperature: float = 0.2, own_negative: bool = False,
) -> Tensor:  # fmt: skip
    """NT-Xent between each prediction and y_next of the same row, on unit vectors (T, P), for some of the rows.

    Negatives are y and y_next of all other objects. With `objects` (T,), several rows may show the same object.

    Args:
        predicted, y, y_next: Predictions, and projections of the first and the second frames.
        rows: The rows to compute.
        objects: Numbers of the objects; None if all are different.
        temperature: That of the softmax.
        own_negative: Whether y of the same row is a negative too.

    Returns:
        The losses, one for each of the rows.
    """
    everything = torch.arange(len(y), device=y.device)
    own = everything[rows]
    numbers = everything if objects is None else objects
    partner = own[:, None] == everything[None]
    same = numbers[rows, None] == numbers[None]
    anchors = predicted[rows] / temperature
    scores = [
        (anchors @ y_next.T).masked_fill(same & ~partner, -torch.inf),
        (anchors @ y.T).masked_fill(same & ~partner if own_negative else same, -torch.inf),
    ]
    return functional.cross_entropy(torch.cat(scores, dim=1), own, reduction="none")
