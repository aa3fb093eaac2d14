"""Two augmented views of every frame, through encoder and head in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lie_ssl.methods.augment import AugmentConfig, augment
from lie_ssl.methods.draws import Draws


def two_views(
    encoder: Callable[[Tensor], Tensor],
    head: Callable[[Tensor], Tensor],
    frames: Sequence[Tensor],
    draws: Sequence[Draws],
    config: AugmentConfig,
) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
    """Embeds two views of each batch of frames (B, C, H, W), in one pass, so that batch-norm sees all views together.

    Returns:
        For each batch, the embedding of its first view (B, M), and the head's outputs for both views.
    """
    views = [augment(x, d.named(name), config) for x, d in zip(frames, draws, strict=True) for name in ("one", "two")]
    sizes = [len(v) for v in views]
    z = encoder(torch.cat(views))
    projected = head(z).split(sizes)
    pairs = [(projected[i], projected[i + 1]) for i in range(0, len(views), 2)]
    return list(z.split(sizes)[::2]), pairs
