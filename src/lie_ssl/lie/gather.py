"""Tensors of all processes of a distributed run, with gradients that come back to where they belong."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.size = x.shape[0]
        pieces = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(pieces, x.contiguous())
        return torch.cat(pieces)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        # Every process has used our rows in its own loss: their gradients belong together.
        g = g.contiguous()
        dist.all_reduce(g)
        start = dist.get_rank() * ctx.size
        return g[start : start + ctx.size]


def is_distributed() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def gather(x: Tensor) -> Tensor:
    """(B, ...) -> (W B, ...) in the order of the ranks; x itself where there is one process. All ranks need equal B.

    With losses averaged over the local batch and gradients averaged over the ranks (as DDP does), the result is that of
    one process on the joined batch.
    """
    if not is_distributed():
        return x
    out: Tensor = _Gather.apply(x)  # type: ignore[no-untyped-call]
    return out


def first_row(batch: int) -> int:
    """Where this process' rows begin in a gathered tensor."""
    return dist.get_rank() * batch if is_distributed() else 0
