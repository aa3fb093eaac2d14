"""Features of encoders against a plain forward pass with a hook."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.extractor import (
    CHANNELS,
    FeatureConfig,
    FeatureExtractor,
    as_encoder,
    cell_weights,
    find_maps,
    random_directions,
)  # fmt: skip

FAMILIES: dict[str, tuple[EncoderConfig, int, str]] = {
    "efficientnet": (EncoderConfig("tf_efficientnet_lite0"), 96, "blocks.4"),
    "mobilenet": (EncoderConfig("mobilenetv3_small_050"), 64, "blocks.4"),
    "resnet": (EncoderConfig("resnet18"), 64, "layer3"),
    "convnext": (EncoderConfig("convnext_atto"), 64, "stages.2"),
    "vit": (EncoderConfig("vit_tiny_patch16_224"), 96, "blocks.7"),
    "vit_mini": (EncoderConfig("vit_mini"), 48, "blocks.2"),
    "resnet_mini": (EncoderConfig("resnet_mini"), 48, "layer3"),
}


@pytest.fixture(params=list(FAMILIES))
def family(request: pytest.FixtureRequest) -> tuple[Encoder, str]:
    torch.manual_seed(0)
    config, size, layer = FAMILIES[request.param]
    return create_encoder(config, size, 3), layer


def pictures(encoder: Encoder, count: int = 5) -> Tensor:
    shape = (count, encoder.channels, encoder.image_size, encoder.image_size)
    return torch.rand(shape, generator=torch.Generator().manual_seed(1))


def expected(encoder: Encoder, layer: str, x: Tensor, grid: int) -> tuple[Tensor, Tensor]:
    """The output of the encoder and the averaged map, by torch's own pooling."""
    kept: list[Tensor] = []
    handle = encoder.body.get_submodule(layer).register_forward_hook(lambda m, i, output: kept.append(output))
    z = encoder(x)
    handle.remove()
    found = kept[0]
    if found.ndim == 3:
        patches = found[:, encoder.prefix :]
        found = patches.transpose(1, 2).unflatten(2, encoder.grid)
    return z, functional.adaptive_avg_pool2d(found, min(grid, found.shape[2])).flatten(1)


@torch.no_grad()
def test_features_are_the_output_and_the_averaged_map(family: tuple[Encoder, str]) -> None:
    encoder, layer = family
    extractor = FeatureExtractor(encoder)
    assert extractor.layers[-1] == layer
    assert extractor.note == ""
    x = pictures(encoder)
    found = extractor(x)
    assert found.dtype == torch.float32
    assert found.shape == (5, extractor.dim)
    for name in extractor.layers:
        z, averaged = expected(encoder, name, x, grid=4)
        assert torch.equal(found[:, extractor.slices["pooled"]], z)
        channels = find_maps(encoder)[name].channels
        if channels > CHANNELS:
            averaged = (random_directions(channels, CHANNELS) @ averaged.unflatten(1, (channels, -1))).flatten(1)
        assert torch.allclose(found[:, extractor.slices[name]], averaged, rtol=1e-4, atol=1e-4)


def test_random_directions_are_orthogonal_and_keep_lengths() -> None:
    directions = random_directions(300, 20)
    torch.testing.assert_close(directions @ directions.T, 15 * torch.eye(20), atol=1e-4, rtol=1e-4)
    x = torch.randn(300, 500, generator=torch.Generator().manual_seed(0))
    assert float((directions @ x).square().sum() / x.square().sum()) == pytest.approx(1, rel=0.05)
    with pytest.raises(UserError, match=r"features\.channels is 0"):
        FeatureConfig(channels=0)


@torch.no_grad()
def test_features_do_not_depend_on_the_batch(family: tuple[Encoder, str]) -> None:
    encoder, _ = family
    extractor = FeatureExtractor(encoder)
    x = pictures(encoder)
    together = extractor(x)
    alone = torch.cat([extractor(one[None]) for one in x])
    assert (together - alone).abs().max() <= 1e-5 * max(1.0, float(together.abs().max()))


def test_the_size_for_efficientnet_lite() -> None:
    extractor = FeatureExtractor(create_encoder(EncoderConfig("tf_efficientnet_lite0"), 96, 3))
    early = {"blocks.2": slice(1280, 1920), "blocks.3": slice(1920, 3200)}
    assert extractor.slices == {"pooled": slice(0, 1280), **early, "blocks.4": slice(3200, 4992)}


def test_the_last_of_the_default_layers() -> None:
    encoder = create_encoder(EncoderConfig("resnet_mini"), 32, 3)
    assert FeatureExtractor(encoder, FeatureConfig(depth=1)).layers == ("layer3",)
    assert FeatureExtractor(encoder, FeatureConfig(depth=9)).layers == ("layer2", "layer3")
    with pytest.raises(UserError, match=r"features\.depth is 0"):
        FeatureConfig(depth=0)
    with pytest.raises(UserError, match=r"features\.depth counts the default layers"):
        FeatureConfig(depth=1, layers=("layer2",))


@torch.no_grad()
def test_several_layers_and_none() -> None:
    encoder = create_encoder(EncoderConfig("resnet_mini"), 32, 3)
    extractor = FeatureExtractor(encoder, FeatureConfig(layers=("layer1", "layer3"), grid=2))
    assert extractor.slices == {"pooled": slice(0, 128), "layer1": slice(128, 192), "layer3": slice(192, 448)}
    x = pictures(encoder)
    for layer in ("layer1", "layer3"):
        assert torch.allclose(extractor(x)[:, extractor.slices[layer]], expected(encoder, layer, x, 2)[1], atol=1e-5)
    alone = FeatureExtractor(encoder, FeatureConfig(layers=()))
    assert torch.equal(alone(x), encoder(x))


