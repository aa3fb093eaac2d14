"""The context of an evaluation, for phases and metrics: an encoder, a data set, embeddings, test sets and moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.kinds import AXES, KINDS
from lie_ssl.frames.pairs import Deltas, pose_kinds
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder
from lie_ssl.objectives.base import Reader
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.moves import Moves, draw_moves
from lie_ssl.protocol.neighbours import NeighbourSampler
from lie_ssl.protocol.probe import Neighbours, Probe
from lie_ssl.protocol.readout import Readout
from lie_ssl.protocol.schema import INSTANCES
from lie_ssl.protocol.settings import SETTINGS, SSL_PROPORTION, Settings, check_proportions

Rows = NDArray[np.int64]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Subject:
    """The encoder that is evaluated, with its names in the tables."""

    encoder: Encoder
    method: str
    arm: str
    seed: int = 0
    operator: LieOperator | None = None
    coordinates: Tensor | None = None
    classes: tuple[str, ...] = ()  # classes of the data set of its run; empty to skip the check
    factors: tuple[str, ...] = ("pose",)  # factors of variation that the operator was trained on
    reader: Reader | None = None  # the objective, if it predicts moves
    seen: float = SSL_PROPORTION  # share of the training instances that the encoder was shown in all poses


@dataclass(frozen=True, eq=False)
class MoveTest:
    """The input of a metric: moves of known or unknown instances, and a part of the embedding."""

    poses: str
    instances: str
    part: str
    dims: slice | Tensor  # dimensions of that part
    moves: Moves


class Context:
    """One encoder on one data set. Rejects combinations that cannot be evaluated.

    Args:
        subject: The encoder, its operator if it has one, and their names.
        frames: The data set.
        config: The settings of the protocol.
        features: The embeddings of the frames.
        say: Called with messages for the user.
    """

    def __init__(
        self, subject: Subject, frames: FrameSet, config: EvaluateConfig, features: Features, say: Say = lambda _: None
    ) -> None:
        check_classes(subject, frames)
        if 2 in config.options and (subject.operator is None or subject.coordinates is None):
            raise UserError(
                "Option 2 moves embeddings and needs a run with an operator; evaluate a Lie arm or leave Option 2 out"
            )
        check_proportions(frames.index, config.proportions)
        self.subject, self.frames, self.config, self.features, self.say = subject, frames, config, features, say
        # New poses must be new in every phase, and the same at every proportion.
        seen = max(subject.seen, *config.proportions)
        self.settings = Settings(frames.index, seen=seen, limit=config.limit, seed=config.seed)
        self.settings.validation()
        self.deltas = operator_deltas(subject, frames)
        self.probes: dict[tuple[int, float], tuple[Probe, Tensor]] = {}  # linear probes, from which finetuning starts
        self.readouts: dict[str, Readout] = {}  # networks that read angles, by kind of pose
        self.moves = {poses: self._draw_moves(poses) for poses in self.settings.poses}

    def labels(self, rows: Rows) -> Tensor:
        """(rows,) -> (rows,) indices of the true classes."""
        return torch.from_numpy(self.frames.labels[rows])

    def recognised(self, rows: Rows) -> Tensor:
        """(rows,) -> (rows, M') what classifiers see of the embeddings: all of them, or the identity part."""
        return self.features(rows)[:, : self.recognised_dim]

    @property
    def recognised_dim(self) -> int:
        """The number of leading dimensions that classifiers see."""
        operator = self.subject.operator
        if self.config.part == "whole" or operator is None or not operator.fixed:
            return self.subject.encoder.dim
        return operator.fixed

    @cached_property
    def rotations(self) -> NDArray[np.float64]:
        """(frames, 3, 3) rotation matrices in camera axes."""
        return np.stack(self.frames.index["rotation"].to_list()).reshape(-1, 3, 3).astype(np.float64)

    def combinations(self) -> list[tuple[int, float]]:
        """The (option, proportion) of every classifier."""
        return [(option, p) for option in self.config.options for p in self.config.proportions]

    def neighbours(self, option: int) -> Neighbours | None:
        """The sampler of moved embeddings for Option 2; None for Option 1."""
        if option == 1:
            return None
        assert self.subject.operator is not None
        assert self.subject.coordinates is not None
        return NeighbourSampler(self.subject.operator, self.subject.coordinates, self.config.neighbours)

    def tests(self, proportion: float) -> Iterator[tuple[str, str, Rows]]:
        """Yields the setting, the kind of pose and the frames of every test set that is not empty."""
        for poses in self.settings.poses:
            for setting in SETTINGS:
                rows = self.settings.test(setting, poses, proportion)
                if len(rows):
                    yield setting, poses, rows

    def move_tests(self) -> Iterator[list[MoveTest]]:
        """Yields one list per kind of pose and per group of instances: a test for each part of the embedding.

        The last test of a list is that of the whole embedding.
        """
        for poses in self.settings.poses:
            for instances in INSTANCES.categories:
                moves = self.moves[poses][instances]
                dims: dict[str, slice | Tensor] = {"whole": slice(None)}
                if self.subject.operator is not None:
                    delta = torch.from_numpy(self.deltas(moves.source, moves.target))
                    dims = {"moved": self.subject.operator.moved_dims(delta), **dims}
                yield [MoveTest(poses, instances, part, own, moves) for part, own in dims.items()]

    def embed(self) -> None:
        """Computes all missing embeddings in large batches, and saves them."""
        every = [
            *(rows for p in self.config.proportions for _, _, rows in self.tests(p)),
            *self.settings.validation(),
            *(self.settings.training(p).all for p in self.config.proportions),
            *(moves.rows for sets in self.moves.values() for moves in sets.values()),
        ]
        self.features(np.unique(np.concatenate(every)))
        self.features.save()

    def _draw_moves(self, poses: str) -> dict[str, Moves]:
        """Draws moves of instances that the encoder was shown in all poses, of validation and of unknown instances."""
        index = self.frames.index
        frames = index[index["duplicate_of"].isna() & (index["pose"] == poses)]
        known, validation, unknown = self._move_frames(frames)
        if unknown.empty:
            raise UserError(
                f"{self.frames.folder} has no test instances in {poses} poses, so unknown objects cannot be tested; "
                "make a data set with more instances per class, or with a larger --test"
            )
        return {
            name: draw_moves(part, self.config.pairs, self.config.seed)
            for name, part in (("known", known), ("validation", validation), ("unknown", unknown))
        }

    def _move_frames(self, frames: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """The frames of known, validation and unknown instances."""
        diverse = self.settings.is_diverse(frames, self.subject.seen)
        in_validation = frames.index.isin(self.settings.validation_frames.index)
        # If every class is a single object, the objects shown in one pose only are unknown to the operator.
        is_test = (frames["split"] == "test").to_numpy(bool)
        unknown = ~diverse & ~in_validation if self.settings.one_object_per_class else is_test
        return frames[diverse], frames[in_validation], frames[unknown]


def check_labels(frames: FrameSet) -> None:
    """Rejects data sets with a single class."""
    if len(frames.classes) < 2:
        raise UserError(
            f"{frames.folder} has a single class ({frames.classes[0]}), but an evaluation needs two or more; sort the "
            "pictures or clips into folders class/instance, or evaluate on another data set"
        )


def check_classes(subject: Subject, frames: FrameSet) -> None:
    """Rejects a data set with other classes than the run's, unless the run has a single class (unlabelled data)."""
    if len(subject.classes) > 1 and set(subject.classes) != set(frames.classes):
        different = sorted(set(frames.classes) ^ set(subject.classes))
        raise UserError(
            f"{frames.folder} has other classes than the run's data set ({', '.join(different[:3])} ...); evaluate "
            "on that one, or on one with the same classes"
        )
    check_labels(frames)


def operator_deltas(subject: Subject, frames: FrameSet) -> Deltas:
    """The differences between frames in the factors of the subject's operator; rejects data with other factors."""
    deltas = Deltas(frames.index, [f for f in subject.factors if f in KINDS or f in AXES])
    new_kinds = set(pose_kinds(frames.index)) - set(
        pose_kinds(frames.index) if deltas.kinds in ((), AXES) else deltas.kinds
    )
    if subject.operator is not None and (new_kinds or deltas.factors != subject.factors):
        raise UserError(
            f"{frames.folder} varies in {', '.join([*deltas.factors, *sorted(new_kinds)])}, but the run's operator "
            f"was trained on {', '.join(subject.factors)}; evaluate on a data set with the factors of the run's own"
        )
    return deltas
