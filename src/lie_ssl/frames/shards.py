"""A shard: some thousand encoded frames in one file, any of which can be read at once.

Layout: the magic bytes, the number of frames, the offsets of all frames and of the end (u64, little endian), the
frames. A shard is written under another name and moved into place, so a file with its final name is always whole.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError

MAGIC = b"LIEFRAM1"


def write_shard(path: Path, frames: Sequence[bytes]) -> None:
    """Writes the file whole or not at all."""
    first = len(MAGIC) + 8 * (len(frames) + 2)
    offsets = np.cumsum([first, *(len(f) for f in frames)], dtype=np.uint64)
    head = MAGIC + np.uint64(len(frames)).tobytes() + offsets.astype("<u8").tobytes()
    write_whole(path, [head, *frames])


def write_whole(path: Path, chunks: Sequence[bytes], durable: bool = True) -> None:
    """Writes a file under a temporary name, flushes it to the disk (if `durable`) and moves it into place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(
            f"cannot write {path}: {error.strerror or error}; free some space or choose another folder"
        ) from error


class Shard:
    """Read access to a shard file; the pages come from the operating system's cache."""

    def __init__(self, path: Path) -> None:
        try:
            self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {path}: {error}; make or copy the data set again") from error
        if len(self._bytes) < len(MAGIC) + 16 or bytes(self._bytes[: len(MAGIC)]) != MAGIC:
            raise UserError(f"{path} is not a file of frames; make or copy the data set again")
        count = int(self._bytes[len(MAGIC) : len(MAGIC) + 8].view("<u8")[0])
        end = len(MAGIC) + 8 * (count + 2)
        if count >= 2**40 or end > len(self._bytes):
            raise UserError(f"{path} is cut short; make or copy the data set again")
        self._offsets = np.array(self._bytes[len(MAGIC) + 8 : end]).view("<u8").astype(np.int64)
        if self._offsets[-1] != len(self._bytes):
            raise UserError(f"{path} is cut short; make or copy the data set again")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, slot: int) -> NDArray[np.uint8]:
        """The encoded bytes of one frame, not copied."""
        return self._bytes[self._offsets[slot] : self._offsets[slot + 1]]
