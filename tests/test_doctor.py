"""The doctor checks all parts and gives remedies."""

from __future__ import annotations

import pytest

from lie_ssl.commands import doctor
from lie_ssl.extras import EXTRAS


def test_required_parts_work() -> None:
    findings = {f.name: f for f in doctor.examine()}
    assert all(f.works for f in findings.values() if f.needed), findings
    assert {"torch", "GPU", *EXTRAS} <= set(findings)
    assert {name for name, f in findings.items() if f.needed} == {"torch"}
    assert "rendered a ball" in findings["render"].words


def test_a_missing_part_gives_the_remedy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> str:
        raise RuntimeError("no such thing\nwith a second line")

    monkeypatch.setattr(doctor, "extra_checks", list)
    monkeypatch.setattr(doctor, "CHECKS", [doctor.Check("part", broken, "type: pip install '.[part]'", needed=True)])
    with pytest.raises(SystemExit) as stop:
        doctor.doctor()
    assert stop.value.code == 2
    text = capsys.readouterr().out
    assert "pip install '.[part]'" in text
    assert "second line" not in text
    assert "required parts do not work: part" in text
