"""What every algebra offers.

Shape letters: B batch, D generators, M dimensions that the group moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

import torch
from torch import Tensor, nn


class Algebra(nn.Module, ABC):
    """D generators L_k of M x M with a structure of their own, and the action of exp(sum_k t_k L_k).

    Generators start at random with a spectral norm of about `scale`, so that t of about 1 is a visible move. A subclass
    is one file that registers itself with :func:`algebra`.
    """

    converts: ClassVar[bool] = True  # whether the action takes embeddings of another float dtype than the parameters'

    def __init__(self, dim: int, n_generators: int, scale: float = 1.0) -> None:
        super().__init__()
        if dim < 1 or n_generators < 1:
            raise ValueError(
                f"an algebra needs dimensions and generators, but got dim {dim} and {n_generators} generators"
            )
        self.dim, self.n_generators, self.scale = dim, n_generators, scale

    @property
    @abstractmethod
    def generators(self) -> Tensor:
        """(D, M, M), dense, with gradients to the parameters."""

    @abstractmethod
    def action(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(sum_k t_k L_k) z, (B, M)."""

    @abstractmethod
    def cost(self, batch: int) -> float:
        """About how many multiplications the action takes at norm 1, forward, for comparing algebras."""

    def inverse(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(-sum_k t_k L_k) z."""
        return self.action(z, -t)

    @property
    def n_parameters(self) -> int:
        """Numbers that are learned."""
        return sum(p.numel() for p in self.parameters())

    def bracket(self, a: Tensor, b: Tensor) -> Tensor:
        """(..., D), (..., D) coordinates -> the commutator of the two matrices, (..., M, M)."""
        x, y = (torch.einsum("...k,kij->...ij", c, self.generators) for c in (a, b))
        return x @ y - y @ x

    def closure_error(self) -> float:
        """How far the commutators of the generators are from their span, relative to their size; 0 for an algebra."""
        return closure_error(self.generators.detach())


Kind = TypeVar("Kind", bound=type[Algebra])
ALGEBRAS: dict[str, type[Algebra]] = {}


def algebra(name: str) -> Callable[[Kind], Kind]:
    """Registers an algebra under the name by which :class:`lie_ssl.LieOperator` finds it.

    Example:
        >>> @algebra("doctest_still")
        ... class Still(Algebra): ...
        >>> "doctest_still" in ALGEBRAS and ALGEBRAS.pop("doctest_still") is Still
        True
    """

    def register(kind: Kind) -> Kind:
        if ALGEBRAS.setdefault(name, kind) is not kind:
            raise ValueError(f"the algebra {name!r} is registered already; choose another name")
        return kind

    return register


def plane_speeds(planes: int, frequencies: Sequence[float]) -> Tensor:
    """(planes,) the frequencies, one plane after the other, over and over."""
    return torch.tensor([float(frequencies[i % len(frequencies)]) for i in range(planes)])


def commutators(generators: Tensor) -> Tensor:
    """(D, M, M) -> (D (D - 1) / 2, M, M), one for every pair of generators."""
    i, j = torch.triu_indices(len(generators), len(generators), 1)
    first, second = generators[i], generators[j]
    return first @ second - second @ first


def closure_error(generators: Tensor) -> float:
    """Root of the share of the commutators that lies outside the span of the generators; 0 where there are none."""
    brackets = commutators(generators).flatten(1).double()
    size = brackets.norm()
    basis = generators.flatten(1).double()
    # Commutators far below the size of the products they come from are rounding.
    if len(brackets) == 0 or size <= 1e-6 * basis.norm() ** 2:
        return 0.0
    solution = torch.linalg.lstsq(basis.T, brackets.T, driver="gelsd" if basis.device.type == "cpu" else None).solution
    return float((basis.T @ solution - brackets.T).norm() / size)
