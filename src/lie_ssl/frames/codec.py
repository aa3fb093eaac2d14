"""Lossless encoding of one picture: Zstandard over the plain pixels.

On rendered frames, PNG takes ten times as long to read, and its filters (or any other differences between neighbours)
make the files larger, because they break up exact repeats. Decompressing straight into the batch avoids a copy.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

LEVEL = 5  # higher levels save little and take longer


class DamagedFrameError(Exception):
    """The bytes of a frame are damaged. The message is the end of a sentence; the reader knows which frame it is."""


class _Contexts(threading.local):
    """A compressor and a decompressor per thread, as they are expensive to create and must not be shared."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


def encode(picture: NDArray[np.uint8]) -> bytes:
    """Encodes a picture (H, W, C) uint8."""
    return _contexts.compressor.compress(np.ascontiguousarray(picture).data)


def decode(blob: Any, out: NDArray[np.uint8]) -> None:
    """Decodes bytes (or any buffer) into `out` (H, W, C); :class:`DamagedFrameError` if they do not fit."""
    try:
        size = zstandard.frame_content_size(blob)
        if size == out.size:
            size = _contexts.decompressor.stream_reader(blob).readinto(out.reshape(-1))
    except (zstandard.ZstdError, ValueError) as error:
        raise DamagedFrameError(f"is damaged ({error})") from error
    if size != out.size:
        raise DamagedFrameError(f"does not fit a picture of shape {out.shape}")
