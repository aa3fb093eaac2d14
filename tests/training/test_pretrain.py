"""The training loop: gradients, learning rates, nan, and the folder of a run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.loader import PairTensors
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.objectives.lie_off import LieOffConfig
from lie_ssl.objectives.literal import LiteralConfig
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.storage import locks
from lie_ssl.training import module
from lie_ssl.training.config import OptimConfig, PretrainConfig, kinds_of
from lie_ssl.training.coordinates import read_coordinates
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.lars import LARS
from lie_ssl.training.loading import load
from lie_ssl.training.model import build_model
from lie_ssl.training.optimisers import build_optimiser, gradient_norms
from lie_ssl.training.run import pretrain
from lie_ssl.training.schedule import warmup_cosine
from tests.conftest import tiny_config
from tests.training.tiny_runs import Notes, StopError, checkpoint, differences, few_pairs, flags, rows, tiny_run

THIS = "tests.training.test_pretrain"


class Breaking(nn.Module):
    """(B, C, S, S) -> (B, 8): returns nan, or has an infinite gradient, in a given batch."""

    def __init__(self, channels: int, at: int = 3, what: str = "nan") -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3))
        self.at, self.what, self.batches = at, what, 0

    def forward(self, images: Tensor) -> Tensor:
        self.batches += self.training
        broken = self.training and self.batches == self.at
        if broken and self.what == "nan":
            images = images * torch.nan
        z: Tensor = self.layers(images).mean(dim=(2, 3))
        if broken and self.what == "gradient":
            z.register_hook(lambda g: torch.full_like(g, torch.inf))
        return z


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


def breaking(frames: FrameSet, *, at: int = 3, what: str = "nan", on_nan: str = "stop", **more: int) -> PretrainConfig:
    encoder = EncoderConfig(name=f"{THIS}:Breaking", options=(("at", at), ("what", what)))
    settings = {"log__save_every": 1, **more}
    return tiny_run(frames, "simclr", "alone", optim__steps=5, encoder=encoder, on_nan=on_nan, **settings)


@pytest.mark.parametrize(
    ("what", "message"),
    [("nan", r"step 3: the term 'contrast' is not finite"), ("gradient", "step 3: the gradient of the encoder is not")],
)
def test_nan_stops_the_run_and_keeps_the_last_good_weights(
    tiny: FrameSet, tmp_path: Path, what: str, message: str
) -> None:
    out = tmp_path / "run"
    with pytest.raises(UserError, match=message) as stop:
        pretrain(breaking(tiny, what=what), out)
    assert "--on-nan skip" in str(stop.value)
    assert checkpoint(out / "last.ckpt")["global_step"] == 2
    state = load(out, trust=[f"{THIS}:Breaking"]).encoder.state_dict()
    assert all(bool(torch.isfinite(v).all()) for v in state.values())
    assert [r["step"] for r in rows(out / "metrics.csv")] == ["1", "2"]


def test_an_exploding_operator_stops_the_run_with_a_user_error(tiny: FrameSet, tmp_path: Path) -> None:
    own = tiny_run(tiny, "simclr", "literal", optim__steps=2)
    assert isinstance(own.objective, LiteralConfig)
    operator = replace(own.objective.operator, scale=1e6)
    with pytest.raises(UserError, match=r"step 1: the operator's \|t . L\| reaches about .*; .*max-norm") as stop:
        pretrain(replace(own, objective=replace(own.objective, operator=operator)), tmp_path / "run")
    assert "\n" not in str(stop.value)


def test_the_command_reports_it_in_one_line(tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["pretrain", "simclr", "alone", *flags(tiny, tmp_path / "run", "--encoder.name", f"{THIS}:Breaking")])
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert "step 3: the term 'contrast' is not finite" in error
    assert len(error.strip().splitlines()) == 1


class Weights(Notes):
    """Stores the checkpoint of every step; it is written after the log, so each is read one step later."""

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out
        self.saved: dict[int, dict[str, Any]] = {}

    def step(self, done: int, total: int, loss: float) -> None:
        super().step(done, total, loss)
        if done > 1:
            found = checkpoint(self.out / "last.ckpt")
            self.saved[found["global_step"]] = {"weights": found["state_dict"], "optimiser": found["optimizer_states"]}


@pytest.mark.parametrize("what", ["nan", "gradient"])
@pytest.mark.parametrize(("accumulate", "at"), [(1, 3), (2, 5)])
def test_a_skipped_step_changes_nothing(tiny: FrameSet, tmp_path: Path, what: str, accumulate: int, at: int) -> None:
    """With two batches per step, the first one is bad, and the buffers of both are restored."""
    out = tmp_path / "run"
    reporter = Weights(out)
    pretrain(breaking(tiny, at=at, what=what, on_nan="skip", optim__accumulate=accumulate), out, reporter)
    assert sorted(reporter.saved) == [1, 2, 3, 4]
    assert any("running_mean" in name for name in reporter.saved[1]["weights"])
    assert differences(reporter.saved[2]["weights"], reporter.saved[3]["weights"]) == []
    before, after = (reporter.saved[step]["optimiser"][0]["state"] for step in (2, 3))
    assert differences(before, after) == []
    assert differences(reporter.saved[3]["weights"], reporter.saved[4]["weights"]) != []
    assert all(
        bool(torch.isfinite(v).all()) for v in load(out, trust=[f"{THIS}:Breaking"]).encoder.state_dict().values()
    )
    assert [r["skipped"] for r in rows(out / "metrics.csv")] == ["0", "0", "1", "1", "1"]


@pytest.fixture
def model(tiny: FrameSet) -> PairModel:
    return build_model(tiny_run(tiny, "vicreg", "lie"), tiny.size, 3)


def test_gradients_are_clipped_group_by_group(model: PairModel) -> None:
    groups = model.groups()
    sizes = {"encoder": 0.5, "operator": 1e6, "heads": 20.0}
    assert groups.keys() == sizes.keys()
    for name, parameters in groups.items():
        length = sum(p.numel() for p in parameters) ** 0.5
        for p in parameters:
            p.grad = torch.full_like(p, sizes[name] / length)
    norms = gradient_norms(model, limit=5.0)
    for name, parameters in groups.items():
        assert float(norms[name]) == pytest.approx(sizes[name], rel=1e-4)
        after = sum(float(p.grad.double().square().sum()) for p in parameters if p.grad is not None) ** 0.5
        assert after == pytest.approx(
            min(5.0, sizes[name]), rel=1e-4
        )  # that of the operator does not reduce that of the encoder
    for p in model.parameters():
        p.grad = torch.ones_like(p)
    gradient_norms(model, limit=0)
    assert all(p.grad is not None and bool((p.grad == 1).all()) for p in model.parameters())


def test_weight_decay_and_learning_rates_of_parameter_groups(model: PairModel) -> None:
    optimiser = build_optimiser(model, OptimConfig(lr=0.1, operator_lr=0.5, weight_decay=0.3))
    assert isinstance(optimiser, torch.optim.AdamW)
    settings = {id(p): (g["lr"], g["weight_decay"]) for g in optimiser.param_groups for p in g["params"]}
    assert isinstance(model.operator, LieOperator)
    operator = {id(p) for p in model.operator.parameters()}
    for name, p in model.named_parameters():
        decay = 0.0 if id(p) in operator or p.ndim <= 1 else 0.3
        assert settings.pop(id(p)) == (0.05 if id(p) in operator else 0.1, decay), name
    assert settings == {}
    lars = build_optimiser(model, OptimConfig(name="lars", lr=0.1))
    assert isinstance(lars, LARS)


def test_gradients_accumulate_over_two_batches(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights: list[Tensor] = []
    step = module.Pretraining.training_step

    def spied(self: module.Pretraining, batch: PairTensors, index: int) -> Tensor:
        weights.append(next(self.model.parameters()).detach().clone())
        return step(self, batch, index)

    monkeypatch.setattr(module.Pretraining, "training_step", spied)
    config = tiny_run(tiny, arm="alone", optim__accumulate=2, optim__warmup=0.5)
    out = pretrain(config, tmp_path / "run")
    assert len(weights) == 8
    changes = [not torch.equal(a, b) for a, b in pairwise(weights)]
    assert changes == [False, True, False, True, False, True, False]
    found = [float(r["lr"]) for r in rows(out / "metrics.csv")]
    assert found == pytest.approx([config.optim.lr * warmup_cosine(i, 4, 2) for i in range(4)], rel=1e-6, abs=1e-12)
    assert checkpoint(out / "last.ckpt")["lie_ssl"]["batches"] == 8


@pytest.mark.parametrize(
    ("method", "settings"),
    [("simclr", {"optim__name": "lars", "optim__lr": 0.3}), ("mae", {"precision": "bf16"}),
     ("vicreg", {"precision": "bf16"})],
)  # fmt: skip
def test_lars_and_half_precision(tiny: FrameSet, tmp_path: Path, method: str, settings: dict[str, object]) -> None:
    out = pretrain(tiny_run(tiny, method, "lie", **settings), tmp_path / "run")
    losses = [float(r["loss"]) for r in rows(out / "metrics.csv")]
    assert len(losses) == 4
    assert bool(torch.isfinite(torch.tensor(losses)).all())
    first = build_model(load(out).config or PretrainConfig(), 16, 3).method.encoder.state_dict()
    assert differences(first, load(out).encoder.state_dict()) != []
    assert all(v.dtype != torch.bfloat16 for v in load(out).encoder.state_dict().values())


def test_unavailable_devices_and_precisions(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a CPU has no fast fp16"):
        pretrain(tiny_run(tiny, precision="fp16", device="cpu"), tmp_path / "run")
    if not torch.cuda.is_available():
        with pytest.raises(UserError, match="set --device cpu"):
            pretrain(tiny_run(tiny, device="cuda"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def finished(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(tiny_run(tiny, arm="alone"), tmp_path_factory.mktemp("runs") / "run")


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def test_a_finished_run_is_not_trained_again(tiny: FrameSet, finished: Path) -> None:
    before, reporter = contents(finished), Notes()
    pretrain(tiny_run(tiny, arm="alone", log__every=3), finished, reporter)
    assert reporter.messages == [f"{finished} is already finished"]
    assert contents(finished) == before


def test_another_run_is_never_overwritten(tiny: FrameSet, finished: Path, tmp_path: Path) -> None:
    other = make_frames(tiny_config(seed=1), tmp_path / "other", workers=1)
    before = contents(finished)
    for config, message in (
        (tiny_run(tiny, arm="alone", optim__lr=0.5), "optim.lr is 0.001 there and 0.5 here"),
        (tiny_run(tiny, arm="alone", seed=3), "seed is 0 there and 3 here"),
        (tiny_run(tiny, "simclr", "alone"), "method.name is mae there and simclr here"),
        (tiny_run(other, arm="alone"), "started with another data set"),
    ):
        with pytest.raises(UserError, match=message):
            pretrain(config, finished)
    assert contents(finished) == before


def test_folders_that_are_not_runs(tiny: FrameSet, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, message in (("notes", r"contains other files \(notes\.txt\)"), ("file", "is a file")):
        with pytest.raises(UserError, match=message):
            pretrain(tiny_run(tiny, arm="alone"), tmp_path / name)
    assert [p.name for p in (tmp_path / "notes").iterdir()] == ["notes.txt"]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A folder that another process is writing to."""
    code = (
        "import runpy, sys; from pathlib import Path\n"
        f"with runpy.run_path({locks.__file__!r})['folder_lock'](Path(sys.argv[1])): print('held', flush=True); input()"
    )
    out = tmp_path / "run"
    out.mkdir()
    command = [sys.executable, "-c", code, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield out
        process.kill()


def test_a_folder_in_use_is_not_changed(tiny: FrameSet, held: Path) -> None:
    with pytest.raises(UserError, match="another process is writing to"):
        pretrain(tiny_run(tiny, arm="alone"), held)
    assert [p.name for p in held.iterdir()] == [".lock"]


def test_objectives_start_with_the_same_encoder_and_heads(tiny: FrameSet) -> None:
    """Objectives differ in what they learn, not in their start."""
    base = build_model(tiny_run(tiny, "simclr", "alone"), 16, 3).state_dict()
    for arm in ("frames", "lie", "literal"):
        found = build_model(tiny_run(tiny, "simclr", arm), 16, 3).state_dict()
        assert differences({k: found[k] for k in base}, base) == []
    other = build_model(replace(tiny_run(tiny, "simclr", "alone"), seed=1), 16, 3).state_dict()
    assert differences(other, base) != []


def test_the_same_config_gives_the_same_weights(tiny: FrameSet, tmp_path: Path) -> None:
    config = tiny_run(tiny, "mae", "frames", optim__steps=2)
    runs = [pretrain(config, tmp_path / name) for name in ("a", "b")]
    a, b = (checkpoint(run / "last.ckpt")["state_dict"] for run in runs)
    assert differences(a, b) == []
    with pytest.raises(StopError):
        pretrain(replace(config, seed=1), tmp_path / "c", Notes(stop=1))


def test_kinds_of_poses_can_be_separate_factors(tiny: FrameSet, tmp_path: Path) -> None:
    by_kind, plain = tiny_run(tiny, "simclr", "lie"), tiny_run(tiny, "simclr", "literal")
    assert isinstance(by_kind.objective, LieConfig)
    assert by_kind.objective.by_kind
    assert kinds_of(by_kind, tiny) == ("2d", "3d")
    assert kinds_of(plain, tiny) == ()
    assert by_kind.digest() != replace(by_kind, objective=replace(by_kind.objective, by_kind=False)).digest()
    run = pretrain(replace(plain, optim=OptimConfig(steps=1, batch=8)), tmp_path / "plain")
    assert read_run_card(run)["factors"] == ["pose"]
    t, delta = read_coordinates(run)
    assert (t.shape, delta.shape) == ((64, 4), (64, 1))
    assert torch.isfinite(t).all()
    assert load(run).operator is not None


def test_the_lie_objective_has_a_relative_term_and_no_contrast_of_moves(tiny: FrameSet) -> None:
    objective = tiny_run(tiny, "mae", "lie").objective
    assert isinstance(objective, LieConfig)
    assert (objective.lie, objective.coordinates) == (0, 0)
    assert objective.euclidean > 0
    assert objective.relative
    off = tiny_run(tiny, "mae", "lie_off").objective
    assert off == LieOffConfig.of(objective)  # all settings except the weights of the operator's terms
    assert isinstance(off, LieOffConfig)
    assert not off.loss_config().euclidean
