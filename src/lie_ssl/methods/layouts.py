"""Naming schemes of weight files, and their translation to timm's names.

A translation splits the weights into parts: `encoder` with timm's names, and `decoder`, `projector`, `head`, `text` or
others with names relative to their module. Projectors have the names of an nn.Sequential, a head those of an nn.Linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

State = Mapping[str, Tensor]
Parts = dict[str, dict[str, Tensor]]
Normalisation = tuple[tuple[float, ...], tuple[float, ...]]

AUTO = "auto"
LIE_SSL = "lie_ssl"
IMAGENET: Normalisation = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP: Normalisation = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
HALF: Normalisation = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
BODY = re.compile(r"(.*\.)?encoder\.body\.|body\.")  # prefix of an Encoder's keys, alone or in a method


@dataclass(frozen=True)
class Layout:
    """One naming scheme.

    `recognises` gets all keys and the name of the entry that contained them ("" for none).
    """

    translate: Callable[[State], Parts]
    recognises: Callable[[set[str], str], bool]
    normalisation: Normalisation | None = None  # used in training; None for the model's own
    pool: Literal["own", "avg"] = "own"


def split(state: State, rules: Mapping[str, tuple[str, str]], rest: str) -> Parts:
    """Splits keys into parts: `rules` maps prefixes to (part, new prefix), first match first; others go to `rest`."""
    parts: Parts = {}
    for key, value in state.items():
        prefix = next((p for p in rules if key.startswith(p)), None)
        part, new = rules[prefix] if prefix is not None else (rest, "")
        parts.setdefault(part, {})[new + key[len(prefix or "") :]] = value
    return parts


def renamed(state: State, *substitutions: tuple[str, str]) -> dict[str, Tensor]:
    """Applies regular expressions to the keys, one after the other."""
    result = {}
    for key, value in state.items():
        for pattern, new in substitutions:
            key = re.sub(pattern, new, key)
        result[key] = value
    return result


def _timm(state: State) -> Parts:
    return {"encoder": dict(state)}


def _torchvision(state: State) -> Parts:
    return split(state, {"fc.": ("head", "")}, rest="encoder")


def _mae(state: State) -> Parts:
    rules = {"mask_token": ("decoder", "mask_token"), "decoder_": ("decoder", "")}
    return split(state, rules, rest="encoder")


def _vicreg(state: State) -> Parts:
    state = renamed(state, (r"^module\.", ""))
    if not any(key.startswith("backbone.") for key in state):
        return _torchvision(state)
    return split(state, {"backbone.": ("encoder", ""), "projector.": ("projector", "")}, rest="other")


def _simclr_bolts(state: State) -> Parts:
    rules = {"encoder.fc.": ("head", ""), "encoder.": ("encoder", ""), "projection.model.": ("projector", "")}
    parts = split(state, rules, rest="other")
    if "projector" in parts:  # older versions begin with two layers without weights
        first = min(int(key.split(".")[0]) for key in parts["projector"])
        numbered = [(key.partition("."), value) for key, value in parts["projector"].items()]
        parts["projector"] = {f"{int(number) - first}.{name}": value for (number, _, name), value in numbered}
    return parts


def _clip_openai(state: State) -> Parts:
    parts = split(state, {"visual.proj": ("head", "weight"), "visual.": ("encoder", "")}, rest="text")
    encoder = renamed(
        parts.get("encoder", {}),
        (r"^conv1\.", "patch_embed.proj."),
        (r"^class_embedding$", "cls_token"),
        (r"^positional_embedding$", "pos_embed"),
        (r"^ln_pre\.", "norm_pre."),
        (r"^ln_post\.", "norm."),
        (r"^transformer\.resblocks\.", "blocks."),
        (r"\.ln_([12])\.", r".norm\1."),
        (r"\.attn\.in_proj_", ".attn.qkv."),
        (r"\.attn\.out_proj\.", ".attn.proj."),
        (r"\.mlp\.c_fc\.", ".mlp.fc1."),
        (r"\.mlp\.c_proj\.", ".mlp.fc2."),
    )
    if "head" in parts:  # they multiply from the right
        parts["head"]["weight"] = parts["head"]["weight"].T
    return {**parts, "encoder": _with_batch(encoder)}


def _clip_hf(state: State) -> Parts:
    rules = {
        "vision_model.embeddings.position_ids": ("other", "position_ids"),
        "vision_model.": ("encoder", ""),
        "visual_projection.": ("head", ""),
    }
    parts = split(state, rules, rest="text")
    encoder = renamed(
        parts.get("encoder", {}),
        (r"^embeddings\.class_embedding$", "cls_token"),
        (r"^embeddings\.position_embedding\.weight$", "pos_embed"),
        (r"^embeddings\.patch_embedding\.", "patch_embed.proj."),
        (r"^pre_layrnorm\.", "norm_pre."),
        (r"^post_layernorm\.", "norm."),
        (r"^encoder\.layers\.", "blocks."),
        (r"\.layer_norm([12])\.", r".norm\1."),
        (r"\.self_attn\.out_proj\.", ".attn.proj."),
    )
    for key in [k for k in encoder if ".self_attn.q_proj." in k]:
        names = [key.replace(".q_proj.", f".{letter}_proj.") for letter in "qkv"]
        if all(name in encoder for name in names):
            joined = torch.cat([encoder.pop(name) for name in names])
            encoder[key.replace(".self_attn.q_proj.", ".attn.qkv.")] = joined
    return {**parts, "encoder": _with_batch(encoder)}


def _with_batch(encoder: dict[str, Tensor]) -> dict[str, Tensor]:
    """CLIP's class token (M,) and positions (N + 1, M) -> timm's (1, 1, M) and (1, N + 1, M)."""
    shapes = {"cls_token": 1, "pos_embed": 2}
    return {k: v.reshape(1, -1, v.shape[-1]) if v.ndim == shapes.get(k) else v for k, v in encoder.items()}


def _efficientnet_lite(state: State) -> Parts:
    state = {key.removeprefix("_"): value for key, value in state.items()}
    widths: list[int] = []
    while (project := state.get(f"blocks.{len(widths)}._project_conv.weight")) is not None:
        widths.append(len(project))
    places = {str(i): place for i, place in enumerate(_stages(widths))}
    plain = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
    expanding = {"_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2"}
    expanding |= {"_project_conv": "conv_pwl", "_bn2": "bn3"}
    encoder: dict[str, Tensor] = {}
    for key, value in state.items():
        match = re.fullmatch(r"blocks\.(\d+)\.(_\w+)\.(.+)", key)
        if match and match[1] in places:
            layers = expanding if f"blocks.{match[1]}._expand_conv.weight" in state else plain
            key = f"blocks.{places[match[1]]}.{layers.get(match[2], match[2])}.{match[3]}"
        encoder[key] = value
    rules = {"fc.": ("head", ""), "bn0.": ("encoder", "bn1."), "bn1.": ("encoder", "bn2.")}
    return split(encoder, rules, rest="encoder")


def _stages(widths: Sequence[int]) -> list[str]:
    """Numbers blocks by stage, as timm does: a stage ends where the number of channels changes."""
    places: list[str] = []
    stage, block = -1, 0
    for before, width in pairwise([-1, *widths]):
        stage, block = (stage, block + 1) if width == before else (stage + 1, 0)
        places.append(f"{stage}.{block}")
    return places


def _mobilenet_v2(state: State) -> Parts:
    """MobileNetV2 with the names of its first PyTorch port: layers by their position in a block."""
    blocks = max(int(m[1]) for key in state if (m := re.match(r"features\.(\d+)\.conv\.", key)))
    ends = [f"features.{i}.conv.{3 if i == 1 else 6}.weight" for i in range(1, blocks + 1)]
    places = _stages([len(state[key]) for key in ends if key in state])
    first = {"0": "conv_dw", "1": "bn1", "3": "conv_pw", "4": "bn2"}
    other = {"0": "conv_pw", "1": "bn1", "3": "conv_dw", "4": "bn2", "6": "conv_pwl", "7": "bn3"}
    rules = {
        "features.0.0.": ("encoder", "conv_stem."), "features.0.1.": ("encoder", "bn1."),
        f"features.{blocks + 1}.0.": ("encoder", "conv_head."), f"features.{blocks + 1}.1.": ("encoder", "bn2."),
        "classifier.": ("head", ""),
    }  # fmt: skip
    for i, place in enumerate(places, 1):
        for layer, name in (first if i == 1 else other).items():
            rules[f"features.{i}.conv.{layer}."] = ("encoder", f"blocks.{place}.{name}.")
    return split(state, rules, rest="encoder")


def _imgsim(state: State) -> Parts:
    state = renamed(state, (r"^module\.", ""))
    return split(state, {"pre.fc.": ("head", ""), "pre.": ("encoder", "")}, rest="other")


def _lie_ssl(state: State) -> Parts:
    """An encoder, or a whole method whose other parts are named by their attributes."""
    prefix = next((k[: k.index("body.")] for k in state if BODY.match(k)), None)
    if prefix is None:
        return _timm(state)
    outer = prefix.removesuffix("encoder.")
    parts: Parts = {}
    for key, value in state.items():
        if key.startswith(f"{prefix}body."):
            part, name = "encoder", key.removeprefix(f"{prefix}body.")
        else:
            part, _, name = key.removeprefix(outer).partition(".")
        parts.setdefault(part, {})[name] = value
    return parts


def _is_mae(keys: set[str], wrapper: str) -> bool:
    """Whether the keys are MAE's; the file for finetuning has no decoder, but a headless transformer under "model"."""
    headless = not any(key.startswith(("head", "fc_norm")) for key in keys)
    return "decoder_pred.weight" in keys or (wrapper == "model" and "blocks.0.attn.qkv.weight" in keys and headless)


