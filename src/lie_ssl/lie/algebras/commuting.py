"""Commuting matrices: rotations and scalings of planes in a common learned basis, in closed form."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lie_ssl.lie.algebras.base import Algebra, algebra, plane_speeds


@algebra("commuting", title="commuting rotations and scalings of planes")
class Commuting(Algebra):
    """L_k = P diag(a_kj + i b_kj) P^T over the planes j of an orthogonal basis P; an odd last dimension does not move.

    P is a Cayley transform, so it is orthogonal for all parameters. With `frequencies`, the planes start as pure
    rotations with these speeds, in turn, and P as the identity; integer speeds have a period of 2 pi. With `rotations`,
    growth and P keep these values: the planes are pairs of neighbouring dimensions, and only speeds are learned.
    """

    converts = False
    growth: Tensor
    basis_weight: Tensor

    def __init__(
        self,
        dim: int,
        n_generators: int,
        scale: float = 1.0,
        frequencies: Sequence[float] | None = None,
        rotations: bool = False,
    ) -> None:
        super().__init__(dim, n_generators, scale)
        self.frequencies, self.rotations = tuple(frequencies or ()), rotations
        planes = dim // 2
        if rotations:  # the same entries of the state as learned ones have
            self.register_buffer("growth", torch.zeros(n_generators, planes))
            self.register_buffer("basis_weight", torch.zeros(dim, dim))
            self.speed = nn.Parameter(torch.empty(n_generators, planes))
        else:
            self.growth = nn.Parameter(torch.empty(n_generators, planes))
            self.speed = nn.Parameter(torch.empty(n_generators, planes))
            self.basis_weight = nn.Parameter(torch.empty(dim, dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.frequencies:
            nn.init.zeros_(self.growth)
            nn.init.zeros_(self.basis_weight)
            with torch.no_grad():
                self.speed.copy_(plane_speeds(self.speed.shape[1], self.frequencies).expand_as(self.speed))
            return
        if not self.rotations:
            nn.init.normal_(self.growth, std=0.05 * self.scale)
        nn.init.uniform_(self.speed, -self.scale, self.scale)
        if not self.rotations:
            nn.init.normal_(self.basis_weight, std=0.5 / self.dim**0.5)

    @property
    def basis(self) -> Tensor:
        """(M, M), orthogonal."""
        skew = (self.basis_weight - self.basis_weight.T) / 2
        eye = torch.eye(self.dim, dtype=skew.dtype, device=skew.device)
        return torch.linalg.solve(eye + skew, eye - skew)

    @property
    def generators(self) -> Tensor:
        planes = self.dim // 2
        blocks = torch.zeros(self.n_generators, self.dim, self.dim, dtype=self.speed.dtype, device=self.speed.device)
        even, odd = 2 * torch.arange(planes), 2 * torch.arange(planes) + 1
        blocks[:, even, even] = blocks[:, odd, odd] = self.growth
        blocks[:, even, odd], blocks[:, odd, even] = -self.speed, self.speed
        basis = self.basis
        return basis @ blocks @ basis.T

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        dtype = torch.promote_types(z.dtype, torch.float32)
        basis = None if self.rotations else self.basis.to(dtype)
        inside = z.to(dtype) if basis is None else z.to(dtype) @ basis
        planes = self.dim // 2
        x, y = inside[:, : 2 * planes].unflatten(1, (planes, 2)).unbind(2)
        size, angle = torch.exp(t.to(dtype) @ self.growth), t.to(dtype) @ self.speed
        c, s = size * torch.cos(angle), size * torch.sin(angle)
        turned = torch.stack([c * x - s * y, s * x + c * y], dim=2).flatten(1)
        moved = torch.cat([turned, inside[:, 2 * planes :]], dim=1)
        return (moved if basis is None else moved @ basis.T).to(z.dtype)

    def cost(self, batch: int) -> float:
        return 2.0 * batch * self.dim**2 + self.dim**3
