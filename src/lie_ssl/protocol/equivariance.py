"""Does the moved embedding find the true one? Retrieval among all frames of the same instance.

Shape letters: P pairs, K candidates, M embedding.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames.factors import factor_columns
from lie_ssl.frames.pairs import Deltas
from lie_ssl.lie import LieOperator

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moves:
    """Pairs of frames of one kind of pose, with the same move made by another instance where there is one."""

    source: Rows  # (P,)
    target: Rows  # (P,)
    instance: Rows  # (P,) whose move it is, counted from 0
    candidates: tuple[Rows, ...]  # for each pair all frames of its instance and kind, the source included
    shared: Rows  # (S,) the pairs whose move another instance makes too; none where poses are drawn for each instance
    other_source: Rows  # (S,) the frames of another instance in the same two poses
    other_target: Rows  # (S,)

    @property
    def rows(self) -> Rows:
        """Every frame that is needed."""
        parts = [self.source, self.target, self.other_source, self.other_target, *self.candidates]
        return np.unique(np.concatenate(parts))


@dataclass(frozen=True)
class Retrieval:
    """Of the moved embeddings among the candidates."""

    candidates: float  # mean number
    mrr: float
    mrr_identity: float  # the embedding where it was
    mrr_transfer: float  # moved by the coordinates of another instance's equal move; nan where there is none
    hit1: float
    hit5: float
    relative_error: float  # |true - moved| / |true - source|


def draw_moves(frames: pd.DataFrame, pairs: int, seed: int = 0) -> Moves:
    """`pairs` pairs of each instance among the frames, which must be distinct and of one kind of pose.

    The other instance is drawn among those that make exactly the same move, of any class.
    """
    numbers = frames.groupby(["class", "instance"], sort=True).ngroup().to_numpy()
    groups = [
        g for g in np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1]) if len(g) > 1
    ]
    if not groups:
        raise UserError("a test of moves needs an instance in two poses or more")
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
            able = sorted((owners[a] & owners[b]) - {number})
            if able:
                other = places[able[int(random.integers(len(able)))]]
                others.append((len(chosen), other[a], other[b]))
            chosen.append((own[a], own[b], number))
            candidates.append(rows[groups[number]])
    source, target, instance = np.array(chosen, np.int64).reshape(-1, 3).T
    shared, other_source, other_target = np.array(others, np.int64).reshape(-1, 3).T
    return Moves(source, target, instance, tuple(candidates), shared, other_source, other_target)


def _poses(frames: pd.DataFrame) -> list[tuple[float, ...]]:
    """What frames of two instances must share for a move to be the same: the pose and every further factor."""
    factors = frames[["angle", *factor_columns(frames.columns)]].to_numpy(np.float64)
    rotations = np.stack(frames["rotation"].to_list())
    return [tuple(row) for row in np.round(np.hstack([factors, rotations]), 4).tolist()]


@torch.no_grad()
def retrieve(
    operator: LieOperator, moves: Moves, embedding: Callable[[Rows], Tensor], deltas: Deltas, part: slice | Tensor
) -> Retrieval:
    """`embedding` gives (rows, M) for rows of the index; `part` says which dimensions are compared."""
    operator = copy.deepcopy(operator).eval()  # in training mode its estimates of norms would move
    z, z_next = embedding(moves.source), embedding(moves.target)
    delta = torch.from_numpy(deltas(moves.source, moves.target))
    moved = operator(z, operator.infer(z, z_next, delta))
    queries = {"moved": moved, "identity": z}
    if len(moves.shared):
        other, other_next = embedding(moves.other_source), embedding(moves.other_target)
        other_delta = torch.from_numpy(deltas(moves.other_source, moves.other_target))
        queries["carried"] = operator(z[moves.shared], operator.infer(other, other_next, other_delta))
    numbers = {"carried": moves.shared}
    ranks = {name: ranks_of(x[:, part], moves, embedding, part, numbers.get(name)) for name, x in queries.items()}
    way = (z_next - z)[:, part].norm(dim=1).clamp_min(1e-12)
    error = ((z_next - moved)[:, part].norm(dim=1) / way).mean()
    return Retrieval(
        candidates=float(np.mean([len(c) for c in moves.candidates])),
        mrr=float((1 / ranks["moved"]).mean()),
        mrr_identity=float((1 / ranks["identity"]).mean()),
        mrr_transfer=float((1 / ranks["carried"]).mean()) if "carried" in ranks else math.nan,
        hit1=float((ranks["moved"] <= 1).mean()),
        hit5=float((ranks["moved"] <= 5).mean()),
        relative_error=float(error),
    )


def ranks_of(
    queries: Tensor, moves: Moves, embedding: Callable[[Rows], Tensor], part: slice | Tensor, pairs: Rows | None = None
) -> NDArray[np.float64]:
    """(P, part), one query for each pair or for the given ones -> (P,) rank of the true frame by distance, counted
    from 1; ties take the mean rank."""
    numbers = np.arange(len(moves.source)) if pairs is None else pairs
    ranks = np.empty(len(numbers))
    for i, (query, number) in enumerate(zip(queries, numbers.tolist(), strict=True)):
        candidates = moves.candidates[number]
        distances = (embedding(candidates)[:, part] - query).square().sum(dim=1)
        own = distances[int(np.flatnonzero(candidates == moves.target[number])[0])]
        nearer, same = int((distances < own).sum()), int((distances == own).sum())
        ranks[i] = nearer + (same + 1) / 2
    return ranks


def leaks(found: Retrieval, chance: float) -> bool:
    """Whether t is a code of the target rather than a coordinate of the move: its own t finds the target, that of
    another instance's equal move does no better than chance."""
    return found.mrr > 2 * chance and found.mrr_transfer < chance + 0.1 * (found.mrr - chance)
