"""The common part of the objectives with a Lie operator: Lie, Lie off and literal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from torch import nn

from lie_ssl.lie import LieLoss, LieOperator, LossConfig, OperatorConfig
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms, as_user_errors
from lie_ssl.serialization import check_numbers

LIE_TERMS = ("lie", "euclidean", "coordinates")


@dataclass(frozen=True)
class OperatorObjectiveConfig(ObjectiveConfig):
    """Settings of the contrast and of the operator. A subclass may add weights of the operator's terms, as fields with
    the names of :class:`lie_ssl.lie.LossConfig`."""

    invariant: float = 1.0
    """Weight of InfoNCE between the two frames on the fixed part of the embedding."""
    temperature: float = 0.2
    """Temperature of the contrastive terms; 1 as in the paper's formula."""
    invariant_temperature: float | None = None
    """Temperature of InfoNCE on the fixed part; None for the same."""
    batch_norm: bool = True
    """Whether the projection heads of these terms have batch normalisation."""
    own_negative: bool = True
    """Whether z is a negative of its own z^g."""
    relative: bool = True
    """Divide the squared distance by the lengths of both vectors, measured from the centre."""
    by_kind: bool = True
    """Whether every kind of pose (2d, 3d, yaw ...) is a separate factor with its own generators."""
    detach_fixed: bool = True
    """Whether the Lie terms have no gradient in the fixed part."""
    operator: OperatorConfig = field(default_factory=OperatorConfig)
    """The Lie operator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_numbers(self.operator, "objective.operator")
        with as_user_errors("objective."):
            self.loss_config()

    def loss_config(self) -> LossConfig:
        """The settings of the loss; weights that the objective does not have are 0."""
        own: dict[str, Any] = dict.fromkeys(LIE_TERMS, 0.0)
        names = {f.name for f in fields(LossConfig)}
        return LossConfig(**own | {f.name: getattr(self, f.name) for f in fields(self) if f.name in names})

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return tuple(pose_kinds) if self.by_kind else ()

    def identity_dims(self, dim: int) -> int:
        return self.operator.fixed_dims(dim)

    @property
    def identity(self) -> int | None:
        return self.operator.fixed if isinstance(self.operator.fixed, int) and self.operator.fixed > 0 else None

    @property
    def separates(self) -> bool:
        return self.ssl + self.loss_config().lie + self.invariant > 0


@dataclass(frozen=True)
class SplitObjectiveConfig(OperatorObjectiveConfig):
    """Settings of objectives with z = (u, v). On an adapted encoder, v has a unit vector for each factor."""

    def adapted(self) -> Self:
        return replace(super().adapted(), operator=unit_rotations())

    @property
    def operator_lr(self) -> float:
        return 0.0  # given speeds stay as they are


def unit_rotations() -> OperatorConfig:
    """Rotations of planes at the speeds 1 to 4, on unit vectors, one for each factor; t is the move."""
    return OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear",), frequencies=(1.0, 2.0, 3.0, 4.0), split_factors=True,
        fixed=IDENTITY, normalise="share",
    )  # fmt: skip


class OperatorObjective(PairObjective):
    """A Lie operator and its loss."""

    config: OperatorObjectiveConfig
    has_mover = True

    def __init__(self, config: OperatorObjectiveConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        with as_user_errors(f"objective.operator does not fit an embedding of {dim}: "):
            self.loss = LieLoss(config.operator.build(dim, factors), config.loss_config())

    @property
    def mover(self) -> LieOperator:
        return self.loss.operator

    def unused(self) -> list[nn.Parameter]:
        return self.loss.unused()

    def forward(self, pairs: Pairs) -> Terms:
        found = self.loss(
            pairs.z, pairs.z_next, pairs.delta, negatives=pairs.negatives, pose=pairs.pose, objects=pairs.objects
        )
        terms = {name: getattr(found, name) for name in (*LIE_TERMS, "invariant", "moves", "anchor")}
        return Terms(found.total, {k: v for k, v in terms.items() if v is not None}, found.t.detach())
