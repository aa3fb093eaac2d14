"""The Lie operator: a learned group that carries the embedding of one frame onto that of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from lie_ssl.lie.algebras import make_algebra
from lie_ssl.lie.coordinates import Coordinates, Sees
from lie_ssl.lie.mlp_action import MlpAction

AlgebraName = Literal["general", "skew", "commuting", "low_rank", "block"]
Action = Literal["exp", "identity", "mlp"]


class LieOperator(nn.Module):
    """A basis of a Lie algebra, a network that infers coordinates in it, and the action of the group.

    Args:
        dim: size of the embeddings, M.
        n_generators: size of the algebra, D; a sequence gives each of F factors of variation (pose, hue, scale ...) its
            own set.
        algebra: "general" (the paper's), "skew", "commuting", "low_rank" or "block".
        fixed: how many leading dimensions the group leaves alone: an invariant subspace by construction.
        sees: what the inference network sees: "pair" (z, z^g, delta), "source" (z, delta) or "delta".
        hidden: width of the inference network.
        max_norm: bound on the length of t for each factor.
        split_factors: with several factors, give each its own share of the moved dimensions. The groups then commute
            exactly; otherwise all generators act on the same dimensions, in one exponential.
        action: "exp", the group; for ablations "identity", which moves nothing, or "mlp", a plain network of z and t in
            place of the exponential. Neither of these has generators.
        settings: of the algebra (scale, rank, block_size).

    Example:
        >>> operator = LieOperator(64, n_generators=4, fixed=32)
        >>> z, z_next, delta = torch.randn(8, 64), torch.randn(8, 64), torch.rand(8)
        >>> t = operator.infer(z, z_next, delta)
        >>> operator(z, t).shape
        torch.Size([8, 64])
    """

    def __init__(
        self,
        dim: int,
        n_generators: int | Sequence[int] = 4,
        *,
        algebra: AlgebraName = "general",
        fixed: int = 0,
        sees: Sees = "pair",
        hidden: int | None = None,
        max_norm: float | None = None,
        split_factors: bool = False,
        action: Action = "exp",
        **settings: Any,
    ) -> None:
        super().__init__()
        counts = (n_generators,) if isinstance(n_generators, int) else tuple(n_generators)
        if not 0 <= fixed < dim:
            raise ValueError(f"fixed is {fixed}, but of {dim} dimensions at least one must move")
        if not counts or min(counts) < 1:
            raise ValueError(f"n_generators is {n_generators}, but every factor needs at least one")
        if action not in get_args(Action):
            raise ValueError(f"action is {action!r}, but it can be {', '.join(get_args(Action))}")
        self.dim, self.fixed, self.counts, self.action = dim, fixed, counts, action
        moved = dim - fixed
        if split_factors and moved < len(counts):
            raise ValueError(f"{moved} moved dimensions cannot be split over {len(counts)} factors")
        self.shares = _shares(moved, len(counts)) if split_factors else [moved]
        self.sizes = list(counts) if split_factors else [sum(counts)]
        parts = list(zip(self.shares, self.sizes, strict=True))
        self.algebras = nn.ModuleList(make_algebra(algebra, m, d, **settings) for m, d in parts if action == "exp")
        self.mlps = nn.ModuleList(MlpAction(m, d) for m, d in parts if action == "mlp")
        self.coordinates = nn.ModuleList(
            Coordinates(dim, d, sees=sees, hidden=hidden, max_norm=max_norm) for d in counts
        )

    @property
    def n_generators(self) -> int:
        """D, over all factors."""
        return sum(self.counts)

    @property
    def generators(self) -> Tensor:
        """(D, M, M), zero on the fixed part, and everywhere if the action is no exponential."""
        blocks: list[Tensor] = [a.generators for a in self.algebras]  # type: ignore[misc]
        out = next(self.parameters()).new_zeros(self.n_generators, self.dim, self.dim)
        row, place = 0, self.fixed
        for block in blocks:
            d, m = block.shape[:2]
            out[row : row + d, place : place + m, place : place + m] = block
            row, place = row + d, place + m
        return out

    def infer(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), and (B,) or (B, F) -> t, (B, D)."""
        deltas = self.deltas(delta)
        parts = [h(z, z_next, deltas[:, f]) for f, h in enumerate(self.coordinates)]
        return torch.cat(parts, dim=1)

    def deltas(self, delta: Tensor) -> Tensor:
        """(B,) or (B, F) -> (B, F), checked."""
        deltas = delta[:, None] if delta.ndim == 1 else delta
        if deltas.ndim != 2 or deltas.shape[1] != len(self.counts):
            raise ValueError(f"delta has the shape {tuple(delta.shape)}, but there are {len(self.counts)} factors")
        return deltas

    def forward(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(sum_k t_k L_k) z, or what stands in for it."""
        if z.ndim != 2 or z.shape[1] != self.dim or t.shape != (z.shape[0], self.n_generators):
            raise ValueError(
                f"the operator takes z (B, {self.dim}) and t (B, {self.n_generators}), "
                f"but got {tuple(z.shape)} and {tuple(t.shape)}"
            )
        if self.action == "identity":
            return z
        vs = z[:, self.fixed :].split(self.shares, dim=1)
        ts = t.split(self.sizes, dim=1)
        movers = self.algebras if self.action == "exp" else self.mlps
        moved = [a.action(v, s) for a, v, s in zip(movers, vs, ts, strict=True)]  # type: ignore[operator]
        return torch.cat([z[:, : self.fixed], *moved], dim=1)

    def inverse(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(-sum_k t_k L_k) z."""
        moved: Tensor = self(z, -t)
        return moved

    def orbit(self, z: Tensor, direction: Tensor, steps: int | Tensor) -> Tensor:
        """(B, M), (D,) -> exp(s direction . L) z for s from 0 to 1 in `steps` steps, or for the given s; (S, B, M)."""
        times = torch.linspace(0, 1, steps) if isinstance(steps, int) else steps
        times = times.to(z)
        t = (times[:, None, None] * direction.to(z)).expand(-1, z.shape[0], -1)
        moved: Tensor = self(z.repeat(len(times), 1), t.reshape(-1, self.n_generators))
        return moved.view(len(times), *z.shape)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, n_generators={self.counts}, fixed={self.fixed}, action={self.action}"


def _shares(moved: int, factors: int) -> list[int]:
    """Even shares; the first ones take what is left over, two dimensions at a time so that planes stay whole."""
    base = moved // factors // 2 * 2 or 1
    shares = [base] * factors
    shares[0] += moved - base * factors
    return shares
