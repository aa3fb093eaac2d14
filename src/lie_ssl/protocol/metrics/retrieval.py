"""Does the moved embedding find the true one? Retrieval among all frames of the same instance.

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
    about="Does an embedding that the operator moves find the true frame among all frames of the instance? MRR is the "
    "mean of 1 / rank. If t of another instance's equal move does as well as its own, t describes the move; if only "
    "its own does, t gives the target away.",
)
def retrieval(context: Context, test: MoveTest) -> Values:
    """Nothing without an operator. Says so where the coordinates give the target away."""
    if context.subject.operator is None:
        return {}
    found = retrieve(context.subject.operator, test.moves, context.features, context.deltas, test.dims)
    if test.part == "moved" and leaks(found, chance_of(test.moves)):
        context.say(
            f"the coordinates leak: on {test.instances} instances in {test.poses} poses their own t finds the target "
            f"(MRR {found.mrr:.2f}), that of another instance's equal move does not ({found.mrr_transfer:.2f})"
        )
    return asdict(found)


def chance_of(moves: Moves) -> float:
    """The mean reciprocal rank of a guess."""
    return float(np.mean([np.mean(1 / np.arange(1, len(c) + 1)) for c in moves.candidates]))


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
