"""The method alone: nothing is learned from pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lie_ssl.errors import UserError
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class AloneConfig(ObjectiveConfig):
    """The self-supervised method without anything beside it."""

    name: str = "alone"
    """Name of the objective."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ssl == 0:
            raise UserError("objective.ssl is 0, so there is nothing to learn; set it above 0")


@objective("alone", title="", order=10, colour="#999999", marker="o")
class Alone(PairObjective):
    """L = w_ssl (L_ssl(x) + L_ssl(x')): both frames of a pair count as pictures of their own."""

    Config: ClassVar[type[ObjectiveConfig]] = AloneConfig
    needs_pairs = False

    def forward(self, pairs: Pairs) -> Terms:
        return Terms(pairs.z.new_zeros(()), {})
