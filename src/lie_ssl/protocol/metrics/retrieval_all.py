"""Retrieval among the frames of all objects: whether a moved embedding finds the right object in the right pose.

Shape letters: P moves, N frames, M embedding.
"""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import Values, metric
from lie_ssl.protocol.schema import Column
from lie_ssl.training.moving import unit_parts

AT_ONCE = 2**22  # similarities to compute at a time


@metric(
    "retrieval_all",
    title="retrieval among all objects",
    columns=(
        Column("candidates_all"),
        Column("mrr_all", "MRR", order=1),
        Column("mrr_all_transfer", "MRR, t of another instance", order=2, short="other's t"),
        Column("mrr_all_identity", "MRR, not moved", order=3, short="not moved"),
    ),
    order=50,
    about="Retrieval among all objects ranks the frames of all known, or of all unknown, instances by their similarity "
    "to the moved embedding: the cosine of u, which says what it is, counts a third, and that of v, which says how it "
    "is turned, two thirds.",
)
@torch.no_grad()
def retrieval_all(context: Context, test: MoveTest) -> Values:
    """Measures retrieval, if there is an operator."""
    if context.subject.operator is None:
        return {}
    operator, moves = copy.deepcopy(context.subject.operator).eval(), test.moves
    gallery = np.unique(np.concatenate(moves.candidates))
    delta = torch.from_numpy(context.deltas(moves.source, moves.target))
    dims = operator.moved_dims(delta)
    frames = unit_parts(operator, context.features(gallery), dims)
    z, z_next = context.features(moves.source), context.features(moves.target)
    places = np.searchsorted(gallery, moves.target)

    def mrr(moved: Tensor, targets: NDArray[np.int64]) -> float:
        ranks = ranks_among(unit_parts(operator, moved, dims), frames, torch.from_numpy(targets))
        return float((1 / ranks).mean()) if len(ranks) else math.nan

    other, other_next = context.features(moves.other_source), context.features(moves.other_target)
    other_delta = torch.from_numpy(context.deltas(moves.other_source, moves.other_target))
    transferred = operator(z[moves.shared], operator.infer(other, other_next, other_delta))
    return {
        "candidates_all": float(len(gallery)),
        "mrr_all": mrr(operator(z, operator.infer(z, z_next, delta)), places),
        "mrr_all_transfer": mrr(transferred, places[moves.shared]),
        "mrr_all_identity": mrr(z, places),
    }


def ranks_among(queries: Tensor, frames: Tensor, targets: Tensor) -> Tensor:
    """Ranks the target of each query among all frames by their product with it.

    Args:
        queries: (P, M).
        frames: (N, M).
        targets: (P,) rows of `frames`.

    Returns:
        The ranks (P,), counted from 1. Ties get their mean rank.
    """
    ranks = []
    step = max(1, AT_ONCE // max(1, len(frames)))
    for some, own in zip(queries.split(step), targets.split(step), strict=True):
        scores = some @ frames.T
        right = scores.gather(1, own[:, None])
        ranks.append((scores > right).sum(dim=1) + ((scores == right).sum(dim=1) + 1) / 2)
    return torch.cat(ranks).double() if ranks else torch.zeros(0, dtype=torch.float64)
