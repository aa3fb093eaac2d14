"""The progress of a run in another process: it writes lines of JSON to a file, and this process reads them.

    {"say": "resuming at step 20"}
    {"step": [30, 500, 0.71]}
    {"busy": "evaluating"}

Other lines, such as the output of a user's own code, are ignored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

from lie_ssl.training.progress import ProgressReporter


class EventWriter:
    """A reporter that writes events to a stream, one per line."""

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
    """Reads events from a growing file and forwards them to a reporter."""

    def __init__(self, path: Path, reporter: ProgressReporter) -> None:
        self._path, self._reporter = path, reporter
        self._position, self._rest = 0, b""

    def forward(self) -> None:
        """Forwards all new complete lines."""
        with self._path.open("rb") as file:
            file.seek(self._position)
            new = file.read()
        self._position += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        for line in lines:
            self._forward_line(line)

    def _forward_line(self, line: bytes) -> None:
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
