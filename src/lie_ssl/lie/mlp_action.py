"""The baseline of the exponential: a plain network that moves embeddings but is not a group action.

Shape letters: B batch, D coordinates, M dimensions that are moved.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MlpAction(nn.Module):
    """(z, t) -> z + a two-layer network of both, with about as many parameters as D general generators, D M^2.

    It starts as the identity for every t. Unlike a group action, its moves need not compose or be invertible.
    """

    def __init__(self, dim: int, n_coordinates: int) -> None:
        super().__init__()
        hidden = max(1, round(n_coordinates * dim**2 / (2 * dim + n_coordinates + 1)))
        last = nn.Linear(hidden, dim)
        for parameter in last.parameters():
            nn.init.zeros_(parameter)
        self.layers = nn.Sequential(nn.Linear(dim + n_coordinates, hidden), nn.LeakyReLU(), last)

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> (B, M)."""
        return z + self.layers(torch.cat([z, t.to(z.dtype)], dim=1))
