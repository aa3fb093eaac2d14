"""Rotated photographs as a data set: splits, angles and what is shown."""

from __future__ import annotations

import numpy as np
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.photoset import PhotoSet, TurnedPhotos, angle_of, turned
from lie_ssl.frames.turned import TurnedConfig, import_turned, in_circle, test_rows
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
    """The rotated test picture is that of a finetuning transfer, inside a circle, and its copies are made from it."""
    at = test_rows(frames, "test", CONFIG.turns)
    rows = photos.rows("test")
    shown = [in_circle(p) for p in TurnedPhotos(photos).read(rows)]
    assert np.array_equal(frames.read(at.rotated[:, 0]), shown)
    assert np.array_equal(frames.read(at.upright[:, 0]), [in_circle(p) for p in photos.read(rows)])
    assert np.array_equal(frames.read(at.rotated[:, 1]), [in_circle(turned(p, 90)) for p in shown])
    angles = frames.index["angle"].to_numpy()
    given = [angle_of(d) for d in photos.read_with_digests(rows)[1]]
    assert np.allclose(angles[at.rotated[:, 0]], given)
    assert np.allclose(np.mod(angles[at.rotated[:, 3]] - given, 360), 270)


def test_a_circle_hides_the_corners_alone() -> None:
    picture = np.full((9, 9, 3), 7, np.uint8)
    found = in_circle(picture)
    assert (found[0, 0] == 0).all()
    assert (found[4] == 7).all()
    assert (found[:, 4] == 7).all()


def test_settings_are_checked() -> None:
    with pytest.raises(UserError, match="copies is 0"):
        TurnedConfig("x", copies=0)
