"""Skew-symmetric matrices: the group consists of rotations, which preserve lengths."""

from __future__ import annotations

from torch import Tensor

from lie_ssl.lie.action import Kind
from lie_ssl.lie.algebras.base import algebra
from lie_ssl.lie.algebras.general import Dense


@algebra("skew", title="skew-symmetric matrices")
class Skew(Dense):
    """L_k = (A_k - A_k^T) / sqrt 2; the exponential by a Chebyshev series."""

    kind: Kind = "skew"
    turn = 0.5**0.5

    @property
    def generators(self) -> Tensor:
        return (self.weight - self.weight.transpose(1, 2)) * 0.5**0.5

    def cost(self, batch: int) -> float:
        return 9.0 * batch * self.n_generators * self.dim**2
