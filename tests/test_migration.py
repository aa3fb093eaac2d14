"""Files of lie_ssl 0.1 stay readable. `fixtures/format_1` was written by that version: runs of three steps with a tiny
encoder on twelve objects, two of them evaluated, a saved model and an exported encoder."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.migration import FORMAT, legacy_config, migrate
from lie_ssl.protocol.results import read_results
from lie_ssl.protocol.schema import read_table
from lie_ssl.recipes.ablations import ABLATIONS
from lie_ssl.recipes.pretrain import ARMS, PRETRAIN_RECIPES, PUBLISHED, pretrain_recipe
from lie_ssl.serialization import to_plain
from lie_ssl.training.checkpoints import read_checkpoint
from lie_ssl.training.config import load_config, read_config
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import few_pairs

OLD = Path(__file__).parent / "fixtures" / "format_1"
NAMES = {"base": "alone", "frames": "frames", "literal": "literal", "lie": "lie", "lie_off": "lie_off"}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy beside its data set, in the folder of the process."""
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    few_pairs(monkeypatch)
    return tmp_path / "old"


@pytest.mark.parametrize(("before", "now"), NAMES.items())
def test_old_configs_and_cards(before: str, now: str) -> None:
    folder = OLD / "runs" / before
    config, card = load_config(folder / "config.json"), read_run_card(folder)
    assert config.objective.name == config.arm == card["arm"] == now
    assert (config.start, config.log.wandb, config.encoder.weights) == (None, None, None)
    assert card["config_digest"] in config.known_digests()
    written = json.loads((folder / "config.json").read_text())
    assert legacy_config(to_plain(config)) == written
    assert read_config(to_plain(config)) == config  # a config without a format, but with a name, is current


@pytest.mark.parametrize("before", ["base", "frames", "lie"])
def test_old_runs_can_be_loaded_and_are_finished(old: Path, before: str) -> None:
    run = old / "runs" / before
    loaded = lie_ssl.load(run)
    assert (loaded.operator is not None) == (before == "lie")
    assert loaded.embed(torch.rand(2, 1, 16, 16)).shape == (2, 16)
    assert loaded.config is not None
    assert pretrain(loaded.config, run) == run
    written = torch.load(run / "last.ckpt", weights_only=True)["state_dict"]
    found = read_checkpoint(run / "last.ckpt")["state_dict"]
    assert [v.tolist() for v in written.values()] == [v.tolist() for v in found.values()]


def test_an_old_run_can_be_resumed(old: Path) -> None:
    """The second half of a run whose first half was trained by 0.1; the best score so far is kept."""
    run = old / "runs" / "lie"
    for name, changes in (("config.json", {"optim": {"steps": 6}}), ("card.json", {"finished": False})):
        values = json.loads((run / name).read_text())
        for key, value in changes.items():
            values[key] = values[key] | value if isinstance(value, dict) else value
        (run / name).write_text(json.dumps(values))
    state = read_checkpoint(run / "last.ckpt")
    assert state["callbacks"]["RunCallback"]["best"] > 0.5
    pretrain(load_config(run / "config.json"), run)
    assert read_checkpoint(run / "last.ckpt")["global_step"] == 6
    assert read_run_card(run)["finished"]
    assert json.loads((run / "config.json").read_text())["format"] == FORMAT


@pytest.mark.parametrize("before", ["base", "lie"])
def test_old_evaluations(old: Path, before: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = old / "runs" / before / "evaluation"
    results, card = read_results(folder)
    assert card["arm"] == card["run"]["arm"] == NAMES[before]
    assert set(results.accuracy["arm"]) == {NAMES[before]}
    assert set(results.trials["optimiser"]) == {"adamw", "sgd"}
    assert (card["config"]["limit"], card["config"]["finetune"]["optimisers"]) == (None, ["adamw"])
    main(["report", str(old / "runs" / before), "--out", str(old / "page.html")])
    assert ("MAE Lie" if before == "lie" else "MAE") in capsys.readouterr().out
    again = old / "again"
    main(["evaluate", str(old / "runs" / before), "--out", str(again), *flags_of(card["config"])])
    pd.testing.assert_frame_equal(read_table(again / "accuracy.csv"), results.accuracy)


def flags_of(config: dict[str, Any]) -> list[str]:
    """The flags of the fixture's evaluation."""
    return [
        "--probe.steps", str(config["probe"]["steps"]), "--finetune.steps", str(config["finetune"]["steps"]),
        "--finetune.batch", "4", "--proportions", "0.5", "--limit", "None", "--pairs", "1",
    ]  # fmt: skip


def test_an_old_saved_model_and_an_old_export() -> None:
    saved, encoder = lie_ssl.from_pretrained(OLD / "saved"), lie_ssl.load(OLD / "encoder.safetensors")
    assert saved.operator is not None
    assert saved.operator.fixed == 10
    pictures = torch.rand(2, 1, 16, 16)
    torch.testing.assert_close(saved.embed(pictures), lie_ssl.load(OLD / "runs" / "lie").embed(pictures))
    torch.testing.assert_close(encoder.embed(pictures), lie_ssl.load(OLD / "runs" / "base").embed(pictures))


def test_the_old_data_set() -> None:
    assert len(FrameSet(OLD / "data").index) == 96


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("method", PUBLISHED)
@pytest.mark.parametrize("recipe", PRETRAIN_RECIPES)
def test_every_recipe_has_an_old_form(recipe: str, method: str, arm: str) -> None:
    config = pretrain_recipe(recipe, method, arm)
    before = legacy_config(to_plain(config))
    assert before["arm"] == arm.replace("alone", "base")
    assert "name" not in before["objective"]
    assert read_config(before) == config


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_ablation_has_an_old_form(name: str) -> None:
    full = pretrain_recipe("small", "mae", "lie")
    config = ABLATIONS[name](replace(full, variant=name))
    before = legacy_config(to_plain(config))
    assert before["arm"] == f"lie_{name}"
    assert read_config(before) == config


@pytest.mark.parametrize("found", [FORMAT + 1, 0, -1, "2", True, None, 1.5, [1]])
def test_unknown_formats_are_rejected(found: Any) -> None:
    with pytest.raises(UserError, match=r"card.json has format .*, which this lie_ssl cannot read \(it reads 1 to 2\)"):
        migrate("run", {"format": found}, "card.json")


@pytest.mark.parametrize("values", [{}, {"arm": 3}, {"config": 3, "arm": "lie"}, {"arm": "lie", "pretraining": 4}])
def test_damaged_old_cards_give_one_sentence(values: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="is damaged") as error:
        migrate("evaluation", values, "card.json")
    assert "\n" not in str(error.value)
