"""Lie off: Lie without the terms of its operator. What Lie gains over it is the operator's own gain."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import ClassVar

from lie_ssl.errors import UserError
from lie_ssl.lie import OperatorConfig
from lie_ssl.objectives._operator import OperatorObjective, OperatorObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig
from lie_ssl.objectives.lie import LieConfig, plane_rotations
from lie_ssl.objectives.registry import objective


@dataclass(frozen=True)
class LieOffConfig(OperatorObjectiveConfig):
    """The invariant part of Lie alone; the operator is there but not trained."""

    name: str = "lie_off"
    """Name of the objective."""
    operator: OperatorConfig = field(default_factory=plane_rotations)
    """The Lie operator, which says how much of the embedding is invariant."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("invariant")
        if self.operator.fixed == 0 or self.invariant == 0:
            raise UserError("lie_off is the contrast on the fixed part; set objective.invariant and operator.fixed")

    @classmethod
    def of(cls, lie: LieConfig) -> LieOffConfig:
        """The same settings as those of a Lie objective."""
        return cls(**{f.name: getattr(lie, f.name) for f in fields(cls) if f.name != "name"})


@objective("lie_off", title="Lie off", order=50, colour="#CC79A7", marker="v")
class LieOff(OperatorObjective):
    """z = (u, v): u is pulled together by an InfoNCE, v is left to the self-supervised method."""

    Config: ClassVar[type[ObjectiveConfig]] = LieOffConfig
