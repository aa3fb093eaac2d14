"""Continuing an adapted run with the last stages of its encoder in the loop."""

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
from torch import Tensor, nn

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.loader import endless_loader, to_tensor
from lie_ssl.methods.adapted import AdaptedEncoder
from lie_ssl.methods.draws import Draws, derive_seed
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.features import to_float
from lie_ssl.render import RenderSettings
from lie_ssl.training.config import PretrainConfig, load_config
from lie_ssl.training.continuing import continued
from lie_ssl.training.export import export_run
from lie_ssl.training.folder import read_run_card
from lie_ssl.training.loading import Loaded, load
from lie_ssl.training.optimisers import build_optimiser
from lie_ssl.training.run import pretrain
from lie_ssl.training.sampling import pair_sampler
from tests.conftest import tiny_config
from tests.gloo import ROOT
from tests.refusals import refusal
from tests.training.adapted_runs import Own, flags, tiny_adapted
from tests.training.tiny_runs import ENVIRONMENT, Notes, StopError, changed, checkpoint, differences, few_pairs, rows

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
SOME = np.array([0, 7, 100, 201])
TRAINED = ("layer3.", "layer4.")  # of resnet_mini, the last two of four stages


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        yield


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("banks")


@pytest.fixture(scope="module")
def first(tiny: FrameSet, banks: Path, weights: EncoderConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adapted run that is continued."""
    out = tmp_path_factory.mktemp("first") / "run"
    main(["adapt", "resnet_mini", "lie", "--weights", str(weights.weights), *flags(tiny, banks, out)])
    return out


@pytest.fixture(scope="module")
def second(tiny: FrameSet, banks: Path, first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by the command."""
    out = tmp_path_factory.mktemp("second") / "run"
    main(["adapt", str(first), "lie", "--unfreeze", "2", *flags(tiny, banks, out)])
    return out


def pictures(frames: FrameSet) -> Tensor:
    return to_float(to_tensor(frames.read(SOME)))


def body(run: Path) -> dict[str, Tensor]:
    encoder = load(run).encoder
    assert isinstance(encoder, AdaptedEncoder)
    return encoder.frozen.body.state_dict()


def settings(run: Path, **more: Any) -> tuple[PretrainConfig, nn.Module]:
    """The config of a tiny continued run, and its encoder."""
    config, module = continued(load(run), 2)
    return changed(config, optim__steps=4, optim__batch=8, **more), module


def test_only_the_last_stages_and_the_head_learn(first: Path, second: Path) -> None:
    before, after = body(first), body(second)
    for key, value in before.items():
        statistics = key.endswith(("running_mean", "running_var", "num_batches_tracked"))
        same = statistics or not key.startswith(TRAINED)
        assert torch.equal(value, after[key]) == same, key
    heads = [load(run).encoder.state_dict() for run in (first, second)]
    for key in ("head.mean", "head.std", "head.basis"):  # the features may move, but not how they are measured
        assert torch.equal(heads[0][key], heads[1][key])
    assert not torch.equal(heads[0]["head.moved.1.weight"], heads[1]["head.moved.1.weight"])


def test_the_run_says_what_was_unfrozen(first: Path, second: Path) -> None:
    card, config = read_run_card(second), load_config(second / "config.json")
    assert card["unfrozen"] == ["layer3", "layer4"]
    assert (card["method"], card["arm"], card["finished"]) == ("resnet_mini", "lie-unfreeze2", True)
    assert (config.unfreeze, config.start) == (2, str(first))
    assert "unfrozen" not in read_run_card(first)
    assert "unfreeze" not in (first / "config.json").read_text()
    assert "gradient_stages" in rows(second / "metrics.csv")[0]


def test_the_loss_goes_on_from_that_of_the_first_run(tiny: FrameSet, first: Path, second: Path) -> None:
    loaded, config = load(first), load(second).config
    assert config is not None
    assert loaded.model is not None
    sampler = pair_sampler(config, tiny)
    batch = next(iter(endless_loader(tiny, sampler, 0, 0)))
    model = loaded.model.train()
    model.prediction = None  # the published features change in the continued run, so it does not predict them
    torch.manual_seed(derive_seed(0, "step", 0, 0))  # of the head's dropout
    x, x_next = to_float(batch["x"]), to_float(batch["x_next"])
    out = model(x, x_next, batch["delta"], batch["paired"], Draws(0, 0, 8))
    assert float(rows(second / "metrics.csv")[0]["loss"]) == pytest.approx(float(out.total.detach()), rel=1e-5)


def test_stages_have_a_lower_rate_and_nothing_is_recorded_before_them(first: Path, tiny: FrameSet) -> None:
    loaded, (config, _) = load(first), settings(first)
    assert isinstance(loaded.encoder, AdaptedEncoder)
    assert loaded.model is not None
    model = loaded.model.train()
    assert "stages" not in model.groups()
    loaded.encoder.unfreeze(2)
    groups: list[dict[str, Any]] = build_optimiser(model, config.optim).param_groups
    rates = {group["name"]: group["lr"] for group in groups}
    assert rates["stages"] == pytest.approx(0.1 * rates["encoder"])
    learned = [p for group in groups for p in group["params"] if p.requires_grad]
    assert len(learned) == sum(p.requires_grad for p in model.parameters())
    idle = [p for group in groups for p in group["params"] if not p.requires_grad]
    assert {id(p) for p in idle}.isdisjoint(id(p) for p in loaded.encoder.parameters())  # heads that no term uses
    recorded: dict[str, bool] = {}
    network: Any = loaded.encoder.frozen.body
    for name in ("layer2", "layer3"):
        getattr(network, name).register_forward_hook(lambda _, __, y, n=name: recorded.update({n: y.requires_grad}))
    loaded.encoder(pictures(tiny))
    assert recorded == {"layer2": False, "layer3": True}


def test_a_resumed_run_is_identical(tiny: FrameSet, first: Path, tmp_path: Path) -> None:
    config, module = settings(first, log__save_every=2)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "broken", Notes(stop=3), module)
    notes = Notes()
    broken = pretrain(config, tmp_path / "broken", notes, settings(first)[1])
    assert "resuming at step 2" in notes.messages
    whole = pretrain(config, tmp_path / "whole", encoder=settings(first)[1])
    a, b = (checkpoint(run / "last.ckpt") for run in (whole, broken))
    assert differences(a["state_dict"], b["state_dict"]) == []
    assert differences(a["optimizer_states"], b["optimizer_states"]) == []
    assert [r["loss"] for r in rows(whole / "metrics.csv")] == [r["loss"] for r in rows(broken / "metrics.csv")]
    pretrain(config, tmp_path / "whole", notes, settings(first)[1])
    assert f"{tmp_path / 'whole'} is already finished" in notes.messages


