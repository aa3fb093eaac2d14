"""Estimates the resources of a run: how many runs fit in parallel, and how many threads each should use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path

import torch

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import Encoder, EncoderConfig
from lie_ssl.methods.features import BATCH
from lie_ssl.methods.size import EncoderSize, expected_size, size_of
from lie_ssl.storage.limits import available_memory
from lie_ssl.threads import core_budget, is_automatic, is_small, one_thread
from lie_ssl.training.config import PretrainConfig

BASE_MEMORY = 1e9  # bytes of a process with torch and a small model
BYTES_PER_WEIGHT = 20  # the weight, its gradient, the two moments of AdamW, and heads


def worker_count(requested: int | None, runs: Sequence[PretrainConfig], data: Path | str = "") -> int:
    """The number of runs to train in parallel.

    Args:
        requested: The user's choice; None for as many as there are cores and as fit in memory, or one on a GPU.
        runs: The configs of the runs.
        data: Folder of their data set; by default the one in their configs.
    """
    most = requested or core_budget()
    if min(most, len(runs)) > 1 and requested is None:
        frames = FrameSet(data or runs[0].data)
        needed = max(expected_memory(config, frames) for config in runs)
        most = 1 if any(map(on_gpu, runs)) else min(most, int(available_memory() / needed))
    return max(1, min(most, len(runs)))


def on_gpu(config: PretrainConfig) -> bool:
    """Whether a run uses a GPU."""
    return config.device in ("cuda", "mps") or (config.device == "auto" and torch.cuda.is_available())


def expected_memory(config: PretrainConfig, frames: FrameSet) -> float:
    """Estimates the bytes of a run: its weights, and the activations of both pictures of a pair."""
    size = _size(config.encoder, frames.size, frames.channels)
    if size is None:
        return BASE_MEMORY
    return BASE_MEMORY + BYTES_PER_WEIGHT * size.weights + 4 * size.outputs * 2 * config.optim.batch


def run_threads(config: PretrainConfig, frames: FrameSet) -> AbstractContextManager[None]:
    """Limits a run with small layers to one thread; see :func:`lie_ssl.threads.is_small`."""
    if not is_automatic():
        return one_thread(False)
    size = _size(config.encoder, frames.size, frames.channels)
    return _threads(size, config.optim.batch)


def encoder_threads(encoder: Encoder) -> AbstractContextManager[None]:
    """Limits the evaluation of an encoder with small layers to one thread."""
    if not is_automatic():
        return one_thread(False)
    with suppress(Exception):  # a user's own encoder may raise anything
        return _threads(size_of(encoder), BATCH)
    return one_thread(False)


def _threads(size: EncoderSize | None, batch: int) -> AbstractContextManager[None]:
    return one_thread(size is not None and is_small(size.layer_products(batch)))


@cache
def _size(config: EncoderConfig, image_size: int, channels: int) -> EncoderSize | None:
    """The size of an encoder; None if it cannot be built on the meta device, or at all (then its run reports why)."""
    with suppress(Exception):  # a user's own encoder may raise anything
        return expected_size(config, image_size, channels)
    return None
