"""Two augmented views of every frame, through encoder and head in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import AugmentConfig, augment
from lie_ssl.methods.draws import Draws


def two_views(
    encoder: Callable[[Tensor], Tensor],
    head: Callable[[Tensor], Tensor],
    frames: Sequence[Tensor],
    draws: Sequence[Draws],
    config: AugmentConfig,
) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
    """Embeds two views of each batch of frames, in one pass, so that batch-norm sees all views together.

    Frames are pictures (B, C, H, W), which are augmented, or stored features (B, 1 + V, K) of frames and their V
    augmented views, of which two are drawn.

    Returns:
        For each batch, the embedding of its first view (B, M), and the head's outputs for both views.
    """
    views = [view for x, d in zip(frames, draws, strict=True) for view in _views(x, d, config)]
    sizes = [len(v) for v in views]
    z = encoder(torch.cat(views))
    projected = head(z).split(sizes)
    pairs = [(projected[i], projected[i + 1]) for i in range(0, len(views), 2)]
    return list(z.split(sizes)[::2]), pairs


def _views(x: Tensor, draws: Draws, config: AugmentConfig) -> list[Tensor]:
    """Two views of a batch of pictures, or two of the stored ones."""
    if x.ndim == 4:
        return [augment(x, draws.named(name), config) for name in ("one", "two")]
    if x.shape[1] < 3:
        raise UserError("the self-supervised loss needs two stored views of each frame; give --adapt.views 2 or more")
    chosen = 1 + draws.uniform("views", x.shape[1] - 1, device=x.device).argsort(dim=1)[:, :2]
    rows = torch.arange(len(x), device=x.device)
    return [x[rows, own] for own in chosen.unbind(1)]
