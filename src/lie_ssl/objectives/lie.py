"""Lie: one part of the embedding is invariant to the pose, the other is moved by a Lie group.

After Ibrahim, Bouchacourt, Morcos: Robust Self-Supervised Learning with Lie Groups (2022), arXiv 2210.13356.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.objectives._operator import LIE_TERMS, OperatorObjective, SplitObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.registry import objective
from lie_ssl.serialization import added_field

ANCHOR = 0.05  # temperature of readings of the pose of one picture


def plane_rotations() -> OperatorConfig:
    """Rotations of planes at integer speeds, about the centre, on three eighths of the embedding; t is the move."""
    return OperatorConfig(
        generators=(1,), algebra="commuting", sees=("linear",), frequencies=(1.0, 2.0, 3.0, 4.0), centred=True,
        standardised=("2d",), split_factors=True, fixed=5 / 8,
    )  # fmt: skip


@dataclass(frozen=True)
class LieConfig(SplitObjectiveConfig):
    """Settings of the Lie operator and the invariant part."""

    name: str = "lie"
    """Name of the objective."""
    lie: float = 0.0
    """Weight of InfoNCE between the moved and the true embedding."""
    euclidean: float = 3.0
    """Weight of the squared distance between them."""
    coordinates: float = 0.0
    """Weight of s(delta) |t|^2."""
    operator: OperatorConfig = field(default_factory=plane_rotations)
    """The Lie operator."""
    moves: float = added_field(0.0)
    """Weight of InfoNCE between the true move and the moves of other pairs; needs a normalised operator."""
    moves_temperature: float = added_field(0.1)
    """Temperature of InfoNCE between moves."""
    anchor: float = added_field(0.0)
    """Weight of InfoNCE between the true pose of a picture and the poses of others. With it, typical poses share a
    phase, and the angle of one picture can be read; needs a normalised operator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights(*LIE_TERMS, "invariant", "moves", "anchor")
        if self.operator.fixed == 0:
            raise UserError("lie needs a fixed part of the embedding; set objective.operator.fixed, or use literal")
        if max(getattr(self, name) for name in (*LIE_TERMS, "moves")) == 0:
            raise UserError("all weights of the operator are 0; set objective.euclidean, or use lie_off")
        if self.anchor > 0 and self.operator.anchor is None:
            object.__setattr__(self, "operator", replace(self.operator, anchor=ANCHOR))

    def adapted(self) -> Self:
        return replace(super().adapted(), euclidean=0.3, moves=1.0, moves_temperature=0.2)


@objective("lie", title="Lie", told="move", order=40, colour="#0072B2", marker="D")
class Lie(OperatorObjective):
    """z = (u, v): InfoNCE makes u invariant; exp(t . L) v must reach the other frame's v."""

    Config: ClassVar[type[ObjectiveConfig]] = LieConfig
