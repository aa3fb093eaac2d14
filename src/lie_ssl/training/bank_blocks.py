"""Blocks of a bank: the features of some frames, computed and written together.

A block counts as written if its checksum is in `blocks.bin`, which is written after the block. So nothing that is half
written is ever taken, whatever was killed, and no order of writing to the disk has to be enforced.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.loader import to_tensor
from lie_ssl.methods.augment import augment
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.extractor import FeatureExtractor
from lie_ssl.methods.features import to_float
from lie_ssl.storage.paths import check_link
from lie_ssl.training.bank_card import BLOCK, ViewConfig

FEATURES, CHECKSUMS = "features.bin", "blocks.bin"
CHECKSUM = 8  # bytes
NONE = bytes(CHECKSUM)
# Frames whose random numbers are drawn together: a multiple of BLOCK, but not the whole data set, which would be slow.
PAGE = 1024


class BlockFiller:
    """Computes and writes blocks of a bank. It can be sent to another process.

    Args:
        extractor: Gives the features.
        frames: The data set.
        folder: The bank, whose files have their final sizes.
        views: Augmented views of each frame.
    """

    def __init__(self, extractor: FeatureExtractor, frames: FrameSet, folder: Path, views: ViewConfig) -> None:
        self.extractor, self.frames, self.folder, self.views = extractor, frames, folder, views

    def __call__(self, block: int) -> int:
        """Fills a block, and returns its number of frames."""
        rows = np.arange(block * BLOCK, min((block + 1) * BLOCK, len(self.frames)))
        self._write(block, self.compute(rows))
        return len(rows)

    @torch.inference_mode()
    def compute(self, rows: NDArray[np.int64]) -> NDArray[np.float16]:
        """The features (rows, 1 + views, K) of consecutive frames within a page."""
        pictures = to_tensor(self.frames.read(rows))
        result = np.empty((len(rows), 1 + self.views.count, self.extractor.dim), np.float16)
        for view in range(1 + self.views.count):
            shown = self._augmented(pictures, int(rows[0]), view) if view else pictures
            result[:, view] = self._features(shown, rows)
        return result

    def _augmented(self, pictures: Tensor, first: int, view: int) -> Tensor:
        draws = Draws(self.views.seed, first // PAGE, PAGE, first % PAGE, len(pictures))
        return augment(pictures, draws.named(f"view{view}"), self.views.augment)

    def _features(self, pictures: Tensor, rows: NDArray[np.int64]) -> NDArray[np.float16]:
        device = self.extractor.encoder.mean.device
        # On a CPU, convolutions are up to 1.5 times as fast with the channels last, as frames are stored.
        images = to_float(pictures, device).contiguous(memory_format=torch.channels_last)
        features: NDArray[np.float32] = self.extractor(images).cpu().numpy()
        with np.errstate(over="ignore"):
            halves = features.astype(np.float16)
        if not (finite := np.isfinite(halves).all(axis=1)).all():
            row = int(rows[finite.argmin()])
            values = features[finite.argmin()]
            wrong = (
                "above 65,504, the largest number of float16" if np.isfinite(values).all() else "that are not finite"
            )
            raise UserError(f"the encoder gives features {wrong}, for {self.frames.describe(row)}; check its weights")
        return halves

    def _write(self, block: int, features: NDArray[np.float16]) -> None:
        data = features.tobytes()
        size = BLOCK * features[0].nbytes
        try:
            for name, place, content in ((FEATURES, size, data), (CHECKSUMS, CHECKSUM, checksum(data))):
                with (self.folder / name).open("r+b") as file:
                    file.seek(block * place)
                    file.write(content)
        except OSError as error:
            raise UserError(
                f"cannot write {self.folder / FEATURES}: {error.strerror or error}; free some space and run the same "
                "command again, which keeps what is finished"
            ) from error


def checksum(data: bytes) -> bytes:
    """The checksum of a block."""
    return hashlib.blake2b(data, digest_size=CHECKSUM).digest()


def prepare_files(folder: Path, frames: int, frame_bytes: int) -> None:
    """Gives the files of a bank their final sizes; finished blocks stay."""
    blocks = -(-frames // BLOCK)
    try:
        for name, size in ((FEATURES, frames * frame_bytes), (CHECKSUMS, blocks * CHECKSUM)):
            check_link(folder / name, folder)
            with (folder / name).open("ab") as file:
                file.truncate(size)
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}; choose another folder") from error


def flush(folder: Path) -> None:
    """Waits until the features are on the disk, so that a card that calls them finished is true."""
    with (folder / FEATURES).open("r+b") as file:
        os.fsync(file.fileno())


def missing_blocks(folder: Path, frames: int, frame_bytes: int) -> list[int]:
    """The blocks that are not written yet, or whose content does not match its checksum."""
    checksums = (folder / CHECKSUMS).read_bytes()
    missing = []
    with (folder / FEATURES).open("rb") as file:
        for block in range(-(-frames // BLOCK)):
            expected = checksums[block * CHECKSUM : (block + 1) * CHECKSUM]
            if expected != NONE:
                file.seek(block * BLOCK * frame_bytes)
                if checksum(file.read(BLOCK * frame_bytes)) == expected:
                    continue
            missing.append(block)
    return missing
