"""The training, validation and test sets, from the index alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet, PairSampler, make_frames
from lie_ssl.frames.index import InstanceRows, build_index, read_index, write_index
from lie_ssl.frames.poses import instance_poses
from lie_ssl.frames.splits import assign, assign_objects
from lie_ssl.protocol.settings import PROPORTIONS, SETTINGS, Settings, check_proportions
from tests.conftest import tiny_config

Pairs = set[tuple[str, str]]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Three classes of 40 instances, 2d and 3d poses every 45 degrees; no pictures."""
    config, names = DataConfig(step=45.0), [f"{i:02d}" for i in range(40)]
    rows = []
    for name in ("cup", "hat", "jar"):
        for instance, (split, rank) in sorted(assign(names, name).items()):
            poses = instance_poses(config, name, instance)
            rows.append(InstanceRows(name, instance, split, rank, "none", poses, shard=0, first_slot=0))
    path: Path = tmp_path_factory.mktemp("index") / "index.parquet"
    write_index(path, build_index(rows))
    return read_index(path)


@pytest.fixture(scope="module")
def settings(index: pd.DataFrame) -> Settings:
    return Settings(index)


def instances(index: pd.DataFrame, rows: np.ndarray) -> Pairs:
    own = index.loc[rows]
    return set(zip(own["class"], own["instance"], strict=True))


def of_split(index: pd.DataFrame, split: str) -> Pairs:
    return instances(index, index.index[index["split"] == split].to_numpy())


def training_rows(index: pd.DataFrame, settings: Settings) -> Iterator[np.ndarray]:
    """The training data of all phases: batches of pairs, and the supervised sets, which k-NN uses too."""
    sampler = PairSampler(index, batch_size=16, seed=3, passes=2)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for batch in sampler:
            yield np.concatenate([batch.first, batch.second])
    for proportion in (*PROPORTIONS, 1.0):
        yield settings.training(proportion).all


def test_unknown_and_validation_instances_are_never_trained_on(index: pd.DataFrame, settings: Settings) -> None:
    train, validation, unknown = (of_split(index, s) for s in ("train", "validation", "test"))
    assert len(unknown) == 3 * 6
    assert not unknown & train
    for rows in training_rows(index, settings):
        assert instances(index, rows) <= train
    chosen = np.concatenate(settings.validation())
    assert instances(index, chosen) == validation
    for poses in settings.poses:
        assert instances(index, settings.test("unknown_diverse", poses)) == unknown
        assert instances(index, settings.test("unknown_typical", poses)) == unknown


def test_proportions_are_nested(index: pd.DataFrame, settings: Settings) -> None:
    sets = [instances(index, settings.training(p).diverse) for p in PROPORTIONS]
    assert [len(s) for s in sets] == [3 * 2, 3 * 8, 3 * 15]  # 30 training instances: 1.5, 7.5 and 15, rounded half up
    assert sets[0] < sets[1] < sets[2]


@pytest.mark.parametrize("proportion", PROPORTIONS)
def test_a_training_set_has_every_instance_once(index: pd.DataFrame, settings: Settings, proportion: float) -> None:
    rows = settings.training(proportion)
    diverse, typical = instances(index, rows.diverse), instances(index, rows.typical)
    assert diverse | typical == of_split(index, "train")
    assert not diverse & typical
    assert len(rows.typical) == len(typical)  # one frame each
    assert (index.loc[rows.typical, "angle"] == 0).all()
    distinct = index[index["duplicate_of"].isna()].groupby(["class", "instance"]).size()
    assert len(rows.diverse) == int(distinct.loc[list(diverse)].sum())


def test_known_new_is_new_in_both_phases_and_at_every_proportion(index: pd.DataFrame, settings: Settings) -> None:
    sampler = PairSampler(index, batch_size=30, seed=1, passes=4)
    diverse: Pairs = set()
    for epoch in range(10):
        sampler.set_epoch(epoch)
        for batch in sampler:
            diverse |= instances(index, batch.first[batch.paired])
    assert len(diverse) == 45
    for poses in ("2d", "3d"):
        rows = settings.test("known_new", poses)
        assert len(rows)
        assert instances(index, rows) == of_split(index, "train") - diverse
        for proportion in PROPORTIONS:
            np.testing.assert_array_equal(settings.test("known_new", poses, proportion), rows)
            assert not set(rows) & set(settings.training(proportion).all)


def test_known_new_supervised_depends_on_the_proportion(index: pd.DataFrame, settings: Settings) -> None:
    sets = [set(settings.test("known_new_supervised", "2d", p)) for p in PROPORTIONS]
    assert sets[0] > sets[1] > sets[2]
    assert sets[2] == set(settings.test("known_new", "2d"))
    for proportion, rows in zip(PROPORTIONS, sets, strict=True):
        assert not rows & set(settings.training(proportion).all)


def test_instances_that_a_phase_has_seen_are_not_in_known_new(index: pd.DataFrame) -> None:
    wide = Settings(index, seen=0.8)
    assert not instances(index, wide.test("known_new", "2d")) & instances(index, wide.training(0.8).diverse)
    assert len(Settings(index, seen=1.0).test("known_new", "2d")) == 0