def test_a_run_without_checkpoint_begins_again(first: Path, tmp_path: Path) -> None:
    """As after a kill before the first checkpoint."""
    config, module = settings(first, log__save_every=4)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "run", Notes(stop=1), module)
    assert not (tmp_path / "run" / "last.ckpt").exists()
    begun = pretrain(config, tmp_path / "run", encoder=settings(first)[1])
    whole = pretrain(config, tmp_path / "whole", encoder=settings(first)[1])
    assert differences(*(checkpoint(run / "last.ckpt")["state_dict"] for run in (begun, whole))) == []


def test_the_config_alone_gives_the_same_run(first: Path, second: Path, tmp_path: Path) -> None:
    config = load(second).config
    assert config is not None
    again = pretrain(config, tmp_path / "again")
    assert differences(*(checkpoint(run / "last.ckpt")["state_dict"] for run in (second, again))) == []


@pytest.mark.parametrize("to", ["safetensors", "pretrained"])
def test_an_export_gives_identical_embeddings(
    first: Path, second: Path, tiny: FrameSet, tmp_path: Path, to: Any
) -> None:
    path = export_run(second, tmp_path / ("model.safetensors" if to == "safetensors" else "model"), to)
    z = load(second).embed(pictures(tiny))
    assert torch.equal(load(path).embed(pictures(tiny)), z)
    assert not torch.allclose(load(first).embed(pictures(tiny)), z, atol=1e-4)
    card = (path / "README.md" if to == "pretrained" else path.with_name("model.safetensors.md")).read_text()
    assert "- trained with its head: layer3, layer4 and what follows" in card


