"""Small weight files in the official layouts, against models with the official structure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.methods.layouts import CLIP, HALF, IMAGENET
from lie_ssl.methods.weights import load_weights, read_weights, save_weights
from tests.methods.weight_examples import (
    ClipVisual,
    Decoder,
    State,
    clip_hf_state,
    encoder,
    images,
    mae_state,
    prefixed,
    randomise_norms,
    saved,
    torchvision,
    torchvision_embeddings,
    torchvision_resnet,
)

PRE_NORM = (("pre_norm", True),)


def test_timm_layout_without_its_classifier(tmp_path: Path) -> None:
    import timm

    torch.manual_seed(3)
    whole: Any = randomise_norms(timm.create_model("resnet18", num_classes=10))
    path = tmp_path / "weights.safetensors"
    save_file(whole.state_dict(), path)
    made = encoder("resnet18", weights=str(path), layout="timm")
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in IMAGENET)
    expected = whole.forward_head(whole.forward_features((images() - mean) / std), pre_logits=True)
    torch.testing.assert_close(made(images()), expected)
    assert made.weight_report is not None
    assert made.weight_report.left_out == {"head": 2}


def test_mae_layout_with_and_without_its_decoder(tmp_path: Path) -> None:
    source, decoder = encoder(seed=1), Decoder()
    whole = saved(tmp_path / "whole.pth", {"model": mae_state(source, decoder)})
    made, fresh = encoder(), Decoder()
    report = load_weights(made, whole, parts={"decoder": fresh})
    torch.testing.assert_close(made(images()), source(images()))
    assert report.layout == "mae"
    assert all(
        torch.equal(a, b) for a, b in zip(decoder.state_dict().values(), fresh.state_dict().values(), strict=True)
    )
    assert load_weights(encoder(), whole).left_out == {"decoder": len(decoder.state_dict())}
    small = saved(tmp_path / "small.pth", {"model": source.body.state_dict()})
    assert read_weights(small).layout == "mae"
    with pytest.raises(UserError, match="has no decoder, only encoder"):
        load_weights(made, small, parts={"decoder": fresh})


def test_mae_weights_use_mean_pooling_and_imagenet_normalisation(tmp_path: Path) -> None:
    source = encoder("vit_tiny_patch16_224", seed=1, options=(("depth", 1),))
    path = saved(tmp_path / "mae.pth", {"model": source.body.state_dict()})
    made = encoder("vit_tiny_patch16_224", weights=str(path), options=(("depth", 1),))
    assert made.pool == "avg"
    assert made.mean.flatten().tolist() == pytest.approx(IMAGENET[0])
    torch.testing.assert_close(made.run(made.embed(images())).mean(1), made(images()))
    plain = encoder("vit_tiny_patch16_224", weights=str(path), options=(("depth", 1),), layout="timm")
    assert plain.pool == "own"
    assert plain.body.global_pool == "token"


@pytest.mark.parametrize("size", [32, 64])
def test_positions_of_another_grid_must_be_allowed(tmp_path: Path, size: int) -> None:
    from timm.layers.pos_embed import resample_abs_pos_embed

    source, decoder, grid = encoder(seed=1), Decoder(), size // 8
    path = saved(tmp_path / "whole.pth", {"model": mae_state(source, decoder)})
    allow = ("pos_embed", "decoder.pos_embed")
    made, fresh = encoder(size=size), Decoder(tokens=1 + grid**2)
    if size != 32:
        with pytest.raises(UserError, match=r"pos_embed \(1, 17, 128\) for \(1, 65, 128\).*--encoder.allow pos_embed"):
            load_weights(made, path)
    report = load_weights(made, path, allow=allow, parts={"decoder": fresh})
    assert report.parts["encoder"].resampled == (() if size == 32 else ("pos_embed",))
    for ours, theirs in ((made.body.pos_embed, source.body.pos_embed), (fresh.pos_embed, decoder.pos_embed)):
        torch.testing.assert_close(ours, resample_abs_pos_embed(theirs, [grid, grid], num_prefix_tokens=1))


@pytest.mark.parametrize("wrap", ["plain", "distributed", "single"])
def test_vicreg_layout(tmp_path: Path, wrap: str) -> None:
    model = torchvision_resnet()
    backbone = {key: value for key, value in model.state_dict().items() if not key.startswith("fc.")}
    projector = nn.Sequential(nn.Linear(512, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8, bias=False))
    outer = "module." if wrap == "distributed" else ""
    whole = {**prefixed(backbone, f"{outer}backbone."), **prefixed(projector.state_dict(), f"{outer}projector.")}
    content = backbone if wrap == "plain" else {"epoch": 3, "model": whole, "optimizer": {"state": {}}}
    path = saved(tmp_path / "vicreg.pth", content)
    assert read_weights(path).layout == ("torchvision" if wrap == "plain" else "vicreg")
    made = encoder("resnet18", weights=str(path), layout="vicreg")
    torch.testing.assert_close(made(images()), torchvision_embeddings(model, images()))
    if wrap != "plain":
        fresh = nn.Sequential(nn.Linear(512, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8, bias=False))
        load_weights(made, path, parts={"projector": fresh})
        assert torch.equal(fresh.get_parameter("3.weight"), projector.get_parameter("3.weight"))


@pytest.mark.parametrize("first", [0, 2])
def test_simclr_bolts_layout(tmp_path: Path, first: int) -> None:
    model, projector = torchvision_resnet(), nn.Linear(512, 4)
    state = prefixed(model.state_dict(), "encoder.")
    state |= {f"projection.model.{first}.{k}": v for k, v in projector.state_dict().items()}
    state["online_evaluator.model.2.weight"] = torch.zeros(3)
    made, fresh = encoder("resnet18"), nn.Sequential(nn.Linear(512, 4))
    path = saved(tmp_path / "simclr.ckpt", {"state_dict": state, "epoch": 1})
    report = load_weights(made, path, parts={"projector": fresh})
    assert report.layout == "simclr_bolts"
    assert report.left_out == {"head": 2, "other": 1}
    assert torch.equal(fresh.get_parameter("0.weight"), projector.weight)
    made = encoder("resnet18", weights=str(path))
    torch.testing.assert_close(made(images()), torchvision_embeddings(model, images()))


def test_torchvision_layout_with_its_head(tmp_path: Path) -> None:
    model, head = torchvision_resnet(), nn.Linear(512, 10)
    path = saved(tmp_path / "resnet.pth", model.state_dict())
    made = encoder("resnet18", weights=str(path))
    load_weights(made, path, parts={"head": head})
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in IMAGENET)
    torch.testing.assert_close(head(made(images())), model((images() - mean) / std))


def test_imgsim_layout(tmp_path: Path) -> None:
    model = torchvision_resnet(classes=768)
    path = saved(tmp_path / "model.pth", prefixed(model.state_dict(), "module.pre."))
    made = encoder("resnet18", weights=str(path))
    assert made.weight_report is not None
    assert made.weight_report.layout == "imgsim"
    torch.testing.assert_close(made(images()), torchvision_embeddings(model, images()))


def test_mobilenet_v2_layout(tmp_path: Path) -> None:
    model = torchvision.models.mobilenet_v2().eval()
    # The port that the weights come from numbers the layers of a block consecutively; torchvision nests them.
    nested = {"0.0": "0", "0.1": "1", "1.0": "3", "1.1": "4", "2": "6", "3": "7"}
    first = {"0.0": "0", "0.1": "1", "1": "3", "2": "4"}
    state = {}
    for key, value in model.state_dict().items():
        if match := re.fullmatch(r"features\.(\d+)\.conv\.(\d(?:\.\d)?)\.(\w+)", key):
            key = f"features.{match[1]}.conv.{(first if match[1] == '1' else nested)[match[2]]}.{match[3]}"
        if not key.startswith("classifier"):
            state[key] = value
    made = encoder("mobilenetv2_100", 64, weights=str(saved(tmp_path / "mobilenetv2.pt", state)))
    assert made.weight_report is not None
    assert made.weight_report.layout == "mobilenet_v2"
    assert made.weight_report.left_out == {}
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in IMAGENET)
    with torch.no_grad():
        expected = model.features((images(64) - mean) / std).mean(dim=(2, 3))
        torch.testing.assert_close(made(images(64)), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", ["clip_openai", "clip_hf"])
def test_clip_layouts(tmp_path: Path, layout: str) -> None:
    torch.manual_seed(2)
    reference = ClipVisual().eval()
    theirs = reference.state_dict()
    state = {**prefixed(theirs, "visual."), "token_embedding.weight": torch.zeros(4, 4), "logit_scale": torch.ones(())}
    path = saved(tmp_path / "clip.pt", state if layout == "clip_openai" else clip_hf_state(theirs))
    made, head = encoder(options=PRE_NORM, pool="token"), nn.Linear(128, 16, bias=False)
    report = load_weights(made, path, parts={"head": head})
    assert report.layout == layout
    assert "QuickGELU" in str(report)
    assert report.left_out["text"] == 2
    torch.testing.assert_close(made(images()), reference((images() - 0.5) / 0.5), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(head.weight, reference.proj.T)


def test_clip_weights_keep_the_class_token_and_their_normalisation(tmp_path: Path) -> None:
    state = ClipVisual(dim=768, heads=12, patch=16).state_dict()
    path = saved(tmp_path / "clip.pt", prefixed({k: v.half() for k, v in state.items()}, "visual."))
    made = encoder("vit_base_patch16_clip_quickgelu_224", weights=str(path), options=(("depth", 4), ("mlp_ratio", 2.0)))
    assert made.pool == "own"
    assert made.body.global_pool == "token"
    assert made.mean.flatten().tolist() == pytest.approx(CLIP[0])
    assert "QuickGELU" not in str(made.weight_report)


def lite_state(model: Any) -> State:
    """Converts timm's names to those of the PyPI packages, block by block."""
    state = prefixed(model.conv_stem.state_dict(), "_conv_stem.") | prefixed(model.bn1.state_dict(), "_bn0.")
    for number, block in enumerate(block for stage in model.blocks for block in stage):
        if hasattr(block, "conv_pwl"):
            layers = {"_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2"}
            layers |= {"_project_conv": "conv_pwl", "_bn2": "bn3"}
        else:
            layers = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
        for theirs, ours in layers.items():
            state |= prefixed(getattr(block, ours).state_dict(), f"_blocks.{number}.{theirs}.")
    state |= prefixed(model.conv_head.state_dict(), "_conv_head.") | prefixed(model.bn2.state_dict(), "_bn1.")
    return state | {"_fc.weight": torch.zeros(10, 1280), "_fc.bias": torch.zeros(10)}


