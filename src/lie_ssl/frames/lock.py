"""One process at a time may write into a data set's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lie_ssl.errors import UserError


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Holds `.lock` in the folder; the operating system lets go of it when the process dies, even by kill -9."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two writers are then the user's care
        yield
        return
    path = folder / ".lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The holder before us may have taken the file away between our open and our lock.
            if path.stat().st_ino != os.fstat(handle).st_ino:
                raise BlockingIOError
        except OSError as error:
            raise UserError(f"another process is writing to {folder}; wait for it or choose another folder") from error
        yield
        path.unlink(missing_ok=True)
    finally:
        os.close(handle)
