"""Adapting encoders: the command from end to end, every objective, what may be an encoder, resuming, sharing a bank."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.loader import to_tensor
from lie_ssl.methods.adapted import IDENTITY, AdaptedEncoder
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.features import embed_frames, to_float
from lie_ssl.objectives._operator import unit_rotations
from lie_ssl.objectives.registry import objective_type, trained_objectives
from lie_ssl.training.bank import FeatureBank, build_extractor
from lie_ssl.training.bank_blocks import BlockFiller
from lie_ssl.training.banked import BankedFrames, stored_features
from lie_ssl.training.checks import Checks, recognised
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.export import export_run
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.loading import load
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from tests.gloo import ROOT
from tests.refusals import refusal
from tests.training.adapted_runs import OWN, Own, flags, tiny_adapted
from tests.training.tiny_runs import ENVIRONMENT, Notes, StopError, checkpoint, differences, few_pairs, rows, tiny_run

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
ALONE = [("alone", "simclr"), ("alone", "vicreg")]
# The tiny data set has no clips of 3D poses; see test_untold.py and tests/objectives.
ELSEWHERE = ("alone", "lie_untold", "trajectory", "msp")
SOME = np.array([0, 7, 100, 201])


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        yield


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("banks")


@pytest.fixture(scope="module")
def run(tiny: FrameSet, banks: Path, weights: EncoderConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by the command, from a name with a weight file."""
    out = tmp_path_factory.mktemp("runs") / "run"
    main(["adapt", "resnet_mini", "lie", "--weights", str(weights.weights), *flags(tiny, banks, out)])
    return out


