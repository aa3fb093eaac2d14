"""Products of a whole batch with M_b = sum_k t_bk L_k, which is never formed.

Shape letters: B batch, D generators, M embedding.
"""

from __future__ import annotations

import torch
from torch import Tensor


def apply(generators: Tensor, t: Tensor, w: Tensor) -> Tensor:
    """(D, M, M), (B, D), (B, M) -> sum_k t_bk L_k w_b, (B, M)."""
    d, m, _ = generators.shape
    products = torch.mm(w, generators.reshape(d * m, m).t())  # (B, D M)
    if d == 1:
        return products.mul_(t)
    return torch.bmm(t[:, None, :], products.view(-1, d, m))[:, 0]


def apply_adjoint(transposed: Tensor, t: Tensor, g: Tensor) -> tuple[Tensor, Tensor]:
    """(M, D M) concatenated generators, (B, D), (B, M) -> L_k^T g for each k (B, D, M), and their sum weighted by t."""
    products = torch.mm(g, transposed).view(t.shape[0], t.shape[1], -1)
    if t.shape[1] == 1:
        return products, products[:, 0] * t
    return products, torch.bmm(t[:, None, :], products)[:, 0]


def side_by_side(generators: Tensor) -> Tensor:
    """(D, M, M) -> (M, D M): one GEMM then gives the products with all transposed generators."""
    d, m, _ = generators.shape
    return generators[0] if d == 1 else generators.permute(1, 0, 2).reshape(m, d * m)
