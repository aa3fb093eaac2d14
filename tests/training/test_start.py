"""Starting from another run: the weights that are loaded, and messages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.training.checkpoints import model_state
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from lie_ssl.training.start import start_from
from tests.training.tiny_runs import Notes, StopError, checkpoint, differences, few_pairs, tiny_run


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


@pytest.fixture(scope="module")
def first(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """VICReg alone with a residual network."""
    config = tiny_run(tiny, "vicreg", "alone", optim__steps=2)
    return pretrain(config, tmp_path_factory.mktemp("runs") / "first")


def parts(state: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {k: v for k, v in state.items() if k.startswith(prefix)}


def test_the_same_method_loads_encoder_and_heads(tiny: FrameSet, first: Path) -> None:
    theirs = model_state(checkpoint(first / "last.ckpt"))
    config = tiny_run(tiny, "vicreg", "lie", start=str(first), seed=5)
    model, fresh = (build_model(config, tiny.size, 3) for _ in range(2))
    output = start_from(model, config)
    own, anew = model.state_dict(), fresh.state_dict()
    assert differences(parts(own, "method."), parts(theirs, "method.")) == []
    assert differences(parts(own, "objective."), parts(anew, "objective.")) == []
    assert output == f"loaded {len(theirs)} tensors from {first} (vicreg); {len(own) - len(theirs)} newly initialised"


def test_another_method_only_loads_the_encoder(tiny: FrameSet, first: Path) -> None:
    theirs = model_state(checkpoint(first / "last.ckpt"))
    config = tiny_run(tiny, "simclr", "alone", start=str(first / "last.ckpt"), seed=5)
    model, fresh = (build_model(config, tiny.size, 3) for _ in range(2))
    output = start_from(model, config)
    encoder = parts(theirs, "method.encoder.")
    assert differences(parts(model.state_dict(), "method.encoder."), encoder) == []
    heads = parts(model.state_dict(), "method.projector.")
    assert differences(heads, parts(fresh.state_dict(), "method.projector.")) == []
    assert output.startswith(f"loaded {len(encoder)} tensors")
    assert "(vicreg)" in output


def test_a_run_starts_with_these_weights(tiny: FrameSet, first: Path, tmp_path: Path) -> None:
    """With a tiny learning rate, the weights are those at the start."""
    config = tiny_run(tiny, "vicreg", "frames", start=str(first), optim__lr=1e-12, optim__steps=2)
    notes = Notes()
    out = pretrain(config, tmp_path / "run", notes)
    assert sum(text.startswith("loaded ") for text in notes.messages) == 1
    a, b = (model_state(checkpoint(run / "last.ckpt")) for run in (first, out))
    names = [k for k in a if k.startswith("method.encoder.") and k.endswith("weight")]
    assert names
    for name in names:
        torch.testing.assert_close(b[name], a[name], rtol=1e-5, atol=1e-8)
    assert config.digest() != tiny_run(tiny, "vicreg", "frames", optim__lr=1e-12, optim__steps=2).digest()


def test_a_resumed_run_no_longer_needs_the_run_it_started_from(tiny: FrameSet, first: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.ckpt"
    shutil.copy(first / "last.ckpt", start)
    config = tiny_run(tiny, "vicreg", "alone", start=str(start), log__save_every=1)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "run", Notes(stop=3))
    start.unlink()
    notes = Notes()
    pretrain(config, tmp_path / "run", notes)
    assert notes.messages[0] == "resuming at step 2"
    assert notes.steps == [3, 4]


def test_invalid_runs_to_start_from(tiny: FrameSet, first: Path, tmp_path: Path) -> None:
    for start, method, message in (
        (first, "mae", "the encoder of .* does not fit: .*; use the same encoder"),
        (tmp_path, "vicreg", "there is no checkpoint"),
        (tmp_path / "nothing", "vicreg", "there is no checkpoint"),
    ):
        with pytest.raises(UserError, match=message) as stop:
            pretrain(tiny_run(tiny, method, "alone", start=str(start)), tmp_path / "run")
        assert "\n" not in str(stop.value)
    assert not (tmp_path / "run").exists()


def test_starting_from_a_run_that_has_seen_more_is_rejected(tiny: FrameSet, first: Path, tmp_path: Path) -> None:
    """Known objects in new poses would no longer be new."""
    for start in (first, first / "last.ckpt"):
        config = tiny_run(tiny, "vicreg", "alone", start=str(start), diverse=0.25)
        with pytest.raises(
            UserError, match=r"has seen 0.5 of the training instances .* more than the 0.25 of this run"
        ):
            pretrain(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    model = build_model(config, tiny.size, tiny.channels)
    assert start_from(model, config, "another data set").startswith("loaded")


def test_starting_from_a_run_with_code_of_its_own_imports_nothing(
    tiny: FrameSet, first: Path, tmp_path: Path
) -> None:  # fmt: skip
    run = shutil.copytree(first, tmp_path / "first")
    values = json.loads((run / "config.json").read_text())
    values["objective"] = {"name": "package_that_is_not_there:Class", "weight": 1.0}
    (run / "config.json").write_text(json.dumps(values))
    config = tiny_run(tiny, "vicreg", "alone", start=str(run))
    model = build_model(config, tiny.size, tiny.channels)
    assert start_from(model, config, tiny.card["card_hash"]).startswith("loaded")


def test_frames_of_another_size_do_not_fit_a_vision_transformer(tiny: FrameSet, tmp_path: Path) -> None:
    out = pretrain(tiny_run(tiny, "mae", "alone", optim__steps=1), tmp_path / "run")
    config = tiny_run(tiny, "mae", "alone", start=str(out))
    with pytest.raises(UserError, match=r"pos_embed is of shape \(1, 5, 128\), but must be \(1, 17, 128\)"):
        start_from(build_model(config, 32, 3), config)
