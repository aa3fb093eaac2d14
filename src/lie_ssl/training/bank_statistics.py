"""Mean and deviation of every feature of a bank, with which heads standardise their input.

Shape letters: K features.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.storage.files import write_whole
from lie_ssl.training.bank_blocks import FEATURES
from lie_ssl.training.bank_card import remedy_for

STATISTICS = "statistics.safetensors"
PIECE = 1024  # rows at a time


def write_statistics(folder: Path, frames: FrameSet, views: int, dim: int) -> None:
    """Computes mean and deviation (K,) over the training frames (all frames if there are none) in one pass."""
    features = np.memmap(folder / FEATURES, np.float16, "r", shape=(len(frames), views, dim))
    rows = np.flatnonzero((frames.index["split"] == "train").to_numpy(bool))
    if not len(rows):
        rows = np.arange(len(frames))
    total, squares = np.zeros(dim), np.zeros(dim)
    for start in range(0, len(rows), PIECE):
        piece = features[rows[start : start + PIECE], 0].astype(np.float64)
        total += piece.sum(axis=0)
        squares += np.square(piece).sum(axis=0)
    mean = total / len(rows)
    std = np.sqrt(np.maximum(squares / len(rows) - mean**2, 0))
    std[std <= 1e-6 * np.abs(mean)] = 1  # a constant feature, up to rounding
    write_whole(folder / STATISTICS, [save({"mean": mean.astype(np.float32), "std": std.astype(np.float32)})])


def read_statistics(folder: Path, dim: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Reads mean and deviation (K,)."""
    path = folder / STATISTICS
    try:
        found = load_file(path)
        mean, std = found["mean"], found["std"]
    except (SafetensorError, OSError, KeyError) as error:
        raise UserError(f"{path} is missing or damaged; {remedy_for(folder)}") from error
    if not all(each.shape == (dim,) and each.dtype == np.float32 for each in (mean, std)):
        raise UserError(f"{path} does not fit the features of {folder}; {remedy_for(folder)}")
    return mean, std
