"""Norms of generators, and the number of terms and steps that a series needs.

Shape letters: B batch, D generators, M embedding.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lie_ssl.lie.products import apply, apply_adjoint, side_by_side

# Longer steps lose precision: the largest term is about e^STEP / sqrt(2 pi STEP) times the vector.
LONGEST_STEP = 2.0
# Beyond this, a batch would need thousands of products; a learned operator reaches it only if it explodes.
LARGEST_NORM = 1000.0
# Power iteration gives a lower bound.
MARGIN = 1.1
# Above this, it is worth checking whether the generators cancel each other.
WORTH_A_LOOK = 8.0


class NormError(ValueError):
    """A move is too large to be computed."""

    def __init__(self, norm: float) -> None:
        super().__init__(
            f"|t . L| reaches about {norm:.3g}, above the limit of {LARGEST_NORM:g}; bound the coordinates "
            "(LieOperator(max_norm=...)) or lower the learning rate of the generators"
        )
        self.norm = norm


def traces(generators: Tensor) -> Tensor:
    """(D, M, M) -> (D,), the mean of each diagonal."""
    return generators.diagonal(dim1=1, dim2=2).mean(dim=1)


def start_vectors(n_generators: int, dim: int, like: Tensor) -> Tensor:
    """(D, M) fixed unit vectors without a pattern, so that they are not in the kernel of a typical matrix."""
    angles = torch.arange(1, n_generators * dim + 1, device=like.device, dtype=torch.float64).reshape(n_generators, dim)
    vectors = torch.frac(angles * 0.6180339887498949) - 0.5 + 1e-3
    return torch.nn.functional.normalize(vectors, dim=1).to(like.dtype)


def power_step(generators: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """One step of power iteration on (L - tr L / M)^T (L - tr L / M).

    (D, M, M), (D, M) -> lower bounds of the spectral norms (D,) and the next vectors (D, M).
    """
    mean = traces(generators)[:, None]
    # A row times a matrix, which is much faster than a matrix times a column.
    once = torch.bmm(vectors[:, None, :], generators.transpose(1, 2))[:, 0] - mean * vectors
    norms = once.norm(dim=1)
    twice = torch.bmm(once[:, None, :], generators)[:, 0] - mean * once
    size = twice.norm(dim=1, keepdim=True)
    return norms, torch.where(size > 0, twice / size.clamp_min(torch.finfo(size.dtype).tiny), vectors)


@torch.no_grad()
def spectral_norms(generators: Tensor, iterations: int = 4) -> Tensor:
    """(D,) deterministic estimates of |L_k - tr L_k / M|_2, from a fixed start vector."""
    vectors = start_vectors(generators.shape[0], generators.shape[1], generators)
    norms = torch.zeros(generators.shape[0], dtype=generators.dtype, device=generators.device)
    for _ in range(iterations):
        found, vectors = power_step(generators, vectors)
        norms = torch.maximum(norms, found)
    return norms * MARGIN


def largest_norm(generators: Tensor, t: Tensor, norms: Tensor) -> float:
    """An upper bound of |M_b - mu_b|_2 over the batch, as a Python number.

    It is max_b sum_k |t_bk| |L_k|; if that is large and the generators may cancel each other, M itself is examined.
    """
    if t.shape[0] == 0:
        return 0.0
    bound = float((t.abs() @ norms.to(t.dtype)).max())
    if bound > WORTH_A_LOOK and generators.shape[0] > 1:
        bound = min(bound, float(row_norms(generators, t).max()))
    if bound > LARGEST_NORM:
        raise NormError(bound)
    return bound


@torch.no_grad()
def row_norms(generators: Tensor, t: Tensor, iterations: int = 3) -> Tensor:
    """(B,) estimates of |M_b - mu_b|_2, by power iteration on all rows at once, with two products per iteration."""
    mu = (t @ traces(generators))[:, None]
    vectors = start_vectors(t.shape[0], generators.shape[1], generators)
    transposed = side_by_side(generators)
    norms = torch.zeros(t.shape[0], dtype=t.dtype, device=t.device)
    for _ in range(iterations):
        once = apply(generators, t, vectors) - mu * vectors
        norms = torch.maximum(norms, once.norm(dim=1))
        twice = apply_adjoint(transposed, t, once)[1] - mu * once
        vectors = twice / twice.norm(dim=1, keepdim=True).clamp_min(torch.finfo(t.dtype).tiny)
    return norms * MARGIN**2


def taylor_degree(norm: float, tolerance: float) -> int:
    """The smallest K with a Taylor remainder below `tolerance` for a step of the given norm."""
    term, k = 1.0, 0
    while k < 80:
        k += 1
        term *= norm / k
        following = norm / (k + 1)
        if following < 1 and term * following / (1 - following) <= tolerance:
            return k
    return k


def plan(norm: float, tolerance: float, steps: int | None = None) -> tuple[int, int]:
    """(steps, degree) of a Taylor series that reaches `tolerance` for the given norm."""
    steps = steps or max(1, math.ceil(norm / LONGEST_STEP))
    return steps, taylor_degree(norm / steps, tolerance)


def default_tolerance(dtype: torch.dtype) -> float:
    """A quarter of the dtype's rounding error, so that the series adds nothing to the error of the sums."""
    return torch.finfo(dtype).eps / 4
