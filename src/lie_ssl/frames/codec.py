"""One picture <-> bytes, without loss: cropped to what differs from the background, green taken off, compressed.

PNG is too slow to read in a training loop; here a picture costs a fast general decompressor and one pass of additions.
Taking the green channel off red and blue leaves smaller numbers. The spatial filters of PNG were measured too: on
shaded surfaces they made the files larger, because they break the exact repeats that the compressor lives on.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from lie_ssl.errors import UserError

Picture = NDArray[np.uint8]
LEVEL = 6
_HEAD = struct.Struct("<4H4B")  # top, left, height, width of the crop, background colour (C of 3 used), C
_ZSTD = pa.Codec("zstd", compression_level=LEVEL)


def encode(picture: Picture) -> bytes:
    """(H, W, C) uint8, C of 1 or 3 -> bytes. The corner pixel is taken for the background."""
    channels = picture.shape[2]
    corner = picture[0, 0]
    top, left, height, width = _crop(picture, corner)
    fill = [*(int(c) for c in corner), 0, 0][:3]
    head = _HEAD.pack(top, left, height, width, *fill, channels)
    if height == 0:
        return head
    pixels = np.empty((height, width, channels), np.uint8)
    _take_green_off(picture[top : top + height, left : left + width], pixels)
    return head + bytes(_ZSTD.compress(pixels, asbytes=True))


def decode(blob: Any, out: Picture) -> None:
    """Bytes (or any buffer) -> (H, W, C), written into `out`. Raises :class:`UserError` on damaged bytes."""
    try:
        top, left, height, width, *fill, channels = _HEAD.unpack_from(blob, 0)
        count = channels * height * width
        data = _ZSTD.decompress(memoryview(blob)[_HEAD.size :], decompressed_size=count) if count else b""
        pixels = np.frombuffer(data, np.uint8).reshape(height, width, channels)
    except (struct.error, OSError, ValueError, pa.ArrowException) as error:
        raise UserError(f"a frame is damaged ({error}); run `lie-ssl data verify`") from error
    if channels != out.shape[2] or top + height > out.shape[0] or left + width > out.shape[1]:
        raise UserError(f"a frame does not fit a picture of shape {out.shape}; run `lie-ssl data verify`")
    _put_together(pixels, top, left, np.array(fill, np.uint8), out)


@njit(cache=True, nogil=True)
def _crop(picture, corner):  # type: ignore[no-untyped-def]
    """First row, first column, height and width of the smallest rectangle outside which all is `corner`."""
    rows, columns, channels = picture.shape
    top, bottom, left, right = rows, -1, columns, -1
    for i in range(rows):
        first = -1
        last = -1
        for j in range(columns):
            for c in range(channels):
                if picture[i, j, c] != corner[c]:
                    last = j
                    if first < 0:
                        first = j
                    break
        if last >= 0:
            top, bottom = min(top, i), i
            left, right = min(left, first), max(right, last)
    if bottom < 0:
        return 0, 0, 0, 0
    return top, left, bottom - top + 1, right - left + 1


@njit(cache=True, nogil=True)
def _take_green_off(picture, pixels):  # type: ignore[no-untyped-def]
    height, width, channels = picture.shape
    for i in range(height):
        for j in range(width):
            if channels == 3:
                green = picture[i, j, 1]
                pixels[i, j, 0] = picture[i, j, 0] - green
                pixels[i, j, 1] = green
                pixels[i, j, 2] = picture[i, j, 2] - green
            else:
                pixels[i, j, 0] = picture[i, j, 0]


@njit(cache=True, nogil=True)
def _put_together(pixels, top, left, fill, out):  # type: ignore[no-untyped-def]
    """Background everywhere, then the crop with its green put back."""
    height, width, channels = pixels.shape
    # Rows as flat bytes: the compiler turns these loops into wide copies, which it does not for (row, column, channel).
    source = pixels.reshape(height, width * channels)
    target = out.reshape(out.shape[0], out.shape[1] * channels)
    for j in range(out.shape[1]):
        for c in range(channels):
            target[0, j * channels + c] = fill[c]
    for i in range(1, len(target)):
        target[i] = target[0]
    first = left * channels
    for i in range(height):
        if channels == 3:
            for j in range(0, 3 * width, 3):
                green = source[i, j + 1]
                target[top + i, first + j] = source[i, j] + green
                target[top + i, first + j + 1] = green
                target[top + i, first + j + 2] = source[i, j + 2] + green
        else:
            target[top + i, first : first + width] = source[i]
