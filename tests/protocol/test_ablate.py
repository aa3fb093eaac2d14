"""`lie-ssl ablate`: variants, drops, resuming, and failures."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol import ablate, unit
from lie_ssl.recipes.ablations import ABLATIONS, ablation_evaluation, select_ablations
from lie_ssl.recipes.pretrain import pretrain_recipe
from tests.training.tiny_runs import ENVIRONMENT, LIE_SSL, few_pairs

COLUMNS = ["method", "ablation", "phase", "diverse", "poses", "setting", "seed", "top1", "drop"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


def command(frames: FrameSet, out: Path, *only: str) -> list[str]:
    return [
        "ablate", "mae", "--data", str(frames.folder), "--out", str(out), "--seeds", "0", "--only", *only,
        "--optim.steps", "3", "--optim.batch", "8", "--log.check-every", "1000", "--log.no-tensorboard",
        "--evaluation.probe.steps", "4", "--evaluation.finetune.steps", "0", "--evaluation.limit", "20",
        "--evaluation.proportions", "0.25", "0.5", "--evaluation.pairs", "1", "--jobs", "1",
    ]  # fmt: skip


def test_every_variant_changes_the_config_as_its_name_says() -> None:
    full = pretrain_recipe("small", "mae", "lie")
    made: dict[str, Any] = {name: change(full).objective for name, change in ABLATIONS.items()}
    digests = {change(full).digest() for change in ABLATIONS.values()} | {full.digest()}
    assert len(digests) == len(ABLATIONS) + 1
    rates = {name: change(full).optim.operator_lr for name, change in ABLATIONS.items()}
    learned = {"mlp", "random_start", "general", "skew", "block", "low_rank", "fast_operator", "sees_pair_8"}
    assert {rates[name] for name in learned} == {1.0}  # operators that do not start as rotations have to learn
    assert (rates["frozen_operator"], rates["identity"]) == (0.0, full.optim.operator_lr)
    assert (made["no_ssl"].ssl, made["no_invariant"].invariant) == (0.0, 0.0)
    assert (made["no_euclidean"].name, made["no_fixed"].name) == ("lie_off", "literal")
    assert (made["no_fixed"].operator.fixed, made["no_fixed"].invariant) == (0, 0.0)
    assert (made["sees_pair_8"].operator.generators, made["sees_pair_8"].operator.sees) == ((8,), ("pair",))
    large = ABLATIONS["batch_128"](full).optim
    assert (large.batch, large.steps) == (
        2 * full.optim.batch,
        full.optim.steps // 2,
    )  # as many pairs in total
    assert {made[name].operator.action for name in ("mlp", "identity", "skew")} == {"mlp", "identity", "exp"}


def test_only_mae_is_finetuned() -> None:
    assert ablation_evaluation("small", "mae").finetune.steps > 0
    assert ablation_evaluation("small", "mae").proportions == (0.05, 0.25, 0.5)
    assert ablation_evaluation("small", "simclr").finetune.steps == 0


def test_drops_are_relative_to_the_full_model_with_the_same_seed_and_settings() -> None:
    rows = [("full", 0, 60.0), ("full", 1, 50.0), ("mlp", 0, 45.0), ("mlp", 1, 55.0), ("mlp", 0, 40.0)]
    table = pd.DataFrame([
        {"method": "mae", "ablation": a, "phase": "linear", "diverse": 50.0, "poses": "2d", "setting": "known_new",
         "seed": s, "top1": x, "drop": 0.0}
        for a, s, x in rows
    ])  # fmt: skip
    found = ablate.with_drops(table)
    assert list(found.columns) == COLUMNS
    values = found.set_index(["ablation", "seed"])["drop"].to_dict()
    assert values == {("full", 0): 0.0, ("full", 1): 0.0, ("mlp", 0): 20.0, ("mlp", 1): -5.0}  # the last row counts


def test_an_ablation_resumes_where_it_was_killed(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    monkeypatch.setitem(ABLATIONS, "same", lambda config: config)
    whole = unit.train_and_evaluate

    def killed(config: object, evaluation: object, run: Path, reporter: object) -> object:
        if run.name.startswith("mlp"):
            raise KeyboardInterrupt
        return whole(config, evaluation, run, reporter)  # type: ignore[arg-type]

    monkeypatch.setattr(unit, "train_and_evaluate", killed)
    with pytest.raises(SystemExit) as stop:
        main(command(tiny, out, "mlp", "same", "sees_pair_1"))
    assert stop.value.code == 130
    assert set(pd.read_csv(out / "ablation.csv")["ablation"]) == {"full", "same"}
    capsys.readouterr()

    monkeypatch.setattr(unit, "train_and_evaluate", whole)
    # Blocks of five do not divide the 24 dimensions of each factor.
    monkeypatch.setitem(ABLATIONS, "block", lambda c: _with_blocks(ABLATIONS["random_start"](c)))
    main(command(tiny, out, "mlp", "same", "block"))
    output = capsys.readouterr().out
    assert "2 of 4 are already done" in output
    assert "block/0 failed: objective.operator does not fit an embedding of 128: blocks of 5" in output
    table = pd.read_csv(out / "ablation.csv")
    assert list(table.columns) == COLUMNS
    assert list(table["ablation"].unique()) == ["full", "mlp", "same"]  # in the order of --only, not as they finished
    assert set(table["diverse"]) == {25, 50}
    assert set(table["phase"]) == {"linear", "knn"}
    assert not table.loc[table["ablation"].isin(["full", "same"]), "drop"].any()
    sizes = table.groupby("ablation").size()
    assert sizes.nunique() == 1
    operators = pd.read_csv(out / "ablation_equivariance.csv")
    assert list(operators.columns[:6]) == ["method", "ablation", "poses", "instances", "part", "seed"]
    assert list(operators["ablation"].unique()) == ["full", "mlp", "same"]
    assert operators["mrr_transfer"].notna().any()
    assert not operators.duplicated(["ablation", "poses", "instances", "part"]).any()
    assert lie_ssl.load(out / "runs" / "mlp_0").operator.action == "mlp"  # type: ignore[union-attr]
    assert not (out / "runs" / "same_0").exists()  # the run of the full model is used

    monkeypatch.setattr(unit, "train_and_evaluate", None)  # any call would fail
    before = (out / "ablation.csv").read_bytes()
    main(command(tiny, out, "mlp"))
    assert "2 of 2 are already done" in capsys.readouterr().out
    assert (out / "ablation.csv").read_bytes() == before
    with pytest.raises(SystemExit) as stop:
        main([*command(tiny, out, "mlp"), "--optim.lr", "0.5"])
    assert stop.value.code == 2
    assert "contains another ablation" in capsys.readouterr().err
    assert json.loads((out / "ablation.json").read_text()).keys() == {"full/0", "mlp/0", "same/0"}
    (out / "ablation_equivariance.csv").unlink()
    with pytest.raises(SystemExit):
        main(command(tiny, out, "mlp"))
    assert "has no ablation_equivariance.csv; remove" in capsys.readouterr().err
    monkeypatch.setattr(unit, "train_and_evaluate", whole)
    with pytest.raises(SystemExit) as stop:
        main([*command(tiny, tmp_path / "no", "mlp"), "--start", "nowhere"])
    assert stop.value.code == 2
    assert "the full model failed" in capsys.readouterr().err


def _with_blocks(config: object) -> object:
    from tests.training.tiny_runs import changed

    return changed(config, objective__operator__algebra="block", objective__operator__block_size=5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mea", "--data", "d", "--out", "o"], "no method 'mea'; did you mean 'mae'?"),
        (["mae", "--out", "o"], "give the data set to train on"),
        (["mae", "--data", "d", "--out", "o", "--only", "no_euclid"], "did you mean 'no_euclidean'?"),
        (["mae", "--data", "d", "--out", "o", "--seed", "3"], "needs --seeds"),
        (["mae", "--data", "d", "--out", "o", "--evaluation.options", "1", "2"], "Option 1 only"),
        (["--data", "d"], "lie-ssl ablate METHOD"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["ablate", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.strip().splitlines()) == 1


def test_help_lists_the_ablations(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["ablate"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ABLATIONS)
    assert list(select_ablations(("mlp",))) == ["mlp"]
    with pytest.raises(UserError, match="no ablation 'x'"):
        select_ablations(("x",))


@pytest.mark.slow
def test_processes_end_when_their_command_is_killed_and_can_be_resumed(tiny: FrameSet, tmp_path: Path) -> None:
    """The command is killed with SIGKILL, which it cannot handle."""
    words = [*LIE_SSL, *command(tiny, tmp_path / "out", "mlp"), "--jobs", "2"]
    words += ["--optim.steps", "60", "--log.check-every", "10"]
    process = subprocess.Popen(words, env=ENVIRONMENT)
    while len(list((tmp_path / "out").glob("runs/*/last.ckpt"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "full/0: resuming at step" in done.stdout
    assert "mlp/0: resuming at step" in done.stdout
    whole = [*LIE_SSL, *command(tiny, tmp_path / "whole", "mlp"), *words[-6:]]
    subprocess.run(whole, env=ENVIRONMENT, capture_output=True, check=True)
    for name in ("ablation.csv", "ablation_equivariance.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
