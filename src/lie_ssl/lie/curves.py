"""The squared distance between a moved vector and its target, as a function of one coordinate t.

Shape letters: B batch, K values of t for each row, T points of a grid, J speeds, M dimensions that the group moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from lie_ssl.lie.algebras import Algebra
from lie_ssl.lie.algebras.commuting import Commuting
from lie_ssl.lie.norms import spectral_norms

AT_ONCE = 2**22  # numbers that a search over a grid may hold at a time


class Point(NamedTuple):
    """A curve and its first two derivatives at t, (B, K) each."""

    distance: Tensor  # |x(t) - y|^2
    slope: Tensor
    curvature: Tensor
    size: Tensor  # |x(t)|^2


class Curve(Protocol):
    """d(t) = |exp(t L) v - y|^2 for each row."""

    device: torch.device

    @property
    def speed(self) -> float:
        """The highest frequency of exp(t L), or a bound of it."""

    def grid(self, t: Tensor) -> Tensor:
        """(T,) -> d at the same values for all rows, (B, T)."""

    def at(self, t: Tensor) -> Point:
        """(B, K) -> d and its derivatives."""

    def closes(self, period: float) -> bool:
        """Whether exp(period L) is known to be the identity."""


class RotationCurve:
    """The distance for rotations of planes, in closed form: d(t) = c - 2 sum_j (a_j cos s_j t - b_j sin s_j t).

    Computed in float64, so that the small difference of large numbers near a match is exact.
    """

    def __init__(self, algebra: Commuting, column: int, v: Tensor, y: Tensor) -> None:
        first, second = (self._planes(algebra, x.double()) for x in (v, y))  # (B, J) complex, as pairs
        a = first[0] * second[0] + first[1] * second[1]
        b = first[1] * second[0] - first[0] * second[1]
        speeds = algebra.speed[column].double()
        if not (torch.is_grad_enabled() and speeds.requires_grad):  # planes of equal speed add up
            speeds, where = torch.unique(speeds, return_inverse=True)
            same = torch.nn.functional.one_hot(where, len(speeds)).to(a.dtype)
            a, b = a @ same, b @ same
        self.a, self.b, self.speeds, self.device = a, b, speeds, a.device
        self.size = v.double().square().sum(dim=1, keepdim=True)
        self.constant = self.size + y.double().square().sum(dim=1, keepdim=True)

    @property
    def speed(self) -> float:
        return float(self.speeds.detach().abs().max()) if len(self.speeds) else 0.0

    @staticmethod
    def _planes(algebra: Commuting, x: Tensor) -> tuple[Tensor, Tensor]:
        inside = x if algebra.rotations else x @ algebra.basis.double()
        real, imaginary = inside[:, : algebra.dim // 2 * 2].unflatten(1, (-1, 2)).unbind(2)
        return real, imaginary

    def grid(self, t: Tensor) -> Tensor:
        angles = self.speeds[:, None] * t.double()
        return self.constant - 2 * (self.a @ angles.cos() - self.b @ angles.sin())

    def at(self, t: Tensor) -> Point:
        angles = t.double()[:, :, None] * self.speeds  # (B, K, J)
        cos, sin = angles.cos(), angles.sin()
        a, b = self.a[:, None], self.b[:, None]
        wave, turned = a * cos - b * sin, a * sin + b * cos
        distance = (self.constant - 2 * wave.sum(dim=2)).clamp_min(0)
        return Point(distance, 2 * turned @ self.speeds, 2 * wave @ self.speeds.square(), self.size.expand_as(distance))

    def closes(self, period: float) -> bool:
        turns = self.speeds.detach() * (period / (2 * math.pi))
        return bool(((turns - turns.round()).abs() < 1e-6).all())


class OrbitCurve:
    """The distance for any generator: x(t) by the algebra's own action, with x' = L x and x'' = L x'."""

    def __init__(self, algebra: Algebra, column: int, v: Tensor, y: Tensor) -> None:
        dtype = torch.promote_types(torch.promote_types(v.dtype, y.dtype), torch.float32)
        self.algebra, self.column = algebra, column
        self.v, self.y, self.device = v.to(dtype), y.to(dtype), v.device
        self.generator = algebra.generators[column].to(dtype)

    @property
    def speed(self) -> float:
        return float(spectral_norms(self.generator[None].detach()))

    def _moved(self, t: Tensor) -> Tensor:
        """(B, K) -> (B, K, M)."""
        coordinates = t.new_zeros(t.numel(), self.algebra.n_generators)
        coordinates[:, self.column] = t.flatten()
        vectors = self.v.repeat_interleave(t.shape[1], dim=0)
        return self.algebra.action(vectors, coordinates).view(*t.shape, self.v.shape[1])

    def grid(self, t: Tensor) -> Tensor:
        step = max(1, AT_ONCE // max(1, self.v.numel()))
        parts = [self._moved(part.to(self.v).expand(len(self.v), -1)) - self.y[:, None] for part in t.split(step)]
        return torch.cat([part.square().sum(dim=2) for part in parts], dim=1)

    def at(self, t: Tensor) -> Point:
        x = self._moved(t.to(self.v))
        first = x @ self.generator.T
        second = first @ self.generator.T
        away = x - self.y[:, None]
        slope = 2 * (first * away).sum(dim=2)
        curvature = 2 * (first.square() + second * away).sum(dim=2)
        return Point(away.square().sum(dim=2), slope, curvature, x.square().sum(dim=2))

    def closes(self, period: float) -> bool:
        return False


def make_curve(algebra: Algebra, column: int, v: Tensor, y: Tensor) -> Curve:
    """The curve of the moves exp(t L_column) from v to y, (B, M) each."""
    if isinstance(algebra, Commuting):
        # A growth of zero may still have a gradient, which the closed form does not know.
        grows = (torch.is_grad_enabled() and algebra.growth.requires_grad) or bool(algebra.growth[column].any())
        if not grows:
            return RotationCurve(algebra, column, v, y)
    return OrbitCurve(algebra, column, v, y)
