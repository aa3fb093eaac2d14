"""Literal: the objective as the paper describes it. The group acts on the whole embedding; both frames determine t.

Ibrahim, Bouchacourt, Morcos: Robust Self-Supervised Learning with Lie Groups (2022), arXiv 2210.13356.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lie_ssl.errors import UserError
from lie_ssl.objectives._operator import LIE_TERMS, OperatorObjective, OperatorObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class LiteralConfig(OperatorObjectiveConfig):
    """Settings of the paper's objective."""

    name: str = "literal"
    """Name of the objective."""
    invariant: float = 0.0
    """Weight of InfoNCE on the fixed part; always 0, as this objective has no fixed part."""
    temperature: float = 1.0
    """Temperature of InfoNCE; 1 as in the paper's formula."""
    relative: bool = False
    """Divide the squared distance by the lengths of both vectors, measured from the centre."""
    by_kind: bool = False
    """Whether every kind of pose (2d, 3d, yaw ...) is a separate factor with its own generators."""
    detach_fixed: bool = False
    """Whether the Lie terms have no gradient in the fixed part."""
    lie: float = 1.0
    """Weight of InfoNCE between the moved and the true embedding."""
    euclidean: float = 1.0
    """Weight of the squared distance between them."""
    coordinates: float = 1.0
    """Weight of s(delta) |t|^2."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights(*LIE_TERMS)
        if self.operator.fixed != 0 or self.invariant != 0:
            raise UserError("literal moves the whole embedding; leave operator.fixed and invariant at 0, or use lie")
        if max(getattr(self, name) for name in LIE_TERMS) == 0:
            raise UserError("all weights of literal are 0; set objective.lie or objective.euclidean, or use alone")

    @property
    def adapted_lr(self) -> float:
        return 1e-3  # at the usual rate it recognises fewer validation objects


@objective("literal", title="Lie (literal)", told="move", order=30, colour="#E69F00", marker="^")
class Literal(OperatorObjective):
    """Moves the whole embedding: exp(t . L) z must be nearer to the other frame's embedding than to all others."""

    Config: ClassVar[type[ObjectiveConfig]] = LiteralConfig
