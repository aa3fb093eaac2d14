"""Frozen: the published encoder as it is, the baseline of adapted encoders. Nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class FrozenConfig(ObjectiveConfig):
    """Settings of a frozen encoder: there are none."""

    name: str = "frozen"
    """Name of the objective."""


@objective("frozen", title="frozen", order=5, colour="#bbbbbb", marker="x", note="as published, without training")
class Frozen(PairObjective):
    """No loss: classifiers see the stored features of the encoder."""

    Config: ClassVar[type[ObjectiveConfig]] = FrozenConfig
    needs_pairs = False
    trains = False

    def forward(self, pairs: Pairs) -> Terms:
        return Terms(pairs.z.new_zeros(()), {})
