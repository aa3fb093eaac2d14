"""Alone: the self-supervised method without learning from pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class AloneConfig(ObjectiveConfig):
    """Settings of the self-supervised method alone."""

    name: str = "alone"
    """Name of the objective."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ssl == 0:
            raise UserError("objective.ssl is 0, so nothing would be learned; set it above 0")

    def adapted(self) -> Self:
        return self  # the method's own loss is all there is

    @property
    def adapted_lr(self) -> float:
        return 1e-3


@objective("alone", title="", order=10, colour="#999999", marker="o")
class Alone(PairObjective):
    """L = w_ssl (L_ssl(x) + L_ssl(x')): both frames of a pair are separate pictures."""

    Config: ClassVar[type[ObjectiveConfig]] = AloneConfig
    needs_pairs = False

    def forward(self, pairs: Pairs) -> Terms:
        return Terms(pairs.z.new_zeros(()), {})
