"""Masked autoencoders (He et al., 2021): most patches are hidden, and a small decoder draws them from the rest.

Shape letters: B batch, N patches, n visible patches, M embedding, D decoder, P values of a patch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import AugmentConfig, augment, none
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig, SSLOutput
from lie_ssl.methods.registry import method
from lie_ssl.serialization import check_numbers


@dataclass(frozen=True)
class MAEConfig(MethodConfig):
    """Masked autoencoder."""

    name: str = "mae"
    """Name of the method."""
    mask: float = 0.75
    """Share of the patches that are hidden."""
    normalise: bool = True
    """Draw every patch normalised by its own mean and deviation."""
    decoder_dim: int = 64
    """Width of the decoder."""
    decoder_depth: int = 1
    """Blocks of the decoder."""
    decoder_heads: int = 4
    """Attention heads of the decoder."""
    augment: AugmentConfig = field(default_factory=none)
    """Augmentations before the masking."""

    def __post_init__(self) -> None:
        check_numbers(self, "method")
        if not 0 < self.mask < 1:
            raise UserError(f"mask is {self.mask}, but it must lie between 0 and 1")
        sizes = (self.decoder_dim, self.decoder_depth, self.decoder_heads)
        if self.decoder_depth > 1000:
            raise UserError(f"method.decoder_depth is {self.decoder_depth}, but a decoder has 1,000 blocks at the most")
        if min(sizes) < 1 or self.decoder_dim % self.decoder_heads:
            raise UserError(
                f"a decoder of width {self.decoder_dim}, depth {self.decoder_depth} and {self.decoder_heads} heads "
                "cannot be built; the width must be a multiple of the heads"
            )


@method("mae", title="MAE", order=10)
class MAE(Method):
    """Reconstruction of hidden patches. z is the mean of the visible patches' tokens."""

    Config: ClassVar[type[MethodConfig]] = MAEConfig

    def __init__(self, encoder: Encoder, config: MAEConfig) -> None:
        super().__init__(encoder)
        if not encoder.is_vit:
            raise UserError("mae hides patches and so needs a vision transformer; take an encoder such as vit_mini")
        self.config = config
        self.patch = encoder.patch_size
        patches = encoder.grid[0] * encoder.grid[1]
        self.visible = max(1, round((1 - config.mask) * patches))
        if self.visible >= patches:
            raise UserError(
                f"mask {config.mask} of {patches} patches hides none; take larger pictures, smaller patches or a "
                "larger mask"
            )
        self.decoder = Decoder(
            encoder.dim, config.decoder_dim, config.decoder_depth, config.decoder_heads, encoder.grid,
            encoder.prefix, self.patch**2 * encoder.channels,
        )  # fmt: skip

    def parts(self) -> dict[str, nn.Module]:
        return {"decoder": self.decoder}

    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        images = torch.cat(
            [augment(x, d.named("augment"), self.config.augment) for x, d in zip(frames, draws, strict=True)]
        )
        noise = torch.cat([d.uniform("mask", self.encoder.grid[0] * self.encoder.grid[1]) for d in draws]).to(
            images.device
        )
        order = noise.argsort(dim=1, stable=True)  # (B, N); equal numbers are rare, but every device must agree
        prefix, tokens = self.encoder.masked(images, order[:, : self.visible])
        drawn = self.decoder(prefix, tokens, order)
        # Patches as the encoder sees them: published decoders draw the colours of normalised pictures.
        target = patchify((images - self.encoder.mean) / self.encoder.std, self.patch, self.config.normalise)
        errors = reconstruction(drawn, target, order[:, self.visible :])
        z = tokens.mean(dim=1)
        sizes = [len(x) for x in frames]
        return [
            SSLOutput(e.mean(), {"reconstruction": e.mean().detach()}, part)
            for e, part in zip(errors.split(sizes), z.split(sizes), strict=True)
        ]


class Decoder(nn.Module):
    """Tokens of the visible patches -> the values of all patches."""

    def __init__(
        self, dim: int, width: int, depth: int, heads: int, grid: tuple[int, int], prefix: int, values: int
    ) -> None:
        super().__init__()
        from timm.models.vision_transformer import Block

        self.embed = nn.Linear(dim, width)
        self.mask_token = nn.Parameter(torch.zeros(1, 1, width))
        nn.init.normal_(self.mask_token, std=0.02)
        self.pos_embed = nn.Parameter(sincos(width, grid, prefix), requires_grad=False)
        self.blocks = nn.ModuleList(Block(width, heads, mlp_ratio=4.0, qkv_bias=True) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pred = nn.Linear(width, values)

    def forward(self, prefix: Tensor, tokens: Tensor, order: Tensor) -> Tensor:
        """(B, K, M) prefix tokens, (B, n, M) visible ones, and (B, N) patches in the order they were dealt ->
        (B, N, P)."""
        first = prefix.shape[1]
        seen = self.embed(torch.cat([prefix, tokens], dim=1))
        hidden = self.mask_token.expand(len(order), order.shape[1] - tokens.shape[1], -1).to(seen.dtype)
        dealt = torch.cat([seen[:, first:], hidden], dim=1)
        places = order.argsort(dim=1)[:, :, None].expand(-1, -1, dealt.shape[2])
        x = torch.cat([seen[:, :first], dealt.gather(1, places)], dim=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        values: Tensor = self.pred(self.norm(x)[:, first:])
        return values


def sincos(width: int, grid: tuple[int, int], prefix: int) -> Tensor:
    """(1, prefix + N, width) fixed sine and cosine positions of a grid; zeros for the prefix tokens."""
    if width % 4:
        raise UserError(f"decoder_dim is {width}, but sine positions in two dimensions need a multiple of 4")
    rates = 1 / 10000 ** (torch.arange(width // 4, dtype=torch.float64) / (width // 4))
    rows, columns = torch.meshgrid(*(torch.arange(n, dtype=torch.float64) for n in grid), indexing="ij")
    parts = [f(place.flatten()[:, None] * rates) for place in (columns, rows) for f in (torch.sin, torch.cos)]
    return torch.cat([torch.zeros(prefix, width), torch.cat(parts, dim=1).float()])[None]


def patchify(images: Tensor, patch: int, normalise: bool) -> Tensor:
    """(B, C, H, W) -> (B, N, patch * patch * C), row by row; each patch with mean 0 and variance 1 if asked."""
    b, c, h, w = images.shape
    parts = images.reshape(b, c, h // patch, patch, w // patch, patch).permute(0, 2, 4, 3, 5, 1)
    values = parts.reshape(b, (h // patch) * (w // patch), patch * patch * c)
    if not normalise:
        return values
    mean, variance = values.mean(dim=2, keepdim=True), values.var(dim=2, keepdim=True)
    return (values - mean) / (variance + 1e-6).sqrt()


def reconstruction(drawn: Tensor, target: Tensor, hidden: Tensor) -> Tensor:
    """(B, N, P), (B, N, P) and (B, h) hidden patches -> (B,) mean squared error over the hidden patches."""
    places = hidden[:, :, None].expand(-1, -1, target.shape[2])
    return (drawn.gather(1, places) - target.gather(1, places)).square().mean(dim=(1, 2))
