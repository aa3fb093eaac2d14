"""The whole `lie-ssl demo`, with fewer steps and frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.protocol.grid import TABLES, Recipe
from lie_ssl.recipes import demo as recipes
from lie_ssl.threads import one_thread
from lie_ssl.training.config import PretrainConfig
from tests.conftest import tiny_config

HEADLINE = "Objects that training showed in one pose only are recognised in new poses (2D poses and 3D poses):"


def tiny() -> Recipe:
    """The recipe of the demo with smaller sizes."""
    recipe = recipes.demo_recipe()
    units = []
    for unit in recipe.units:
        optim = replace(unit.pretraining.optim, steps=3, batch=8)
        log = replace(unit.pretraining.log, check_every=3, tensorboard=False)
        probe = replace(unit.evaluation.probe, steps=4)
        evaluation = replace(unit.evaluation, probe=probe, limit=20, pairs=1, proportions=(0.25, 0.5))
        units.append(replace(unit, pretraining=replace(unit.pretraining, optim=optim, log=log), evaluation=evaluation))
    return replace(recipe, data=tiny_config(), units=tuple(units))


def test_the_demo_reports_its_results_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tiny()
    monkeypatch.setattr(recipes, "demo_recipe", lambda: whole)
    with one_thread():
        main(["demo", "--out", str(tmp_path / "demo"), "--jobs", "1"])
    output = capsys.readouterr().out
    assert HEADLINE in output
    assert "Moved by the operator" in output
    assert "MAE Lie" in output
    assert "report.html" in output
    page = (tmp_path / "demo" / "report.html").read_text()
    assert "MAE Frames" in page
    table = pd.read_csv(tmp_path / "demo" / "results" / "accuracy.csv")
    assert set(table["arm"]) == {"alone", "frames", "lie"}

    main(["demo", "--out", str(tmp_path / "demo")])  # everything exists, so it only shows results
    again = capsys.readouterr().out
    assert "3 of 3 units are already done" in again
    assert [line for line in output.splitlines() if line.startswith("Objects")] == [
        line for line in again.splitlines() if line.startswith("Objects")
    ]

    # In parallel processes: the same numbers in the same order.
    main(["demo", "--out", str(tmp_path / "twin"), "--jobs", "3"])
    assert "mae/lie/0: step 3 of 3: loss" in capsys.readouterr().out
    for name in TABLES:
        path = Path("results") / f"{name}.csv"
        assert (tmp_path / "twin" / path).read_bytes() == (tmp_path / "demo" / path).read_bytes()


def test_the_demo_trains_like_the_small_recipe() -> None:
    recipe = recipes.demo_recipe()
    assert [u.name for u in recipe.units] == ["mae/alone/0", "mae/frames/0", "mae/lie/0"]
    steps = {u.pretraining.optim.steps for u in recipe.units}
    assert len(steps) == 1  # the same for all runs
    shared = [replace(u.pretraining, objective=PretrainConfig().objective) for u in recipe.units]
    assert shared[0] == shared[1] == shared[2]
