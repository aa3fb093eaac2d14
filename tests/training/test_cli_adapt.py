"""The help of `lie-ssl adapt`."""

from __future__ import annotations

import pytest

from lie_ssl.cli import main
from lie_ssl.objectives.registry import trained_objectives


def test_the_usage_fits_a_narrow_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in ([], ["--help"]):
        with pytest.raises(SystemExit) as stop:
            main(["adapt", *words])
        assert stop.value.code == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= 80
        assert all(name in shown for name in trained_objectives())
    with pytest.raises(SystemExit):
        main(["adapt", "resnet_mini", "lie", "--help"])
    shown = capsys.readouterr().out
    assert "--adapt.hidden INT" in shown
    assert "adapt:none" not in shown
