"""The common part of the objectives whose networks are told the move: EquiMod, SIE and Predictor.

Shape letters: B pairs, T pairs of the joined batch, F factors of variation, C features of a move, M embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.contrast.info_nce import FramesLoss
from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives.base import ObjectiveConfig, PairObjective, Pairs, Terms

SPEEDS = (1.0, 2.0, 3.0, 4.0)


@dataclass(frozen=True)
class MoveConfig(ObjectiveConfig):
    """Settings of objectives whose networks are told the move. Every kind of pose is a separate factor."""

    width: int = 512
    """Width of the networks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width < 1:
            raise UserError(f"objective.width is {self.width}, but it must be 1 or more")

    def check_told(self, name: str) -> None:
        """Rejects a weight of the term that is told the move, if it is negative or 0."""
        self.check_weights(name)
        if getattr(self, name) == 0:
            raise UserError(f"objective.{name} is 0, so the move would have no effect; set it above 0 or use frames")

    def check_temperatures(self, *names: str) -> None:
        """Rejects temperatures that are not above 0."""
        for name in names:
            if not getattr(self, name) > 0:
                raise UserError(f"objective.{name} is {getattr(self, name)}, but it must be above 0")

    def kinds(self, pose_kinds: Sequence[str]) -> tuple[str, ...]:
        return tuple(pose_kinds)


@dataclass(frozen=True)
class MoveContrastConfig(MoveConfig):
    """Settings of objectives with the InfoNCE of Frames beside a term that is told the move."""

    contrast: float = 1.0
    """Weight of InfoNCE between the two frames."""
    temperature: float = 0.2
    """Temperature of InfoNCE."""
    batch_norm: bool = True
    """Whether the projection head of InfoNCE has batch normalisation."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_weights("contrast")
        self.check_temperatures("temperature")

    @property
    def separates(self) -> bool:
        return self.ssl + self.contrast > 0

    def identity_dims(self, dim: int) -> int:
        return min(IDENTITY, dim)  # the rest of an adapted encoder's embedding sees the maps that know the pose


class MoveContrastObjective(PairObjective):
    """InfoNCE between the two frames, as in Frames, beside the term of a subclass."""

    config: MoveContrastConfig

    def __init__(self, config: MoveContrastConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)
        self.loss: FramesLoss | None = None
        if config.contrast > 0:
            self.loss = FramesLoss(dim, temperature=config.temperature, batch_norm=config.batch_norm)

    def with_frames(self, pairs: Pairs, name: str, term: Tensor) -> Terms:
        """All terms, given that of the subclass and its name, which is also that of its weight."""
        terms, total = {name: term}, getattr(self.config, name) * term
        if self.loss is not None:
            terms["frames"] = self.loss(pairs.z, pairs.z_next, negatives=pairs.negatives, objects=pairs.objects)
            total = total + self.config.contrast * terms["frames"]
        return Terms(total, terms)


class JoinedPairs(NamedTuple):
    """The pairs of all processes, as batch-norm must see them."""

    joined: JoinedBatch
    z: Tensor  # (T, M)
    z_next: Tensor  # (T, M)
    delta: Tensor  # (T, F)
    objects: Tensor | None  # (T,)

    @property
    def own(self) -> slice:
        """The rows of this process."""
        return slice(self.joined.start, self.joined.start + self.joined.rows)


def join(pairs: Pairs) -> JoinedPairs:
    """Gathers the pairs of all processes; all of them must call it."""
    joined = JoinedBatch.of(len(pairs.z), pairs.z.device)
    return JoinedPairs(
        joined, joined.gather(pairs.z), joined.gather(pairs.z_next), joined.gather(pairs.delta.to(pairs.z.dtype)),
        None if pairs.objects is None else joined.gather(pairs.objects),
    )  # fmt: skip


def both_frames(network: nn.Module, z: Tensor, z_next: Tensor) -> tuple[Tensor, Tensor]:
    """Passes both frames (T, M) through a network at once, so that batch-norm sees them together."""
    first, second = network(torch.cat([z, z_next])).chunk(2)
    return first, second


def nothing(objective: nn.Module, pairs: Pairs) -> Tensor:
    """0 for a joined batch with too few pairs, with gradients of 0 for everything: processes exchange them all."""
    weights = sum((p.sum() for p in objective.parameters()), pairs.z.new_zeros(()))
    return 0.0 * (pairs.z.sum() + pairs.z_next.sum() + weights)


def move_features(delta: Tensor) -> Tensor:
    """(B, F) moves -> (B, C) cos(k delta) and sin(k delta) for k = 1 to 4; zeros for factors that do not change."""
    angles = delta[:, :, None] * delta.new_tensor(SPEEDS)
    features = torch.cat([angles.cos(), angles.sin()], dim=2)
    return (features * (delta != 0)[:, :, None]).flatten(1)


def feature_count(factors: Sequence[str]) -> int:
    """C, for the given factors of variation."""
    return 2 * len(SPEEDS) * len(factors)