def _has(*names: str) -> Callable[[set[str], str], bool]:
    return lambda keys, _: any(name in keys for name in names)


# The first scheme that recognises a file is used; timm's, the last one, accepts every file.
LAYOUTS: dict[str, Layout] = {
    "mae": Layout(_mae, _is_mae, IMAGENET, pool="avg"),
    "vicreg": Layout(_vicreg, _has("module.backbone.conv1.weight", "backbone.conv1.weight"), IMAGENET),
    "simclr_bolts": Layout(_simclr_bolts, _has("encoder.conv1.weight"), IMAGENET),
    "clip_openai": Layout(_clip_openai, _has("visual.class_embedding"), CLIP),
    "clip_hf": Layout(_clip_hf, _has("vision_model.embeddings.class_embedding"), CLIP),
    "efficientnet_lite": Layout(_efficientnet_lite, _has("_conv_stem.weight"), HALF),
    "mobilenet_v2": Layout(_mobilenet_v2, _has("features.1.conv.3.weight"), IMAGENET),
    "imgsim": Layout(_imgsim, _has("module.pre.conv1.weight", "pre.conv1.weight"), IMAGENET),
    LIE_SSL: Layout(_lie_ssl, lambda keys, _: any(BODY.match(key) for key in keys), HALF, pool="avg"),
    "torchvision": Layout(_torchvision, _has("layer1.0.conv1.weight"), IMAGENET),
    "timm": Layout(_timm, lambda keys, _: True),
}
