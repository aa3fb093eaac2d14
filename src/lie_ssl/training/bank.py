"""A bank: the features of all frames of a data set by a frozen encoder, on disk.

A folder KEY, named by a hash of everything on which the features depend, has:

    card.json     what was computed from what, and whether it is finished
    features.bin  (frames, 1 + views, K) float16: the frame itself, then its augmented views
    blocks.bin    checksums, with which filling is resumed

Shape letters: B rows, V views, K features.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureConfig, FeatureExtractor, as_encoder
from lie_ssl.storage.cards import CARD
from lie_ssl.threads import one_thread
from lie_ssl.training.bank_blocks import FEATURES, BlockFiller, flush, missing_blocks, prepare_files
from lie_ssl.training.bank_card import (
    ViewConfig,
    bank_key,
    check_same,
    describe,
    describe_extractor,
    read_bank_card,
    remedy_for,
    write_bank_card,
)
from lie_ssl.training.bank_filling import check_disk, fill_blocks, filling_lock, process_count
from lie_ssl.training.progress import NullReporter, ProgressReporter

BANKS = ".banks"  # in the folder of a data set
OTHER = "give the folder of another bank"
CLOSE = 0.01  # relative difference that float16 and other hardware may make


class FeatureBank:
    """The features of a data set; :meth:`fill` makes one and :meth:`open` opens a finished one.

    >>> bank = FeatureBank.fill(EncoderConfig("resnet50", weights="timm"), FrameSet("data/demo"))  # doctest: +SKIP
    >>> bank.read([0, 5]).shape                                                                   # doctest: +SKIP
    (2, 1, 18432)

    Attributes:
        folder: The folder of this bank.
        card: What was computed from what.
        dim: K.
        views: V.
        slices: Which features are the encoder's output, and which come from each layer.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.card = read_bank_card(self.folder)
        if not self.card["finished"]:
            raise UserError(f"{self.folder} is not finished; run the same command again, which resumes it")
        self.dim: int = self.card["dim"]
        self.views: int = self.card["views"]["count"]
        self.slices = {name: slice(*ends) for name, ends in self.card["slices"].items()}
        shape = (self.card["frames"], 1 + self.views, self.dim)
        path, size = self.folder / FEATURES, 2 * math.prod(shape)
        found = path.stat().st_size if path.is_file() else 0
        if found != size:
            raise UserError(f"{path} has {found:,} bytes instead of {size:,}; {remedy_for(self.folder)}")
        self._features = np.memmap(path, np.float16, "r", shape=shape)

    def __len__(self) -> int:
        return len(self._features)

    def __repr__(self) -> str:
        return f"FeatureBank({str(self.folder)!r}, {len(self)} frames, {self.views} views, {self.dim} features)"

    def read(self, rows: Sequence[int] | NDArray[np.integer[Any]]) -> NDArray[np.float16]:
        """Reads the features of rows of the data set's index, in that order -> (B, 1 + V, K) float16."""
        return self._features[np.asarray(rows, np.int64)]

    @classmethod
    def open(
        cls, folder: Path | str, extractor: FeatureExtractor | None = None, frames: FrameSet | None = None
    ) -> FeatureBank:
        """Opens a finished bank.

        Args:
            folder: The folder of the bank itself.
            extractor, frames: If given, the bank must have been computed by this encoder from this data set.
        """
        bank = cls(folder)
        if extractor is not None:
            check_same(bank.folder, bank.card, describe_extractor(extractor), OTHER)
        if frames is not None:
            check_same(bank.folder, bank.card, {"data": frames.card["card_hash"]}, OTHER)
        if extractor is not None and frames is not None:
            bank.check_first(extractor, frames)
        return bank

    @classmethod
    def fill(
        cls,
        encoder: EncoderConfig | nn.Module,
        frames: FrameSet,
        folder: Path | str | None = None,
        features: FeatureConfig | None = None,
        views: ViewConfig | None = None,
        jobs: int | None = None,
        reporter: ProgressReporter | None = None,
    ) -> FeatureBank:
        """Computes the features of all frames, or what is missing of them, and opens the bank.

        If another process fills the same bank, this one waits for it. The features do not depend on `jobs`.

        Args:
            encoder: Settings of the encoder; or a module, which runs in this process, on its device and with all
                threads of torch.
            frames: The data set.
            folder: Where banks are; by default the folder `.banks` in that of the data set.
            features: Which features are taken.
            views: Augmented views of each frame.
            jobs: Number of processes; by default one per core if there is enough to do.
            reporter: Receives the progress.
        """
        views, reporter = views or ViewConfig(), reporter or NullReporter()
        extractor = build_extractor(encoder, frames, features)
        if extractor.note:
            reporter.say(extractor.note)
        description = describe(extractor, frames, views)
        bank = banks_folder(frames, folder) / bank_key(description)
        if not is_finished(bank, description):
            try:
                bank.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise UserError(f"cannot make the folder {bank}: {error.strerror}; choose another folder") from error
            with filling_lock(bank, reporter):
                if not is_finished(bank, description):
                    filler = BlockFiller(extractor, frames, bank, views)
                    _fill(filler, description, jobs, isinstance(encoder, nn.Module), reporter)
        filled = cls(bank)
        filled.check_first(extractor, frames)
        return filled

    def check_first(self, extractor: FeatureExtractor, frames: FrameSet) -> None:
        """Computes the first frame again: a user's own module may compute something else with the same weights."""
        stored = self.read([0])[0, 0].astype(np.float32)
        computed = BlockFiller(extractor, frames, self.folder, ViewConfig()).compute(np.array([0]))[0, 0]
        if np.abs(computed - stored).max() > CLOSE * np.abs(stored).max():
            raise UserError(
                f"{self.folder} has other features of the first frame than the encoder gives now, so its code has "
                f"changed; {remedy_for(self.folder)}"
            )


