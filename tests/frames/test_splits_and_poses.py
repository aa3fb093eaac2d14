"""Splits, the order of diverse instances, and poses, as defined by the protocol."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.factors import all_factors
from lie_ssl.frames.kinds import ANGLE_KINDS
from lie_ssl.frames.pairs import seen_instances
from lie_ssl.frames.poses import geodesic, instance_poses, rotation
from lie_ssl.frames.splits import assign, is_diverse, n_diverse, round_half_up, training_counts, with_few_poses

ROTATIONS = {"2d": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])}


def test_fifty_instances_are_split_37_5_8() -> None:
    result = assign([str(i) for i in range(50)], "chair")
    splits = [s for s, _ in result.values()]
    assert [splits.count(s) for s in ("train", "validation", "test")] == [37, 5, 8]
    ranks = sorted(r for s, r in result.values() if s == "train")
    assert ranks == list(range(37))
    assert {r for s, r in result.values() if s != "train"} == {-1}


def test_diverse_instances_are_nested_and_never_empty() -> None:
    assert [n_diverse(p, 37) for p in (0.05, 0.25, 0.5)] == [2, 9, 19]
    assert n_diverse(0.05, 3) == 1
    assert [round_half_up(x) for x in (0.5, 1.5, 2.5, 2.4999, 7.5)] == [1, 2, 3, 2, 8]


def test_one_rule_selects_diverse_instances(tiny: FrameSet) -> None:
    index, counts = tiny.index, training_counts(tiny.index)
    assert set(counts.values()) == {6}
    for proportion, ranks in ((0.05, {0}), (0.5, {0, 1, 2}), (1.0, set(range(6)))):
        varies = is_diverse(index, proportion, counts)
        assert set(index["diverse_rank"][varies]) == ranks
        assert set(index["split"][varies]) == {"train"}
        turning = [i for i in seen_instances(index, diverse=proportion) if i.kinds]
        assert {i.typical for i in turning} <= set(index.index[varies])
        assert len(turning) == len(index[varies].groupby(["class", "instance"]))
    assert not is_diverse(index, 0.5, {}).any()
    with pytest.raises(UserError, match="must be above 0"):
        is_diverse(index, 0.0, counts)


@given(st.integers(1, 80), st.integers(0, 5))
def test_every_instance_has_one_split_and_training_is_never_empty(n: int, seed: int) -> None:
    names = [f"i{i}" for i in range(n)]
    result = assign(names, "car", seed=seed)
    assert set(result) == set(names)
    assert any(s == "train" for s, _ in result.values())
    assert result == assign(names, "car", seed=seed)


def test_classes_and_seeds_are_split_differently() -> None:
    names = [str(i) for i in range(50)]
    assert assign(names, "car") != assign(names, "mug")
    assert assign(names, "car") != assign(names, "car", seed=1)


def test_the_paper_has_180_poses_of_which_178_are_distinct() -> None:
    poses = instance_poses(DataConfig(step=4), "chair", "0000")
    assert len(poses) == 180
    twins = {(p.kind, p.angle): p.duplicate_of for p in poses if p.duplicate_of >= 0}
    assert twins == {("3d", 0.0): 0, ("3d", 180.0): 0}


def test_rotations_are_rotations() -> None:
    assert rotation("2d", 90) == pytest.approx(ROTATIONS["2d"])
    for angle in range(0, 360, 7):
        for kind in ANGLE_KINDS:
            matrix = rotation(kind, angle)
            assert matrix @ matrix.T == pytest.approx(np.eye(3))
            assert np.linalg.det(matrix) == pytest.approx(1)
    # First about x, then y, then z, each by the same angle.
    c, s = np.cos(0.5), np.sin(0.5)
    x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    assert rotation("3d", np.degrees(0.5)) == pytest.approx(z @ y @ x)


def test_free_rotations_are_uniform_and_determined_by_the_seed() -> None:
    config = DataConfig(poses=("so3",), rotations=2000)
    poses = instance_poses(config, "chair", "0001")
    assert poses[0].rotation == pytest.approx(np.eye(3))
    matrices = np.stack([p.rotation for p in poses])
    assert matrices.mean(axis=0) == pytest.approx(np.zeros((3, 3)), abs=0.05)
    # The angle of a uniform rotation has the density (1 - cos) / pi, with mean pi / 2 + 2 / pi.
    angles = np.radians([geodesic(m) for m in matrices[1:]])
    assert angles.mean() == pytest.approx(np.pi / 2 + 2 / np.pi, abs=0.05)
    again = instance_poses(config, "chair", "0001")
    other = instance_poses(config, "chair", "0002")
    assert all(np.array_equal(a.rotation, b.rotation) for a, b in zip(poses, again, strict=True))
    assert not np.array_equal(poses[5].rotation, other[5].rotation)


def test_other_factors_vary_within_their_ranges_but_not_in_the_typical_pose() -> None:
    ranges = {"elevation": (-20, 10), "light": (-60, 60), "hue": (0, 360), "scale": (0.5, 1)}
    poses = instance_poses(DataConfig(step=30, repeats=3, ranges=ranges), "mug", "0000")
    assert len(poses) == 2 * 12 * 3
    typical = poses[0].view(all_factors())
    assert (typical.elevation, typical.light, typical.hue, typical.scale) == (0, 0, 0, 1)
    for name, (low, high) in ranges.items():
        values = [p.values[name] for p in poses[1:] if p.values]
        assert [getattr(p.view(all_factors()), name) for p in poses[1:] if p.values] == values
        assert low <= min(values) <= max(values) <= high
        assert len(set(values)) > 50


def test_hue_alone_can_vary() -> None:
    poses = instance_poses(DataConfig(poses=("2d",), step=360, repeats=20, ranges={"hue": (0, 360)}), "mug", "0000")
    assert len(poses) == 20
    assert len({p.values.get("hue", 0.0) for p in poses}) == 20
    assert all(p.angle == 0 and p.duplicate_of == -1 for p in poses)


@pytest.mark.parametrize(
    "bad",
    [
        {"instances": 0}, {"step": 0.0}, {"poses": ()}, {"poses": ("2d", "2d")}, {"validation": 0.6, "test": 0.5},
        {"poses": ("4d",)}, {"poses": "2d"}, {"classes": "car"}, {"source": "web"}, {"source": "folder"},
        {"source": "folder", "path": ".", "layout": "tree"}, {"source": "folder", "path": ".", "up": "x"},
        {"backend": "gpu"}, {"rotations": 0}, {"ranges": ("hue", 1)},
        *({"ranges": {"hue": bad}} for bad in (30, (0, np.nan), (10, 0), (0, 1, 2), ("a", "b"), "12", (0, 10**400))),
        {"ranges": {"scale": (0.0, 1.0)}}, {"ranges": {"scale": (0.5, 1.5)}},
    ],
)  # fmt: skip
def test_bad_configs(bad: dict[str, object]) -> None:
    with pytest.raises(UserError):
        DataConfig(**bad)  # type: ignore[arg-type]


def test_few_poses_of_training_instances(tiny: FrameSet) -> None:
    index = tiny.index
    kept = with_few_poses(index, 3)
    own = kept[kept["split"] == "train"]
    assert (own.groupby(["class", "instance", "pose"]).size() == 3).all()
    distinct = index[(index["split"] == "train") & index["duplicate_of"].isna()]
    for name, frames in distinct.groupby(["class", "instance", "pose"]):
        assert frames.index[0] in kept.index, name  # the typical pose is always shown
    assert kept.index[kept["split"] != "train"].equals(index.index[index["split"] != "train"])
    assert with_few_poses(index, 3).index.equals(kept.index)
    several = {tuple(f["angle"]) for _, f in own[own["pose"] == "2d"].groupby(["class", "instance"])}
    assert len(several) > 1  # drawn for every object, so that moves differ
    assert with_few_poses(index, None) is index
    every = with_few_poses(index, 1000)
    repeated = index["duplicate_of"].notna() & (index["split"] == "train")
    assert set(index.index) - set(every.index) == set(index.index[repeated])
