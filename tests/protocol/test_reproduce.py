"""`lie-ssl reproduce`: repeats a card to the last digit, and runs a recipe unit by unit."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.commands.reproduce import data_name
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.protocol import unit as units_module
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.grid import Recipe, Unit, done_units, select_units
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.reproduce import compare
from lie_ssl.protocol.results import evaluate_run
from lie_ssl.protocol.schema import ACCURACY
from lie_ssl.recipes.grids import GRIDS, long_recipe, small_recipe, with_option
from lie_ssl.training.run import pretrain
from tests.conftest import tiny_config
from tests.refusals import refusal
from tests.training.tiny_runs import few_pairs, tiny_run

EVALUATION = EvaluateConfig(
    proportions=(0.25, 0.5), probe=ProbeConfig(steps=4, batch=8, rates=(0.1,)), finetune=FinetuneConfig(steps=0),
    limit=20, pairs=1,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


def accuracies(*tops: float) -> pd.DataFrame:
    return pd.DataFrame([dict.fromkeys(ACCURACY.keys, i) | {"top1": top} for i, top in enumerate(tops)])


def test_tables_are_compared_row_by_row() -> None:
    same = compare(accuracies(10.0, 20.0), accuracies(10.0, 20.0))
    assert same.same
    assert str(same) == "2 of 2 rows agree; the largest difference is 0 points"
    other = compare(accuracies(10.0, 20.0, 30.0), accuracies(10.0, 22.5, 31.0))
    assert (other.rows, other.agreeing, other.largest) == (3, 1, 2.5)
    assert "seed 1" in other.where
    assert compare(accuracies(10.0, 20.0), accuracies(10.0, 22.5), tolerance=2.5).same
    missing = compare(accuracies(10.0, 20.0), accuracies(10.0), tolerance=100)
    assert not missing.same
    assert (missing.agreeing, missing.where.split(", ")[0]) == (1, "method 1")
    assert "(method 1" in str(missing)


def test_an_evaluation_is_repeated_from_its_card(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation, out = tmp_path / "run" / "evaluation", tmp_path / "again"
    run = pretrain(tiny_run(tiny, "mae", "lie", seed=3), tmp_path / "run")
    before = evaluate_run(run, EVALUATION, evaluation).accuracy
    moved = tmp_path / "moved"
    shutil.copytree(tiny.folder, moved)  # the same bytes elsewhere
    command = ["reproduce", str(evaluation / "card.json"), "--data", str(moved), "--out", str(out)]
    main(command)
    output = capsys.readouterr().out
    assert f"{len(before)} of {len(before)} rows agree; the largest difference is 0 points" in output
    assert " here and was " not in output
    assert (out / "evaluation" / "accuracy.csv").read_bytes() == (evaluation / "accuracy.csv").read_bytes()

    # The card of a recipe's unit, with the rows in the tables of the recipe.
    stored = tmp_path / "results" / "cards" / "mae_lie_3.json"
    stored.parent.mkdir(parents=True)
    shutil.copy(evaluation / "card.json", stored)
    assert "accuracy.csv with the results of" in refusal(capsys, "reproduce", str(stored))
    rows = pd.read_csv(evaluation / "accuracy.csv").assign(recipe="tiny-0")
    rows.assign(seed=4).to_csv(tmp_path / "results" / "accuracy.csv", index=False)
    assert "has no rows of mae, lie, seed 3" in refusal(capsys, "reproduce", str(stored))
    pd.concat([rows.assign(seed=4, top1=0.0), rows]).to_csv(tmp_path / "results" / "accuracy.csv", index=False)
    main(["reproduce", str(stored), *command[2:]])  # the finished run is not trained again
    assert f"{len(before)} of {len(before)} rows agree; the largest difference is 0 points" in capsys.readouterr().out

    # A wrong number and another version of torch are both reported.
    rows = pd.read_csv(evaluation / "accuracy.csv")
    rows.loc[2, "top1"] = rows["top1"][2] + 3
    rows.to_csv(evaluation / "accuracy.csv", index=False)
    card = json.loads((evaluation / "card.json").read_text())
    card["versions"]["torch"] = "1.0"
    (evaluation / "card.json").write_text(json.dumps(card))
    command[1] = str(run)  # the folder of a run works too
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 1
    output = capsys.readouterr().out
    assert f"{len(before) - 1} of {len(before)} rows agree; the largest difference is 3 points" in output
    assert "torch is " in output
    assert " here and was 1.0" in output
    main([*command, "--tolerance", "3.001"])
    assert f"{len(before)} of {len(before)} rows agree" in capsys.readouterr().out

    other = make_frames(tiny_config(seed=5), tmp_path / "other", workers=1)
    assert "is not the data set of the card's pretraining" in refusal(
        capsys, "reproduce", str(run), "--data", str(other.folder)
    )
    assert "choose another --out" in refusal(capsys, "reproduce", str(run), "--out", str(run))
    assert "--only, --work and --jobs are for recipes" in refusal(capsys, "reproduce", str(run), "--only", "mae")
    assert "tolerance is -1" in refusal(capsys, "reproduce", str(run), "--tolerance", "-1")
    (evaluation / "card.json").write_text(json.dumps(card | {"run": None, "pretraining": None}))
    assert "an encoder without a run" in refusal(capsys, "reproduce", str(evaluation))


def test_arguments_that_are_not_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no card and no recipe 'smal'; did you mean 'small'?" in refusal(capsys, "reproduce", "smal")
    assert "is not an evaluation" in refusal(capsys, "reproduce", str(tmp_path))
    (tmp_path / "table.csv").write_text("")
    assert "is not the card.json of an evaluation" in refusal(capsys, "reproduce", str(tmp_path / "table.csv"))


def test_flags_that_would_be_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert "are for cards" in refusal(capsys, "reproduce", "small", "--tolerance", "1")
    assert "leave out the other flags" in refusal(capsys, "reproduce", "small", "--dry-run", "--data", "d")
    assert "leave it out for pretrained" in refusal(capsys, "reproduce", "pretrained", "--weights", "timm")
    assert "there is no file nosuch.pth" in refusal(capsys, "reproduce", "paper/mae", "--weights", "nosuch.pth")


def test_the_small_recipe() -> None:
    recipe = small_recipe()
    names = [u.name for u in recipe.units]
    assert len(names) == len(set(names)) == 45
    assert names[:6] == [f"mae/{arm}/0" for arm in ("alone", "frames", "literal", "lie", "lie_off")] + [
        "vicreg/alone/0"
    ]
    assert [n.split("/")[2] for n in names] == ["0"] * 15 + ["1"] * 15 + ["2"] * 15
    options = {u.name: u.evaluation.options for u in recipe.units if u.name.endswith("0")}
    assert {n for n, o in options.items() if o == (2,)} == {"mae/literal/0", "vicreg/literal/0"}
    assert all(o in ((1,), (2,)) for o in options.values())
    hashes = [recipe.hash_of(u) for u in recipe.units]
    assert len(set(hashes)) == 45
    assert hashes == [small_recipe().hash_of(u) for u in small_recipe().units]
    assert all(h.startswith("small-") for h in hashes)
    assert replace(recipe, data=replace(recipe.data, seed=7)).hash_of(recipe.units[0]) != hashes[0]


def test_the_long_recipe() -> None:
    """It has the MAE runs of the small recipe with more steps, and also Option 2 for lie and lie_off."""
    short = {u.name: u for u in small_recipe().units}
    names = [name for name in short if name.startswith("mae/") and "literal" not in name]
    assert [u.name for u in long_recipe().units] == names
    for unit in long_recipe().units:
        twin = short[unit.name]
        assert unit.pretraining.optim.steps == 4 * twin.pretraining.optim.steps
        assert replace(unit.pretraining, optim=twin.pretraining.optim) == twin.pretraining
        both = unit.key[1] in ("lie", "lie_off")
        assert unit.evaluation == (replace(twin.evaluation, options=(1, 2)) if both else twin.evaluation)


def test_units_can_be_selected() -> None:
    recipe = small_recipe()
    assert {u.key[:2] for u in select_units(recipe, ["mae/lie", "simclr/alone"])} == {
        ("mae", "lie"),
        ("simclr", "alone"),
    }
    assert [u.name for u in select_units(recipe, ["0/lie_off/vicreg"])] == ["vicreg/lie_off/0"]
    assert len(select_units(recipe, ["1", "2"])) == 30
    with pytest.raises(UserError, match="no 'leie'; did you mean 'lie'"):
        select_units(recipe, ["mae/leie"])
    with pytest.raises(UserError, match="no unit mae/vicreg"):
        select_units(recipe, ["mae/vicreg"])


def tiny_recipe(**changes: Any) -> Recipe:
    """Three units; the literal one uses Option 2, and SimCLR fails, as the run it starts from does not exist."""
    arms = [("mae", "alone"), ("mae", "literal"), ("simclr", "alone")]
    units = [Unit(tiny_run(Path(), m, a, **changes), with_option(EVALUATION, m, a)) for m, a in arms]
    broken = replace(units[2].pretraining, start="nowhere")
    return Recipe("tiny", tiny_config(), (*units[:2], replace(units[2], pretraining=broken)))


def test_a_recipe_resumes_where_it_was_killed(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(GRIDS, "tiny", tiny_recipe)
    command = ["reproduce", "tiny", "--data", str(tiny.folder), "--jobs", "1"]
    whole = units_module.train_and_evaluate

    def killed(config: Any, evaluation: Any, run: Path, reporter: Any) -> Any:
        if "literal" in run.name:
            raise KeyboardInterrupt
        return whole(config, evaluation, run, reporter)

    monkeypatch.setattr(units_module, "train_and_evaluate", killed)
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 130
    out = tmp_path / "results" / "tiny"
    assert done_units(out, tiny_recipe()) == {"mae/alone/0"}
    before = pd.read_csv(out / "accuracy.csv")
    capsys.readouterr()

    monkeypatch.setattr(units_module, "train_and_evaluate", whole)
    with pytest.raises(SystemExit) as stop:
        main(command)
    assert stop.value.code == 2
    captured = capsys.readouterr()
    assert "1 of 3 units are already done" in captured.out
    assert "mae/literal/0 is done: 1 of 2, about" in captured.out
    assert "simclr/alone/0 failed: there is no checkpoint nowhere" in captured.out
    assert "1 of 3 units failed: simclr/alone/0" in captured.err
    assert (tmp_path / "runs" / "tiny" / "mae_literal_0" / "card.json").exists()
    table = pd.read_csv(out / "accuracy.csv")
    assert set(table["recipe"]) == {tiny_recipe().hash_of(u) for u in tiny_recipe().units[:2]}
    assert table.groupby("arm")["option"].unique().map(set).to_dict() == {"alone": {1}, "literal": {1, 2}}
    assert set(table.loc[table["phase"] == "linear", "option"]) == {1, 2}
    pd.testing.assert_frame_equal(table[table["arm"] == "alone"], before)
    assert not table.duplicated(ACCURACY.keys).any()
    assert sorted(p.name for p in (out / "cards").iterdir()) == ["mae_alone_0.json", "mae_literal_0.json"]
    for name in ("equivariance", "curve", "trials"):
        assert set(pd.read_csv(out / f"{name}.csv")["arm"]) == {"alone", "literal"}

    monkeypatch.setattr(units_module, "train_and_evaluate", None)  # any call would fail
    main([*command, "--only", "mae"])
    assert "2 of 2 units are already done" in capsys.readouterr().out
    assert "has no 'simclrr'; did you mean 'simclr'?" in refusal(capsys, "reproduce", *command[1:], "--only", "simclrr")


def test_recipes_with_their_own_and_with_a_shared_data_set() -> None:
    names = {name: data_name(name) for name in GRIDS}
    assert {names[name] for name in GRIDS if name.startswith("paper/")} == {"paper"}
    assert names["adapt/factors"] == "adapt_factors" != names["adapt"]
    factors = GRIDS["adapt/factors"]()
    assert factors.data.varied == ("light", "hue")
    assert "crosstalk" in (factors.units[0].evaluation.metrics or ())


def test_another_recipe_replaces_the_rows(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    for lr in (1e-3, 1e-4):
        monkeypatch.setitem(GRIDS, "tiny", partial(tiny_recipe, optim__lr=lr))
        work = ["--work", str(tmp_path / f"work{lr}"), "--out", str(out), "--data", str(tiny.folder)]
        main(["reproduce", "tiny", "--only", "mae/alone", *work])
        table = pd.read_csv(out / "accuracy.csv")
        assert set(table["recipe"]) == {(r := tiny_recipe(optim__lr=lr)).hash_of(r.units[0])}
    (out / "accuracy.csv").write_text("method,arm\nmae,base\n")
    with pytest.raises(UserError, match="is not a table of a recipe"):
        done_units(out, tiny_recipe())