@pytest.mark.parametrize(("size", "cells"), [(6, 4), (7, 3), (5, 5), (12, 4), (9, 1)])
def test_cells_are_those_of_adaptive_pooling(size: int, cells: int) -> None:
    x = torch.rand(2, 3, size)
    assert torch.allclose(x @ cell_weights(size, cells).T, functional.adaptive_avg_pool1d(x, cells), atol=1e-6)


@pytest.mark.parametrize("name", ["efficientnet", "vit_mini"])
def test_onnx_agrees_for_any_batch_size(name: str, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    config, size, _ = FAMILIES[name]
    extractor = FeatureExtractor(create_encoder(config, size, 3))
    x = pictures(extractor.encoder)
    path = str(tmp_path / "features.onnx")
    torch.onnx.export(
        extractor, (x[:2],), path, input_names=["images"], output_names=["features"], dynamo=False,
        dynamic_axes={"images": {0: "batch"}, "features": {0: "batch"}},
    )  # fmt: skip
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    with torch.no_grad():
        wanted = extractor(x).numpy()
    for rows in (1, 5):
        found = session.run(None, {"images": x[:rows].numpy()})[0]
        assert np.abs(found - wanted[:rows]).max() <= 1e-4 * max(1.0, np.abs(wanted).max())


@torch.no_grad()
def test_a_copy_has_its_own_weights() -> None:
    extractor = FeatureExtractor(create_encoder(EncoderConfig("resnet_mini"), 16, 3))
    x = pictures(extractor.encoder)
    before, other = extractor(x), copy.deepcopy(extractor)
    for parameter in other.parameters():
        parameter.mul_(2)
    assert torch.equal(extractor(x), before)
    assert not torch.equal(other(x)[:, other.slices["layer3"]], before[:, other.slices["layer3"]])


class Plain(nn.Module):
    """A network of a family that nobody knows."""

    def __init__(self, after: nn.Module) -> None:
        super().__init__()
        self.stem, self.after = nn.Conv2d(3, 8, 4, stride=4), after
        self.last = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = self.after(self.stem(x))
        return self.last(x if x.ndim == 2 else x.mean((2, 3)))


class Tokens(nn.Module):
    """Patches as tokens, after a class token."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.pad(x.flatten(2).transpose(1, 2), (0, 0, 1, 0))


class Last(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 2, 3, 1)


def extractor_of(body: nn.Module, **settings: Any) -> FeatureExtractor:
    return FeatureExtractor(as_encoder(body, 24, 3), FeatureConfig(**settings))


@torch.no_grad()
def test_other_networks_give_their_last_map_with_enough_cells() -> None:
    extractor = extractor_of(Plain(nn.MaxPool2d(3)))
    assert extractor.layers == ("stem",)  # 6 x 6 cells, and 2 x 2 after the pooling
    assert extractor.dim == 5 + 8 * 16
    assert extractor_of(Plain(nn.MaxPool2d(3)), grid=2).layers == ("after",)


@torch.no_grad()
def test_tokens_and_channels_at_the_end_are_recognised() -> None:
    x = torch.rand(2, 3, 24, 24)
    for body, layer in ((nn.Sequential(nn.Conv2d(3, 8, 4, 4), Tokens()), "1"), (nn.Sequential(), "0.1")):
        if layer == "0.1":  # timm marks such networks
            body = nn.Sequential(nn.Sequential(nn.Conv2d(3, 8, 4, 4), Last()), nn.Flatten(1))
            body.output_fmt = "NHWC"  # type: ignore[assignment]
        extractor = extractor_of(body, layers=(layer,))
        conv = body.get_submodule("0" if layer == "1" else "0.0")
        wanted = functional.adaptive_avg_pool2d(conv((x - 0.5) / 0.5), 4).flatten(1)
        assert torch.allclose(extractor(x)[:, extractor.slices[layer]], wanted, atol=1e-5)


@torch.no_grad()
def test_without_a_map_the_output_alone_is_used() -> None:
    extractor = extractor_of(nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 7)))
    assert extractor.slices == {"pooled": slice(0, 7)}
    assert extractor.note == "Sequential gives no map, so only its pooled output is used"
    assert extractor(torch.rand(2, 3, 24, 24)).shape == (2, 7)
    with pytest.raises(UserError, match=r"'1' of Sequential gives no map or tokens; leave features.layers empty"):
        extractor_of(nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 7)), layers=("1",))


def test_unknown_layers_are_rejected_with_some_that_exist() -> None:
    encoder = create_encoder(EncoderConfig("resnet_mini"), 16, 3)
    with pytest.raises(UserError, match=r"ResNet has no layer 'layer9'; layers that give one are.* layer\d"):
        FeatureExtractor(encoder, FeatureConfig(layers=("layer9",)))
    with pytest.raises(UserError, match="the layer 'global_pool' of ResNet gives no map or tokens; layers that"):
        FeatureExtractor(encoder, FeatureConfig(layers=("global_pool",)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grid": 0}, "features.grid is 0"),
        ({"grid": 2.5}, "features.grid is 2.5"),
        ({"grid": 1000}, "from 1 to 64"),
        ({"layers": "layer3"}, "must be a list of names"),
        ({"layers": ("layer3", "layer3")}, "twice"),
        ({"layers": ("pooled",)}, "nor 'pooled'"),
    ],
)
def test_wrong_settings_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        FeatureConfig(**settings)


def test_a_timm_model_is_normalised_as_it_expects() -> None:
    import timm

    encoder = as_encoder(timm.create_model("resnet18", num_classes=0), 32, 3)
    assert encoder.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    assert as_encoder(encoder, 99, 1) is encoder
