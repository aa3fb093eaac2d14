"""Retrieval: whether a moved embedding is nearest to the true frame, among all frames of the same instance.

Shape letters: P pairs, K candidates, M embedding.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.frames.pairs import Deltas
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.moves import Moves
from lie_ssl.protocol.schema import Column

Rows = NDArray[np.int64]
EQUAL = 1e-5  # relative distance below which two embeddings are the same


@dataclass(frozen=True)
class Retrieval:
    """Retrieval scores of moved embeddings."""

    candidates: float  # mean number of candidates
    mrr: float  # mean reciprocal rank
    mrr_identity: float  # without the move
    mrr_transfer: float  # moved by t of the same move of another instance; nan if there is none
    hit1: float
    hit5: float
    relative_error: float  # |true - moved| / |true - source|, without pairs of equal embeddings


@metric(
    "retrieval",
    title="retrieval",
    columns=(
        Column("candidates"),
        Column("mrr", "MRR", order=1),
        Column("mrr_identity", "MRR, not moved", order=3, short="not moved"),
        Column("mrr_transfer", "MRR, t of another instance", order=2, short="other's t"),
        Column("hit1", "hit@1", order=4),
        Column("hit5", "hit@5", order=5),
        Column("relative_error", "relative error", order=6, short="rel. error"),
    ),
    order=10,
    by_part=True,
    about="Retrieval ranks all frames of an instance by their distance to an embedding moved by the operator. MRR is "
    "the mean of 1 / rank of the true frame. If t of the same move of another instance works as well as its own t, t "
    "describes the move; if only its own t works, t leaks the target.",
)
def retrieval(context: Context, test: MoveTest) -> Values:
    """Measures retrieval, if there is an operator. Reports coordinates that leak the target."""
    if context.subject.operator is None:
        return {}
    found = retrieve(context.subject.operator, test.moves, context.features, context.deltas, test.dims)
    if test.part == "moved" and leaks(found, chance_mrr(test.moves)):
        context.say(
            f"the coordinates leak the target: on {test.instances} instances in {test.poses} poses their own t finds "
            f"it (MRR {found.mrr:.2f}), but t of the same move of another instance does not ({found.mrr_transfer:.2f})"
        )
    return asdict(found)


def chance_mrr(moves: Moves) -> float:
    """The expected mean reciprocal rank of a random ranking."""
    return float(np.mean([np.mean(1 / np.arange(1, len(c) + 1)) for c in moves.candidates]))


@torch.no_grad()
def retrieve(
    operator: LieOperator, moves: Moves, embedding: Callable[[Rows], Tensor], deltas: Deltas, part: slice | Tensor
) -> Retrieval:
    """Ranks the frames of the instance for every move.

    Args:
        operator: Moves the embeddings.
        moves: The moves, with their candidates.
        embedding: Returns the embeddings (rows, M) of rows of the index.
        deltas: The differences between frames, for the coordinates t.
        part: The dimensions to compare.
    """
    operator = copy.deepcopy(operator).eval()  # in training mode its running norms would change
    z, z_next = embedding(moves.source), embedding(moves.target)
    delta = torch.from_numpy(deltas(moves.source, moves.target))
    moved = operator(z, operator.infer(z, z_next, delta))
    queries = {"moved": moved, "identity": z}
    if len(moves.shared):
        other, other_next = embedding(moves.other_source), embedding(moves.other_target)
        other_delta = torch.from_numpy(deltas(moves.other_source, moves.other_target))
        queries["transferred"] = operator(z[moves.shared], operator.infer(other, other_next, other_delta))
    pairs = {"transferred": moves.shared}
    ranks = {name: ranks_of(x[:, part], moves, embedding, part, pairs.get(name)) for name, x in queries.items()}
    distance, size = (z_next - z)[:, part].norm(dim=1), z_next[:, part].norm(dim=1)
    apart = distance > EQUAL * size  # a bottle looks the same from all sides
    error = ((z_next - moved)[:, part].norm(dim=1) / distance)[apart].mean()
    return Retrieval(
        candidates=float(np.mean([len(c) for c in moves.candidates])),
        mrr=float((1 / ranks["moved"]).mean()),
        mrr_identity=float((1 / ranks["identity"]).mean()),
        mrr_transfer=float((1 / ranks["transferred"]).mean()) if "transferred" in ranks else math.nan,
        hit1=float((ranks["moved"] <= 1).mean()),
        hit5=float((ranks["moved"] <= 5).mean()),
        relative_error=float(error),
    )


def ranks_of(
    queries: Tensor, moves: Moves, embedding: Callable[[Rows], Tensor], part: slice | Tensor, pairs: Rows | None = None
) -> NDArray[np.float64]:
    """(P, part) queries -> (P,) ranks of the true frames by distance, counted from 1. Ties get their mean rank.

    There is one query for each of `pairs`, which are indices of moves; None for all moves.
    """
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
    """Whether t encodes the target rather than the move.

    In this case t finds the target, but t of the same move of another instance is little better than chance.
    """
    return found.mrr > 2 * chance and found.mrr_transfer < chance + 0.1 * (found.mrr - chance)
