"""Photographs in rotations of the picture plane, as a data set with 2D poses.

A picture must not tell how far it was rotated by anything but its content. So every picture, upright ones too, is black
outside the largest circle, and is resampled in the same way: pixels that were only copied are sharper than others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.importing import ImportConfig, Importer, PosedPicture, import_instances
from lie_ssl.frames.photoset import PhotoSet, Rows, angle_of

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
        if split == "train":
            angles = [0.0, *(angle_of(digests[0], seed) for seed in range(1, config.copies + 1))]
            shown = [PosedPicture(angle, in_circle(turned(pictures[0], angle))) for angle in angles]
        else:
            given = (0.0, angle_of(digests[0]))
            shown = [each for angle in given for each in _copies(pictures[0], angle, config.turns)]
        file = photos.files[row]
        importer.add(file.class_name, file.name.replace("/", "_"), FLAT, shown, split=split)

    return import_instances(config, "turned photographs", listed, add, Path(folder), True, progress)


def _copies(photograph: NDArray[np.uint8], angle: float, turns: int) -> list[PosedPicture]:
    """A test picture, which shows the photograph at this angle, in all turns."""
    copies = turned_copies(in_circle(turned(photograph, angle))[None], turns)[0]
    return [PosedPicture(angle + 360 * k / turns, copy) for k, copy in enumerate(copies)]


def turned_copies(pictures: NDArray[np.uint8], turns: int) -> NDArray[np.uint8]:
    """(N, S, S, C) -> (N, K, S, S, C): each picture inside a circle, turned counter-clockwise by k / K of a circle."""
    if not isinstance(turns, int) or not 1 <= turns <= 360:
        raise UserError(f"turns is {turns!r}, but it must be a whole number from 1 to 360")
    steps = [360 * k / turns for k in range(turns)]
    return np.stack([np.stack([in_circle(turned(p, step)) for step in steps]) for p in pictures])


def turned(picture: NDArray[np.uint8], degrees: float) -> NDArray[np.uint8]:
    """Rotates a picture (S, S, C) about its centre, counter-clockwise, at twice its size, and halves it again.

    The angle 0 takes the same way, so that the result is as smooth as that of all other angles.
    """
    size = len(picture)
    image = Image.fromarray(picture[..., 0] if picture.shape[-1] == 1 else picture)
    large = image.resize((2 * size, 2 * size), Image.Resampling.BICUBIC)
    small = large.rotate(degrees, Image.Resampling.BICUBIC).resize((size, size), Image.Resampling.BOX)
    return np.asarray(small, np.uint8).reshape(picture.shape)


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
