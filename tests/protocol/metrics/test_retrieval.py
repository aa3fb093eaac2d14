"""Retrieval on synthetic embeddings with known results: a true group, a leak, noise and a collapse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import rankdata
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig
from lie_ssl.frames.index import InstanceRows, build_index, read_index, write_index
from lie_ssl.frames.pairs import Deltas
from lie_ssl.frames.poses import instance_poses
from lie_ssl.lie import LieOperator
from lie_ssl.protocol.metrics.retrieval import Retrieval, leaks, ranks_of, retrieve
from lie_ssl.protocol.moves import Moves, draw_moves

WHOLE = slice(None)
Embedding = Callable[[np.ndarray], Tensor]


def make_index(folder: Path, config: DataConfig, count: int = 12) -> pd.DataFrame:
    """Two classes of test instances, without pictures."""
    rows = [
        InstanceRows(name, f"{i:02d}", "test", -1, "none", instance_poses(config, name, f"{i:02d}"), 0, 0)
        for name in ("cup", "jar")
        for i in range(count)
    ]
    write_index(folder / "index.parquet", build_index(rows))
    return read_index(folder / "index.parquet")


def distinct(index: pd.DataFrame, pose: str) -> pd.DataFrame:
    return index[index["duplicate_of"].isna() & (index["pose"] == pose)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return make_index(tmp_path_factory.mktemp("index"), DataConfig(step=45.0))


@pytest.fixture(scope="module")
def moves(index: pd.DataFrame) -> Moves:
    return draw_moves(distinct(index, "2d"), pairs=20)


def chance(count: int, first: int = 1) -> float:
    """Mean reciprocal of a rank that is uniform from `first` to `count`."""
    return float(np.mean(1 / np.arange(first, count + 1)))


def table(z: Tensor) -> Embedding:
    return lambda rows: z[torch.tensor(rows)]


class DeltaItself(nn.Module):
    """t is the angle of the move."""

    def forward(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        return delta[:, None].to(z.dtype)


class Difference(nn.Module):
    """t is the difference of the two embeddings, so it encodes the target."""

    def forward(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        return (z_next - z)[:, 1:]


def group_world(index: pd.DataFrame, fixed: int = 0) -> tuple[LieOperator, Tensor]:
    """Embeddings exp(angle L) z0 with one z0 per instance; L rotates three planes at frequencies 1, 2 and 3."""
    planes = torch.block_diag(*(k * torch.tensor([[0.0, -1.0], [1.0, 0.0]]) for k in (1, 2, 3)))
    operator = LieOperator(6 + fixed, 1, fixed=fixed)
    with torch.no_grad():
        operator.algebras[0].get_parameter("weight").copy_(planes[None])
    operator.coordinates[0] = DeltaItself()
    numbers = index.groupby(["class", "instance"]).ngroup().to_numpy()
    start = torch.randn(int(numbers.max()) + 1, 6 + fixed, generator=torch.Generator().manual_seed(0))[
        torch.tensor(numbers)
    ]
    angles = torch.tensor(np.radians(index["angle"].to_numpy()))
    turned = torch.linalg.matrix_exp(angles[:, None, None] * planes.double()) @ start[:, fixed:, None].double()
    return operator, torch.cat([start[:, :fixed], turned[:, :, 0].float()], dim=1)


def leak_world(rows: int) -> tuple[LieOperator, Tensor]:
    """Embeddings (1, v) with a random v for each frame, and translations of v: exp(t . L) (1, v) = (1, v + t)."""
    operator = LieOperator(9, 8)
    with torch.no_grad():
        weight = operator.algebras[0].get_parameter("weight")
        weight.zero_()
        weight[torch.arange(8), torch.arange(1, 9), 0] = 1
    operator.coordinates[0] = Difference()
    v = torch.randn(rows, 8, generator=torch.Generator().manual_seed(1))
    return operator, torch.cat([torch.ones(rows, 1), v], dim=1)


@pytest.mark.parametrize("fixed", [0, 3])
def test_a_true_group_is_found_and_transfers(index: pd.DataFrame, moves: Moves, fixed: int) -> None:
    operator, z = group_world(index, fixed)
    found = retrieve(operator, moves, table(z), Deltas(index), WHOLE)
    assert (found.mrr, found.mrr_transfer, found.hit1, found.hit5) == (1, 1, 1, 1)
    assert found.relative_error < 1e-4
    assert found.mrr_identity < 0.6
    assert found.candidates == 8
    assert not leaks(found, chance(8))


def test_an_object_that_looks_the_same_from_all_sides_has_no_relative_error(index: pd.DataFrame, moves: Moves) -> None:
    operator, z = group_world(index, 0)
    before = retrieve(operator, moves, table(z), Deltas(index), WHOLE).relative_error
    same = index.groupby(["class", "instance"]).ngroup().to_numpy() == 0
    z[same] = z[same][:1]
    found = retrieve(operator, moves, table(z), Deltas(index), WHOLE)
    assert found.relative_error < before + 1e-4  # and not infinite
    z[:] = z[:1]
    assert np.isnan(retrieve(operator, moves, table(z), Deltas(index), WHOLE).relative_error)


@pytest.mark.parametrize("kind", ["2d", "3d"])
def test_each_kind_of_pose_is_found_in_its_own_dimensions(index: pd.DataFrame, kind: str) -> None:
    """There are two groups about a centre, one for each kind; the dimensions of the other kind are noise."""
    operator = LieOperator(
        14, (1, 1), fixed=2, sees="linear", algebra="commuting", frequencies=(1, 2, 3), split_factors=True, centred=True
    )
    operator.centre.normal_(generator=torch.Generator().manual_seed(3))
    numbers = index.groupby(["class", "instance"]).ngroup().to_numpy()
    random = torch.Generator().manual_seed(0)
    start = torch.randn(int(numbers.max()) + 1, 14, generator=random)[torch.tensor(numbers)]
    deltas = Deltas(index, ("2d", "3d"))
    turns = torch.tensor(np.radians(index["angle"].to_numpy()), dtype=torch.float32)
    column = ["2d", "3d"].index(kind)
    t = torch.zeros(len(index), 2)
    t[:, column] = turns
    z = operator(start, t).detach()
    noise = slice(8, 14) if kind == "2d" else slice(2, 8)
    z[:, noise] = 10 * torch.randn(len(index), 6, generator=random)
    moves = draw_moves(distinct(index, kind), pairs=10)
    own = operator.moved_dims(torch.from_numpy(deltas(moves.source, moves.target)))
    assert own.tolist() == (list(range(2, 8)) if kind == "2d" else list(range(8, 14)))
    found = retrieve(operator, moves, table(z), deltas, own)
    assert (found.mrr, found.mrr_transfer, found.hit1) == (1, 1, 1)
    assert found.relative_error < 1e-4
    whole = retrieve(operator, moves, table(z), deltas, slice(2, None))
    assert whole.mrr < 0.6  # the noise hides it


def test_coordinates_that_encode_the_target_are_a_leak(index: pd.DataFrame, moves: Moves) -> None:
    operator, z = leak_world(len(index))
    found = retrieve(operator, moves, table(z), Deltas(index), WHOLE)
    assert found.mrr == found.hit1 == 1
    assert found.relative_error < 1e-4
    assert found.mrr_transfer < chance(8)
    assert leaks(found, chance(8))


def test_identity_is_near_chance_below_the_source(index: pd.DataFrame, moves: Moves) -> None:
    """With noise, the source itself is the nearest frame, so the rank of the target is uniform from 2 to 8."""
    operator, z = leak_world(len(index))
    found = retrieve(operator, moves, table(z), Deltas(index), WHOLE)
    assert found.mrr_identity == pytest.approx(chance(8, 2), abs=0.03)
    ranks = ranks_of(table(z)(moves.source), moves, table(z), WHOLE)
    assert set(ranks) == set(range(2, 9))


def test_collapsed_embeddings_have_the_mean_rank(index: pd.DataFrame, moves: Moves) -> None:
    z = torch.ones(len(index), 4)
    ranks = ranks_of(torch.ones(len(moves.source), 4), moves, table(z), WHOLE)
    assert (ranks == (8 + 1) / 2).all()
    found = retrieve(LieOperator(4, 1, algebra="skew"), moves, table(z), Deltas(index), WHOLE)
    assert found.mrr == found.mrr_identity == found.mrr_transfer == pytest.approx(2 / 9)
    assert found.hit1 == 0


@pytest.mark.parametrize("part", [WHOLE, slice(2, None), torch.tensor([0, 3])])
def test_ranks_against_scipy(index: pd.DataFrame, moves: Moves, part: slice | Tensor) -> None:
    random = np.random.default_rng(0)
    z = torch.tensor(random.integers(-2, 3, (len(index), 4)), dtype=torch.float32)  # integers, for many ties
    queries = torch.tensor(random.integers(-2, 3, (len(moves.source), 4)), dtype=torch.float32)
    found = ranks_of(queries[:, part], moves, table(z), part)
    for i in range(len(found)):
        candidates = moves.candidates[i]
        distances = ((z[torch.tensor(candidates)] - queries[i])[:, part] ** 2).sum(dim=1).numpy()
        assert found[i] == rankdata(distances, "average")[list(candidates).index(moves.target[i])]


@pytest.mark.parametrize("pose", ["2d", "3d"])
def test_candidates_are_all_frames_of_the_instance_and_kind(index: pd.DataFrame, pose: str) -> None:
    moves = draw_moves(distinct(index, pose), pairs=3)
    assert len(moves.source) == 24 * 3
    for i, candidates in enumerate(moves.candidates):
        own = index.loc[moves.source[i]]
        wanted = index[
            (index["class"] == own["class"]) & (index["instance"] == own["instance"]) & (index["pose"] == pose)
            & index["duplicate_of"].isna()
        ]  # fmt: skip
        assert sorted(candidates) == list(wanted.index)
        assert {int(moves.source[i]), int(moves.target[i])} <= set(candidates.tolist())
        assert moves.source[i] != moves.target[i]
    assert len(moves.candidates[0]) == (8 if pose == "2d" else 6)  # 3d at 0 and 180 degrees are repeated frames


@pytest.mark.parametrize("pose", ["2d", "3d"])
def test_the_other_instance_has_exactly_the_same_move(index: pd.DataFrame, pose: str) -> None:
    moves = draw_moves(distinct(index, pose), pairs=5)
    assert list(moves.shared) == list(range(len(moves.source)))
    names = (index["class"] + "/" + index["instance"]).to_numpy()  # the index counts from 0
    for own, other in ((moves.source, moves.other_source), (moves.target, moves.other_target)):
        assert (index.loc[own, "angle"].to_numpy() == index.loc[other, "angle"].to_numpy()).all()
        assert set(index.loc[other, "pose"]) == {pose}
        assert (names[own] != names[other]).all()
    assert (names[moves.other_source] == names[moves.other_target]).all()
    deltas = Deltas(index)
    np.testing.assert_array_equal(deltas(moves.source, moves.target), deltas(moves.other_source, moves.other_target))
    assert set(moves.rows) >= set(moves.other_source)


@pytest.mark.parametrize(
    "config", [DataConfig(poses=("so3",), rotations=6), DataConfig(step=45.0, ranges={"hue": (0.0, 360.0)})]
)
def test_there_is_no_transfer_without_shared_moves(tmp_path: Path, config: DataConfig) -> None:
    index = make_index(tmp_path, config, count=3)
    moves = draw_moves(distinct(index, config.poses[0]), pairs=4)
    assert len(moves.source) == 24
    assert len(moves.shared) == len(moves.other_source) == 0
    deltas = Deltas(index)
    operator, z = LieOperator(5, [1] * len(deltas.factors)), torch.randn(len(index), 5)
    found = retrieve(operator, moves, table(z), deltas, WHOLE)
    assert np.isnan(found.mrr_transfer)
    assert 0 < found.mrr <= 1
    assert not leaks(found, chance(8))


def test_moves_depend_on_the_seed(index: pd.DataFrame) -> None:
    a, b, c = (draw_moves(distinct(index, "2d"), pairs=2, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.rows, b.rows)
    np.testing.assert_array_equal(a.target, b.target)
    assert (a.target != c.target).any()


def test_moves_need_two_poses(index: pd.DataFrame) -> None:
    typical = index[index["angle"] == 0]
    with pytest.raises(UserError, match="no instance with two poses"):
        draw_moves(distinct(typical, "2d"), pairs=2)


@pytest.mark.parametrize(
    ("mrr", "transfer", "expected"), [(0.9, 0.35, True), (0.9, 0.6, False), (0.4, 0.3, False), (1.0, 1.0, False)]
)
def test_what_counts_as_a_leak(mrr: float, transfer: float, expected: bool) -> None:
    found = Retrieval(8, mrr, 0.25, transfer, 0.5, 0.9, 0.1)
    assert leaks(found, chance(8)) is expected
