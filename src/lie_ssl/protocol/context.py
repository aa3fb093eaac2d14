"""What phases and metrics see of an evaluation: one encoder on one data set, with its embeddings, sets and moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.columns import FrameKind
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.moves import Moves, draw_moves
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.probe import Neighbours, Probe
from lie_ssl.protocol.schema import INSTANCES
from lie_ssl.protocol.settings import SETTINGS, SSL_PROPORTION, Settings, check_proportions

Rows = NDArray[np.int64]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """What is evaluated, and what it is called in the tables."""

    encoder: Encoder
    method: str
    arm: str
    seed: int = 0
    operator: LieOperator | None = None
    coordinates: Tensor | None = None
    classes: tuple[str, ...] = ()  # that the encoder was trained among; empty if it does not matter
    factors: tuple[str, ...] = ("pose",)  # that the operator knows, as the run's data set names them
    seen: float = SSL_PROPORTION  # share of the training instances that it saw in all poses


@dataclass(frozen=True, eq=False)
class MoveTest:
    """What a metric is measured on: moves by known or unknown instances, and a part of the embedding."""

    poses: str
    instances: str
    part: str
    dims: slice | Tensor  # the dimensions of that part
    moves: Moves


class Context:
    """One subject on one data set. Refuses what cannot be evaluated.

    Args:
        subject: The encoder, its operator if it has one, and their names.
        frames: The data set.
        config: The protocol's settings.
        features: The embeddings of the data set's frames.
        say: Where sentences about the work go.
    """

    def __init__(
        self, subject: Subject, frames: FrameSet, config: EvaluateConfig, features: Features, say: Say = lambda _: None
    ) -> None:
        check_classes(subject, frames)
        if 2 in config.options and (subject.operator is None or subject.coordinates is None):
            raise UserError(
                "Option 2 moves embeddings and needs a run with an operator; take a Lie arm or leave it out"
            )
        check_proportions(frames.index, config.proportions)
        self.subject, self.frames, self.config, self.features, self.say = subject, frames, config, features, say
        # What is new must be new in every phase, and the same at every proportion.
        seen = max(subject.seen, *config.proportions)
        self.settings = Settings(frames.index, seen=seen, limit=config.limit, seed=config.seed)
        self.settings.validation()
        self.deltas = known_deltas(subject, frames)
        self.probes: dict[tuple[int, float], tuple[Probe, Tensor]] = {}  # of linear evaluation, where finetuning starts
        self.moves = {poses: self._draw_moves(poses) for poses in self.settings.poses}

    def labels(self, rows: Rows) -> Tensor:
        """(rows,) -> (rows,) numbers of the true classes."""
        return torch.from_numpy(self.frames.labels[rows])

    @cached_property
    def rotations(self) -> NDArray[np.float64]:
        """(frames, 3, 3), in the axes of the camera."""
        return np.stack(self.frames.index["rotation"].to_list()).reshape(-1, 3, 3).astype(np.float64)

    def combinations(self) -> list[tuple[int, float]]:
        """Option and proportion of every classifier."""
        return [(option, p) for option in self.config.options for p in self.config.proportions]

    def neighbours(self, option: int) -> Neighbours | None:
        """What gives moved copies of an embedding; nothing for Option 1."""
        if option == 1:
            return None
        assert self.subject.operator is not None
        assert self.subject.coordinates is not None
        return NeighbourSampler(self.subject.operator, self.subject.coordinates, self.config.neighbours)

    def tests(self, proportion: float) -> Iterator[tuple[str, str, Rows]]:
        """Setting, kind of pose and frames of every test set that is not empty."""
        for poses in self.settings.poses:
            for setting in SETTINGS:
                rows = self.settings.test(setting, poses, proportion)
                if len(rows):
                    yield setting, poses, rows

    def move_tests(self) -> Iterator[list[MoveTest]]:
        """For every kind of pose, and for known and unknown instances: the parts of the embedding, the whole last."""
        for poses in self.settings.poses:
            for instances in INSTANCES.words:
                moves = self.moves[poses][instances]
                dims: dict[str, slice | Tensor] = {"whole": slice(None)}
                if self.subject.operator is not None:
                    delta = torch.from_numpy(self.deltas(moves.source, moves.target))
                    dims = {"moved": self.subject.operator.moved_dims(delta), **dims}
                yield [MoveTest(poses, instances, part, own, moves) for part, own in dims.items()]

    def embed(self) -> None:
        """Computes the embeddings that the protocol needs and does not have yet, in large batches, and keeps them."""
        every = [
            *(rows for p in self.config.proportions for _, _, rows in self.tests(p)),
            *self.settings.validation(),
            *(self.settings.training(p).all for p in self.config.proportions),
            *(moves.rows for sets in self.moves.values() for moves in sets.values()),
        ]
        self.features(np.unique(np.concatenate(every)))
        self.features.save()

    def _draw_moves(self, poses: str) -> dict[str, Moves]:
        """Moves of the instances that the encoder saw in all poses, of validation instances and of unknown ones."""
        index = self.frames.index
        frames = index[index["duplicate_of"].isna() & (index["pose"] == poses)]
        known, validation, unknown = self._move_frames(frames)
        if unknown.empty:
            raise UserError(
                f"{self.frames.folder} has no test instances in {poses} poses, so that nothing can be said about "
                "unknown objects; make one with more instances a class, or a larger --test"
            )
        return {
            name: draw_moves(part, self.config.pairs, self.config.seed)
            for name, part in (("known", known), ("validation", validation), ("unknown", unknown))
        }

    def _move_frames(self, frames: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Those of known, of validation and of unknown instances."""
        varies = self.settings.varies(frames, self.subject.seen)
        in_validation = frames.index.isin(self.settings.validation_frames.index)
        # Where every class is one object, those seen in one pose are the unknown ones to the operator.
        new = ~varies & ~in_validation if self.settings.objects else (frames["split"] == "test").to_numpy(bool)
        return frames[varies], frames[in_validation], frames[new]


def check_labels(frames: FrameSet) -> None:
    """Refuses data sets without classes to tell apart."""
    if len(frames.classes) < 2:
        raise UserError(
            f"{frames.folder} has one class ({frames.classes[0]}), but an evaluation asks for the class; sort the "
            "pictures or clips into folders class/instance, or evaluate on another data set"
        )


def check_classes(subject: Subject, frames: FrameSet) -> None:
    """Refuses other classes than those of the run; one on data without labels has one class, and fits anywhere."""
    if len(subject.classes) > 1 and set(subject.classes) != set(frames.classes):
        strange = sorted(set(frames.classes) ^ set(subject.classes))
        raise UserError(
            f"{frames.folder} has other classes than the run's data set ({', '.join(strange[:3])} ...); evaluate "
            "on that one, or on one with the same classes"
        )
    check_labels(frames)


def known_deltas(subject: Subject, frames: FrameSet) -> Deltas:
    """How far apart frames are, in the factors that the subject's operator knows; refuses data that vary otherwise."""
    deltas = Deltas(frames.index, [f for f in subject.factors if f in get_args(FrameKind)])
    new_kinds = set(pose_kinds(frames.index)) - set(deltas.kinds or pose_kinds(frames.index))
    if subject.operator is not None and (new_kinds or deltas.factors != subject.factors):
        raise UserError(
            f"{frames.folder} varies in {', '.join([*deltas.factors, *sorted(new_kinds)])}, but the run's "
            f"operator knows {', '.join(subject.factors)}; evaluate on a data set that varies as the run's own does"
        )
    return deltas
