"""What every worker process of a pool does when it starts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path


def workers_can_start() -> bool:
    """Whether a spawned process can import the main module: not if it came from standard input."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    return file is None or getattr(main, "__spec__", None) is not None or Path(file).is_file()


def begin_worker() -> None:
    """Ends this process when its parent ends, even if that is killed, and leaves Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        # A worker whose parent was killed must stop writing.
        threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
