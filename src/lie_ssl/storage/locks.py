"""Locks: only one process at a time writes to a folder."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lie_ssl.errors import UserError


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Holds `.lock` in the folder; the operating system releases it when the process dies, even by kill -9.

    Raises:
        UserError: Another process holds the lock.
    """
    with try_lock(folder) as held:
        if not held:
            raise UserError(f"another process is writing to {folder}; wait for it or choose another folder")
        yield


@contextmanager
def blocking_lock(folder: Path, seconds: float = 60.0) -> Iterator[None]:
    """Like :func:`folder_lock`, but waits if another process holds the lock."""
    end = time.monotonic() + seconds
    while True:
        with try_lock(folder) as held:
            if held:
                yield
                return
        if time.monotonic() > end:
            raise UserError(f"another process has locked {folder} for {seconds:g} seconds; stop it and try again")
        time.sleep(0.05)


@contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Tries to take the lock and yields whether it succeeded; it is held until the end of the block."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks: users must avoid two writers themselves
        yield True
        return
    path = folder / ".lock"
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UserError(f"{path} is a link; remove it") from None
        raise
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The previous holder may have removed the file between our open and our lock.
            if path.stat().st_ino != os.fstat(handle).st_ino:
                raise BlockingIOError
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
