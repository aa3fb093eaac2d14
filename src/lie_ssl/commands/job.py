"""`lie-ssl job FILE`: one of several units that `demo`, `reproduce`, `ablate` or `sweep` run side by side."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.parsing import Trust

SECONDS = 20.0


def job(file: Annotated[Path, tyro.conf.Positional], trust: Trust = ()) -> None:
    """Trains and evaluates what a file says, and reports its progress in lines of JSON. Ends when its input does.

    Other commands start it; there is no need to type it.

    Example: lie-ssl job runs/small/jobs/mae_lie_0.json

    Args:
        file: The settings of a unit.
        trust: An import path (package.module:Class) that the file may name. Importing runs code.
    """
    threading.Thread(target=end_with_input, daemon=True).start()
    from lie_ssl.protocol.unit import run_unit_file
    from lie_ssl.training.events import EventWriter

    run_unit_file(file, trust, EventWriter(sys.stdout))


def end_with_input() -> None:
    """Ends this process when the one that started it is gone, even by kill -9: nobody would collect the results."""
    while os.read(0, 1):  # not sys.stdin, whose lock would be held when the interpreter shuts down
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS)  # as long as the parent would have waited
    os.kill(os.getpid(), signal.SIGKILL)
