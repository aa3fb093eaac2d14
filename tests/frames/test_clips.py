"""Clips: which there are, that their steps are equal, and which data sets are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.clips import Clips
from lie_ssl.frames.loader import pair_loader
from lie_ssl.frames.make import make_frames
from tests.conftest import tiny_config


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    """Frames every 30 degrees, in the picture plane and on a turntable."""
    folder: Path = tmp_path_factory.mktemp("data") / "turned"
    return make_frames(tiny_config(step=30.0, poses=("2d", "yaw")), folder, workers=1)


def index_of(angles: list[float], pose: str = "yaw") -> pd.DataFrame:
    return pd.DataFrame({"pose": pose, "angle": angles})


@pytest.mark.parametrize("missing", [(), (0,), (3, 8)])
@pytest.mark.parametrize("length", [3, 5])
def test_the_clips_are_those_that_a_plain_search_finds(length: int, missing: tuple[int, ...]) -> None:
    slots = [s for s in np.random.default_rng(0).permutation(12).tolist() if s not in missing]
    found = Clips(index_of([30.0 * s - 90 for s in slots]), length).possible(np.arange(len(slots)))
    expected = set()
    for start in slots:
        for step in range(1, 6):
            clip = [(start + step * k) % 12 for k in range(length)]
            if len(set(clip)) == length and set(clip) <= set(slots):
                expected.add(tuple(clip))
    assert {tuple(slots[i] for i in clip) for clip in found.tolist()} == expected
    assert len(found) == len(expected)


def test_moments_of_a_video_do_not_wrap_around() -> None:
    found = Clips(index_of([0.0, 0.5, 1.0, 1.5, 2.0], "time"), 3).possible(np.arange(5))
    assert found.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 2, 4]]


@pytest.mark.parametrize("angles", [[0.0, 30.0, 61.0, 90.0], [0.0, 50.0, 100.0, 150.0]])
def test_unequal_steps_are_refused(angles: list[float]) -> None:
    with pytest.raises(UserError, match="the turntable poses are not at equal steps, so they make no clips"):
        Clips(index_of(angles), 3)


def test_free_rotations_are_refused() -> None:
    with pytest.raises(UserError, match="free rotations are drawn at random, so they make no clips"):
        Clips(index_of([10.0, 20.0], "so3"), 3)


def test_the_sampler_draws_clips_at_equal_steps(turned: FrameSet) -> None:
    index = turned.index
    steps = set()
    for batch in PairSampler(index, batch_size=6, passes=20, clip=5):
        assert batch.more is not None
        rows = np.column_stack([batch.first, batch.second, batch.more])
        for clip, paired, delta in zip(rows, batch.paired, batch.delta, strict=True):
            frames = index.loc[clip]
            assert len(set(frames["instance"])) == len(set(frames["class"])) == len(set(frames["pose"])) == 1
            assert len(set(clip)) == (5 if paired else 1)
            gaps = np.diff(frames["angle"].to_numpy()) % 360
            assert gaps == pytest.approx(gaps[0])
            assert not paired or 0 < gaps[0] < 180
            assert np.degrees(delta[0]) == pytest.approx(gaps[0], abs=1e-3)
            steps.add(round(gaps[0]))
    assert steps == {0, 30, 60, 150}  # 90 and 120 degrees come back to the first frame


def test_a_clip_of_two_frames_is_a_pair(turned: FrameSet) -> None:
    pairs = next(iter(PairSampler(turned.index, batch_size=6)))
    clips = next(iter(PairSampler(turned.index, batch_size=6, clip=2)))
    assert pairs.more is clips.more is None
    assert (pairs.first == clips.first).all()
    assert (pairs.second == clips.second).all()


def test_clips_as_tensors(turned: FrameSet) -> None:
    sampler = PairSampler(turned.index, batch_size=6, clip=4)
    batch, tensors = next(iter(sampler)), next(iter(pair_loader(turned, sampler)))
    assert batch.more is not None
    assert tensors["x_more"].shape == (6, 2, *tensors["x"].shape[1:])
    assert (tensors["x_more"][3, 1].numpy() == turned.inputs(batch.more[3, 1:])[0]).all()


def test_data_sets_without_clips_are_refused(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no instance has 3 3D poses at equal steps; use shorter clips, or"):
        PairSampler(tiny.index, batch_size=4, clip=3)  # two of six 3D poses are those of the typical frame
    lit = make_frames(tiny_config(poses=("2d",), ranges={"light": (-30.0, 30.0)}), tmp_path / "lit", workers=1)
    with pytest.raises(UserError, match="in a clip only the pose may vary, but light does too"):
        PairSampler(lit.index, batch_size=4, clip=3)
    with pytest.raises(ValueError, match="a clip has at least 3 frames"):
        Clips(index_of([0.0, 90.0]), 2)
