"""A shard: some thousand encoded frames in one file, with random access.

Layout: magic bytes, number of frames, offsets of all frames and of the end (u64, little endian), frames. A shard is
written under a temporary name and moved into place, so a file with its final name is always complete.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.storage.files import write_whole

MAGIC = b"LIEFRAM1"


def write_shard(path: Path, frames: Sequence[bytes]) -> None:
    """Writes a shard atomically."""
    first = len(MAGIC) + 8 * (len(frames) + 2)
    offsets = np.cumsum([first, *(len(f) for f in frames)], dtype=np.uint64)
    head = MAGIC + np.uint64(len(frames)).tobytes() + offsets.astype("<u8").tobytes()
    write_whole(path, [head, *frames])


def shard_length(path: Path) -> int:
    """The number of frames in a shard, from its first bytes; the file is not kept open."""
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC) + 8)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; make or copy the data set again") from None
    if len(head) < len(MAGIC) + 8 or not head.startswith(MAGIC):
        raise UserError(f"{path} is not a file of frames; make or copy the data set again")
    return int.from_bytes(head[len(MAGIC) :], "little")


class Shard:
    """Read access to a memory-mapped shard file."""

    def __init__(self, path: Path) -> None:
        try:
            self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):  # not damage of the data set
                raise
            raise UserError(f"cannot read {path}: {error.strerror}; make or copy the data set again") from error
        except ValueError as error:
            raise UserError(f"cannot read {path}: {error}; make or copy the data set again") from error
        if len(self._bytes) < len(MAGIC) + 16 or bytes(self._bytes[: len(MAGIC)]) != MAGIC:
            raise UserError(f"{path} is not a file of frames; make or copy the data set again")
        count = int(self._bytes[len(MAGIC) : len(MAGIC) + 8].view("<u8")[0])
        end = len(MAGIC) + 8 * (count + 2)
        if count >= 2**40 or end > len(self._bytes):
            raise UserError(f"{path} is truncated; make or copy the data set again")
        self._offsets = np.array(self._bytes[len(MAGIC) + 8 : end]).view("<u8").astype(np.int64)
        if self._offsets[-1] != len(self._bytes):
            raise UserError(f"{path} is truncated; make or copy the data set again")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, slot: int) -> NDArray[np.uint8]:
        """The encoded bytes of one frame, without a copy."""
        return self._bytes[self._offsets[slot] : self._offsets[slot + 1]]
