"""Moves: pairs of frames of one instance, on which metrics test embeddings.

Shape letters: P pairs, S pairs whose move another instance has too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.factors import factor_columns

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moves:
    """Pairs of frames of one kind of pose, with the same move of another instance if there is one."""

    source: Rows  # (P,)
    target: Rows  # (P,)
    instance: Rows  # (P,) the instance of each pair, counted from 0
    candidates: tuple[Rows, ...]  # for each pair all frames of its instance and kind, including the source
    shared: Rows  # (S,) pairs whose move another instance has too; none if every instance has its own random poses
    other_source: Rows  # (S,) frames of another instance in the same two poses
    other_target: Rows  # (S,)

    @property
    def rows(self) -> Rows:
        """All frames that occur in the moves."""
        parts = [self.source, self.target, self.other_source, self.other_target, *self.candidates]
        return np.unique(np.concatenate(parts))


def draw_moves(frames: pd.DataFrame, pairs: int, seed: int = 0) -> Moves:
    """Draws moves of every instance.

    Args:
        frames: Rows of the index, without duplicates and of one kind of pose.
        pairs: Moves per instance. For each, an instance of any class with exactly the same move is drawn too.
        seed: Seed of the draws.
    """
    numbers = frames.groupby(["class", "instance"], sort=True).ngroup().to_numpy()
    groups = [
        g for g in np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1]) if len(g) > 1
    ]
    if not groups:
        raise UserError("there is no instance with two poses or more, which moves need; choose another data set")
    random = np.random.default_rng((seed, 2))
    rows, poses = frames.index.to_numpy(np.int64), _poses(frames)
    places = [{poses[i]: int(rows[i]) for i in group} for group in groups]
    owners: dict[tuple[float, ...], set[int]] = {}
    for number, own in enumerate(places):
        for key in own:
            owners.setdefault(key, set()).add(number)
    chosen: list[tuple[int, int, int]] = []
    others: list[tuple[int, int, int]] = []
    candidates = []
    for number, own in enumerate(places):
        keys = list(own)
        for _ in range(pairs if len(keys) >= 2 else 0):
            a, b = (keys[int(i)] for i in random.choice(len(keys), 2, replace=False))
            matching = sorted((owners[a] & owners[b]) - {number})
            if matching:
                other = places[matching[int(random.integers(len(matching)))]]
                others.append((len(chosen), other[a], other[b]))
            chosen.append((own[a], own[b], number))
            candidates.append(rows[groups[number]])
    source, target, instance = np.array(chosen, np.int64).reshape(-1, 3).T
    shared, other_source, other_target = np.array(others, np.int64).reshape(-1, 3).T
    return Moves(source, target, instance, tuple(candidates), shared, other_source, other_target)


def _poses(frames: pd.DataFrame) -> list[tuple[float, ...]]:
    """The pose and all other factors of each frame; equal moves have equal poses."""
    factors = frames[["angle", *factor_columns(frames.columns)]].to_numpy(np.float64)
    rotations = np.stack(frames["rotation"].to_list())
    return [tuple(row) for row in np.round(np.hstack([factors, rotations]), 4).tolist()]
