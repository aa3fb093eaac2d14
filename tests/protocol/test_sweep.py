"""`lie-ssl sweep`: grids, the choice of a trial, and real trials in separate processes."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.protocol import sweep as sweep_module
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.results import evaluate_run
from lie_ssl.protocol.selection import choose_trial, lie_ratio, validation_accuracy
from lie_ssl.protocol.settings import Settings
from lie_ssl.protocol.sweep import Grid, epoch_steps, run_trials
from lie_ssl.protocol.unit import Eta, duration
from lie_ssl.recipes.ablations import lie_of
from lie_ssl.recipes.sweeps import SWEEPS, sweep_recipe
from lie_ssl.training.config import PretrainConfig, load_config
from lie_ssl.training.run import pretrain
from lie_ssl.training.sweep import Trial, changed, combinations
from tests.training.tiny_runs import ENVIRONMENT, LIE_SSL, Notes, StopError, few_pairs, tiny_run


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.parametrize(
    ("name", "count"),
    [("paper/mae", 24), ("paper/vicreg", 72), ("paper/simclr", 36), ("small/mae/lie", 2), ("small/vicreg/alone", 3)],
)
def test_the_grids_have_the_trials_of_the_paper(name: str, count: int) -> None:
    grid = replace(sweep_recipe(name), ratio=None)
    trials = grid.trials()
    assert len(trials) == len({t.name for t in trials}) == len({t.config.digest() for t in trials}) == count
    assert all(t.config.objective.separates for t in trials)
    for trial in trials:
        values = vars(trial.config.objective) | {"lr": trial.config.optim.lr}
        assert trial.settings == {name: values[name] for name in trial.settings}


def test_the_grids_have_the_values_of_the_paper() -> None:
    mae, simclr = sweep_recipe("paper/mae"), sweep_recipe("paper/simclr")
    assert mae.values["optim.lr"] == (5e-4, 5e-5, 5e-6)
    assert mae.values["objective.euclidean"] == (1.0, 5.0)
    assert simclr.values["optim.lr"] == (5e-5, 5e-6)
    assert simclr.values["objective.euclidean"] == (1.0, 2.0)
    assert mae.probe.trials == [("adamw", 5e-3), ("adamw", 5e-4), ("adamw", 5e-5)]
    assert (mae.ratio, simclr.ratio) == (None, 0.6)
    assert isinstance(mae.base.objective, LiteralConfig)
    assert (mae.base.arm, mae.base.objective.temperature) == ("literal", 1.0)


@pytest.mark.parametrize("name", ["paper/simclr"])
def test_simclr_has_its_own_temperature_in_the_lie_term(name: str) -> None:
    base = sweep_recipe(name).base
    assert base.objective.temperature == base.method.temperature < 0.5  # type: ignore[attr-defined]
    floor = math.log(1 + 190 * math.exp(-1)) / math.log(191)  # temperature 1, with all negatives orthogonal
    assert floor == pytest.approx(0.81, abs=0.01)


def test_combinations_change_nested_settings_and_apply_the_filter() -> None:
    base = tiny_run(Path("data"))
    values = {"optim.lr": (0.1, 0.2), "objective.operator.scale": (1.0, 2.0, 3.0)}

    def keep(config: PretrainConfig) -> bool:
        scale = lie_of(config).operator.scale
        return scale is not None and scale < 3

    trials = combinations(base, values, keep)
    assert [t.name for t in trials] == ["lr_0.1-scale_1", "lr_0.1-scale_2", "lr_0.2-scale_1", "lr_0.2-scale_2"]
    assert trials[1].config == changed(changed(base, "optim.lr", 0.1), "objective.operator.scale", 2.0)


def test_filtered_trials_are_checked_once_per_epoch(tiny: FrameSet) -> None:
    base = tiny_run(tiny, "simclr", optim__steps=30)
    epoch = epoch_steps(base)
    assert epoch == len(PairSampler(tiny.index, batch_size=8))
    grid = Grid(base, {"optim.lr": (1e-3,)}, ratio=0.4)
    assert grid.trials()[0].config.log.check_every == epoch
    short = replace(grid, base=tiny_run(tiny, "simclr", optim__steps=2 * epoch - 1))
    with pytest.raises(UserError, match=f"--optim.steps {2 * epoch} or more"):
        short.trials()


def table(*rows: tuple[str, float, bool, str]) -> pd.DataFrame:
    return pd.DataFrame([dict(zip(("trial", "validation", "passed", "status"), r, strict=True)) for r in rows])


def test_the_best_validation_accuracy_is_chosen() -> None:
    trials = table(("a", 50.0, True, "finished"), ("b", 70.0, False, "finished"), ("c", 50.0, True, "finished"),
                   ("d", math.nan, False, "failed: it diverged"))  # fmt: skip
    assert choose_trial(trials, 0.6) == (
        "a", "by validation accuracy, among the 2 of 3 that reduced L_lie to 0.6 of its first value or less"
    )  # fmt: skip
    assert choose_trial(trials.assign(passed=trials["status"] == "finished"), 0.0)[0] == "b"
    name, note = choose_trial(trials.assign(passed=False), 0.4)
    assert name == "b"
    assert "no trial reduced L_lie on validation pairs to 0.4" in note
    with pytest.raises(UserError, match="no trial has finished"):
        choose_trial(trials.assign(status="failed: x"), 0.0)


def test_the_ratio_is_the_last_over_the_first(tmp_path: Path) -> None:
    assert math.isnan(lie_ratio(tmp_path))
    checks = tmp_path / "checks.csv"
    checks.write_text("step,knn,validation_lie\n3,0.5,4.0\n6,0.5,9.0\n9,0.5,3.0\n")
    assert lie_ratio(tmp_path) == 0.75
    checks.write_text("step,knn,validation_lie\n3,0.5,4.0\n")
    assert math.isnan(lie_ratio(tmp_path))
    checks.write_text("step,knn\n3,0.5\n6,0.5\n")  # a run without an operator
    assert math.isnan(lie_ratio(tmp_path))


def test_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 60.0, 200.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    eta = Eta(4)
    assert eta.step(worked=False) == "1 of 4"
    assert eta.step() == "2 of 4, about 2 minutes left"
    assert eta.step() == "3 of 4, about 2 minutes left"
    assert eta.step() == "4 of 4"
    assert (duration(1), duration(89), duration(7200)) == ("1 second", "89 seconds", "2.0 hours")


def test_validation_accuracy_is_that_of_the_evaluation_and_uses_no_test_frames(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pretrain(tiny_run(tiny, "simclr"), tmp_path / "run")
    probe = ProbeConfig(steps=20, batch=16, rates=(0.1, 0.01))
    config = EvaluateConfig(proportions=(0.5,), probe=probe, finetune=FinetuneConfig(steps=0), pairs=1)
    trials = evaluate_run(run, config, tmp_path / "evaluation").trials

    def no_test(*arguments: Any, **named: Any) -> None:
        raise AssertionError("a test frame was used")

    monkeypatch.setattr(Settings, "test", no_test)
    accuracy = validation_accuracy(run, probe)
    assert accuracy == pytest.approx(trials["validation"].max())
    monkeypatch.setattr(Settings, "training", no_test)
    assert validation_accuracy(run, probe) == accuracy  # from the cache
    with pytest.raises(AssertionError):
        validation_accuracy(run, replace(probe, steps=21))


def test_a_sweep_with_a_killed_and_a_failing_trial(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "sweep"
    base = tiny_run(tiny, "simclr", objective__temperature=0.1, optim__steps=4)
    values: dict[str, tuple[Any, ...]] = {"optim.lr": (1e-3, 1e30)}
    monkeypatch.setitem(SWEEPS, "tiny", lambda: Grid(base, values, ratio=0.4, probe=ProbeConfig(steps=5, batch=16)))
    good = sweep_recipe("tiny").trials()[0]
    assert good.name == "lr_0.001"
    # A trial that was killed after its second checkpoint.
    killed = replace(good.config, log=replace(good.config.log, save_every=1))
    with pytest.raises(StopError):
        pretrain(killed, out / "runs" / good.name, Notes(stop=3))

    command = ["sweep", "tiny", "--data", str(tiny.folder), "--out", str(out), "--jobs", "2"]
    main(command)
    output = capsys.readouterr().out
    assert "here it is 0.1" in output
    assert "can mean 0.6 or 0.4" in output
    assert "resuming at step 2" in (out / "jobs" / f"{good.name}.out").read_text()
    found = pd.read_csv(out / "sweep.csv").set_index("trial")
    assert list(found.columns) == ["lr", "validation", "lie_ratio", "passed", "seconds", "status"]
    status, validation = found["status"], found["validation"]
    assert status["lr_1e+30"].startswith("failed: ")
    assert "Traceback" not in status["lr_1e+30"]
    assert math.isnan(validation["lr_1e+30"])
    assert status[good.name] == "finished"
    assert 0 <= validation[good.name] <= 100
    assert not found["passed"].any()
    assert "no trial reduced L_lie on validation pairs" in output
    assert load_config(out / "best.json") == good.config

    # Again, with a filter that it passes: nothing is trained, and a trial is chosen again.
    values["optim.lr"] = (1e-3,)
    monkeypatch.setattr(sweep_module, "unit_job", None)  # any call would fail
    main([*command, "--ratio", "2"])
    again = pd.read_csv(out / "sweep.csv").set_index("trial")
    assert again["validation"][good.name] == validation[good.name]
    assert bool(again.loc[good.name, "passed"])
    assert "among the 1 of 1 that reduced L_lie to 2" in capsys.readouterr().out

    # A trial fails if its folder contains other files.
    occupied = out / "runs" / "lr_0.5"
    occupied.mkdir()
    (occupied / "notes.txt").write_text("mine")
    trial = Trial("lr_0.5", {"lr": 0.5}, changed(base, "optim.lr", 0.5))
    (outcome,) = run_trials([trial], out, 1, Notes())
    assert "contains other files (notes.txt)" in outcome.error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["small/mae/li", "--data", "d", "--out", "o"], "no sweep 'small/mae/li'; did you mean 'small/mae/lie'?"),
        (["small/mae/alone", "--out", "o"], "give the data set to train on"),
        (["small/mae/alone", "--data", "d", "--out", "o", "--optim.lr", "1"], "varies optim.lr; leave that flag out"),
        (["small/mae/alone", "--data", "d", "--out", "o", "--jobs", "0"], "jobs is 0"),
        (["small/mae/alone", "--data", "d", "--out", "o", "--ratio", "-1"], "ratio is -1.0"),
        (["--data", "d"], "lie-ssl sweep GRID"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sweep", *arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.strip().splitlines()) == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sweep", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in SWEEPS)
    assert "0.81" in text
    with pytest.raises(SystemExit) as stop:
        main(["sweep", "small/simclr/lie", "--help"])
    assert stop.value.code == 0
    assert "--ratio" in capsys.readouterr().out


@pytest.mark.slow
def test_a_terminated_sweep_can_be_resumed(tiny: FrameSet, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    command = [
        *LIE_SSL, "sweep", "small/mae/alone", "--data", str(tiny.folder), "--out", str(out), "--jobs", "2",
        "--optim.steps", "40", "--optim.batch", "8", "--log.check-every", "10", "--log.no-tensorboard",
        "--probe.steps", "5",
    ]  # fmt: skip
    process = subprocess.Popen(command, env=ENVIRONMENT)
    while not list(out.glob("runs/*/last.ckpt")):
        assert process.poll() is None
        time.sleep(0.2)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    found = pd.read_csv(out / "sweep.csv")
    assert len(found) == 3
    assert (found["status"] == "finished").all()
    assert "3 of 3" in done
    assert json.loads((out / "best.json").read_text())["optim"]["steps"] == 40
