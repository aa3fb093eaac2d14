"""Pairs: as in the paper, independent of the number of workers, split over ranks without overlap."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler, make_frames
from lie_ssl.frames.factors import wrapped
from lie_ssl.frames.loader import endless_loader, pair_loader
from lie_ssl.frames.pairs import Deltas, PairBatch, pose_kinds
from tests.conftest import tiny_config


def all_pairs(sampler: PairSampler) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for batch in sampler for a, b in zip(batch.first, batch.second, strict=True)]


@given(st.floats(-2000, 2000))
def test_wrapped(degrees: float) -> None:
    value = float(wrapped(np.array(degrees)))
    assert -np.pi < value <= np.pi
    assert np.cos(value) == pytest.approx(np.cos(np.radians(degrees)), abs=1e-9)
    assert np.sin(value) == pytest.approx(np.sin(np.radians(degrees)), abs=1e-9)
    assert float(wrapped(np.array(180.0))) == float(wrapped(np.array(-180.0))) == np.pi


def test_a_pair_has_one_training_instance_and_one_kind_of_pose(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=6, passes=30)
    index = tiny.index
    for batch in sampler:
        a, b = index.loc[batch.first], index.loc[batch.second]
        for column in ("class", "instance", "pose"):
            assert (a[column].to_numpy() == b[column].to_numpy()).all()
        assert set(a["split"]) == {"train"}
        assert a["duplicate_of"].isna().all()
        assert b["duplicate_of"].isna().all()
        difference = wrapped(b["angle"].to_numpy() - a["angle"].to_numpy())
        assert batch.delta[:, 0] == pytest.approx(difference, abs=1e-6)
        assert (batch.paired == (batch.first != batch.second)).all()


def test_half_of_the_instances_vary_and_the_others_have_the_typical_pose(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=18, passes=20)
    seen: dict[tuple[str, str], set[int]] = {}
    for first, second in all_pairs(sampler):
        row = tiny.index.loc[first]
        seen.setdefault((str(row["class"]), str(row["instance"])), set()).update((first, second))
    ranks = tiny.index[tiny.index["split"] == "train"].groupby(["class", "instance"])["diverse_rank"].first()
    for key, rows in seen.items():
        if ranks[key] < 3:  # 50 % of six training instances
            assert len(rows) > 2
        else:
            assert len(rows) == 1
            only = tiny.index.loc[rows.pop()]
            assert (only["pose"], only["angle"]) == ("2d", 0.0)
    assert len(seen) == 18


def test_without_singles_every_row_is_a_pair(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=3, singles=False)
    assert all(batch.paired.all() for batch in sampler)
    assert len(sampler.instances) == 9


def test_pairs_cover_both_directions_and_all_kinds(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=9, passes=400, singles=False)
    pairs = all_pairs(sampler)
    counts = Counter(tiny.index["pose"].to_numpy()[[a for a, _ in pairs]])
    assert counts["2d"] / len(pairs) == pytest.approx(0.6, abs=0.05)  # 6 of the 10 distinct poses
    forward = sum(a < b for a, b in pairs)
    assert forward / len(pairs) == pytest.approx(0.5, abs=0.05)


def test_pairs_depend_on_seed_and_epoch(tiny: FrameSet) -> None:
    def run(seed: int, epoch: int) -> list[tuple[int, int]]:
        sampler = PairSampler(tiny.index, batch_size=6, seed=seed)
        sampler.set_epoch(epoch)
        return all_pairs(sampler)

    assert run(0, 0) == run(0, 0)
    assert len({str(run(s, e)) for s in (0, 1) for e in (0, 1, 2)}) == 6


@pytest.mark.parametrize("world_size", [2, 3])
def test_ranks_split_the_joined_batches(tiny: FrameSet, world_size: int) -> None:
    joined = list(PairSampler(tiny.index, batch_size=6))
    parts = [list(PairSampler(tiny.index, batch_size=6, rank=r, world_size=world_size)) for r in range(world_size)]
    for whole, *pieces in zip(joined, *parts, strict=True):
        for field in ("first", "second", "delta", "paired"):
            assert np.array_equal(getattr(whole, field), np.concatenate([getattr(p, field) for p in pieces]))


def test_last_batch(tiny: FrameSet) -> None:
    sizes = [len(b.first) for b in PairSampler(tiny.index, batch_size=7, drop_last=False)]
    assert sizes == [7, 7, 4]
    assert [len(b.first) for b in PairSampler(tiny.index, batch_size=7)] == [7, 7]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_loader_gives_the_same_batches_with_any_number_of_workers(tiny: FrameSet, workers: int) -> None:
    sampler = PairSampler(tiny.index, batch_size=6, seed=3)
    alone, many = list(pair_loader(tiny, sampler)), list(pair_loader(tiny, sampler, workers))
    assert len(alone) == len(many) == 3
    for a, b in zip(alone, many, strict=True):
        for key in ("x", "x_next", "delta", "label", "paired"):
            assert (a[key] == b[key]).all()
    batch: PairBatch = next(iter(sampler))
    assert np.array_equal(alone[0]["x"].permute(0, 2, 3, 1).numpy(), tiny.read(batch.first))
    assert alone[0]["x"].shape == (6, 3, 16, 16)
    assert [tiny.classes[i] for i in alone[0]["label"]] == list(tiny.index.loc[batch.first, "class"])


def test_free_rotations_and_factors_have_their_own_deltas(tmp_path: Path) -> None:
    config = tiny_config(poses=("so3",), rotations=12, instances=4, ranges={"hue": (0, 360), "scale": (0.5, 1.0)})
    frames = make_frames(config, tmp_path / "d", workers=1)
    sampler = PairSampler(frames.index, batch_size=6, singles=False, passes=5)
    assert sampler.deltas.factors == ("pose", "hue", "scale")
    for batch in sampler:
        a, b = frames.index.loc[batch.first], frames.index.loc[batch.second]
        for k in range(len(batch.first)):
            ra, rb = (np.array(f["rotation"].iloc[k], np.float64).reshape(3, 3) for f in (a, b))
            angle = np.arccos(np.clip((np.trace(rb @ ra.T) - 1) / 2, -1, 1))
            hue = wrapped(b["hue"].iloc[k] - a["hue"].iloc[k])
            scale = np.log(b["scale"].iloc[k] / a["scale"].iloc[k])
            assert batch.delta[k] == pytest.approx([angle, hue, scale], abs=1e-4)


def test_every_kind_of_pose_can_be_a_separate_factor(tiny: FrameSet) -> None:
    kinds = pose_kinds(tiny.index)
    assert kinds == ("2d", "3d")
    joint = PairSampler(tiny.index, batch_size=6, passes=30)
    split = PairSampler(tiny.index, batch_size=6, passes=30, kinds=kinds)
    assert joint.deltas.factors == ("pose",)
    assert joint.deltas.kinds == ()
    assert split.deltas.factors == split.deltas.kinds == kinds
    seen = set()
    for together, apart in zip(joint, split, strict=True):
        assert np.array_equal(together.first, apart.first)  # the same pairs
        assert np.array_equal(together.second, apart.second)
        assert together.delta.shape == (6, 1)
        assert apart.delta.shape == (6, 2)
        assert apart.delta.dtype == np.float32
        for row, own, delta in zip(apart.first, together.delta[:, 0], apart.delta, strict=True):
            kind = tiny.index.loc[row, "pose"]
            seen.add(kind)
            assert delta.tolist() == [own if kind == k else 0 for k in kinds]
    assert seen == set(kinds)


def test_kinds_come_before_other_factors_in_the_requested_order(tmp_path: Path) -> None:
    config = tiny_config(poses=("2d", "so3"), rotations=8, instances=4, ranges={"hue": (0, 360)})
    index = make_frames(config, tmp_path / "d", workers=1).index
    assert pose_kinds(index) == ("2d", "so3")
    joint, deltas = Deltas(index), Deltas(index, ("so3", "3d", "2d"))
    assert deltas.factors == ("so3", "3d", "2d", "hue")
    for kind, column in (("so3", 0), ("2d", 2)):
        rows = index.index[index["pose"] == kind].to_numpy()[:8]
        expected = np.zeros((7, 4), np.float32)
        expected[:, [column, 3]] = joint(rows[:-1], rows[1:])
        assert np.array_equal(deltas(rows[:-1], rows[1:]), expected)
        assert expected[:, column].any()


def test_bad_samplers(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="multiple of the 4 processes"):
        PairSampler(tiny.index, batch_size=6, world_size=4)
    with pytest.raises(UserError, match="rank is 2"):
        PairSampler(tiny.index, batch_size=6, world_size=2, rank=2)
    single = make_frames(tiny_config(step=360.0, poses=("2d",)), tmp_path / "d", workers=1)
    with pytest.raises(UserError, match="has no pairs, as no instance has two poses"):
        PairSampler(single.index, batch_size=6)


def test_a_subset_of_the_index_in_any_order_gives_the_same_deltas(tiny: FrameSet) -> None:
    shuffled = tiny.index.sample(frac=1, random_state=0)
    for batch in PairSampler(shuffled, batch_size=6, passes=3):
        angles = tiny.index["angle"].to_numpy()
        assert batch.delta[:, 0] == pytest.approx(wrapped(angles[batch.second] - angles[batch.first]), abs=1e-6)
    mugs = PairSampler(tiny.index[tiny.index["class"] == "mug"], batch_size=3, passes=4)
    for batch in mugs:
        assert set(tiny.index.loc[batch.first, "class"]) == {"mug"}
    with pytest.raises(UserError, match="row numbers"):
        PairSampler(tiny.index.reset_index(drop=True), batch_size=3)


def test_samplers_without_batches(tiny: FrameSet) -> None:
    with pytest.raises(UserError, match="a batch of 256 is larger than an epoch of 18 instances"):
        PairSampler(tiny.index, batch_size=256)
    with pytest.raises(UserError, match="there is no 'tset' split; there are test, train, validation"):
        PairSampler(tiny.index, batch_size=2, split="tset")
    with pytest.raises(UserError, match="seed is -1"):
        PairSampler(tiny.index, batch_size=2, seed=-1)


def equal(a: PairBatch, b: PairBatch) -> bool:
    return all(np.array_equal(getattr(a, f), getattr(b, f)) for f in ("first", "second", "delta", "paired"))


def test_an_epoch_can_start_at_any_batch(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=4, passes=2)
    sampler.set_epoch(5)
    whole = list(sampler)
    assert len(whole) == len(sampler) == 9
    for first in (0, 1, 8, 9):
        rest = list(sampler.batches(first))
        assert len(rest) == 9 - first
        assert all(equal(a, b) for a, b in zip(rest, whole[first:], strict=True))


def test_skipped_batches_are_not_drawn(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = PairSampler(tiny.index, batch_size=6)
    drawn: list[int] = []
    pair = sampler._pair

    def spied(turn: int, number: int, which: int) -> tuple[int, ...]:
        drawn.append(number)
        return pair(turn, number, which)

    monkeypatch.setattr(sampler, "_pair", spied)
    list(sampler.batches(2))
    assert len(drawn) == 6  # only the last batch


@pytest.mark.parametrize("rank", [0, 1])
def test_endless_repeats_epochs_from_any_batch(tiny: FrameSet, rank: int) -> None:
    def sampler() -> PairSampler:
        return PairSampler(tiny.index, batch_size=6, seed=2, rank=rank, world_size=2)

    epochs = []
    for epoch in range(4):
        one = sampler()
        one.set_epoch(epoch)
        epochs += list(one)
    assert len(epochs) == 12  # three batches per epoch
    for first in (0, 1, 3, 7):
        found = list(islice(sampler().endless(first), 12 - first))
        assert all(equal(a, b) for a, b in zip(found, epochs[first:], strict=True))
    assert not equal(epochs[0], epochs[3])


def test_endless_restarts_at_each_iteration(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=6)
    first = list(islice(sampler.endless(), 5))
    sampler.set_epoch(9)
    again = list(islice(sampler.endless(), 5))
    assert all(equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("workers", [0, 2])
def test_the_endless_loader_resumes_at_a_given_batch(tiny: FrameSet, workers: int) -> None:
    expected = list(islice(PairSampler(tiny.index, batch_size=6, seed=3).endless(2), 4))
    loader = endless_loader(tiny, PairSampler(tiny.index, batch_size=6, seed=3), 2, workers)
    batches = iter(loader)
    for batch in expected:
        found = next(batches)
        assert np.array_equal(found["x"].permute(0, 2, 3, 1).numpy(), tiny.read(batch.first))
        assert np.array_equal(found["x_next"].permute(0, 2, 3, 1).numpy(), tiny.read(batch.second))
        assert np.array_equal(found["delta"].numpy(), batch.delta)
        assert np.array_equal(found["paired"].numpy(), batch.paired)
        assert np.array_equal(found["label"].numpy(), tiny.labels[batch.first])
    with pytest.raises(TypeError):
        len(loader)  # it is infinite


def test_several_pairs_per_object_share_the_first_frame(tiny: FrameSet) -> None:
    sampler = PairSampler(tiny.index, batch_size=12, passes=12, singles=False, per_object=3)
    objects = tiny.index["class"].astype(str) + tiny.index["instance"].astype(str)
    for batch in sampler:
        first, second = (rows.reshape(-1, 3) for rows in (batch.first, batch.second))
        assert (first == first[:, :1]).all()
        assert all(len({*a, *b}) == 4 for a, b in zip(first, second, strict=True))  # no frame twice
        assert (objects[second.ravel()].to_numpy() == objects[first.ravel()].to_numpy()).all()
    assert len(sampler) == len(sampler.instances) * 12 * 3 // 12


def test_one_pair_per_object_is_as_before(tiny: FrameSet) -> None:
    """Results of earlier versions depend on these draws."""
    one = PairSampler(tiny.index, batch_size=6, singles=False)
    random = np.random.default_rng((0, 0, 0, 4))
    kinds = one.instances[4].kinds
    weights = np.array([len(k) for k in kinds], np.float64)
    kind = kinds[int(random.choice(len(kinds), p=weights / weights.sum()))]
    assert one._pair(0, 4, 0) == tuple(random.choice(kind, 2, replace=False))


def test_bad_numbers_of_pairs_per_object(tiny: FrameSet) -> None:
    for number in (0, 4):
        with pytest.raises(UserError, match="pairs per object"):
            PairSampler(tiny.index, batch_size=6, per_object=number)
    with pytest.raises(UserError, match="more poses"):
        PairSampler(tiny.index, batch_size=1000, per_object=1000, passes=1000)
    with pytest.raises(UserError, match="pairs per object"):
        PairSampler(tiny.index, batch_size=12, per_object=4, world_size=2)
