"""Small models and state dicts in the official weight layouts."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.layouts import IMAGENET

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


def randomise_norms(model: nn.Module) -> nn.Module:
    """Randomises the statistics of batch norms, so that a forgotten one is noticed."""
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
    return randomise_norms(torchvision.models.resnet18(num_classes=classes))


def torchvision_embeddings(model: Any, x: Tensor) -> Tensor:
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in IMAGENET)
    head, model.fc = model.fc, nn.Identity()
    embeddings: Tensor = model((x - mean) / std)
    model.fc = head
    return embeddings


class Decoder(nn.Module):
    """A decoder with the parameter names of this package."""

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
        x = self.conv1(x).flatten(2).permute(2, 0, 1)  # tokens first, as their attention expects
        x = torch.cat([self.class_embedding.expand(1, x.shape[1], -1), x]) + self.positional_embedding[:, None]
        x = self.transformer.get_submodule("resblocks")(self.ln_pre(x))
        result: Tensor = self.ln_post(x[0])
        return result


def clip_hf_state(visual: State) -> State:
    """Converts OpenAI's names to those of transformers, with separate queries, keys and values."""
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
