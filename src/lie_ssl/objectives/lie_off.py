"""Lie off: Lie without the terms of its operator. The gain of Lie over it is the operator's gain."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.objectives._operator import OperatorObjective, SplitObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.lie import LieConfig, plane_rotations
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class LieOffConfig(SplitObjectiveConfig):
    """Settings of the invariant part of Lie; the operator exists but is not trained."""

    name: str = "lie_off"
    """Name of the objective."""
    operator: OperatorConfig = field(default_factory=plane_rotations)
    """The Lie operator, which determines the invariant part of the embedding."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("invariant")
        if self.operator.fixed == 0 or self.invariant == 0:
            raise UserError("lie_off needs a contrast on the fixed part; set objective.invariant and operator.fixed")

    @classmethod
    def of(cls, lie: LieConfig) -> LieOffConfig:
        """The same settings as a Lie objective."""
        return cls(**{f.name: getattr(lie, f.name) for f in fields(cls) if f.name != "name"})


@objective("lie_off", title="Lie off", order=50, colour="#CC79A7", marker="v")
class LieOff(OperatorObjective):
    """z = (u, v): InfoNCE makes u invariant; only the self-supervised method acts on v."""

    Config: ClassVar[type[ObjectiveConfig]] = LieOffConfig
