"""Retrieval among all objects, against a ranking computed pair by pair, and in worlds with known results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import rankdata
from torch.nn.functional import cosine_similarity

from lie_ssl.frames import DataConfig
from lie_ssl.protocol.metrics import retrieval_all as module
from lie_ssl.protocol.metrics.retrieval_all import ranks_among, retrieval_all
from tests.protocol.metrics.worlds import FIXED, all_embeddings, make_index, operator_of, world


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return make_index(tmp_path_factory.mktemp("index"), DataConfig(step=45.0, poses=("2d",)))


def test_a_true_group_finds_the_frame_among_all_objects(index: pd.DataFrame) -> None:
    context, test = world(index)
    found = retrieval_all(context, test)
    assert found["candidates_all"] == len(index) == 12 * 8
    assert (found["mrr_all"], found["mrr_all_transfer"]) == (1, 1)
    assert found["mrr_all_identity"] < 0.6


def test_objects_that_cannot_be_told_apart(index: pd.DataFrame) -> None:
    """All objects have the same embedding in the same pose: 12 frames share the first rank, whose mean is 6.5."""
    context, test = world(index)
    z = all_embeddings(context)
    angle = (index["angle"].to_numpy() / 45).round().astype(int)
    context.features = lambda rows: z[torch.tensor(angle[rows])]  # that of the first object
    assert retrieval_all(context, test)["mrr_all"] == pytest.approx(1 / 6.5)


def test_the_ranks_are_those_of_a_plain_loop(index: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    context, test = world(index)
    noise = torch.randn(all_embeddings(context).shape, generator=torch.Generator().manual_seed(1))
    z, operator, moves = all_embeddings(context) + 0.6 * noise, operator_of(context), test.moves
    context.features = lambda rows: z[torch.tensor(rows)]
    delta = torch.from_numpy(context.deltas(moves.source, moves.target))
    unit = operator.normalise(z)
    reciprocal = []
    for query, target in zip(operator(z[moves.source], delta), moves.target, strict=True):
        query = operator.normalise(query[None])
        parts = [cosine_similarity(query[:, own], unit[:, own]) for own in (slice(FIXED), slice(FIXED, None))]
        ranks = rankdata(-(parts[0] + 2 * parts[1]).detach().numpy().round(5))
        reciprocal.append(1 / ranks[int(target)])
    with torch.no_grad():
        found = retrieval_all(context, test)["mrr_all"]
        monkeypatch.setattr(module, "AT_ONCE", 100)  # in many blocks
        assert retrieval_all(context, test)["mrr_all"] == pytest.approx(found, abs=1e-6)
    assert 0.1 < found < 1
    assert found == pytest.approx(np.mean(reciprocal), abs=1e-3)


def test_ties_get_their_mean_rank() -> None:
    frames = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    ranks = ranks_among(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), frames, torch.tensor([1, 2]))
    assert ranks.tolist() == [2.5, 1.0]
    assert len(ranks_among(torch.zeros(0, 2), frames, torch.zeros(0, dtype=torch.int64))) == 0


def test_no_shared_move_and_no_operator(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With random hues no other object has the same move."""
    config = DataConfig(step=90.0, poses=("2d",), ranges={"hue": (-180.0, 180.0)})
    context, test = world(make_index(tmp_path_factory.mktemp("hues"), config, count=3))
    found = retrieval_all(context, test)
    assert np.isnan(found["mrr_all_transfer"])
    assert found["mrr_all"] == 1
    context.subject.operator = None
    assert retrieval_all(context, test) == {}
