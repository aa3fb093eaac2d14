"""Rotated photographs as a data set: splits, angles and what is shown."""

from __future__ import annotations

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.photoset import PhotoSet, angle_of
from lie_ssl.frames.turned import TurnedConfig, import_turned, in_circle, test_rows, turned, turned_copies
from tests.protocol.test_transfer import photographs

test_rows.__test__ = False  # type: ignore[attr-defined]
CONFIG = TurnedConfig("stripes.zip", size=16, copies=2, turns=4)


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> PhotoSet:
    return PhotoSet(photographs(tmp_path_factory.mktemp("photos") / "stripes.zip", count=4), 16)


@pytest.fixture(scope="module")
def frames(photos: PhotoSet, tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    train = photos.rows("train")
    parts = {"train": train[:6], "validation": train[6:], "test": photos.rows("test")}
    return import_turned(photos, parts, CONFIG, tmp_path_factory.mktemp("turned") / "data")


def test_splits_and_poses(frames: FrameSet) -> None:
    index = frames.index
    assert index.groupby("split").size().to_dict() == {"train": 6 * 3, "validation": 2 * 8, "test": 8 * 8}
    assert set(index["pose"]) == {"2d"}
    train = index[index["split"] == "train"]
    assert sorted(train.groupby("class")["diverse_rank"].unique().map(len)) == [2, 4]
    assert (train["angle"].to_numpy()[::3] == 0).all()
    assert (index[index["split"] != "train"]["diverse_rank"] == -1).all()


def test_pictures_and_angles(photos: PhotoSet, frames: FrameSet) -> None:
    """A test picture shows the photograph as it is or rotated by the angle of its file; copies are made from it."""
    at, rows = test_rows(frames, "test", CONFIG.turns), photos.rows("test")
    pictures, digests = photos.read_with_digests(rows)
    given = [angle_of(digest) for digest in digests]
    rotated = [in_circle(turned(p, angle)) for p, angle in zip(pictures, given, strict=True)]
    assert np.array_equal(frames.read(at.rotated[:, 1]), [in_circle(turned(p, 90)) for p in rotated])
    assert np.array_equal(
        frames.read(at.upright[:, 0]), [in_circle(turned(in_circle(turned(p, 0)), 0)) for p in pictures]
    )
    angles = frames.index["angle"].to_numpy()
    assert np.allclose(angles[at.rotated[:, 0]], given)
    assert np.allclose(np.mod(angles[at.rotated[:, 3]] - given, 360), 270)


def test_copies_are_turned_counter_clockwise_inside_a_circle() -> None:
    picture = np.full((1, 8, 8, 1), 9, np.uint8)
    picture[0, 0, 3:5] = 200  # at the top
    found = turned_copies(picture, 4)
    assert found.shape == (1, 4, 8, 8, 1)
    assert (found[0, :, 0, 0] == 0).all()
    assert (found[0, 1, 3:5, 0] > 100).all()  # a quarter turn later on the left
    with pytest.raises(UserError, match="turns"):
        turned_copies(picture, 0)


def test_upright_pictures_are_as_smooth_as_rotated_ones() -> None:
    """A picture that is only copied at angle 0 would be sharper than all others."""
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 1), np.uint8)

    def detail(picture: np.ndarray) -> float:
        inner = picture[16:48, 16:48].astype(float)
        return float(np.abs(np.diff(inner, axis=0)).mean() + np.abs(np.diff(inner, axis=1)).mean())

    sharp = [detail(turned(noise, degrees)) for degrees in (0, 20, 45, 77, 90)]
    assert max(sharp) / min(sharp) < 1.25
    assert detail(noise) / sharp[2] > 1.25  # which copying would show


def test_a_circle_hides_the_corners_alone() -> None:
    picture = np.full((9, 9, 3), 7, np.uint8)
    found = in_circle(picture)
    assert (found[0, 0] == 0).all()
    assert (found[4] == 7).all()
    assert (found[:, 4] == 7).all()


def test_settings_are_checked() -> None:
    with pytest.raises(UserError, match="copies is 0"):
        TurnedConfig("x", copies=0)
