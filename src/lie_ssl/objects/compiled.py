"""Compiles functions with numba and caches the machine code between runs if possible.

numba caches next to the source file or in the user's cache folder. It raises an error if neither is writable, as in a
read-only installation without a home folder. Then this process and its children use a temporary folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

from lie_ssl.extras import require

require("drawing", "render")

import numba  # noqa: E402

Function = Callable[..., Any]


def compiled(**options: Any) -> Callable[[Function], Any]:
    """Like `numba.njit` with a cache, but works without one if no folder is writable.

    Args:
        options: The options of `numba.njit`.
    """

    def decorate(function: Function) -> Any:
        try:
            return _with_cache(function, options)
        except RuntimeError:  # "no locator available"
            pass
        try:
            _use_temporary_cache()
            return _with_cache(function, options)
        except (OSError, RuntimeError):
            return numba.njit(**options)(function)

    return decorate


def _with_cache(function: Function, options: dict[str, Any]) -> Any:
    return numba.njit(cache=True, **options)(function)


def _use_temporary_cache() -> None:
    """Caches in a private folder: the cache contains machine code, so no other user may write to it."""
    folder = tempfile.mkdtemp(prefix="lie_ssl-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder  # for worker processes
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
