"""The projection head before a contrastive loss."""

from __future__ import annotations

from torch import Tensor, nn


class ProjectionHead(nn.Module):
    """Linear, (batch-norm,) ReLU, linear. (N, M) -> (N, out)."""

    def __init__(self, dim: int, hidden: int | None = None, out: int | None = None, batch_norm: bool = True) -> None:
        super().__init__()
        hidden, out = hidden or dim, out or dim
        norm: list[nn.Module] = [nn.BatchNorm1d(hidden)] if batch_norm else []
        self.layers = nn.Sequential(
            nn.Linear(dim, hidden, bias=not batch_norm), *norm, nn.ReLU(), nn.Linear(hidden, out)
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return y
