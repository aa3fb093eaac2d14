"""Exports against their run, with the tools that they are made for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.training import export as exports
from lie_ssl.training.export import ENDINGS, Format, export_run
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import differences, tiny_run

ENCODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "vit": ("mae", {"encoder__name": "vit_tiny_patch16_224", "encoder__patch_size": 8,
                    "encoder__options": (("depth", 2),)}),
    "resnet": ("simclr", {"encoder__name": "resnet18"}),
    "mini": ("vicreg", {}),
}  # fmt: skip


@pytest.fixture(scope="module", params=list(ENCODERS))
def run(request: pytest.FixtureRequest, tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    method, settings = ENCODERS[request.param]
    config = tiny_run(tiny, method, "alone", optim__steps=2, **settings)
    return pretrain(config, tmp_path_factory.mktemp("runs") / request.param)


@pytest.fixture(scope="module")
def mini(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pretrain(tiny_run(tiny, arm="alone", optim__steps=1), tmp_path_factory.mktemp("runs") / "mini")


def test_safetensors_are_lossless(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    path = export_run(run, tmp_path / "new" / "encoder.safetensors")
    original, loaded = lie_ssl.load(run), lie_ssl.load(path)
    assert differences(original.encoder.state_dict(), loaded.encoder.state_dict()) == []
    assert not loaded.encoder.training
    assert loaded.operator is None
    pictures = tiny.read(range(5))
    assert torch.equal(original.embed(pictures), loaded.embed(pictures))
    assert sorted(p.name for p in path.parent.iterdir()) == ["encoder.safetensors", "encoder.safetensors.md"]
    card = (path.parent / "encoder.safetensors.md").read_text()
    assert 'lie_ssl.load("encoder.safetensors")' in card
    assert original.config is not None
    assert original.config.encoder.name in card


def test_timm_loads_its_own_weights(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    import timm

    original = lie_ssl.load(run)
    path = tmp_path / "encoder.safetensors"
    if run.name == "mini":
        with pytest.raises(UserError, match="resnet_mini is not a timm model"):
            export_run(run, path, "timm")
        return
    export_run(run, path, "timm")
    card = path.with_name("encoder.safetensors.md").read_text()
    # The exact line that the card gives to users.
    (line,) = [text.strip() for text in card.splitlines() if text.strip().startswith("timm.create_model(")]
    model = eval(line.replace('"encoder.safetensors"', repr(str(path))), {"timm": timm}).eval()
    pictures = torch.from_numpy(tiny.read(range(4))).permute(0, 3, 1, 2).float() / 255
    mean, std = (getattr(original.encoder, name).flatten()[:, None, None] for name in ("mean", "std"))
    with torch.no_grad():
        found = model((pictures - mean) / std)
    assert torch.equal(found, original.embed(pictures))


def test_onnx_agrees_for_any_batch_size(run: Path, tiny: FrameSet, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    path = export_run(run, tmp_path / "encoder.onnx", "onnx")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    loaded = lie_ssl.load(run)
    for rows in (1, 5):
        pictures = torch.from_numpy(tiny.read(range(rows))).permute(0, 3, 1, 2).float() / 255
        found = session.run(None, {"images": pictures.numpy()})[0]
        expected = loaded.embed(pictures).numpy()
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())
    assert "onnxruntime.InferenceSession" in (tmp_path / "encoder.onnx.md").read_text()


def test_an_onnx_file_that_differs_is_deleted(mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(exports, "CLOSE", -1.0)
    with pytest.raises(UserError, match="it was deleted"):
        export_run(mini, tmp_path / "encoder.onnx", "onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("encoder.onnx", "safetensors", "must end with .safetensors"),
        ("encoder.pt", "timm", "must end with .safetensors"),
        ("encoder.safetensors", "onnx", "must end with .onnx"),
        ("encoder.onnx", "tflite", "no format 'tflite'; there are safetensors, timm, onnx"),
    ],
)
def test_invalid_names_are_rejected(mini: Path, tmp_path: Path, name: str, to: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        export_run(mini, tmp_path / name, to)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(mini: Path, tmp_path: Path) -> None:
    path = tmp_path / "encoder.safetensors"
    path.write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        export_run(mini, path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("to", ["safetensors", "timm", "onnx"])
def test_an_exported_encoder_is_not_exported_again(mini: Path, tmp_path: Path, to: Format) -> None:
    alone = export_run(mini, tmp_path / "alone.safetensors")
    with pytest.raises(UserError, match="is an exported encoder, not a run"):
        export_run(alone, tmp_path / f"again{ENDINGS[to]}", to)


def test_a_file_of_another_tool_is_rejected(mini: Path, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"w": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(UserError, match="was not exported by lie_ssl"):
        lie_ssl.load(tmp_path / "other.safetensors")
    whole = export_run(mini, tmp_path / "whole.safetensors").read_bytes()
    (tmp_path / "cut.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="not a safetensors file"):
        lie_ssl.load(tmp_path / "cut.safetensors")


def test_the_export_command(mini: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "e.safetensors"
    main(["export", str(mini), "--out", str(out), "--which", "best"])
    assert f"wrote {out}" in capsys.readouterr().out
    assert lie_ssl.load(out).encoder.dim == 128
    with pytest.raises(SystemExit) as stop:
        main(["export", str(tmp_path / "nothing"), "--out", str(tmp_path / "f.safetensors")])
    assert stop.value.code == 2
    assert "there is no run" in capsys.readouterr().err
