"""Bad input on the command line: exit code 2, one sentence, no traceback, nothing half-written, nothing executed."""

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
from tests.bad_input.cases import CASES, Case
from tests.bad_input.world import MARK, World
from tests.training.tiny_runs import few_pairs, tiny_run


@pytest.fixture(scope="module")
def shared(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> World:
    """One good thing of each kind."""
    folder = tmp_path_factory.mktemp("shared")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        run = pretrain(tiny_run(tiny), folder / "run")
        config = EvaluateConfig(
            proportions=(0.5,), probe=ProbeConfig(steps=2, rates=(0.1,)), finetune=FinetuneConfig(steps=0), limit=20
        )
        evaluate_run(run, config, folder / "evaluation")
    saved = load(run).save_pretrained(folder / "saved")
    exported = export_run(run, folder / "encoder.safetensors")
    shutil.rmtree(run / "features")
    return World(folder, tiny.folder, run, folder / "evaluation", saved, exported)


@pytest.fixture
def world(shared: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    yield replace(shared, tmp=tmp_path)
    if MARK.exists():
        MARK.rmdir()


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes, and every folder, by names that may be no UTF-8."""
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
def test_bad_input(case: Case, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(word(world) if callable(word) else word) for word in case.command(world)]
    before, good = files_below(world.tmp), files_below(world.run.parent)
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
    assert not MARK.exists(), "code of the file was run"
    after = files_below(world.tmp)
    assert {name for name in after if not name.startswith(case.leaves or ("\0",))} == before.keys()
    assert all(after[name] == content for name, content in before.items())
    assert files_below(world.run.parent) == good


def test_there_are_enough_cases() -> None:
    names = [name for name, _ in CASES]
    assert len(names) == len(set(names)) >= 120