def test_duplicate_frames_are_in_no_set(index: pd.DataFrame, settings: Settings) -> None:
    duplicates = set(index.index[index["duplicate_of"].notna()])
    assert len(duplicates) == 120 * 2  # 3d at 0 and at 180 degrees look like 2d at 0
    parts = [settings.test(s, p) for s in SETTINGS for p in settings.poses]
    parts += [*settings.validation(), *(settings.training(p).all for p in PROPORTIONS)]
    assert not duplicates & {int(r) for part in parts for r in part}


@pytest.mark.parametrize("limit", [None, 7])
def test_typical_frames_are_the_same_for_every_kind_of_pose(index: pd.DataFrame, limit: int | None) -> None:
    settings = Settings(index, limit=limit)
    for setting in ("known_typical", "unknown_typical"):
        flat, solid = settings.test(setting, "2d"), settings.test(setting, "3d")
        np.testing.assert_array_equal(flat, solid)
        assert set(zip(index.loc[flat, "pose"], index.loc[flat, "angle"], strict=True)) == {("2d", 0.0)}
    for setting in ("known_new", "unknown_diverse"):
        assert set(index.loc[settings.test(setting, "3d"), "pose"]) == {"3d"}


def test_a_limit_draws_the_same_frames_each_time(index: pd.DataFrame) -> None:
    whole = Settings(index).test("unknown_diverse", "2d")
    a, b, other = (Settings(index, limit=20, seed=s).test("unknown_diverse", "2d") for s in (4, 4, 5))
    np.testing.assert_array_equal(a, b)
    assert len(a) == len(other) == 20
    assert set(a) != set(other)
    assert set(a) | set(other) <= set(whole)
    assert len(Settings(index, limit=len(whole)).test("unknown_diverse", "2d")) == len(whole)


def test_rows_of_a_part_of_the_index_keep_their_numbers(index: pd.DataFrame) -> None:
    part = index[index["class"] == "jar"]
    assert set(Settings(part).training(0.5).all) <= set(part.index)


def test_settings_of_a_rendered_data_set(tiny: FrameSet) -> None:
    settings = Settings(tiny.index)
    assert settings.poses == ("2d", "3d")
    assert set(tiny.index.loc[settings.test("unknown_typical", "2d"), "split"]) == {"test"}


@pytest.mark.parametrize("proportion", [0.0, -0.1, 1.5])
def test_wrong_proportions(settings: Settings, proportion: float) -> None:
    with pytest.raises(UserError, match="must be above 0"):
        settings.training(proportion)


def test_wrong_settings_and_sets(index: pd.DataFrame, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no setting 'known'; choose known_typical"):
        settings.test("known", "2d")
    with pytest.raises(UserError, match="no training instances"):
        Settings(index[index["split"] == "test"])
    bare = make_frames(tiny_config(validation=0.0, instances=3, step=180.0), tmp_path / "bare", workers=1)
    with pytest.raises(UserError, match=r"no validation instances, .* larger --validation"):
        Settings(bare.index).validation()


def test_too_few_instances_for_the_proportions(index: pd.DataFrame) -> None:
    check_proportions(index, PROPORTIONS)
    few = index[(index["split"] != "train") | (index["diverse_rank"] < 2)]
    with pytest.raises(UserError, match=r"5 % and 25 % diverse select the same .* as few as 2 training instances"):
        check_proportions(few, PROPORTIONS)
    check_proportions(few, (0.5,))
    with pytest.raises(UserError, match="50 % and 51 % diverse select the same"):  # not adjacent in the list
        check_proportions(index, (0.5, 0.05, 0.51))


def test_every_class_may_be_a_single_object(tmp_path: Path) -> None:
    """Of 12 objects on a turntable, half are diverse; of the others, a third are for validation, the rest for tests."""
    names = [f"obj{i:02d}" for i in range(12)]
    ranks = assign_objects(names)
    assert sorted(ranks.values()) == [0] * 6 + [1] * 6
    assert ranks != assign_objects(names, seed=1)
    poses = instance_poses(DataConfig(step=45.0), "", "")
    rows = [InstanceRows(n, n, "train", ranks[n], "none", poses, shard=0, first_slot=0) for n in names]
    write_index(tmp_path / "index.parquet", build_index(rows))
    index = read_index(tmp_path / "index.parquet")
    settings = Settings(index)
    training = settings.training(0.5)
    diverse = {c for c, _ in instances(index, training.diverse)}
    assert diverse == {n for n in names if ranks[n] == 0}
    assert {c for c, _ in instances(index, training.all)} == set(names)
    typical, other = settings.validation()
    validation = {c for c, _ in instances(index, other)}
    tested = {c for c, _ in instances(index, settings.test("known_new", "2d"))}
    assert (len(validation), len(tested)) == (2, 4)
    assert not validation & tested
    assert not (validation | tested) & diverse
    assert {c for c, _ in instances(index, typical)} == validation == set(settings.validation_frames["class"])
    assert len(settings.test("known_typical", "2d")) == 12
    assert len(settings.test("unknown_diverse", "2d")) == 0
    # The pairs of the self-supervised phase are those of the diverse objects.
    sampler = PairSampler(index, batch_size=6, singles=False)
    assert {index["class"][i.typical] for i in sampler.instances} == diverse
