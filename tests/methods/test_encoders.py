"""Encoders: against timm, the parts that a masked autoencoder needs, and user errors."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder

import_torchvision()
import timm  # noqa: E402  (after torchvision can be imported)

MODULE = """
import torch
from torch import nn

class Plain(nn.Module):
    def __init__(self, channels, width=5):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 4, 4)
    def forward(self, x):
        return self.conv(x)

class Tokens(Plain):
    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)

class Pair(Plain):
    def forward(self, x):
        return self.conv(x), x

class Scalar(Plain):
    def forward(self, x):
        return self.conv(x).mean()

class Sized(nn.Module):
    def __init__(self, image_size):
        super().__init__()
        self.linear = nn.Linear(3 * image_size * image_size, 7)
    def forward(self, x):
        return self.linear(x.flatten(1))

def number():
    return 3

def broken():
    raise RuntimeError("no such luck\\nsecond line")
"""


def images(size: int = 32, channels: int = 3, count: int = 3) -> Tensor:
    return torch.rand(count, channels, size, size, generator=torch.Generator().manual_seed(1))


def encoder(name: str = "vit_mini", size: int = 32, channels: int = 3, **settings: Any) -> Encoder:
    torch.manual_seed(0)
    return create_encoder(EncoderConfig(name, **settings), size, channels).eval()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_encoders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_encoders", raising=False)
    return "own_encoders"


@pytest.mark.parametrize(
    ("name", "size", "dim"),
    [
        ("vit_mini", 32, 128),
        ("vit_mini", 64, 128),
        ("resnet_mini", 32, 128),
        ("resnet_mini", 64, 128),
        ("resnet_mini", 50, 128),
        ("vit_tiny_patch16_224", 32, 192),
        ("resnet50", 32, 2048),
        ("mixer_b16_224", 32, 768),
        ("mobilenetv2_100", 32, 1280),
        ("tf_efficientnet_lite0", 32, 1280),
    ],
)
def test_one_embedding_per_image(name: str, size: int, dim: int) -> None:
    made = encoder(name, size)
    assert made.dim == dim
    assert made(images(size)).shape == (3, dim)
    assert made.weight_report is None


@pytest.mark.slow
def test_large_clip_transformer() -> None:
    assert encoder("vit_base_patch16_clip_224", 64)(images(64)).shape == (3, 768)


def test_equals_timm_on_normalised_images() -> None:
    made = encoder("resnet18")
    torch.manual_seed(0)
    reference = timm.create_model("resnet18", num_classes=0).eval()
    torch.testing.assert_close(made(images()), reference((images() - 0.5) / 0.5))


def test_resnet_mini_has_stride_two_from_32_pixels_on() -> None:
    bodies: dict[int, Any] = {size: encoder("resnet_mini", size).body for size in (16, 31, 32, 48, 64)}
    maps = {size: body.forward_features(images(size)).shape[2] for size, body in bodies.items()}
    assert maps == {16: 2, 31: 4, 32: 2, 48: 3, 64: 4}


def test_resnet_mini_is_channels_last() -> None:
    made = encoder("resnet_mini", 32)
    weights = [p for p in made.parameters() if p.ndim == 4]
    assert len(weights) > 8
    assert all(w.is_contiguous(memory_format=torch.channels_last) for w in weights)
    plain = encoder("resnet_mini", 32)
    plain = plain.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]  # theirs asks for 4 dimensions
    plain.load_state_dict(made.state_dict())
    torch.testing.assert_close(made(images(32)), plain(images(32)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_mini", ()),
        ("vit_mini", (("class_token", False),)),
        ("vit_mini", (("pre_norm", True),)),
        ("vit_tiny_patch16_224", ()),
        ("vit_tiny_patch16_224", (("reg_tokens", 2),)),
        ("vit_tiny_patch16_224", (("no_embed_class", True),)),
        ("vit_tiny_patch16_224", (("class_token", False), ("global_pool", "avg"))),
    ],
)
def test_run_after_embed_equals_forward(name: str, options: tuple[tuple[str, Any], ...]) -> None:
    made = encoder(name, options=options)
    tokens = made.embed(images())
    assert made.is_vit
    assert made.pool == "avg"
    assert tokens.shape == (3, made.grid[0] * made.grid[1], made.dim)
    assert made.grid == (32 // made.patch_size, 32 // made.patch_size)
    torch.testing.assert_close(made.run(tokens).mean(1), made(images()))


def test_masked_only_runs_the_visible_patches() -> None:
    made = encoder()
    keep = torch.stack([torch.randperm(16)[:5] for _ in range(3)])
    prefix, tokens = made.masked(images(), keep)
    picked = torch.stack([row[places] for row, places in zip(made.embed(images()), keep, strict=True)])
    assert prefix.shape == (3, made.prefix, 128) == (3, 1, 128)
    torch.testing.assert_close(tokens, made.run(picked))
    everything = torch.arange(16).expand(3, -1)
    torch.testing.assert_close(made.masked(images(), everything)[1].mean(1), made(images()))


def test_token_pooling_uses_the_normed_class_token() -> None:
    made = encoder("vit_tiny_patch16_224", pool="token")
    everything = torch.arange(4).expand(3, -1)
    torch.testing.assert_close(made(images()), made.masked(images(), everything)[0][:, 0])


def test_a_model_with_another_pooling_is_changed_to_the_mean_of_normed_tokens() -> None:
    name, options = "vit_base_patch16_siglip_224", (("depth", 1),)
    assert timm.create_model(name, num_classes=0, img_size=32, depth=1).attn_pool is not None
    made = encoder(name, options=options)
    body: Any = made.body
    assert body.attn_pool is None
    assert isinstance(body.norm, nn.LayerNorm)
    torch.testing.assert_close(made.run(made.embed(images())).mean(1), made(images()))


def test_a_norm_after_the_pooling_is_moved_before_it() -> None:
    made = encoder("vit_tiny_patch16_224", options=(("fc_norm", True),))
    assert isinstance(made.body.norm, nn.LayerNorm)
    assert isinstance(made.body.fc_norm, nn.Identity)


def test_the_config_overrides_the_data_and_any_number_of_channels_works() -> None:
    made = create_encoder(EncoderConfig(image_size=16, channels=1, patch_size=4), 64, 3)
    assert (made.image_size, made.channels, made.patch_size, made.grid) == (16, 1, 4, (4, 4))
    assert made(images(16, 1)).shape == (3, 128)
    assert made.mean.shape == (1, 1, 1, 1)


def test_the_normalisation_is_part_of_the_state_and_follows_the_type() -> None:
    made = encoder().double()
    assert {key for key in made.state_dict() if not key.startswith("body.")} == {"mean", "std"}
    assert made(images().double()).dtype == torch.float64


def test_building_changes_neither_training_mode_nor_random_state() -> None:
    torch.manual_seed(0)
    plain = timm.create_model("resnet18", num_classes=0)
    after = torch.rand(1)
    torch.manual_seed(0)
    made = create_encoder(EncoderConfig("resnet18"), 32, 3)
    assert torch.equal(torch.rand(1), after)
    assert made.training
    assert made.body.training
    assert torch.equal(made.body.get_buffer("bn1.running_mean"), plain.get_buffer("bn1.running_mean"))


@pytest.mark.parametrize(
    "wrong", [images(16), images(32, 1), images()[0], torch.zeros(2, 3, 32, 32, dtype=torch.uint8)]
)
def test_invalid_images_are_named(wrong: Tensor) -> None:
    with pytest.raises(UserError, match=r"the encoder needs .* not "):
        encoder()(wrong)


@pytest.mark.parametrize(
    ("name", "size", "settings", "message"),
    [
        ("vit_minni", 32, {}, "did you mean vit_mini"),
        ("resnet5O", 32, {}, "did you mean resnet50"),
        ("vit_tiny_patch16_224.nonsense", 32, {}, "nonsense"),
        ("vit_mini", 30, {}, "30 px cannot be cut into the 8 px patches"),
        ("vit_tiny_patch16_224", 40, {}, "40 px cannot be cut into the 16 px patches"),
        ("resnet_mini", 32, {"patch_size": 8}, "patch_size"),
        ("resnet18", 32, {"patch_size": 8}, "patch_size"),
        ("resnet18", 32, {"pool": "token"}, "not a plain vision transformer"),
        ("vit_mini", 32, {"pool": "token", "options": (("class_token", False),)}, "no class token"),
        ("vit_mini", 32, {"options": (("number_of_legs", 4),)}, "number_of_legs"),
        ("vit_mini", 32, {"weights": "timm"}, "timm has no weights for vit_mini"),
        ("vit_mini", 32, {"weights": "nowhere.pt"}, "there is no weight file nowhere.pt"),
        ("vit_mini", 32, {"weights": "package:nothing"}, "there is no package of weights 'nothing'"),
    ],
)
def test_encoders_that_cannot_be_built(name: str, size: int, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        encoder(name, size, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": ""}, "name is empty"),
        ({"image_size": -1}, "image_size is -1"),
        ({"channels": 1.5}, "channels is 1.5"),
        ({"pool": "max"}, "pool is 'max'"),
        ({"layout": "keras"}, "layout is 'keras'"),
        ({"allow": "head"}, "must be a list"),
        ({"allow": ("",)}, "none of them empty"),
        ({"options": (("depth",),)}, "pairs of a name and a value"),
        ({"options": (("depth", 1), ("depth", 2))}, "twice"),
        ({"options": (("img_size", 32),)}, "set it with image_size"),
    ],
)
def test_invalid_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        EncoderConfig(**settings)


def test_configs_survive_json() -> None:
    config = EncoderConfig(options=(("depth", 2), ("drop_path_rate", 0.1)), allow=("pos_embed",))
    assert EncoderConfig(**json.loads(json.dumps(dataclasses.asdict(config)))) == config
    blocks = encoder(options=config.options).body.blocks
    assert isinstance(blocks, nn.Sequential)
    assert len(blocks) == 2


@pytest.mark.parametrize(
    ("factory", "reference"),
    [
        ("Plain", lambda body, x: body.conv(x).mean((2, 3))),
        ("Tokens", lambda body, x: body.conv(x).flatten(2).mean(2)),
        ("Sized", lambda body, x: body.linear(x.flatten(1))),
    ],
)
def test_custom_modules(own: str, factory: str, reference: Callable[[Any, Tensor], Tensor]) -> None:
    made = encoder(f"{own}:{factory}")
    expected = reference(made.body, (images() - 0.5) / 0.5)
    assert made.dim == expected.shape[1]
    torch.testing.assert_close(made(images()), expected)


def test_custom_modules_accept_options(own: str) -> None:
    assert encoder(f"{own}:Plain", options=(("width", 9),)).dim == 9


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("Nothing", "cannot be imported"),
        ("number", "returns a int"),
        ("broken", "no such luck"),
        ("Pair", "returns tuple for two images"),
        ("Scalar", r"returns \(\) for two images"),
    ],
)
def test_broken_custom_modules(own: str, factory: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        encoder(f"{own}:{factory}")
    assert "\n" not in str(caught.value)


def test_a_missing_module() -> None:
    with pytest.raises(UserError, match="cannot be imported"):
        encoder("no_such_package.module:Factory")


def test_only_vision_transformers_have_patches() -> None:
    made = encoder("resnet_mini")
    assert not made.is_vit
    with pytest.raises(UserError, match="has no patches"):
        made.embed(images())
    with pytest.raises(UserError, match="has no patches"):
        _ = made.grid


def test_importing_encoders_loads_no_model_library() -> None:
    import subprocess

    code = "import sys, lie_ssl.methods.encoders; print([m for m in ('timm', 'torchvision') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