def build_extractor(
    encoder: EncoderConfig | nn.Module, frames: FrameSet, features: FeatureConfig | None = None
) -> FeatureExtractor:
    """Builds the extractor for the frames of a data set; random weights are the same each time."""
    if isinstance(encoder, nn.Module):
        built = as_encoder(encoder, frames.size, frames.channels)
    else:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            built = create_encoder(encoder, frames.size, frames.channels)
    if (built.image_size, built.channels) != (frames.size, frames.channels):
        raise UserError(
            f"the encoder takes pictures of {built.channels} x {built.image_size} px, but those of {frames.folder} are "
            f"{frames.channels} x {frames.size} px; make the data set in the encoder's size, or leave out its "
            "image_size and channels"
        )
    return FeatureExtractor(built, features)


def banks_folder(frames: FrameSet, folder: Path | str | None) -> Path:
    """Where the banks of a data set are: a given folder, or one in the data set if that can be written."""
    if folder is not None:
        return Path(folder)
    if not os.access(frames.folder, os.W_OK):
        raise UserError(f"{frames.folder} cannot be written; give another folder for the features of its frames")
    return frames.folder / BANKS


def is_finished(bank: Path, description: dict[str, Any]) -> bool:
    """Whether a bank is finished; another bank in its folder is an error."""
    if not (bank / CARD).exists():
        return False
    card = read_bank_card(bank)
    check_same(bank, card, description, remedy_for(bank))
    return bool(card["finished"])


def _fill(
    filler: BlockFiller, description: dict[str, Any], jobs: int | None, here: bool, reporter: ProgressReporter
) -> None:
    folder, frames = filler.folder, len(filler.frames)
    frame_bytes = 2 * (1 + filler.views.count) * filler.extractor.dim
    write_bank_card(folder, description, finished=False)
    prepare_files(folder, frames, frame_bytes)
    blocks = missing_blocks(folder, frames, frame_bytes)
    check_disk(folder, min(frames, len(blocks) * description["block"]) * frame_bytes)
    processes = 1 if here else process_count(jobs, len(blocks), filler.extractor)
    # One thread, even if there is only one process: more might add numbers up in another order.
    with nullcontext() if here else one_thread():
        fill_blocks(filler, blocks, processes, reporter)
    flush(folder)
    write_bank_card(folder, description, finished=True)
