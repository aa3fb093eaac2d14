"""Block-diagonal matrices: small subspaces that move independently."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lie_ssl.lie.algebras.base import Algebra, algebra
from lie_ssl.lie.norms import LARGEST_NORM, NormError, default_tolerance, plan


@algebra("block", title="block-diagonal matrices")
class Block(Algebra):
    """L_k is block-diagonal, with D M S parameters. By default, the block size S is the largest of 8, 4, 2, 1 that
    divides M."""

    def __init__(self, dim: int, n_generators: int, scale: float = 1.0, block_size: int | None = None) -> None:
        super().__init__(dim, n_generators, scale)
        self.block_size = block_size or next(s for s in (8, 4, 2, 1) if dim % s == 0)
        if dim % self.block_size:
            raise ValueError(f"blocks of {self.block_size} do not divide the {dim} dimensions that the group moves")
        self.weight = nn.Parameter(torch.empty(n_generators, dim // self.block_size, self.block_size, self.block_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.normal_(self.weight, std=self.scale / (2 * self.block_size**0.5))

    @property
    def generators(self) -> Tensor:
        return torch.stack([torch.block_diag(*blocks) for blocks in self.weight])

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        dtype = torch.promote_types(z.dtype, torch.float32)
        n, s = self.weight.shape[1:3]
        blocks = (t.to(dtype) @ self.weight.to(dtype).flatten(1)).view(-1, n, s, s)  # (B, N, S, S)
        mean = blocks.diagonal(dim1=2, dim2=3).mean(dim=2, keepdim=True).unsqueeze(3).detach()  # (B, N, 1, 1)
        steps, degree = self._plan((blocks - mean * torch.eye(s, dtype=dtype, device=z.device)).detach())
        growth = torch.exp(mean / steps)
        v = z.to(dtype).view(-1, n, s, 1)
        for _ in range(steps):
            w, total = v, v
            for k in range(1, degree + 1):
                w = (blocks @ w - mean * w) / (steps * k)
                total = total + w
            v = total * growth
        return v.reshape(z.shape).to(z.dtype)

    @staticmethod
    def _plan(blocks: Tensor) -> tuple[int, int]:
        """Steps and degree, from the Frobenius norm, which bounds the spectral norm closely for small blocks."""
        if blocks.shape[0] == 0:
            return 1, 1
        bound = float(blocks.nan_to_num(0, 0, 0).flatten(2).norm(dim=2).max())
        if bound > LARGEST_NORM:
            raise NormError(bound)
        return plan(bound, default_tolerance(blocks.dtype))

    def cost(self, batch: int) -> float:
        return batch * self.dim * self.block_size * (self.n_generators + 10.0)
