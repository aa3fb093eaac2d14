"""Free rotations: one part of the embedding is invariant, the other consists of vectors that turn with the object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames.kinds import AXES
from lie_ssl.lie import OperatorConfig
from lie_ssl.lie.rotation_fit import is_rotational, random_rotations, rotation_log_likelihood
from lie_ssl.lie.rotations import rotation_matrix, rotation_vector
from lie_ssl.objectives._operator import OperatorObjective, OperatorObjectiveConfig
from lie_ssl.objectives.base import ObjectiveConfig, Pairs, Terms
from lie_ssl.objectives.registry import objective
from lie_ssl.serialization import added_field

# On an adapted encoder: frames of each object in a batch, random rotations, steps.
FRAMES, CANDIDATES, STEPS = 8, 2048, 2400

IDENTITY_DIMS = 128  # size of u in an adapted encoder; its rotations are what matters


def free_rotations(fixed: int | float = 5 / 8) -> OperatorConfig:
    """Rotations of space; t is the rotation vector."""
    return OperatorConfig(generators=(1,), algebra="rotations", sees=("linear",), fixed=fixed)


@dataclass(frozen=True)
class RotationsConfig(OperatorObjectiveConfig):
    """Settings of the likelihood of rotations and the invariant part."""

    name: str = "rotations"
    """Name of the objective."""
    likelihood: float = 1.0
    """Weight of the negative log-likelihood of the true rotation."""
    candidates: int = 1024
    """Random rotations among which the true one is to be found."""
    frames: int = added_field(2)
    """Frames of each object in a batch; the likelihood is that of all pairs of them."""
    operator: OperatorConfig = field(default_factory=free_rotations)
    """The Lie operator, with the algebra rotations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("likelihood", "invariant")
        if self.operator.algebra != "rotations":
            raise UserError(
                f"rotations needs the algebra rotations, but objective.operator has {self.operator.algebra}"
            )
        if self.candidates < 1:
            raise UserError(f"objective.candidates is {self.candidates}, but it must be 1 or more")
        if self.frames < 2:
            raise UserError(f"objective.frames is {self.frames}, but a pair needs 2 or more")

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return AXES

    def adapted(self) -> Self:
        operator = free_rotations(IDENTITY_DIMS)
        return replace(
            super().adapted(), operator=operator, frames=FRAMES, candidates=CANDIDATES, singles=True, predict=0.0
        )

    @property
    def adapted_lr(self) -> float:
        return 1e-3

    @property
    def pairs_per_object(self) -> int:
        return self.frames - 1

    @property
    def adapted_steps(self) -> int:
        return STEPS


@objective("rotations", title="Rotations", told="move", order=46, colour="#F0E442", marker="X")
class FreeRotations(OperatorObjective):
    """z = (u, v): InfoNCE makes u invariant; of all rotations, the true one must carry v nearest to the other frame's.

    The likelihood keeps three axes: vectors that are all parallel leave a circle of rotations open, which costs.
    """

    Config: ClassVar[type[ObjectiveConfig]] = RotationsConfig
    config: RotationsConfig

    def __init__(self, config: RotationsConfig, dim: int, factors: Sequence[str]) -> None:
        if tuple(factors) != AXES:
            raise UserError(
                f"rotations reads rotations alone, but the factors are {', '.join(factors)}; use a data set without "
                "other factors of variation, or the objective lie"
            )
        super().__init__(config, dim, factors)
        assert is_rotational(self.mover)

    def forward(self, pairs: Pairs) -> Terms:
        found = super().forward(first_pairs(pairs))
        grid = random_rotations(self.config.candidates, device=pairs.z.device)
        loss = -rotation_log_likelihood(self.mover, *all_pairs(pairs), grid).mean()
        return Terms(found.total + self.config.likelihood * loss, found.terms | {"likelihood": loss}, found.t)


def first_pairs(pairs: Pairs) -> Pairs:
    """One pair of each object. InfoNCE takes every other row for another object."""
    k = pairs.per_object
    objects = None if pairs.objects is None else pairs.objects[::k]
    return Pairs(pairs.z[::k], pairs.z_next[::k], pairs.delta[::k], pairs.negatives, objects=objects)


def all_pairs(pairs: Pairs) -> tuple[Tensor, Tensor, Tensor]:
    """All pairs of the K + 1 frames of each object, from the K pairs that share their first frame.

    The rotation from frame i to frame j is R_j R_i^T, with those from the first frame to either.

    Returns:
        z and z_next, (O K (K + 1) / 2, M), and the rotation vectors t from one to the other.
    """
    k = pairs.per_object
    if k == 1:
        return pairs.z, pairs.z_next, pairs.delta
    z, z_next, t = (x.unflatten(0, (-1, k)) for x in pairs[:3])
    frames = torch.cat([z[:, :1], z_next], dim=1)
    turns = rotation_matrix(torch.cat([torch.zeros_like(t[:, :1]), t], dim=1))
    i, j = torch.triu_indices(k + 1, k + 1, offset=1, device=z.device)
    between = turns[:, j] @ turns[:, i].mT
    return frames[:, i].flatten(0, 1), frames[:, j].flatten(0, 1), rotation_vector(between).flatten(0, 1)
