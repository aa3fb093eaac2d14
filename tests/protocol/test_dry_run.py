"""The dry run: compares its counts with formulas and the real protocol, and checks the recipes of the paper's size."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.dry_run import (
    Job,
    Phase,
    PretrainingStep,
    StandInFrames,
    batch_per_gpu,
    dry_run,
    embedded_frames,
    gaps_jobs,
    grid_jobs,
    planned_index,
    reduced_config,
    transfer_jobs,
)
from lie_ssl.protocol.evaluate import EvaluateConfig, Evaluation, Subject
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.grid import Recipe, Unit, select_units
from lie_ssl.protocol.measuring import Cost, measure
from lie_ssl.protocol.phases import finetune as finetuning
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.studies import GapsConfig, NamedEncoder, PhotoTransfer, TransferConfig
from lie_ssl.recipes.grids import GRIDS, from_weights, with_option
from lie_ssl.recipes.paper import gaps, ilab, imagenet
from lie_ssl.recipes.sweeps import SWEEPS
from lie_ssl.training.config import OptimConfig
from tests.conftest import tiny_config
from tests.refusals import refusal
from tests.training.tiny_runs import tiny_run

EVALUATION = EvaluateConfig(
    proportions=(0.25, 0.5), probe=ProbeConfig(steps=40, batch=8, rates=(0.1,)),
    finetune=FinetuneConfig(steps=30, batch=8), limit=None, pairs=1,
)  # fmt: skip


def tiny_recipe() -> Recipe:
    """Three arms with two seeds; the literal arm uses Option 2."""
    units = [
        Unit(tiny_run(Path(), "mae", arm, seed=seed), with_option(EVALUATION, "mae", arm))
        for seed in (0, 1) for arm in ("alone", "frames", "literal")
    ]  # fmt: skip
    return Recipe("tiny", tiny_config(), tuple(units))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_operations_and_memory_of_a_step_agree_with_formulas() -> None:
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3))
    optimiser = torch.optim.AdamW(model.parameters())
    x = torch.randn(4, 5)

    def step() -> nn.Module:
        optimiser.zero_grad()
        model(x).sum().backward()
        optimiser.step()
        return model

    cost = measure(step, 3, states=2)
    # The forward pass, the gradients of both weights, and that of the hidden layer, but not of x.
    assert cost.flops == 2 * (4 * 5 * 7 + 4 * 7 * 3) * 2 + 2 * 4 * 7 * 3
    weights = 4 * (5 * 7 + 7 + 7 * 3 + 3)
    state = sum(s[name].nbytes for s in optimiser.state.values() for name in ("exp_avg", "exp_avg_sq"))
    activations = 4 * (4 * 5 + 4 * 7)  # x, and the hidden layer once, though two layers need it
    assert state == 2 * weights
    assert cost.gpu == weights + weights + state + activations
    assert cost.seconds > 0
    assert cost.resident is None or cost.resident > 1e7
    assert measure(step, 1, states=0).gpu is None


def test_attention_is_counted() -> None:
    q, k, v = torch.randn(3, 2, 4, 11, 6)

    def step() -> nn.Module:
        functional.scaled_dot_product_attention(q, k, v)
        return nn.Identity()

    assert measure(step, 1, 0).flops == 2 * (2 * 4 * 11 * 11 * 6) * 2


def test_hours() -> None:
    phase = Phase("a", "pretraining", "", (1, 2, 3), repeats=3600.0, cost=Cost(2.0, 10**15, None, None))
    assert phase.hours == 2.0
    assert phase.hours_on(gpus=4, tflops=50.0) == pytest.approx(3600 * 1e15 / (4 * 50e12) / 3600)


def test_the_planned_index_is_that_of_the_data_set(tiny: FrameSet) -> None:
    planned = planned_index(tiny_config())
    assert planned.index.name == tiny.index.index.name
    expected = tiny.index.drop(columns="rotation")
    pd.testing.assert_frame_equal(planned.astype(expected.dtypes.to_dict()), expected)


def test_frames_are_counted_as_the_protocol_embeds_them(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def predict(model: nn.Module, frames: FrameSet, rows: Any) -> Tensor:
        counted.append(len(rows))
        return torch.zeros(len(rows), dtype=torch.int64)

    monkeypatch.setattr(finetuning, "finetune", lambda *_: nn.Identity())
    monkeypatch.setattr(finetuning, "predict", predict)
    step = PretrainingStep(tiny_run(tiny, "mae", "alone"), tiny, 8)
    features = Features(step.model.method.encoder, tiny)
    subject = Subject(step.model.method.encoder, "mae", "alone")
    evaluation = Evaluation(Context(subject, tiny, EVALUATION, features))
    evaluation.context.embed()
    evaluation.phases("linear", "finetune")
    embedded = int((features._place >= 0).sum())
    assert embedded_frames(tiny.index, EVALUATION) == embedded + sum(counted)
    assert embedded_frames(tiny.index, replace(EVALUATION, options=(1, 2))) == embedded + 2 * sum(counted)
    assert embedded_frames(tiny.index, replace(EVALUATION, finetune=FinetuneConfig(steps=0))) == embedded


def test_stand_in_frames_resemble_the_data_set(tmp_path: Path) -> None:
    config = tiny_config(ranges={"hue": (0.0, 90.0)}, poses=("2d", "so3"))
    few = make_frames(reduced_config(config), tmp_path / "few", workers=1)
    assert (few.size, few.card["factors"]) == (16, ["hue"])
    assert set(few.index["pose"]) == {"2d", "so3"}
    padded = StandInFrames(few.folder, 52)
    assert len(padded.classes) == 52
    np.testing.assert_array_equal(padded.labels, few.labels)
    step = PretrainingStep(tiny_run(few, "mae", "literal"), few, 2 * len(few.classes))
    assert step.model.operator is not None
    for _ in range(3):
        batch = next(step.batches)
        assert batch["paired"].double().mean() == 0.5  # the average of real batches
        assert batch["delta"].shape[1] == 2


def test_jobs_of_a_grid() -> None:
    recipe = tiny_recipe()
    jobs = grid_jobs(recipe, recipe.units)
    assert [(j.name, j.units, j.option, j.classifiers, j.classes) for j in jobs] == [
        ("mae/alone", 2, 1, 2, 3), ("mae/frames", 2, 1, 2, 3), ("mae/literal", 2, 2, 2, 3)
    ]  # fmt: skip
    assert jobs[0].embedded == jobs[2].embedded == embedded_frames(planned_index(recipe.data), EVALUATION)
    assert [j.pretraining for j in jobs] == [u.pretraining for u in recipe.units[:3]]


def test_every_phase_is_measured_and_no_file_is_left(temporary: Path) -> None:
    recipe = tiny_recipe()
    weights = from_weights(recipe, "nowhere")  # not read: weights are random
    messages: list[str] = []
    jobs = grid_jobs(weights, weights.units)
    phases = dry_run(jobs, gpus=2, steps=1, say=messages.append)
    names = ["pretraining", "embedding", "linear", "finetuning"]
    assert [(p.job, p.name) for p in phases] == [(j.name, n) for j in jobs for n in names]
    assert messages == [f"{j.name}: {', '.join(names)}" for j in jobs]
    assert list(temporary.iterdir()) == []
    base, frames, literal = (phases[i : i + 4] for i in (0, 4, 8))
    assert [p.cost for p in base[1:]] == [p.cost for p in frames[1:]]  # measured once
    assert literal[2].cost.flops > base[2].cost.flops  # as it moves neighbours
    assert literal[3].cost.flops > base[3].cost.flops
    assert base[0].cost.flops < frames[0].cost.flops < literal[0].cost.flops
    assert [p.repeats for p in base] == [4 * 2, jobs[0].embedded / 8, 2 * 40, 2 * 2 * 30 * 2]
    assert all(p.cost.seconds > 0 and p.hours > 0 and p.units == 2 for p in phases)
    encoder, heads, operator = literal[0].parameters
    model = PretrainingStep(tiny_run(Path(), "mae", "literal"), _frames(temporary), 4).model
    assert model.operator is not None
    assert (encoder, operator) == tuple(
        sum(p.numel() for p in m.parameters()) for m in (model.method.encoder, model.operator)
    )
    assert encoder + heads + operator == sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert base[0].parameters[2] == 0
    assert base[3].parameters[1] == 3 * (128 + 1)


def _frames(folder: Path) -> FrameSet:
    return make_frames(reduced_config(tiny_config()), folder / "few", workers=1)


def test_studies_without_pretraining(temporary: Path) -> None:
    encoders = [
        NamedEncoder("vicreg", EncoderConfig("resnet_mini"), replace(EVALUATION, finetune=FinetuneConfig(steps=0))),
        NamedEncoder("mae", EncoderConfig("vit_mini", weights="nowhere"), EVALUATION),
    ]
    found = dry_run(gaps_jobs(GapsConfig(tiny_config(), tuple(encoders))), gpus=1, steps=1)
    assert [(p.job, p.name) for p in found] == [
        ("vicreg", "embedding"), ("vicreg", "linear"), ("mae", "embedding"), ("mae", "linear"), ("mae", "finetuning")
    ]  # fmt: skip
    transfer = TransferConfig(
        EncoderConfig("vit_mini"),
        PhotoTransfer(FinetuneConfig(steps=10, batch=16, start="zero")),
        classes=33,
        image_size=16,
    )
    (phase,) = dry_run(transfer_jobs("elsewhere", transfer), gpus=2, steps=1)
    assert (phase.job, phase.name, phase.work) == ("elsewhere", "finetuning", "2 x 10 steps of 16")
    assert phase.parameters[1] == 33 * (128 + 1)
    assert phase.repeats == 2 * 10 * 2
    assert list(temporary.iterdir()) == []


def test_jobs_that_cannot_be_measured(temporary: Path) -> None:
    assert batch_per_gpu(64, 8, 2) == 8
    with pytest.raises(UserError, match="a batch of 64 cannot be divided equally among 3 GPUs"):
        batch_per_gpu(64, 3, 2)
    with pytest.raises(UserError, match="8 GPUs with 4 or more for each"):
        batch_per_gpu(16, 8, 4)
    with pytest.raises(UserError, match="gpus is 0"):
        dry_run([], gpus=0)
    bare = Job("bare", EncoderConfig(), tiny_config(), 3, FinetuneConfig(steps=4, batch=8), option=2)
    with pytest.raises(UserError, match="bare: Option 2"):
        dry_run([bare], gpus=1, steps=1)
    wild = tiny_run(Path(), "mae", "alone", optim=OptimConfig(batch=8, lr=1e30, clip=None))
    with pytest.raises(UserError, match="loss of mae/alone is not finite"):
        dry_run([Job("wild", wild.encoder, tiny_config(), 3, FinetuneConfig(steps=0), pretraining=wild)], gpus=1)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("method", ["mae", "vicreg", "simclr"])
def test_the_recipes_of_the_paper(method: str) -> None:
    recipe = GRIDS[f"paper/{method}"]()
    assert len({u.name for u in recipe.units}) == len(recipe.units) == 15
    assert {u.key for u in recipe.units} == {
        (method, arm, seed) for arm in ("alone", "frames", "literal", "lie", "lie_off") for seed in "012"
    }
    assert (recipe.data.instances, recipe.data.step, recipe.data.render.size) == (50, 4.0, 224)
    for unit in recipe.units:
        run, evaluation = unit.pretraining, unit.evaluation
        assert (run.optim.batch, run.optim.steps, run.optim.lr, run.optim.name) == (64, 100 * 30, 5e-5, "adamw")
        assert run.encoder.name == ("vit_base_patch16_224" if method == "mae" else "resnet50")
        assert (evaluation.probe.steps, evaluation.finetune.steps) == (20_000, 0 if method == "vicreg" else 10_000)
        assert evaluation.options == ((2,) if run.arm == "literal" and method != "simclr" else (1,))
        assert run.optim.lr in SWEEPS[f"paper/{method}"]().values["optim.lr"]
    literal = recipe.units[2].pretraining.objective
    assert isinstance(literal, LiteralConfig)
    assert (literal.ssl, literal.lie, literal.euclidean) == ((10, 10, 1) if method == "simclr" else (1, 1, 1))
    assert {u.pretraining.encoder.weights for u in from_weights(recipe, "a.pth").units} == {"a.pth"}


def test_the_studies_of_the_paper() -> None:
    found = {e.name: e for e in gaps().encoders}
    assert set(found) == {"clip", "resnet50", "vit", "mlp_mixer", "simclr", "vicreg", "mae"}
    assert [n for n, e in found.items() if not e.evaluation.finetune.steps] == ["vicreg"]
    assert {e.evaluation.probe.batch for e in found.values()} == {32}
    for study, classes in ((imagenet(), 1000), (ilab(), 6)):
        settings = study.transfer
        assert (study.classes, study.image_size) == (classes, 224)
        assert (settings.validation, settings.chosen_by) == (0.1, "loss")
        assert settings.finetune.rates == (5e-4, 5e-5, 5e-6)
        assert (settings.finetune.steps, settings.finetune.batch) == (20_000, 64)
    with pytest.raises(UserError, match="2 classes or more"):
        replace(ilab(), classes=1)


def test_the_command(temporary: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(temporary)
    monkeypatch.setitem(GRIDS, "tiny", tiny_recipe)
    main(["reproduce", "tiny", "--dry-run", "--gpus", "2", "--tflops", "0.5", "--only", "alone"])
    output = capsys.readouterr().out
    rows = [line.split() for line in output.splitlines() if line.strip().startswith("mae/alone ")]
    assert [row[1] for row in rows] == ["pretraining", "embedding", "linear", "finetuning", "whole"]
    assert float(rows[4][2]) == pytest.approx(
        sum(float(row[-4 if row[1] != "embedding" else -3]) for row in rows[:4]), rel=0.02
    )
    assert "tiny: 2 units, " in output
    assert "at 0.5 TFLOP/s" in output
    assert list(temporary.iterdir()) == []

    assert "did you mean 'paper/mae'?" in refusal(capsys, "reproduce", "paper/mea", "--dry-run")
    assert "cannot be divided equally among 3 GPUs" in refusal(capsys, "reproduce", "tiny", "--dry-run", "--gpus", "3")
    assert "tflops is 0" in refusal(capsys, "reproduce", "tiny", "--dry-run", "--tflops", "0")
    assert "--only selects units of a grid" in refusal(capsys, "reproduce", "paper/ilab", "--dry-run", "--only", "mae")
    assert "give --weights FILE" in refusal(capsys, "reproduce", "paper/mae")
    assert "--weights is for the paper recipes" in refusal(capsys, "reproduce", "tiny", "--weights", "a.pth")
    assert "try it with `lie-ssl reproduce paper/gaps --dry-run`" in refusal(capsys, "reproduce", "paper/gaps")


@pytest.mark.slow
def test_the_paper_at_full_size(temporary: Path) -> None:
    recipe = GRIDS["paper/mae"]()
    phases = dry_run(grid_jobs(recipe, select_units(recipe, ["literal/0"])), steps=1)
    assert [p.name for p in phases] == ["pretraining", "embedding", "linear", "finetuning"]
    assert phases[0].parameters[0] == pytest.approx(86e6, rel=0.01)  # ViT-B/16
    # ViT-B/16 needs 17.5 x 10^9 multiply-adds per frame.
    assert phases[1].cost.flops / 8 == pytest.approx(2 * 17.5e9, rel=0.02)
    assert list(temporary.iterdir()) == []
