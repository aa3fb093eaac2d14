"""A data set from a list of pairs: two pictures of the same object, and how far it turned between them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.importing import ImportConfig, Importer, PosedPicture, import_instances
from lie_ssl.frames.kinds import KINDS
from lie_ssl.frames.pictures import fit_picture, load_picture

Pair = tuple[Any, Any, Any]  # two pictures (PIL, uint8 array or path of a file) and degrees
CLASS = "object"


@dataclass(frozen=True)
class PairListConfig(ImportConfig):
    """Settings of a data set from pairs."""

    pose: str = "yaw"
    """What the degrees mean: turns on a turntable (yaw), in the picture plane (2d) or any other kind of pose."""
    digest: str = ""
    """A hash of the pictures and moves."""


def import_pairs(
    pairs: Iterable[Pair], folder: Path, *, size: int, grey: bool = False, pose: str = "yaw", seed: int = 0
) -> FrameSet:
    """Writes pairs as a data set, each as one object with two frames.

    Args:
        pairs: (picture, picture, degrees) each.
        folder: Folder of the data set.
        size: Side of the frames in pixels; pictures are scaled to fit, and padded.
        grey: One channel instead of three.
        pose: What the degrees mean.
        seed: Seed of the split into training and validation.
    """
    given: Any = pairs
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UserError(f"the pairs are of the type {type(given).__name__}; give a list of (picture, picture, degrees)")
    if pose not in KINDS:
        raise UserError(f"there is no kind of pose {pose!r}; there are {', '.join(KINDS)}")
    checked = [_checked(pair, number, size, grey) for number, pair in enumerate(pairs)]
    if not checked:
        raise UserError("there are no pairs; give a list of (picture, picture, degrees)")
    if len({move % 360 if KINDS[pose].periodic else move for _, _, move in checked}) < 2:
        raise UserError(
            "all pairs have the same move, so nothing can be learned about it; give pairs that turn by different angles"
        )
    digest = hashlib.sha256()
    for first, second, move in checked:
        digest.update(first.tobytes() + second.tobytes() + f"{move}".encode())
    config = PairListConfig("pairs", size=size, grey=grey, test=0.0, seed=seed, pose=pose, digest=digest.hexdigest())

    def add(importer: Importer, number: int) -> None:
        first, second, move = checked[number]
        importer.add(CLASS, f"{number:06d}", pose, [PosedPicture(0.0, first), PosedPicture(move, second)])

    return import_instances(config, "pairs", range(len(checked)), add, folder, True, lambda done, total: None)


def _checked(pair: Any, number: int, size: int, grey: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8], float]:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 3:
        raise UserError(f"pair {number} is not (picture, picture, degrees); give two pictures and a number")
    first, second, move = pair
    if isinstance(move, bool) or not isinstance(move, (int, float, np.number)) or not np.isfinite(move):
        raise UserError(f"the move of pair {number} is {move!r:.40}, but it must be a number of degrees")
    return _picture(first, number, size, grey), _picture(second, number, size, grey), float(move)


def _picture(picture: Any, number: int, size: int, grey: bool) -> NDArray[np.uint8]:
    if isinstance(picture, (str, Path)):
        try:
            return load_picture(Path(picture).read_bytes(), str(picture), size, grey=grey)
        except OSError as error:
            raise UserError(f"cannot read {picture}: {error.strerror}") from error
    if isinstance(picture, np.ndarray):
        grey_or_colour = picture.ndim == 2 or (picture.ndim == 3 and picture.shape[2] in (1, 3, 4))
        if picture.dtype != np.uint8 or not grey_or_colour or not picture.size:
            given = f"{picture.dtype} {picture.shape}"
            raise UserError(f"a picture of pair {number} is an array {given}; it must be uint8 (H, W) or (H, W, 3)")
        picture = Image.fromarray(picture[:, :, 0] if picture.ndim == 3 and picture.shape[2] == 1 else picture)
    if not isinstance(picture, Image.Image):
        raise UserError(f"a picture of pair {number} is a {type(picture).__name__}; give a PIL picture, array or path")
    return fit_picture(picture, size, grey=grey)
