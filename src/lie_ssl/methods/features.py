"""Embeddings of many frames, and k-NN accuracy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.frames.frameset import FrameSet

BATCH = 256  # batch size without gradients


@torch.no_grad()
def embed_frames(
    encoder: nn.Module, frames: FrameSet, rows: Sequence[int] | NDArray[np.int64], batch: int = BATCH
) -> Tensor:
    """Embeds frames by rows of the index -> (rows, M) float32 on the CPU, with the encoder in eval mode meanwhile."""
    rows = np.asarray(rows, np.int64)
    device = next(encoder.parameters()).device
    training = encoder.training
    encoder.eval()
    try:
        parts = [
            encoder(to_float(torch.from_numpy(frames.inputs(rows[i : i + batch])), device)).float().cpu()
            for i in range(0, len(rows), batch)
        ]
    finally:
        encoder.train(training)
    return torch.cat(parts) if parts else torch.zeros(0, 0)


def to_float(pictures: Tensor, device: torch.device | str = "cpu") -> Tensor:
    """(B, C, H, W) uint8 -> float32 in [0, 1]; floats, such as stored features, only change their type."""
    pictures = pictures.to(device, non_blocking=True)
    return pictures.float() / 255 if pictures.dtype == torch.uint8 else pictures.float()


def knn_accuracy(
    bank: Tensor, bank_labels: Tensor, queries: Tensor, labels: Tensor, k: int = 20, temperature: float = 0.07
) -> float:
    """The share of queries (Q, M) that are classified correctly by their k nearest neighbours in the bank (N, M).

    A neighbour's vote has the weight exp(cosine / temperature), as is usual for self-supervised features.
    """
    k = min(k, len(bank))
    scores = functional.normalize(queries, dim=1) @ functional.normalize(bank, dim=1).T
    nearest, places = scores.topk(k, dim=1)
    votes = torch.zeros(len(queries), int(max(bank_labels.max(), labels.max())) + 1)
    votes.scatter_add_(1, bank_labels[places], (nearest / temperature).exp())
    return float((votes.argmax(dim=1) == labels).double().mean())
