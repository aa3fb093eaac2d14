"""Atomic writes: a file is complete or does not exist."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from lie_ssl.errors import UserError


def write_whole(path: Path, chunks: Sequence[bytes], durable: bool = True) -> None:
    """Writes a file under a temporary name, flushes it to disk (if `durable`) and moves it into place.

    The temporary name is random, so nobody can place a symbolic link there; a link under the final name is replaced
    and not followed.

    Args:
        path: The file to write.
        chunks: Its content, in order.
        durable: Whether to wait until the content is on the disk.
    """
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:  # noqa: PTH123  (Path.open has no such mode)
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
