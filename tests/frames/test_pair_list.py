"""Data sets from lists of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames.pair_list import import_pairs


def picture(seed: int, *shape: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 255, shape or (16, 16, 3), np.uint8)


def test_pictures_of_every_kind_give_the_same_frames(tmp_path: Path) -> None:
    arrays = [picture(i) for i in range(8)]
    paths = [tmp_path / f"{i}.png" for i in range(8)]
    for path, array in zip(paths, arrays, strict=True):
        Image.fromarray(array).save(path)
    kinds: dict[str, list[Any]] = {
        "arrays": arrays, "pil": [Image.fromarray(a) for a in arrays], "paths": paths, "texts": [str(p) for p in paths],
    }  # fmt: skip
    moves = [10, 20.0, 350.0, -30.0]
    found = {}
    for name, given in kinds.items():
        pairs = [(given[2 * i], given[2 * i + 1], move) for i, move in enumerate(moves)]
        found[name] = import_pairs(pairs, tmp_path / name, size=16)
    frames = found["arrays"]
    assert len(frames) == 8
    assert (frames.size, frames.channels) == (16, 3)
    for name, other in found.items():
        assert np.array_equal(other.read(np.arange(8)), frames.read(np.arange(8))), name
        assert other.card["card_hash"] == frames.card["card_hash"]
    index = frames.index.sort_values(["instance", "angle"])
    assert set(index["pose"]) == {"yaw"}
    assert set(index["split"]) <= {"train", "validation"}
    for number, move in enumerate(moves):
        own = frames.index[frames.index["instance"] == f"{number:06d}"]
        angles = own["angle"].to_numpy(float)
        assert np.ptp(np.cos(np.radians(angles))) == pytest.approx(1 - np.cos(np.radians(move)), abs=1e-6)
        stored = {tuple(frame.flatten()) for frame in frames.read(own.index.to_numpy())}
        assert stored == {tuple(arrays[2 * number + side].flatten()) for side in (0, 1)}


def test_sizes_and_grey_pictures(tmp_path: Path) -> None:
    pairs = [(picture(1, 8, 12), picture(2, 30, 20, 3), 5.0), (picture(3, 9, 9, 1), picture(4, 9, 9, 4), 6.0)]
    assert import_pairs(pairs, tmp_path / "colour", size=20).read(np.arange(4)).shape == (4, 20, 20, 3)
    grey = import_pairs(pairs, tmp_path / "grey", size=20, grey=True, pose="2d")
    assert grey.channels == 1
    assert set(grey.index["pose"]) == {"2d"}


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "there are no pairs"),
        ([(picture(0), picture(1), 5.0)], "give pairs that turn by different angles"),
        ([(picture(0), picture(1), 5.0)] * 3, "all pairs have the same move"),
        ([(picture(i), picture(i + 9), 0.0) for i in range(3)], "all pairs have the same move"),
        ([(picture(i), picture(i + 9), 360.0 * i + 5) for i in range(3)], "all pairs have the same move"),
        ([(picture(0), picture(1))], r"pair 0 is not \(picture, picture, degrees\)"),
        ([(picture(0), picture(1), "far")], "the move of pair 0 is 'far', but it must be a number"),
        ([(picture(0), picture(1), float("nan"))], "the move of pair 0 is nan"),
        ([(picture(0), picture(1), True)], "the move of pair 0 is True"),
        ([(picture(0), 7, 1.0)], "a picture of pair 0 is a int"),
        ([(picture(0), picture(1).astype(float), 1.0)], "a picture of pair 0 is an array float64"),
        ([(picture(0), picture(1, 2, 4, 4, 3), 1.0)], r"an array uint8 \(2, 4, 4, 3\)"),
        ([(picture(0), picture(1, 4, 4, 7), 1.0)], r"an array uint8 \(4, 4, 7\)"),
        ([(picture(0), picture(1, 0, 4, 3), 1.0)], r"an array uint8 \(0, 4, 3\)"),
        ([(picture(0), "nowhere.png", 1.0)], "cannot read nowhere.png"),
        (["ab3"], "pair 0 is not"),
        (3, "give a list of"),
    ],
)
def test_bad_pairs_are_one_sentence(tmp_path: Path, pairs: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as caught:
        import_pairs(pairs, tmp_path / "data", size=16)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "data").exists()


def test_an_unknown_kind_of_pose(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no kind of pose 'spin'; there are 2d"):
        import_pairs([(picture(0), picture(1), 5.0)], tmp_path / "data", size=16, pose="spin")


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    pairs = [(picture(0), picture(1), np.float32(3)), (picture(2), picture(3), np.int64(90))]
    assert len(import_pairs(pairs, tmp_path / "data", size=16)) == 4
