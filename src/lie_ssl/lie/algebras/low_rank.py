"""Low-rank matrices: each generator moves vectors in a few directions only."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lie_ssl.lie.algebras.base import Algebra, algebra
from lie_ssl.lie.norms import LARGEST_NORM, NormError, default_tolerance, plan


@algebra("low_rank", title="low-rank matrices")
class LowRank(Algebra):
    """L_k = U_k V_k^T of rank R, with 2 D R M parameters.

    exp(M) z = z + U y, and y is computed in the D R dimensions of V^T z: one product with V, one with U, and a few
    small ones.
    """

    def __init__(self, dim: int, n_generators: int, scale: float = 1.0, rank: int = 4) -> None:
        super().__init__(dim, n_generators, scale)
        self.rank = min(rank, dim)
        self.left = nn.Parameter(torch.empty(n_generators, dim, self.rank))
        self.right = nn.Parameter(torch.empty(n_generators, dim, self.rank))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialises with columns of length about sqrt(scale) on both sides."""
        for weight in (self.left, self.right):
            nn.init.normal_(weight, std=(self.scale / self.dim) ** 0.5)

    @property
    def generators(self) -> Tensor:
        return self.left @ self.right.transpose(1, 2)

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        dtype = torch.promote_types(z.dtype, torch.float32)
        u = self.left.permute(1, 0, 2).flatten(1).to(dtype)  # (M, D R)
        v = self.right.permute(1, 0, 2).flatten(1).to(dtype)
        inner = v.T @ u  # (D R, D R)
        weights = t.to(dtype).repeat_interleave(self.rank, dim=1)  # (B, D R)
        steps, degree = self._plan(u.detach(), v.detach(), weights.detach())
        c = z.to(dtype) @ v
        y = torch.zeros_like(c)
        for _ in range(steps):
            e, gain = c, torch.zeros_like(c)
            for k in range(1, degree + 1):
                e = weights * e / (steps * k)
                gain = gain + e
                e = e @ inner.T
            y = y + gain
            c = c + gain @ inner.T
        return (z.to(dtype) + y @ u.T).to(z.dtype)

    @staticmethod
    def _plan(u: Tensor, v: Tensor, weights: Tensor) -> tuple[int, int]:
        """M = U T V^T has a norm of at most |U| |V| max|t|; both factors are thin, so their norms are cheap."""
        if weights.shape[0] == 0:
            return 1, 1
        size = torch.linalg.matrix_norm(u.T @ u, 2).sqrt() * torch.linalg.matrix_norm(v.T @ v, 2).sqrt()
        bound = float(size * weights.nan_to_num(0, 0, 0).abs().max())
        if bound > LARGEST_NORM:
            raise NormError(bound)
        return plan(bound, default_tolerance(weights.dtype))

    def cost(self, batch: int) -> float:
        inner = self.n_generators * self.rank
        return batch * (2.0 * self.dim * inner + 10.0 * inner**2)
