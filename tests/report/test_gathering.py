"""Reading runs, evaluations and collected tables; results that cannot be compared are rejected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from lie_ssl.errors import UserError
from lie_ssl.report.gathering import gather
from tests.report import long_tables


def changed_copy(run: Path, out: Path, change: Any) -> Path:
    """A copy of an evaluation with another card and other rows."""
    shutil.copytree(run / "evaluation", out)
    card = json.loads((out / "card.json").read_text())
    change(card)
    (out / "card.json").write_text(json.dumps(card))
    for name in ("accuracy", "curve", "equivariance", "trials"):
        path = out / f"{name}.csv"
        head, *lines = path.read_text().splitlines()
        place = head.split(",").index("seed")
        rows = [line.split(",") for line in lines]
        path.write_text("\n".join([head, *(",".join([*r[:place], str(card["seed"]), *r[place + 1 :]]) for r in rows)]))
    return out


def test_a_run_and_its_evaluation_are_the_same(evaluated: list[Path]) -> None:
    run, folder = gather(evaluated), gather([p / "evaluation" for p in evaluated])
    assert run.accuracy.equals(folder.accuracy)
    assert [e.run for e in run.evaluated] == [e.run for e in folder.evaluated] == [p.resolve() for p in evaluated]
    assert [e.name for e in run.evaluated] == ["MAE, seed 0", "MAE Lie, seed 0"]
    assert run.notes == ()


def test_seeds_are_joined_and_different_settings_are_reported(evaluated: list[Path], tmp_path: Path) -> None:
    def change(card: dict[str, Any]) -> None:
        card["seed"] = card["pretraining"]["seed"] = card["run"]["seed"] = 1
        card["pretraining"]["optim"]["lr"] = 0.5
        card["config"]["limit"] = 17

    other = changed_copy(evaluated[1], tmp_path / "other", change)
    found = gather([*evaluated, other])
    assert sorted(found.accuracy.query("arm == 'lie'")["seed"].unique()) == [0, 1]
    assert found.evaluated[2].run is None
    assert "Evaluated with other settings than MAE, seed 0 (limit: 4000 and 17): MAE Lie, seed 1." in found.notes
    assert "Trained with other settings than MAE Lie, seed 0 (optim.lr: 0.001 and 0.5): MAE Lie, seed 1." in found.notes


def test_another_data_set_is_rejected(evaluated: list[Path], tmp_path: Path) -> None:
    def change(card: dict[str, Any]) -> None:
        card["seed"] = card["pretraining"]["seed"] = card["run"]["seed"] = 1
        card["data"]["card_hash"] = "another"

    other = changed_copy(evaluated[1], tmp_path / "other", change)
    with pytest.raises(UserError, match="another data set"):
        gather([evaluated[0], other])


def test_the_same_evaluation_twice_is_rejected(evaluated: list[Path]) -> None:
    with pytest.raises(UserError, match="two numbers for mae alone with seed 0"):
        gather([evaluated[0], evaluated[0] / "evaluation"])


def test_collected_tables_need_no_card(tmp_path: Path) -> None:
    long_tables.accuracy().assign(recipe="abc").to_csv(tmp_path / "accuracy.csv", index=False)
    long_tables.ablation().to_csv(tmp_path / "ablation.csv", index=False)
    found = gather([tmp_path])
    assert len(found.accuracy) == 120
    assert len(found.ablation) == 8
    assert found.curve.empty
    assert found.evaluated == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nowhere", "there is no folder"),
        ("file", "is a file"),
        ("empty", "is not an evaluation"),
        ("run", "not been evaluated"),
    ],
)
def test_wrong_folders_are_rejected(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(UserError, match=text):
        gather([tmp_path / name])


def test_no_sources_and_invalid_tables_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least one"):
        gather([])
    (tmp_path / "accuracy.csv").write_text("method,arm\nmae,base\n")
    with pytest.raises(UserError, match="no column 'phase'"):
        gather([tmp_path])
