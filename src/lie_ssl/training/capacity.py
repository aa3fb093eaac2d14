"""What a run takes of the machine: how many fit side by side, and how many threads are worth it."""

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
BYTES_A_WEIGHT = 20  # the weight, its gradient, the two running means of AdamW, and heads beside the encoder


def jobs_at_once(asked: int | None, runs: Sequence[PretrainConfig], data: Path | str = "") -> int:
    """How many runs to do at the same time.

    Args:
        asked: What the user wants; None for as many as there are cores and as fit into memory, or one on a GPU.
        runs: Their configs.
        data: Folder of their data set; empty for the one that their configs name.
    """
    most = asked or core_budget()
    if min(most, len(runs)) > 1 and asked is None:
        frames = FrameSet(data or runs[0].data)
        needed = max(expected_memory(config, frames) for config in runs)
        most = 1 if any(map(on_gpu, runs)) else min(most, int(available_memory() / needed))
    return max(1, min(most, len(runs)))


def on_gpu(config: PretrainConfig) -> bool:
    """Whether a run will compute elsewhere than on the CPU."""
    return config.device in ("cuda", "mps") or (config.device == "auto" and torch.cuda.is_available())


def expected_memory(config: PretrainConfig, frames: FrameSet) -> float:
    """A rough guess at the bytes of a run: its weights, and what the backward pass needs of both pictures of a pair."""
    size = _size(config.encoder, frames.size, frames.channels)
    if size is None:
        return BASE_MEMORY
    return BASE_MEMORY + BYTES_A_WEIGHT * size.weights + 4 * size.outputs * 2 * config.optim.batch


def run_threads(config: PretrainConfig, frames: FrameSet) -> AbstractContextManager[None]:
    """One thread for a run with small layers; see :func:`lie_ssl.threads.is_small`."""
    if not is_automatic():
        return one_thread(False)
    size = _size(config.encoder, frames.size, frames.channels)
    return _threads(size, config.optim.batch)


def encoder_threads(encoder: Encoder) -> AbstractContextManager[None]:
    """One thread for the evaluation of an encoder with small layers."""
    if not is_automatic():
        return one_thread(False)
    with suppress(Exception):  # whatever a user's own code may raise when it is measured
        return _threads(size_of(encoder), BATCH)
    return one_thread(False)


def _threads(size: EncoderSize | None, batch: int) -> AbstractContextManager[None]:
    return one_thread(size is not None and is_small(size.layer_products(batch)))


@cache
def _size(config: EncoderConfig, image_size: int, channels: int) -> EncoderSize | None:
    """None for an encoder that cannot be built without memory, or not at all; then its run says why."""
    with suppress(Exception):  # whatever a user's own code may raise
        return expected_size(config, image_size, channels)
    return None