@pytest.fixture(scope="module")
def scratch(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pretrained run whose operator normalises embeddings; its encoder can be adapted."""
    operator = replace(unit_rotations(), fixed=64)
    config = tiny_run(tiny, "simclr", "lie", optim__steps=1, objective__operator=operator)
    return pretrain(config, tmp_path_factory.mktemp("scratch") / "run")


def pictures(frames: FrameSet) -> Tensor:
    return to_float(to_tensor(frames.read(SOME)))


def stored(config: PretrainConfig | None, frames: FrameSet) -> BankedFrames:
    assert config is not None
    return stored_features(config.encoder, config, frames, None)


def assert_close(a: Tensor, b: Tensor) -> None:
    """Equal within the accuracy of float16, in which features are stored."""
    assert (a - b).abs().max() < 2e-2 * b.abs().max()  # features are stored in float16, and standardised after that


def test_stored_features_differ_by_rounding_alone(run: Path, tiny: FrameSet) -> None:
    loaded = load(run)
    assert isinstance(loaded.encoder, AdaptedEncoder)
    with torch.no_grad():
        features = loaded.encoder.features(pictures(tiny))
        torch.testing.assert_close(loaded.encoder(pictures(tiny)), loaded.encoder(features), rtol=0, atol=0)
    kept = torch.from_numpy(stored(loaded.config, tiny).inputs(np.array(SOME))[:, 0])
    torch.testing.assert_close(kept.float(), features, rtol=1e-3, atol=1e-5)


def test_the_command_from_end_to_end(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    card = read_run_card(run)
    assert card["finished"]
    assert (card["method"], card["arm"], card["dim"]) == ("resnet_mini", "lie", IDENTITY + 48 * 2)
    quick = ["--probe.steps", "2", "--readout.steps", "2", "--limit", "20", "--pairs", "2"]
    main(["evaluate", str(run), "--out", str(tmp_path / "evaluation"), *quick])
    assert "align_median" in rows(tmp_path / "evaluation" / "equivariance.csv")[0]
    main(["report", str(tmp_path / "evaluation"), "--out", str(tmp_path / "page.html")])
    assert "resnet_mini Lie" in (tmp_path / "page.html").read_text()


def test_pictures_and_stored_features_give_the_same_embeddings(run: Path, tiny: FrameSet) -> None:
    loaded = load(run)
    z = loaded.embed(pictures(tiny))
    assert_close(embed_frames(loaded.encoder, stored(loaded.config, tiny), SOME), z)
    assert loaded.operator is not None
    torch.testing.assert_close(loaded.operator.normalise(z), z)  # the encoder normalises
    assert torch.equal(loaded.identity(z), z[:, :IDENTITY])


@pytest.mark.parametrize("to", ["safetensors", "pretrained"])
def test_an_export_gives_identical_embeddings(run: Path, tiny: FrameSet, tmp_path: Path, to: Any) -> None:
    loaded = load(run)
    path = tmp_path / ("model.safetensors" if to == "safetensors" else "model")
    main(["export", str(run), "--out", str(path), "--to", to])
    again = load(path)
    assert torch.equal(again.embed(pictures(tiny)), loaded.embed(pictures(tiny)))
    assert isinstance(again.encoder, AdaptedEncoder)
    assert again.encoder.output is not None
    if to == "pretrained":
        z = loaded.embed(pictures(tiny))
        assert again.factors == loaded.factors
        assert torch.equal(again.pose(z[:2], z[2:], "2d").degrees, loaded.pose(z[:2], z[2:], "2d").degrees)


def test_onnx_gives_the_same_embeddings(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    path = export_run(run, tmp_path / "model.onnx", "onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {"images": pictures(tiny).numpy()})[0]
    np.testing.assert_allclose(found, load(run).embed(pictures(tiny)).numpy(), atol=1e-4)
    with pytest.raises(UserError, match="an encoder with a head, which timm cannot load"):
        export_run(run, tmp_path / "timm.safetensors", "timm")


@pytest.mark.parametrize(
    ("objective", "method"), [*ALONE, *((name, "simclr") for name in trained_objectives() if name not in ELSEWHERE)]
)
def test_every_objective_trains(tiny: FrameSet, banks: Path, tmp_path: Path, objective: str, method: str) -> None:
    few: dict[str, Any] = {"objective__frames": 3} if objective == "rotations" else {}  # the data set has no more
    config = tiny_adapted(tiny, banks, objective, method, optim__steps=2, **few)
    assert config.adapt is not None
    assert config.adapt.views == (4 if objective == "alone" else 0)
    loaded = load(pretrain(config, tmp_path / "run"))
    assert_close(embed_frames(loaded.encoder, stored(config, tiny), SOME), loaded.embed(pictures(tiny)))
    assert (loaded.operator is not None) == (objective_type(objective).has_mover and objective != "matrices")


def test_a_resumed_run_is_identical(tiny: FrameSet, banks: Path, tmp_path: Path) -> None:
    config = tiny_adapted(tiny, banks, log__save_every=2)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "broken", Notes(stop=3))
    notes = Notes()
    broken = pretrain(config, tmp_path / "broken", notes)
    assert "resuming at step 2" in notes.messages
    whole = pretrain(config, tmp_path / "whole")
    a, b = (checkpoint(run / "last.ckpt") for run in (whole, broken))
    assert differences(a["state_dict"], b["state_dict"]) == []
    assert differences(a["optimizer_states"], b["optimizer_states"]) == []
    assert (whole / "encoder.safetensors").read_bytes() == (broken / "encoder.safetensors").read_bytes()
    assert [r["loss"] for r in rows(whole / "metrics.csv")] == [r["loss"] for r in rows(broken / "metrics.csv")]


def test_runs_share_a_bank(
    tiny: FrameSet, weights: EncoderConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = 0
    fill = BlockFiller.__call__

    def counted(self: BlockFiller, block: int) -> int:
        nonlocal blocks
        blocks += 1
        return fill(self, block)

    monkeypatch.setattr(BlockFiller, "__call__", counted)
    for objective in ("lie", "frames"):
        config = tiny_adapted(tiny, tmp_path / "banks", objective, encoder=weights, optim__steps=1)
        pretrain(config, tmp_path / objective)
        assert blocks == -(-len(tiny) // 64)
    assert len(list((tmp_path / "banks").iterdir())) == 1


def train(data: Path, banks: Path, out: Path) -> None:
    """A run in a process of torchrun or alone; without dropout, which draws other numbers in every process."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        pretrain(tiny_adapted(data, banks, adapt__dropout=0.0), out)


def test_two_processes_train_like_one(tiny: FrameSet, tmp_path: Path) -> None:
    """Both start without a bank: one fills it, and the other waits."""
    command = [*TORCHRUN, "tests.training.test_adapt", tiny.folder, tmp_path / "banks", tmp_path / "two"]
    done = subprocess.run(
        list(map(str, command)), env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    train(tiny.folder, tmp_path / "banks", tmp_path / "one")
    logs = [rows(tmp_path / name / "metrics.csv") for name in ("one", "two")]
    for a, b in zip(*logs, strict=True):
        assert float(a["loss"]) == pytest.approx(float(b["loss"]), rel=1e-3)
    one, two = (load(tmp_path / name).embed(pictures(tiny)) for name in ("one", "two"))
    assert (one - two).norm() < 0.02 * one.norm()


@pytest.mark.parametrize("kind", ["run", "saved", "exported"])
def test_an_encoder_of_this_package(tiny: FrameSet, banks: Path, scratch: Path, tmp_path: Path, kind: str) -> None:
    """Also one whose operator normalises its embeddings: the head gets them as they are."""
    word = scratch
    if kind == "saved":
        word = load(scratch).save_pretrained(tmp_path / "saved")
    elif kind == "exported":
        word = export_run(scratch, tmp_path / "model.safetensors")
    out = tmp_path / "adapted"
    main(["adapt", str(word), "lie", *flags(tiny, banks, out, "--optim.steps", "1")])
    loaded = load(out)
    assert isinstance(loaded.encoder, AdaptedEncoder)
    torch.testing.assert_close(loaded.encoder.frozen.body.state_dict(), load(word).encoder.body.state_dict())
    z = loaded.embed(pictures(tiny))
    assert (loaded.card or {})["method"] == "resnet_mini"
    assert loaded.config is not None
    bank = BankedFrames(tiny, FeatureBank.fill(loaded.encoder.frozen, tiny, banks))
    assert_close(embed_frames(loaded.encoder, bank, SOME), z)


def test_a_module_by_import_path(tiny: FrameSet, banks: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    main(["adapt", OWN, "lie", *flags(tiny, banks, out, "--optim.steps", "1")])
    with pytest.raises(UserError, match=f"would import and run '{OWN}'"):
        load(out)
    loaded = load(out, trust=[OWN])
    assert_close(embed_frames(loaded.encoder, stored(loaded.config, tiny), SOME), loaded.embed(pictures(tiny)))
    short = ["--probe.steps", "1", "--readout.steps", "1", "--limit", "9", "--pairs", "1"]
    main(["evaluate", str(out), "--out", str(tmp_path / "evaluation"), "--trust", OWN, *short])
    path = export_run(out, tmp_path / "model.safetensors", trust=[OWN])
    assert torch.equal(load(path, trust=[OWN]).embed(pictures(tiny)), loaded.embed(pictures(tiny)))


def quick(tmp_path: Path) -> dict[str, Any]:
    """Settings of :func:`lie_ssl.adapt` for a short run."""
    config = tiny_adapted(tmp_path, tmp_path / "banks", optim__steps=1)
    return {"banks": config.banks, "optim": config.optim, "adapt": config.adapt, "log": config.log}


def test_a_module_that_cannot_be_imported(tiny: FrameSet, tmp_path: Path) -> None:
    class Local(Own):
        pass

    out = tmp_path / "run"
    loaded = lie_ssl.adapt(Local(width=5), tiny, out=out, **quick(tmp_path))
    z = loaded.embed(pictures(tiny))
    assert torch.equal(lie_ssl.load(out, encoder=Local(width=5)).embed(pictures(tiny)), z)
    with pytest.raises(UserError, match=r"would import and run .*encoder=MODULE"):
        lie_ssl.load(out)
    with pytest.raises(UserError, match="does not fit the given module"):
        lie_ssl.load(out, encoder=Local(width=7))
    saved = loaded.save_pretrained(tmp_path / "saved")
    exported = export_run(out, tmp_path / "model.safetensors", encoder=Local(width=5))
    for path in (saved, exported):
        assert torch.equal(lie_ssl.load(path, encoder=Local(width=5)).embed(pictures(tiny)), z)
        with pytest.raises(UserError, match=r"would import and run .*encoder=MODULE"):
            lie_ssl.load(path)


@pytest.mark.parametrize("finished", [True, False])
def test_a_run_goes_on_with_its_own_encoder_only(tiny: FrameSet, tmp_path: Path, finished: bool) -> None:
    module, out = Own(), tmp_path / "run"
    config = tiny_adapted(tiny, tmp_path / "banks", encoder=EncoderConfig(OWN), log__save_every=1)
    if finished:
        pretrain(config, out, encoder=module)
    else:
        with pytest.raises(StopError):
            pretrain(config, out, Notes(stop=2), encoder=module)
    other = Own()
    with torch.no_grad():
        other.convolution.weight.add_(1)
    before = other.convolution.weight.clone()
    with pytest.raises(UserError, match="was started with another encoder, or with other weights"):
        pretrain(config, out, encoder=other)
    assert torch.equal(other.convolution.weight, before)
    pretrain(config, out, encoder=module)
    assert load(out, trust=[OWN]).card == read_run_card(out)
    assert read_run_card(out)["finished"]


class Spots(nn.Module):
    """Gives three features: the mean, a constant, and one that only very bright pictures have."""

    def forward(self, images: Tensor) -> Tensor:
        mean = images.mean((1, 2, 3))
        return torch.stack([mean, torch.full_like(mean, 100 / 3), (mean - 0.999).relu()], dim=1)


def test_features_that_do_not_vary_are_ignored(tiny: FrameSet, tmp_path: Path) -> None:
    """Divided by a deviation of zero, their rounding errors or first values would be all that the head sees."""
    module = Spots()
    module.register_parameter("weight", nn.Parameter(torch.ones(1)))
    loaded = lie_ssl.adapt(module, tiny, "frames", **quick(tmp_path))
    white = torch.ones(1, 3, 16, 16)
    assert isinstance(loaded.encoder, AdaptedEncoder)
    features = loaded.encoder.features(white)
    head: Any = loaded.encoder.head
    inputs = (features - head.mean) / head.std
    assert inputs[0, 0].abs() > 0.1
    assert inputs[0, 1:3].abs().max() < 1e-4
    bank = BankedFrames(tiny, FeatureBank.fill(module, tiny, tmp_path / "banks"))
    assert_close(embed_frames(loaded.encoder, bank, SOME), loaded.embed(pictures(tiny)))


def test_random_weights_are_the_same_each_time_and_reported(tiny: FrameSet, banks: Path, tmp_path: Path) -> None:
    a, b = (build_extractor(EncoderConfig("resnet_mini"), tiny).encoder.state_dict() for _ in range(2))
    assert differences(a, b) == []
    notes = Notes()
    pretrain(tiny_adapted(tiny, banks, "frames", optim__steps=1), tmp_path / "run", notes)
    assert "warning: resnet_mini has random weights; give --weights timm or a file" in notes.messages


def test_a_full_disk_keeps_what_is_finished(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = BlockFiller._write

    def full(self: BlockFiller, block: int, features: Any) -> None:
        if block > 1:
            raise UserError("cannot write: No space left on device")
        write(self, block, features)

    command = ["adapt", "resnet_mini", "frames", *flags(tiny, tmp_path / "banks", tmp_path / "run")]
    with monkeypatch.context() as patch:
        patch.setattr(BlockFiller, "_write", full)
        assert "No space left on device" in refusal(capsys, *command)
    assert not (tmp_path / "run").exists()
    filled: list[int] = []

    def noted(self: BlockFiller, block: int, features: Any) -> None:
        filled.append(block)
        write(self, block, features)

    monkeypatch.setattr(BlockFiller, "_write", noted)
    main(command)
    assert filled == [2, 3, 4]


def test_a_timm_module(tiny: FrameSet, tmp_path: Path) -> None:
    import timm  # not above, as torchrun starts this file, and timm needs lie_ssl's fix of torchvision first

    module: Any = timm.create_model("test_resnet.r160_in1k", num_classes=0).train()
    loaded = lie_ssl.adapt(module, tiny.folder, "frames", **quick(tmp_path))
    assert isinstance(loaded.encoder, AdaptedEncoder)
    assert loaded.encoder.extractor is not None
    assert loaded.encoder.extractor.layers == ("layer2", "layer3")
    assert loaded.encoder.frozen.mean.flatten().tolist() == pytest.approx(module.pretrained_cfg["mean"])
    assert loaded.embed(pictures(tiny)).shape == (4, IDENTITY + 48)
    assert loaded.encoder(pictures(tiny)).requires_grad  # a module whose head can be trained further


def pairs(count: int = 8) -> list[tuple[Any, Any, float]]:
    random = np.random.default_rng(0)
    found: list[tuple[Any, Any, float]] = []
    for number in range(count):
        first = random.integers(0, 255, (20, 24, 3), np.uint8)
        found.append((first, Image.fromarray(np.rot90(first, number % 4)), 90.0 * (number % 4)))
    return found


def test_a_list_of_pairs(tmp_path: Path) -> None:
    loaded = lie_ssl.adapt(Own(), pairs(), out=tmp_path / "run", **quick(tmp_path))
    assert loaded.factors == ("yaw",)
    assert loaded.pose(pairs()[0][0], pairs()[1][1]).degrees.shape == (1,)


def test_the_neighbours_of_a_check_are_found_by_identity(tiny: FrameSet, banks: Path) -> None:
    """The rest of z says the pose; other runs compare all of it."""
    config = tiny_adapted(tiny, banks)
    frames = stored(config, tiny)
    model = build_model(config, 16, 3, ("2d", "3d"), stored=frames.bank.slices)
    assert recognised(model) == slice(IDENTITY)
    checks = Checks(frames, 8, 0.5, seed=0, kinds=("2d", "3d"))
    before = checks.run(model)["knn"]
    head: Any = model.method.encoder.head
    with torch.no_grad():
        head.moved[-1].weight *= 100
        assert checks.run(model)["knn"] == before
    model = build_model(tiny_adapted(tiny, banks, "frames"), 16, 3, stored={"pooled": slice(0, 9)})
    assert recognised(model) == slice(None)
    assert recognised(build_model(tiny_run(tiny, "simclr", "lie"), 16, 3)) == slice(None)


if __name__ == "__main__":
    train(*map(Path, sys.argv[1:]))
