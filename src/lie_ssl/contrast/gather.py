"""A batch that is spread over the processes of a distributed run.

With the means below and gradients averaged over the processes (as in DistributedDataParallel), losses and gradients
equal those of one process on the joined batch, even if the processes hold different numbers of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist


def is_distributed() -> bool:
    """Whether this process is one of several that train together."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


@dataclass(frozen=True)
class JoinedBatch:
    """How the rows of a joined batch are spread over the processes, in the order of their ranks."""

    sizes: tuple[int, ...]
    rank: int = 0

    @classmethod
    def of(cls, rows: int, device: torch.device | str = "cpu") -> JoinedBatch:
        """A joined batch with the given number of rows in this process; all processes must call it."""
        if not is_distributed():
            return cls((rows,))
        sizes = torch.zeros(dist.get_world_size(), dtype=torch.int64, device=device)
        sizes[dist.get_rank()] = rows
        dist.all_reduce(sizes)
        return cls(tuple(sizes.tolist()), dist.get_rank())

    @property
    def start(self) -> int:
        """The index of this process's first row."""
        return sum(self.sizes[: self.rank])

    @property
    def rows(self) -> int:
        return self.sizes[self.rank]

    @property
    def total(self) -> int:
        return sum(self.sizes)

    def gather(self, x: Tensor) -> Tensor:
        """(rows, ...) -> (total, ...); gradients flow back to the process that holds each row."""
        if len(self.sizes) == 1:
            return x
        out: Tensor = _Gather.apply(x, self)  # type: ignore[no-untyped-call]
        return out

    def mean(self, x: Tensor) -> Tensor:
        """(rows,) -> this process's share of the mean over the joined batch; the average of all shares is the mean."""
        return x.sum() * (len(self.sizes) / max(1, self.total))


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, joined: JoinedBatch) -> Tensor:
        ctx.joined = joined
        longest = max(joined.sizes)
        padded = x.new_zeros(longest, *x.shape[1:])
        padded[: joined.rows] = x
        pieces = [torch.empty_like(padded) for _ in joined.sizes]
        dist.all_gather(pieces, padded)
        return torch.cat([piece[:size] for piece, size in zip(pieces, joined.sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        # Every process used our rows in its own loss, so their gradients are summed.
        g = g.clone(memory_format=torch.contiguous_format)  # autograd may still need its own
        dist.all_reduce(g)
        return g[ctx.joined.start : ctx.joined.start + ctx.joined.rows], None
