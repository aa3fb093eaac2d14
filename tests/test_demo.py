"""The whole `lie-ssl demo`, with fewer steps and frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from lie_ssl.cli import main
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureConfig
from lie_ssl.protocol.grid import TABLES, Recipe
from lie_ssl.recipes import demo as recipes
from lie_ssl.threads import one_thread
from lie_ssl.training.config import PretrainConfig
from tests.conftest import tiny_config

HEADLINE = "Objects that training showed in one pose only are recognised in new poses (2D poses and 3D poses):"


def tiny(recipe: Recipe, **data: object) -> Recipe:
    """The recipe of a demo with smaller sizes."""
    units = []
    for unit in recipe.units:
        optim = replace(unit.pretraining.optim, steps=3, batch=8)
        log = replace(unit.pretraining.log, check_every=3, tensorboard=False)
        probe = replace(unit.evaluation.probe, steps=4)
        readout = unit.evaluation.readout and replace(unit.evaluation.readout, steps=4)
        evaluation = replace(
            unit.evaluation, probe=probe, readout=readout, limit=20, pairs=1, proportions=(0.25, 0.5)
        )  # fmt: skip
        units.append(replace(unit, pretraining=replace(unit.pretraining, optim=optim, log=log), evaluation=evaluation))
    return replace(recipe, data=tiny_config(**data), units=tuple(units))


def adapting(folder: Path) -> Recipe:
    """A tiny demo that adapts a small encoder, whose weights are in a file."""
    torch.manual_seed(0)
    weights = folder / "weights.safetensors"
    save_file(create_encoder(EncoderConfig("resnet_mini"), 16, 3).body.state_dict(), weights)
    return tiny(recipes.demo_recipe("resnet_mini", str(weights)), poses=("2d", "yaw"), step=45.0)


def test_the_demo_shows_one_table_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = adapting(tmp_path)
    monkeypatch.setattr(recipes, "demo_recipe", lambda: whole)
    monkeypatch.chdir(tmp_path)
    with one_thread():
        main(["demo", "--jobs", "1"])
    output = capsys.readouterr().out
    shown = output[output.index("Unknown objects") :]
    rows = [line.split()[0] for line in shown.splitlines() if line.strip() and line.split()[-1][-1].isdigit()]
    assert rows == ["frozen", "Frames", "Lie"]
    assert "With 25 % of the training objects labelled in all poses" in shown
    assert "reads the angle with a median error of" in shown
    page = (tmp_path / "demo" / "report.html").read_text()
    assert page.index("With 25 %") < page.index("How far did it turn?") < page.index("Find it turned by 90 degrees")
    assert page.index("Find it turned") < page.index("<h2>Accuracy by angle") < page.index("<h2>Accuracy</h2>")
    table = pd.read_csv(tmp_path / "demo" / "results" / "accuracy.csv")
    assert set(table["arm"]) == {"frozen", "frames", "lie"}

    main(["demo"])  # everything exists, so it only shows results
    again = capsys.readouterr().out
    assert "3 of 3 units are already done" in again
    assert again.endswith(shown)
    assert (tmp_path / "demo" / "report.html").read_text() == page

    # In parallel processes: the same numbers in the same order.
    main(["demo", "--out", "twin", "--jobs", "2"])
    for name in TABLES:
        path = Path("results") / f"{name}.csv"
        assert (tmp_path / "twin" / path).read_bytes() == (tmp_path / "demo" / path).read_bytes()


def test_both_heads_of_the_demo_are_trained_alike() -> None:
    recipe = recipes.demo_recipe()
    assert {u.name for u in recipe.units} == {f"tf_efficientnet_lite0/{arm}/0" for arm in ("frozen", "frames", "lie")}
    default = PretrainConfig()
    shared = []
    for each in (unit.pretraining for unit in recipe.units):
        optim = replace(each.optim, operator_lr=default.optim.operator_lr)  # Frames has no operator
        assert each.adapt is not None
        # Frames has no v; and early maps would make the classifier of the frozen encoder worse.
        head = replace(each.adapt, dim=None, features=FeatureConfig())
        shared.append(replace(each, objective=default.objective, optim=optim, adapt=head))
    assert shared[0] == shared[1] == shared[2]
    layers = {unit.pretraining.arm: unit.pretraining.adapt.features.depth for unit in recipe.units}  # type: ignore[union-attr]
    assert layers == {"lie": None, "frames": None, "frozen": 1}


@pytest.mark.slow
def test_the_demo_from_scratch_reports_its_results_and_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tiny(recipes.from_scratch_recipe())
    monkeypatch.setattr(recipes, "from_scratch_recipe", lambda: whole)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "demo-from-scratch"
    with one_thread():
        main(["demo", "--from-scratch", "--jobs", "1"])
    output = capsys.readouterr().out
    assert HEADLINE in output
    assert "Moved by the operator" in output
    assert "MAE Lie" in output
    assert "report.html" in output
    page = (folder / "report.html").read_text()
    assert "MAE Frames" in page
    assert "How far did it turn?" not in page
    table = pd.read_csv(folder / "results" / "accuracy.csv")
    assert set(table["arm"]) == {"alone", "frames", "lie"}

    main(["demo", "--from-scratch"])  # everything exists, so it only shows results
    again = capsys.readouterr().out
    assert "3 of 3 units are already done" in again
    assert [line for line in output.splitlines() if line.startswith("Objects")] == [
        line for line in again.splitlines() if line.startswith("Objects")
    ]

    # In parallel processes: the same numbers in the same order.
    main(["demo", "--from-scratch", "--out", str(tmp_path / "twin"), "--jobs", "3"])
    assert "mae/lie/0: step 3 of 3: loss" in capsys.readouterr().out
    for name in TABLES:
        path = Path("results") / f"{name}.csv"
        assert (tmp_path / "twin" / path).read_bytes() == (folder / path).read_bytes()


def test_the_demo_from_scratch_trains_like_the_small_recipe() -> None:
    recipe = recipes.from_scratch_recipe()
    assert [u.name for u in recipe.units] == ["mae/alone/0", "mae/frames/0", "mae/lie/0"]
    steps = {u.pretraining.optim.steps for u in recipe.units}
    assert len(steps) == 1  # the same for all runs
    shared = [replace(u.pretraining, objective=PretrainConfig().objective) for u in recipe.units]
    assert shared[0] == shared[1] == shared[2]
