"""Pairs as tensors, through a standard DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset, Sampler

from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.pairs import PairBatch, PairSampler


class PairTensors(TypedDict):
    """One batch: B pairs of pictures (B, C, H, W) uint8 or of stored features (B, 1 + V, K) float16, delta and
    pose (B, F), class labels (B,), paired (B,), numbers of the objects (B,)."""

    x: torch.Tensor
    x_next: torch.Tensor
    delta: torch.Tensor
    pose: torch.Tensor
    label: torch.Tensor
    paired: torch.Tensor
    objects: torch.Tensor
    x_more: NotRequired[torch.Tensor]  # (B, L - 2, ...), the other frames of clips of L frames


def to_tensor(pictures: NDArray[np.uint8]) -> torch.Tensor:
    """(B, H, W, C) pictures -> (B, C, H, W) tensor that shares their memory (channels last)."""
    return torch.from_numpy(pictures).permute(0, 3, 1, 2)


class PairDataset(Dataset[PairTensors]):
    """Reads the batches that a :class:`PairSampler` draws."""

    def __init__(self, frames: FrameSet) -> None:
        self.frames = frames

    def __getitem__(self, batch: PairBatch) -> PairTensors:
        tensors: PairTensors = {
            "x": torch.from_numpy(self.frames.inputs(batch.first)),
            "x_next": torch.from_numpy(self.frames.inputs(batch.second)),
            "delta": torch.from_numpy(batch.delta),
            "pose": torch.from_numpy(batch.pose),
            "label": torch.from_numpy(self.frames.labels[batch.first]),
            "paired": torch.from_numpy(batch.paired),
            "objects": torch.from_numpy(batch.objects),
        }
        if batch.more is not None:
            more = torch.from_numpy(self.frames.inputs(batch.more.flatten()))
            tensors["x_more"] = more.unflatten(0, batch.more.shape)
        return tensors


class EndlessSampler(Sampler[PairBatch]):
    """The batches of a run, epoch after epoch, starting with a given one; it has no length."""

    def __init__(self, sampler: PairSampler, first: int = 0) -> None:
        self.sampler, self.first = sampler, first

    def __iter__(self) -> Iterator[PairBatch]:
        return self.sampler.endless(self.first)


def endless_loader(frames: FrameSet, sampler: PairSampler, first: int = 0, workers: int = 0) -> DataLoader[PairTensors]:
    """A DataLoader that never ends, starting with the given batch of the run."""
    endless = EndlessSampler(sampler, first)
    return DataLoader(PairDataset(frames), sampler=endless, batch_size=None, num_workers=workers)


def pair_loader(frames: FrameSet, sampler: PairSampler, workers: int = 0) -> DataLoader[PairTensors]:
    """A DataLoader for one epoch; the batches do not depend on the number of workers."""
    return DataLoader(PairDataset(frames), sampler=sampler, batch_size=None, num_workers=workers)
