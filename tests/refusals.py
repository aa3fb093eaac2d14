"""Error messages of invalid commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from lie_ssl.cli import main


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Runs an invalid command and returns its error message: one line on standard error, with exit code 2."""
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert len(error.strip().splitlines()) == 1
    return error
