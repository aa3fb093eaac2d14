"""A hash that identifies an encoder, for caches of what it computed."""

from __future__ import annotations

import hashlib

import torch
from torch import nn


def encoder_hash(encoder: nn.Module) -> str:
    """A hash of 12 hex digits of the weights and the structure, equal for encoders that compute the same."""
    # The pooling of tokens is neither in the weights nor in the printed structure.
    digest = hashlib.sha256(f"{encoder}{getattr(encoder, 'pool', '')}".encode())
    for name, value in sorted(encoder.state_dict().items()):
        digest.update(f"{name}{tuple(value.shape)}{value.dtype}".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:12]
