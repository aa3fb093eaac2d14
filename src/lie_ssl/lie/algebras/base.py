"""The base class of algebras.

Shape letters: B batch, D generators, M dimensions that the group moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

import torch
from torch import Tensor, nn


class Algebra(nn.Module, ABC):
    """D generators L_k of size M x M with some structure, and the action of exp(sum_k t_k L_k).

    Generators start at random with a spectral norm of about `scale`, so that t of about 1 is a noticeable move. A
    subclass is one file that registers itself with :func:`algebra`.
    """

    title: ClassVar[str] = ""  # what its generators are, for readers
    converts: ClassVar[bool] = True  # whether the action accepts embeddings in another float dtype

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
        """Approximate number of multiplications of the action at norm 1, forward, to compare algebras."""

    def inverse(self, z: Tensor, t: Tensor) -> Tensor:
        """(B, M), (B, D) -> exp(-sum_k t_k L_k) z."""
        return self.action(z, -t)

    @property
    def n_parameters(self) -> int:
        """Number of learned parameters."""
        return sum(p.numel() for p in self.parameters())

    def bracket(self, a: Tensor, b: Tensor) -> Tensor:
        """(..., D), (..., D) coordinates -> the commutator of the two matrices, (..., M, M)."""
        x, y = (torch.einsum("...k,kij->...ij", c, self.generators) for c in (a, b))
        return x @ y - y @ x

    def closure_error(self) -> float:
        """Distance of the commutators from the span of the generators, relative to their size; 0 for an algebra."""
        return closure_error(self.generators.detach())


Kind = TypeVar("Kind", bound=type[Algebra])
ALGEBRAS: dict[str, type[Algebra]] = {}


def algebra(name: str, *, title: str) -> Callable[[Kind], Kind]:
    """Registers an algebra, for :class:`lie_ssl.LieOperator`.

    Args:
        name: Its name on the command line and in configs.
        title: What its generators are, in the cards of runs and models, such as "general matrices".

    Example:
        >>> @algebra("doctest_still", title="matrices of zeros")
        ... class Still(Algebra): ...
        >>> "doctest_still" in ALGEBRAS and ALGEBRAS.pop("doctest_still") is Still
        True
    """

    def register(kind: Kind) -> Kind:
        if ALGEBRAS.setdefault(name, kind) is not kind:
            raise ValueError(f"the algebra {name!r} is already registered; choose another name")
        kind.title = title
        return kind

    return register


def plane_speeds(planes: int, frequencies: Sequence[float]) -> Tensor:
    """(planes,) the frequencies, repeated over the planes."""
    return torch.tensor([float(frequencies[i % len(frequencies)]) for i in range(planes)])


def commutators(generators: Tensor) -> Tensor:
    """(D, M, M) -> (D (D - 1) / 2, M, M), the commutators of all pairs of generators."""
    i, j = torch.triu_indices(len(generators), len(generators), 1)
    first, second = generators[i], generators[j]
    return first @ second - second @ first


def closure_error(generators: Tensor) -> float:
    """Square root of the share of the commutators outside the span of the generators; 0 if there are none."""
    brackets = commutators(generators).flatten(1).double()
    size = brackets.norm()
    basis = generators.flatten(1).double()
    # Commutators far smaller than the products that they come from are rounding errors.
    if len(brackets) == 0 or size <= 1e-6 * basis.norm() ** 2:
        return 0.0
    solution = torch.linalg.lstsq(basis.T, brackets.T, driver="gelsd" if basis.device.type == "cpu" else None).solution
    return float((basis.T @ solution - brackets.T).norm() / size)
