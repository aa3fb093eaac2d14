"""Bad input on the command line gives exit code 2 and one sentence; nothing is half-written or executed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.results import evaluate_run
from lie_ssl.training.export import export_run
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.bad_input.cases import CASES
from tests.bad_input.commands import Case
from tests.bad_input.workspace import MARK, Workspace
from tests.training.adapted_runs import tiny_adapted
from tests.training.tiny_runs import few_pairs, tiny_run


@pytest.fixture(scope="module")
def shared(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One valid example of each kind."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        run = pretrain(tiny_run(tiny), folder / "run")
        config = EvaluateConfig(
            proportions=(0.5,), probe=ProbeConfig(steps=2, rates=(0.1,)), finetune=FinetuneConfig(steps=0), limit=20
        )
        evaluate_run(run, config, folder / "evaluation")
        adapted = pretrain(tiny_adapted(tiny, folder / "banks"), folder / "adapted")
    saved = load(run).save_pretrained(folder / "saved")
    exported = export_run(run, folder / "encoder.safetensors")
    shutil.rmtree(run / "features")
    return Workspace(folder, tiny.folder, run, folder / "evaluation", saved, exported, adapted)


@pytest.fixture
def workspace(shared: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    yield replace(shared, tmp=tmp_path)
    if MARK.exists():
        MARK.rmdir()


def files_below(folder: Path) -> dict[str, bytes]:
    """All files with their bytes, and all folders; names need not be valid UTF-8."""
    found = {}
    for root, folders, names in os.walk(os.fsencode(folder)):
        for name in folders:
            found[os.fsdecode(os.path.relpath(os.path.join(root, name), os.fsencode(folder)))] = b""  # noqa: PTH118
        for name in names:
            path = os.path.join(root, name)  # noqa: PTH118  (bytes)
            if not os.path.isfile(path):  # noqa: PTH113  (a pipe)
                continue
            with open(path, "rb") as file:  # noqa: PTH123
                found[os.fsdecode(os.path.relpath(path, os.fsencode(folder)))] = file.read()
    return found


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in CASES])
def test_bad_input(case: Case, workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(word(workspace) if callable(word) else word) for word in case.command(workspace)]
    before, shared_files = files_below(workspace.tmp), files_below(workspace.run.parent)
    code: Any = 0
    try:
        main(arguments)
    except SystemExit as stop:
        code = stop.code or 0
    error = capsys.readouterr().err
    assert code == case.code, error
    assert "Traceback" not in error
    assert "weights_only" not in error
    if case.code:
        assert len(error.strip().splitlines()) == 1
        assert error.startswith("lie-ssl: ")
        assert len(error) < 700
    assert case.words in error
    assert not MARK.exists(), "code in a file was executed"
    after = files_below(workspace.tmp)
    assert {name for name in after if not name.startswith(case.leaves or ("\0",))} == before.keys()
    assert all(after[name] == content for name, content in before.items())
    assert files_below(workspace.run.parent) == shared_files


def test_there_are_enough_cases() -> None:
    names = [name for name, _ in CASES]
    assert len(names) == len(set(names)) >= 120
