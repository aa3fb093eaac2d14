"""Literal: the paper as it is written. The group acts on the whole embedding, and t is inferred from both frames.

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
    """The paper's objective."""

    name: str = "literal"
    """Name of the objective."""
    invariant: float = 0.0
    """Weight of the InfoNCE on the fixed part, which this objective does not have: it stays 0."""
    temperature: float = 1.0
    """Of the InfoNCE; 1 is the formula as it stands in the paper."""
    relative: bool = False
    """Measure the squared distance against the lengths of the two vectors, seen from the centre."""
    by_kind: bool = False
    """Count every kind of pose (2d, 3d) as a factor of its own, with generators of its own."""
    detach_fixed: bool = False
    """Keep the gradients of the Lie terms out of the fixed part."""
    lie: float = 1.0
    """Weight of the InfoNCE between the moved embedding and the true one."""
    euclidean: float = 1.0
    """Weight of the squared distance between them."""
    coordinates: float = 1.0
    """Weight of s(delta) |t|^2."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights(*LIE_TERMS)
        if self.operator.fixed != 0 or self.invariant != 0:
            raise UserError("literal moves the whole embedding; leave operator.fixed and invariant at 0, or take lie")
        if max(getattr(self, name) for name in LIE_TERMS) == 0:
            raise UserError("literal has no weight above 0; set objective.lie or objective.euclidean, or take alone")


@objective("literal", title="Lie (literal)", told="move", order=30, colour="#E69F00", marker="^")
class Literal(OperatorObjective):
    """z is moved as a whole: exp(t . L) z must be nearer to the other frame's embedding than all others are."""

    Config: ClassVar[type[ObjectiveConfig]] = LiteralConfig
