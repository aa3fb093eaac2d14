"""Functions that numba compiles, with the machine code kept between runs where that is possible.

numba keeps it beside the source file or in the user's cache folder, and raises an error where neither can be written
to, as in a read-only installation without a home. Then a temporary folder has to do, for this process and those that it
starts.
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
    """`numba.njit` with a cache, wherever one can be had; without one if there is no place at all.

    Args:
        options: those of `numba.njit`.
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
    """A folder of this process' own: a cache holds machine code, so no other user may write to it."""
    folder = tempfile.mkdtemp(prefix="lie_ssl-numba-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder  # for worker processes
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
