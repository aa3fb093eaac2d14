"""Lie learned: Lie with speeds that start at random and are learned, as the paper learns its generators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from lie_ssl.lie import OperatorConfig
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.lie import Lie, LieConfig
from lie_ssl.objectives.registry import objective
from lie_ssl.serialization import added_field

FASTEST = 4.5  # radians per radian; a plane cannot reach a speed that is far from its first one


def random_rotations() -> OperatorConfig:
    """Rotations of planes at random speeds, on unit vectors, one for each factor; t is the move."""
    return OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear",), split_factors=True, fixed=5 / 8, scale=FASTEST,
        normalise="share",
    )  # fmt: skip


@dataclass(frozen=True)
class LieLearnedConfig(LieConfig):
    """Settings of Lie with learned speeds. The contrast of moves is what makes it find all of them."""

    name: str = "lie_learned"
    """Name of the objective."""
    euclidean: float = 0.3
    """Weight of the squared distance between the moved and the true embedding."""
    operator: OperatorConfig = field(default_factory=random_rotations)
    """The Lie operator."""
    moves: float = added_field(1.0)
    """Weight of InfoNCE between the true move and the moves of other pairs; needs a normalised operator."""

    def adapted(self) -> Self:
        return replace(super().adapted(), operator=replace(random_rotations(), fixed=IDENTITY))

    @property
    def operator_lr(self) -> float:
        return 2.5


@objective("lie_learned", title="Lie learned", told="move", order=45, colour="#009E73", marker="P")
class LieLearned(Lie):
    """z = (u, v) as in Lie; the speeds at which the group turns the planes of v are learned from random ones."""

    Config: ClassVar[type[ObjectiveConfig]] = LieLearnedConfig
