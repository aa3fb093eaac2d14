"""Samples pairs of frames for training, or clips of more.

As in the paper, instances are drawn first, then two frames of each without replacement. Both frames have the same kind
of pose, so that the difference of their angles is meaningful. Instances that are shown in one pose give a single frame.
An objective can ask for clips instead: three frames or more of an instance, at equal steps (see
:mod:`lie_ssl.frames.clips`). The first two are then the pair.

Every instance has its own random stream, determined by (seed, epoch, instance). So the pairs do not depend on the
number of loader workers, and the ranks of a distributed run read disjoint parts of the same batches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.clips import Clips
from lie_ssl.frames.columns import ROW
from lie_ssl.frames.factors.base import factor_columns, get_factor, wrapped
from lie_ssl.frames.kinds import AXES, KINDS
from lie_ssl.frames.splits import is_diverse, training_counts
from lie_ssl.lie.rotations import rotation_vector

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairBatch:
    """B pairs: rows of the index, and the difference of the second frame from the first.

    `paired` is False for instances shown in one pose only; for them, all frames equal `first` and delta is zero.
    """

    first: Rows  # (B,)
    second: Rows  # (B,)
    delta: NDArray[np.float32]  # (B, F): pose in radians (or every kind of pose), then each varied factor
    paired: NDArray[np.bool_]  # (B,)
    pose: NDArray[np.float32]  # (B, F): the first frame's pose, from the typical one; nan for other factors
    objects: Rows  # (B,): numbers of the instances, of which a batch may have several pairs
    more: Rows | None = None  # (B, L - 2): the other frames of clips of L frames; None for pairs


def pose_kinds(index: pd.DataFrame) -> tuple[str, ...]:
    """The kinds of pose in an index."""
    return tuple(sorted(set(index["pose"])))


def varied_factors(index: pd.DataFrame) -> tuple[str, ...]:
    """The factors of variation that are not the same in all frames."""
    return tuple(f for f in factor_columns(index.columns) if index[f].nunique() > 1)


def reaches(index: pd.DataFrame, factors: Sequence[str]) -> tuple[float, ...]:
    """For each factor of :class:`Deltas`, the largest absolute difference between two frames; half a turn for poses."""
    known = factor_columns(index.columns)
    return tuple(get_factor(f).reach(index[f].to_numpy(np.float64)) if f in known else math.pi for f in factors)


class Deltas:
    """Differences between frames, factor by factor: first the pose, then every factor that varies in the data set.

    Args:
        index: Rows of an index.
        kinds: Kinds of pose (see :func:`pose_kinds`) that are separate factors, so that rotations in the picture plane
            and in space belong to two groups; or :data:`lie_ssl.frames.kinds.AXES`, for the rotation vector in camera
            axes from the first pose to the second, whatever their kind.
        varied: The varying factors of the whole data set, if `index` has only some of its rows.
    """

    def __init__(self, index: pd.DataFrame, kinds: Sequence[str] = (), varied: Sequence[str] | None = None) -> None:
        self._rows = index.index
        self.kinds = tuple(kinds)
        others = varied_factors(index) if varied is None else tuple(varied)
        self.factors = (*(self.kinds or ("pose",)), *others)
        self._kind = index["pose"].to_numpy(str)
        self._periodic = np.isin(self._kind, [k.name for k in KINDS.values() if k.periodic])
        self._free = np.isin(self._kind, [k.name for k in KINDS.values() if k.free])
        self._angle = index["angle"].to_numpy(np.float64)
        self._rotation = np.stack(index["rotation"].to_list()).reshape(-1, 3, 3).astype(np.float64)
        self._values = {f: index[f].to_numpy(np.float64) for f in others}

    def __call__(self, first: Rows, second: Rows) -> NDArray[np.float32]:
        """(B,), (B,) rows -> (B, F). Angles are in radians and wrapped (times are not); free rotations give their
        geodesic angle; every other factor defines its own difference."""
        first, second = (self._rows.get_indexer(pd.Index(rows)) for rows in (first, second))
        free = self._free[first]
        degrees = self._angle[second] - self._angle[first]
        columns = [np.where(self._periodic[first], wrapped(degrees), np.radians(degrees))]
        if free.any():
            relative = np.einsum("bij,bkj->bik", self._rotation[second], self._rotation[first])
            cosine = (np.trace(relative, axis1=1, axis2=2) - 1) / 2
            columns[0] = np.where(free, np.arccos(np.clip(cosine, -1, 1)), columns[0])
        if self.kinds == AXES:
            columns = list(self._rotation_vectors(first, second).T)
        elif self.kinds:
            columns = [np.where(self._kind[first] == kind, columns[0], 0.0) for kind in self.kinds]
        for name, values in self._values.items():
            columns.append(get_factor(name).delta(values[first], values[second]))
        return np.stack(columns, axis=1).astype(np.float32)

    def poses(self, rows: Rows) -> NDArray[np.float32]:
        """(B,) rows -> (B, F): their angles, in radians from the typical pose; nan for factors that are no angle of
        the pose, and for other kinds of pose than that of the row."""
        own = self._rows.get_indexer(pd.Index(rows))
        found = np.full((len(own), len(self.factors)), np.nan)
        angles = np.where(self._periodic[own], wrapped(self._angle[own]), np.nan)
        if self.kinds != AXES:
            for column, kind in enumerate(self.kinds or ("",)):
                found[:, column] = np.where((self._kind[own] == kind) | (not self.kinds), angles, np.nan)
        return found.astype(np.float32)

    def _rotation_vectors(self, first: Rows, second: Rows) -> NDArray[np.float64]:
        """(B,), (B,) positions -> (B, 3), in radians; acting from the left, in camera axes."""
        relative = self._rotation[second] @ self._rotation[first].transpose(0, 2, 1)
        return rotation_vector(torch.from_numpy(relative)).numpy()


@dataclass(frozen=True)
class Instance:
    """The frames of one instance that may be shown: its typical frame, and all distinct frames if it is diverse."""

    typical: int
    kinds: tuple[Rows, ...]  # only kinds with at least two frames


def seen_instances(index: pd.DataFrame, split: str = "train", diverse: float = 0.5) -> list[Instance]:
    """The instances of a split; in training, the first share `diverse` of each class by rank is seen in all poses."""
    own = index[(index["split"] == split) & index["duplicate_of"].isna()]
    varies = pd.Series(is_diverse(own, diverse, training_counts(index)) | (split != "train"), own.index)
    result = []
    for _, frames in own.groupby(["class", "instance"], sort=True):
        varying = varies[frames.index[0]]
        groups = [f.index.to_numpy(np.int64) for _, f in frames.groupby("pose", sort=True)] if varying else []
        result.append(Instance(int(frames.index[0]), tuple(g for g in groups if len(g) >= 2)))
    return result


class PairSampler:
    """Samples batches of pairs, epoch by epoch.

    An epoch shows every instance `passes` times, each time with a new pair. `batch_size` is the joined batch of all
    ranks; each rank reads `batch_size / world_size` of it. For `kinds` and `varied` see :class:`Deltas`. With a `clip`
    of three frames or more, they are at equal steps, and nothing but the pose may vary.

    With `per_object` above 1, an instance has that many consecutive pairs, which share the first frame and have
    different second ones. Their moves give those between any two of these frames.
    """

    def __init__(
        self,
        index: pd.DataFrame,
        *,
        batch_size: int,
        seed: int = 0,
        split: str = "train",
        diverse: float = 0.5,
        passes: int = 1,
        singles: bool = True,
        kinds: Sequence[str] = (),
        varied: Sequence[str] | None = None,
        drop_last: bool = True,
        clip: int = 2,
        rank: int = 0,
        world_size: int = 1,
        per_object: int = 1,
    ) -> None:
        if batch_size < 1 or batch_size % world_size:
            raise UserError(f"batch_size is {batch_size}, but it must be a multiple of the {world_size} processes")
        if per_object < 1 or batch_size // world_size % per_object:
            raise UserError(
                f"batch_size is {batch_size // world_size} in each process, but it must be a multiple of the "
                f"{per_object} pairs per object; change optim.batch or objective.frames"
            )
        if index.index.name != ROW or not index.index.is_unique:
            raise UserError("give the index of a FrameSet or rows of it, with their row numbers (no reset_index)")
        if seed < 0 or passes < 1:
            raise UserError(f"seed is {seed} and passes {passes}, but they must be at least 0 and 1")
        if split not in set(index["split"]):
            raise UserError(f"there is no {split!r} split; there are {', '.join(sorted(set(index['split'])))}")
        if not 0 <= rank < world_size:
            raise UserError(f"rank is {rank}, but it must be below the number of processes, {world_size}")
        self.instances = seen_instances(index, split, diverse)
        varied = varied_factors(index) if varied is None else varied
        self.clip, self.clips = clip, None if clip == 2 else self._clips(index, clip, varied)
        if not any(i.kinds for i in self.instances):
            raise UserError(f"the {split} split has no pairs, as no instance has two poses; use another data set")
        if not singles:
            self.instances = [i for i in self.instances if i.kinds]
        fewest = min(len(kind) for i in self.instances for kind in i.kinds)
        if fewest <= per_object:
            raise UserError(
                f"{per_object} pairs per object need {per_object + 1} frames of each, but an object has {fewest}; take "
                "fewer frames of each (objective.frames), or make a data set with more poses"
            )
        if drop_last and len(self.instances) * passes * per_object < batch_size:
            raise UserError(
                f"a batch of {batch_size} is larger than an epoch of {len(self.instances)} instances x {passes} "
                "passes; use a smaller batch, more passes, or drop_last=False"
            )
        self.deltas = Deltas(index, kinds, varied)
        self.batch_size, self.seed, self.passes, self.drop_last = batch_size, seed, passes, drop_last
        self.rank, self.world_size, self.per_object = rank, world_size, per_object
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration; without it, every iteration gives the same pairs."""
        self.epoch = epoch

    def __len__(self) -> int:
        count = len(self.instances) * self.passes * self.per_object / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)

    def __iter__(self) -> Iterator[PairBatch]:
        return self.batches()

    def batches(self, first: int = 0) -> Iterator[PairBatch]:
        """The batches of this epoch, starting with the given one; nothing is drawn for earlier ones."""
        order = self._order()
        share = self.batch_size // self.world_size
        for start in range(first * self.batch_size, len(self) * self.batch_size, self.batch_size):
            joined = order[start : start + self.batch_size]
            yield self._batch(joined[self.rank * share : (self.rank + 1) * share])

    def endless(self, first: int = 0) -> Iterator[PairBatch]:
        """The batches of all epochs, starting with the given one, counted from the first epoch."""
        epoch, first = divmod(first, len(self))
        while True:
            self.set_epoch(epoch)
            yield from self.batches(first)
            epoch, first = epoch + 1, 0

    def _order(self) -> list[tuple[int, int, int]]:
        """(pass, instance, pair of the instance) in the order of this epoch."""
        random = np.random.default_rng((self.seed, self.epoch))
        shown = [(p, int(i)) for p in range(self.passes) for i in random.permutation(len(self.instances))]
        return [(p, i, k) for p, i in shown for k in range(self.per_object)]

    def _clips(self, index: pd.DataFrame, length: int, varied: Sequence[str]) -> Clips:
        """What draws clips; instances that have none of a kind of pose are not shown in it."""
        if varied:
            raise UserError(f"in a clip only the pose may vary, but {', '.join(varied)} does too; use another data set")
        clips = Clips(index[index["duplicate_of"].isna()], length)
        before = {clips.kind(rows) for instance in self.instances for rows in instance.kinds}
        self.instances = [replace(i, kinds=tuple(k for k in i.kinds if len(clips.possible(k)))) for i in self.instances]
        after = {clips.kind(rows) for instance in self.instances for rows in instance.kinds}
        if missing := sorted(before - after):
            raise UserError(
                f"no instance has {length} {KINDS[missing[0]].title} at equal steps; use shorter clips, or a data set "
                "with smaller steps"
            )
        return clips

    def _batch(self, chosen: Sequence[tuple[int, int, int]]) -> PairBatch:
        rows = np.array([self._pair(*each) for each in chosen], np.int64).reshape(-1, self.clip)
        first, second = rows[:, 0], rows[:, 1]
        deltas, poses = self.deltas(first, second), self.deltas.poses(first)
        objects = np.array([number for _, number, _ in chosen], np.int64)
        more = None if self.clips is None else rows[:, 2:]
        return PairBatch(first, second, deltas, first != second, poses, objects, more)

    def _pair(self, turn: int, number: int, which: int) -> tuple[int, ...]:
        """The rows of a pair or of a clip."""
        instance = self.instances[number]
        if not instance.kinds:
            return (instance.typical,) * self.clip
        random = np.random.default_rng((self.seed, self.epoch, turn, number))  # the same for all pairs of the instance
        weights = np.array([len(k) for k in instance.kinds], np.float64)
        kind = instance.kinds[int(random.choice(len(weights), p=weights / weights.sum()))]
        if self.clips is not None:
            return tuple(int(row) for row in self.clips.draw(kind, random))
        first, *others = random.choice(kind, 1 + self.per_object, replace=False)
        return int(first), int(others[which])