def test_onnx_gives_the_same_embeddings(second: Path, tiny: FrameSet, tmp_path: Path) -> None:
    path = export_run(second, tmp_path / "model.onnx", "onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {"images": pictures(tiny).numpy()})[0]
    np.testing.assert_allclose(found, load(second).embed(pictures(tiny)).numpy(), atol=1e-4)


def test_evaluation_and_report(second: Path, banks: Path, tmp_path: Path) -> None:
    stored = sorted(banks.iterdir())
    quick = ["--probe.steps", "2", "--readout.steps", "2", "--limit", "20", "--pairs", "2"]
    main(["evaluate", str(second), "--out", str(tmp_path / "evaluation"), *quick])
    row = rows(tmp_path / "evaluation" / "equivariance.csv")[0]
    assert row["arm"] == "lie-unfreeze2"
    assert "align_median" in row
    assert sorted(banks.iterdir()) == stored  # a bank would serve this run alone
    main(["report", str(tmp_path / "evaluation"), "--out", str(tmp_path / "page.html")])
    assert "unfreeze2" in (tmp_path / "page.html").read_text()


def short(tmp_path: Path) -> dict[str, Any]:
    """Settings of :func:`lie_ssl.adapt` for a short run."""
    config = tiny_adapted(tmp_path, tmp_path / "banks", optim__steps=1)
    return {"banks": config.banks, "optim": config.optim, "log": config.log}


class Stages(nn.Module):
    """A user's own network with two stages, which cannot be imported by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.stages = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.Sequential(nn.ReLU(), nn.Conv2d(6, 8, 3)))

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.stages(images)
        return found


def test_a_module_from_python(tiny: FrameSet, tmp_path: Path) -> None:
    """Twice: what was continued can be continued again."""

    class Local(Stages):
        pass

    adapted = lie_ssl.adapt(Local(), tiny, "frames", tmp_path / "run", adapt=small(), **short(tmp_path))
    z = adapted.embed(pictures(tiny))
    second = lie_ssl.adapt(adapted, tiny, unfreeze=1, out=tmp_path / "second", **short(tmp_path))
    assert (second.card or {})["unfrozen"] == ["stages.1"]
    assert (second.card or {})["arm"] == "frames-unfreeze1"
    assert torch.equal(adapted.embed(pictures(tiny)), z)  # unchanged
    third = lie_ssl.adapt(second, tiny, unfreeze=2, out=tmp_path / "third", **short(tmp_path))
    networks = [network(model) for model in (adapted, second, third)]
    inner, outer = "stages.0.weight", "stages.1.1.weight"
    assert torch.equal(networks[0][inner], networks[1][inner])
    assert not torch.equal(networks[0][outer], networks[1][outer])
    assert not torch.equal(networks[1][inner], networks[2][inner])
    again = lie_ssl.load(tmp_path / "third", encoder=Local())
    assert torch.equal(again.embed(pictures(tiny)), third.embed(pictures(tiny)))


def network(model: Loaded) -> dict[str, Tensor]:
    assert isinstance(model.encoder, AdaptedEncoder)
    return model.encoder.frozen.body.state_dict()


def small() -> Any:
    return tiny_adapted(Path(), Path()).adapt


def train(first: Path, out: Path) -> None:
    """A run in a process of torchrun or alone; without dropout, which draws other numbers in every process."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        config, module = settings(first, adapt__dropout=0.0)
        pretrain(config, out, encoder=module)


def test_two_processes_train_like_one(first: Path, tiny: FrameSet, tmp_path: Path) -> None:
    command = [*TORCHRUN, "tests.training.test_unfreeze", first, tmp_path / "two"]
    done = subprocess.run(
        list(map(str, command)), env=ENVIRONMENT, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    train(first, tmp_path / "one")
    for a, b in zip(*(rows(tmp_path / name / "metrics.csv") for name in ("one", "two")), strict=True):
        assert float(a["loss"]) == pytest.approx(float(b["loss"]), rel=1e-3)
    one, two = (load(tmp_path / name).embed(pictures(tiny)) for name in ("one", "two"))
    assert (one - two).norm() < 0.02 * one.norm()


@pytest.mark.parametrize(("objective", "method"), [("alone", "vicreg"), ("literal", "simclr")])
def test_other_objectives(tiny: FrameSet, banks: Path, tmp_path: Path, objective: str, method: str) -> None:
    """`alone` augments pictures instead of reading stored views."""
    run = pretrain(tiny_adapted(tiny, banks, objective, method, optim__steps=1), tmp_path / "run")
    config, module = settings(run)
    assert load(pretrain(changed(config, optim__steps=2), tmp_path / "second", encoder=module)).config == changed(
        config, optim__steps=2
    )


def test_what_cannot_be_continued(
    tiny: FrameSet, banks: Path, first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rest = flags(tiny, banks, tmp_path / "out")

    def refused(word: str | Path, objective: str, *more: str) -> str:
        return refusal(capsys, "adapt", word, objective, *rest, *more)

    assert "adapt it first without --unfreeze" in refused("resnet_mini", "lie", "--unfreeze", "1")
    assert "unfreeze is 5, but ResNet has 4 stages" in refused(first, "lie", "--unfreeze", "5")
    for number in ("-1", "0"):
        assert f"unfreeze is {number}, but it must be a whole number" in refused(first, "lie", f"--unfreeze={number}")
    assert "--unfreeze is 'two'" in refused(first, "lie", "--unfreeze", "two")
    assert "with the objective lie, not frames" in refused(first, "frames", "--unfreeze", "1")
    assert "with the method simclr, not vicreg" in refused(first, "lie", "--unfreeze", "1", "--method", "vicreg")
    assert "leave out --weights" in refused(first, "lie", "--unfreeze", "1", "--weights", "timm")
    assert "continue it with --unfreeze" in refused(first, "lie")
    assert "features.grid is None there and 2 here" in refused(
        first, "lie", "--unfreeze", "1", "--adapt.features.grid", "2"
    )
    flat = make_frames(tiny_config(poses=("2d",)), tmp_path / "flat", workers=1)
    assert "was adapted to moves of the kinds 2d, 3d, but this data set has 2d" in refused(
        first, "lie", "--unfreeze", "1", "--data", str(flat.folder)
    )
    large = make_frames(tiny_config(render=RenderSettings(size=32, supersample=1)), tmp_path / "large", workers=1)
    assert "the encoder takes pictures of 3 x 16 px" in refused(
        first, "lie", "--unfreeze", "1", "--data", str(large.folder)
    )
    exported = export_run(first, tmp_path / "model.safetensors")
    assert "give the folder of the run" in refused(exported, "lie", "--unfreeze", "1")
    with pytest.raises(UserError, match="adapt first, then give that run"):
        replace(tiny_adapted(tiny, banks), unfreeze=1)
    assert not (tmp_path / "out").exists()


def test_encoders_that_cannot_be_unfrozen(tiny: FrameSet, tmp_path: Path) -> None:
    class Closed(Stages):
        @torch.no_grad()
        def forward(self, images: Tensor) -> Tensor:
            return super().forward(images)

    for module, words in ((Own(), "no stages that can be recognised"), (Closed(), "computes without gradients")):
        out = tmp_path / type(module).__name__
        adapted = lie_ssl.adapt(module, tiny, out=out, adapt=small(), **short(tmp_path))
        with pytest.raises(UserError, match=words):
            lie_ssl.adapt(adapted, tiny, unfreeze=1, **short(tmp_path))
        with pytest.raises(UserError, match="adapt the module first"):
            lie_ssl.adapt(module, tiny, unfreeze=1)
    gone = lie_ssl.adapt(Stages(), tiny, adapt=small(), **short(tmp_path))
    with pytest.raises(UserError, match="is no longer there; adapt with out=FOLDER"):
        lie_ssl.adapt(gone, tiny, unfreeze=1)


if __name__ == "__main__":
    train(*map(Path, sys.argv[1:]))