def test_efficientnet_lite_layout(tmp_path: Path) -> None:
    source = encoder("tf_efficientnet_lite0", seed=1)
    randomise_norms(source.body)
    path = saved(tmp_path / "lite.pth", lite_state(source.body))
    made = encoder("tf_efficientnet_lite0", weights=str(path))
    torch.testing.assert_close(made(images()), source(images()))
    assert made.mean.flatten().tolist() == list(HALF[0])
    with pytest.raises(UserError, match="TensorFlow's padding; use the encoder tf_efficientnet_lite0"):
        encoder("efficientnet_lite0", weights=str(path))


@pytest.mark.parametrize("name", ["vit_mini", "resnet_mini", "resnet18"])
@pytest.mark.parametrize("prefix", ["body.", "encoder.body.", "method.encoder.body."])
def test_lie_ssl_layout_with_any_prefix(tmp_path: Path, name: str, prefix: str) -> None:
    source = encoder(name, seed=1)
    outer = prefix.removesuffix("body.").removesuffix("encoder.")
    state = {**prefixed(source.body.state_dict(), prefix), f"{outer}decoder.mask_token": torch.zeros(1)}
    made = encoder(name, weights=str(saved(tmp_path / "run.ckpt", {"state_dict": state})))
    assert made.weight_report is not None
    assert (made.weight_report.layout, made.weight_report.left_out) == ("lie_ssl", {"decoder": 1})
    torch.testing.assert_close(made(images()), source(images()))


def test_saved_weights_store_pooling_and_normalisation(tmp_path: Path) -> None:
    start = saved(tmp_path / "clip.pt", prefixed(ClipVisual(dim=192, heads=3, patch=16).state_dict(), "visual."))
    options = (*PRE_NORM, ("depth", 4), ("mlp_ratio", 2.0))
    source = encoder("vit_tiny_patch16_224", weights=str(start), pool="token", options=options)
    save_weights(source, tmp_path / "encoder.safetensors")
    made = encoder("vit_tiny_patch16_224", weights=str(tmp_path / "encoder.safetensors"), options=options)
    assert made.pool == "token"
    torch.testing.assert_close(made(images()), source(images()), rtol=0, atol=0)


def test_a_plain_state_dict_of_a_mini_keeps_its_normalisation(tmp_path: Path) -> None:
    source = encoder("resnet_mini", seed=1)
    made = encoder("resnet_mini", weights=str(saved(tmp_path / "plain.pt", source.body.state_dict())))
    torch.testing.assert_close(made(images()), source(images()))
