"""Photographs in rotations of the picture plane, as a data set with 2D poses.

Every picture, upright ones too, is black outside the largest circle: corners would tell how far it was rotated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.importing import ImportConfig, Importer, PosedPicture, import_instances
from lie_ssl.frames.photoset import PhotoSet, Rows, angle_of, turned

FLAT = "2d"


@dataclass(frozen=True)
class TurnedConfig(ImportConfig):
    """Settings of a data set of rotated photographs."""

    copies: int = 4
    """Random rotations of every training photograph, beside the upright one."""
    turns: int = 8
    """Evenly spaced turns in which every test picture is seen, itself included."""
    stamp: str = ""
    """A hash of the photographs."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.copies < 1 or self.turns < 1:
            raise UserError(f"copies is {self.copies} and turns {self.turns}, but both must be 1 or more")


class Turned(NamedTuple):
    """The rows of test photographs in a data set of :func:`import_turned`, (photographs, turns) each.

    The first column is the picture as it is given; column k is the same picture turned by k / turns of a circle.
    """

    upright: Rows
    rotated: Rows


def import_turned(
    photos: PhotoSet, parts: Mapping[str, Rows], config: TurnedConfig, folder: Path | str,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FrameSet:  # fmt: skip
    """Makes a data set of rotated photographs, unless it exists. The angles depend on the files' content alone.

    Training photographs are there upright and in `config.copies` random rotations. Each validation and test photograph
    gives two test pictures, the upright one and one rotated by a random angle, and each of them is there in
    `config.turns` turns. These are made from the test picture, which is what a user has.

    Args:
        photos: The photographs.
        parts: The rows of `photos` for the splits train, validation and test.
        config: Settings.
        folder: Folder of the data set.
        progress: Called with the number of photographs done and the number of all.
    """
    listed = [(int(row), split) for split in ("validation", "train", "test") for row in parts[split]]

    def add(importer: Importer, each: tuple[int, str]) -> None:
        row, split = each
        pictures, digests = photos.read_with_digests([row])
        upright = in_circle(pictures[0])
        shown = _training(pictures[0], digests[0], config) if split == "train" else [
            *_turns(upright, 0.0, config.turns),
            *_turns(in_circle(turned(pictures[0], angle_of(digests[0]))), angle_of(digests[0]), config.turns),
        ]  # fmt: skip
        file = photos.files[row]
        importer.add(file.class_name, file.name.replace("/", "_"), FLAT, shown, split=split)

    return import_instances(config, "turned photographs", listed, add, Path(folder), True, progress)


def _training(picture: NDArray[np.uint8], digest: bytes, config: TurnedConfig) -> list[PosedPicture]:
    angles = [0.0, *(angle_of(digest, seed) for seed in range(1, config.copies + 1))]
    return [PosedPicture(angle, in_circle(turned(picture, angle))) for angle in angles]


def _turns(picture: NDArray[np.uint8], angle: float, turns: int) -> list[PosedPicture]:
    steps = [360 * k / turns for k in range(turns)]
    return [PosedPicture(angle + step, in_circle(turned(picture, step))) for step in steps]


def in_circle(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(S, S, C) -> the same, black outside the largest circle."""
    size = len(picture)
    place = np.arange(size) - (size - 1) / 2
    inside = place[:, None] ** 2 + place**2 <= (size / 2) ** 2
    return picture * inside[..., None].astype(np.uint8)


def test_rows(frames: FrameSet, split: str, turns: int) -> Turned:
    """Where the test pictures of a split are."""
    rows = frames.index.index[frames.index["split"] == split].to_numpy(np.int64, copy=True).reshape(-1, 2, turns)
    return Turned(rows[:, 0], rows[:, 1])
