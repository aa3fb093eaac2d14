"""The progress of a run in another process: lines of JSON in a file, which the one writes and the other reads.

    {"say": "going on at step 20"}
    {"step": [30, 500, 0.71]}
    {"busy": "evaluating"}

Other lines, such as what a user's own code prints, stay in the file and are passed over.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from lie_ssl.training.progress import ProgressReporter


class EventWriter:
    """A reporter that writes what it is told to a stream, line by line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def step(self, done: int, total: int, loss: float) -> None:
        self._write({"step": [done, total, loss]})

    def busy(self, what: str) -> None:
        self._write({"busy": what})

    def say(self, text: str) -> None:
        self._write({"say": text})

    def _write(self, event: dict[str, Any]) -> None:
        print(json.dumps(event), file=self._stream, flush=True)


class EventReader:
    """Passes on to a reporter what has been written to a file since it was last asked."""

    def __init__(self, path: Path, reporter: ProgressReporter) -> None:
        self._path, self._reporter = path, reporter
        self._position, self._rest = 0, b""

    def forward(self) -> None:
        """All whole lines that are new."""
        with self._path.open("rb") as file:
            file.seek(self._position)
            new = file.read()
        self._position += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            self._pass_on(line)

    def _pass_on(self, line: bytes) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            return
        match event:
            case {"step": [int(done), int(total), float(loss)]}:
                self._reporter.step(done, total, loss)
            case {"busy": str(what)}:
                self._reporter.busy(what)
            case {"say": str(text)}:
                self._reporter.say(text)
