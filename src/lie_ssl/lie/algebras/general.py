"""General matrices, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lie_ssl.lie.action import Kind, exp_action
from lie_ssl.lie.algebras.base import Algebra, algebra, plane_speeds
from lie_ssl.lie.norms import MARGIN, power_step, start_vectors


class Dense(Algebra):
    """Generators as full matrices, with a running estimate of their norms.

    The vectors of the power iteration are kept in a buffer, so one step per call is enough. With `frequencies`, the
    generators start as rotations of planes of neighbouring dimensions with these speeds, in turn.
    """

    warm: Tensor
    kind: Kind = "general"
    turn = 1.0  # entry of the weight for a rotation of speed 1

    def __init__(
        self, dim: int, n_generators: int, scale: float = 1.0, frequencies: Sequence[float] | None = None
    ) -> None:
        super().__init__(dim, n_generators, scale)
        self.frequencies = tuple(frequencies or ())
        self.weight = nn.Parameter(torch.empty(n_generators, dim, dim))
        self.reset_parameters()
        self.register_buffer("warm", start_vectors(n_generators, dim, self.weight))

    def reset_parameters(self) -> None:
        """Initialises at random; a matrix of independent N(0, sigma^2) entries has a norm of about 2 sigma sqrt(M)."""
        nn.init.normal_(self.weight, std=self.scale / (2 * self.dim**0.5))
        if self.frequencies:
            planes = self.dim // 2
            speeds = (plane_speeds(planes, self.frequencies) * self.turn).to(self.weight)
            even, odd = 2 * torch.arange(planes), 2 * torch.arange(planes) + 1
            with torch.no_grad():
                self.weight.zero_()
                self.weight[:, odd, even], self.weight[:, even, odd] = speeds, -speeds

    @torch.no_grad()
    def norms(self, generators: Tensor) -> Tensor:
        """(D,) norms of the generators, the larger of a cold and a warm estimate, so that they are not far too low."""
        found, vectors = power_step(generators, self.warm.to(generators.dtype))
        again, vectors = power_step(generators, vectors)
        if self.training:
            self.warm.copy_(vectors)
        return torch.maximum(found, again) * MARGIN

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        generators = self.generators
        norms = self.norms(generators.detach())
        return exp_action(generators, t, z, kind=self.kind, norms=norms)


@algebra("general", title="general matrices")
class General(Dense):
    """L_k is any matrix, with D M^2 parameters."""

    @property
    def generators(self) -> Tensor:
        return self.weight

    def cost(self, batch: int) -> float:
        return 10.0 * batch * self.n_generators * self.dim**2
