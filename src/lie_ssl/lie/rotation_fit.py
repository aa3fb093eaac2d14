"""How well every rotation explains the move from one embedding to another: their likelihood, and the best of them.

The score of R is <v', D(R) v>. It is linear in D(R), so the sums over all copies are formed once for each pair (an
8 x 8 matrix), and thousands of rotations cost one product of matrices. exp(score) over all rotations, divided by its
mean, is a density: for vectors alone it is the matrix Fisher distribution.

Shape letters: B pairs, M embedding, G rotations of a grid.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from lie_ssl.lie.algebras.rotations import VECTOR, Rotations, representation, unit_generators
from lie_ssl.lie.rotations import RotationAlignment, rotation_matrix

if TYPE_CHECKING:
    from lie_ssl.lie.operator import LieOperator

GRID = 4608  # rotations from which the search starts, about 12 degrees apart
CHUNK = 2048  # pairs at a time, as each is scored with all of these
STEPS, LONGEST = 12, 0.2  # Newton steps, and the longest one in radians


def is_rotational(operator: LieOperator | None) -> bool:
    """Whether the operator's moves are rotations of space."""
    return operator is not None and len(operator.algebras) == 1 and isinstance(operator.algebras[0], Rotations)


def rotation_log_likelihood(operator: LieOperator, z: Tensor, z_next: Tensor, t: Tensor, grid: Tensor) -> Tensor:
    """The logarithm of the density of the true rotation, relative to the uniform one.

    Args:
        operator: An operator whose algebra is `rotations`.
        z, z_next: Embeddings (B, M).
        t: The true rotation vectors (B, 3).
        grid: Random rotations (G, 3, 3), which stand for all; the true one is added to them.

    Returns:
        (B,), 0 if nothing is known, and at most log(G + 1).
    """
    products = _products(operator, z, z_next)
    own = (products * representation(rotation_matrix(t.to(products.dtype)))).sum(dim=(1, 2))
    others = products.flatten(1) @ representation(grid.to(products)).flatten(1).T
    count = torch.tensor(len(grid) + 1.0).log().to(own)
    return own - torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) + count


@torch.no_grad()
def align_free(operator: LieOperator, z: Tensor, z_next: Tensor) -> RotationAlignment:
    """Finds the rotation R with the largest <v', D(R) v>: the best of a grid, refined by Newton's method.

    Args:
        operator: An operator whose algebra is `rotations`.
        z, z_next: Embeddings (B, M).

    Returns:
        R, (B, 3, 3), and the remaining error |D(R) v - v'|^2 / (2 |v| |v'|), (B,); a row that is not finite gives nan.
    """
    parts = [_align(operator, a, b) for a, b in zip(z.split(CHUNK), z_next.split(CHUNK), strict=True)]
    return RotationAlignment(*(torch.cat(each) for each in zip(*parts, strict=True)))


def _align(operator: LieOperator, z: Tensor, z_next: Tensor) -> RotationAlignment:
    good = z.isfinite().all(dim=1) & z_next.isfinite().all(dim=1)
    z, z_next = (torch.where(good[:, None], x, 0).double() for x in (z, z_next))
    products = _products(operator, z, z_next)
    rotations, whole = (x.to(products) for x in _grid())
    rotation = rotations[(products.flatten(1) @ whole.flatten(1).T).argmax(dim=1)]
    units = unit_generators().to(products)
    pairs = units[:, None] @ units[None]
    pairs = (pairs + pairs.transpose(0, 1)) / 2
    best, score = rotation, _score(products, rotation)
    for _ in range(STEPS):
        # The score of exp([w]) R to second order in w; the shift makes the curvature negative.
        inside = products @ representation(rotation).mT
        slope = torch.einsum("bij,kij->bk", inside, units)
        bend = torch.einsum("bij,klij->bkl", inside, pairs)
        shift = torch.linalg.eigvalsh(bend)[:, -1].clamp_min(0) * 1.5 + 1e-9
        step = torch.linalg.solve(shift[:, None, None] * torch.eye(3).to(bend) - bend, slope)
        length = step.norm(dim=1, keepdim=True).clamp_min(1e-12)
        rotation = rotation_matrix(step * (LONGEST / length).clamp_max(1)) @ rotation
        found = _score(products, rotation)
        better = found > score
        best, score = torch.where(better[:, None, None], rotation, best), torch.where(better, found, score)
    a, b = (x[:, operator.fixed :].square().sum(dim=1) for x in (z, z_next))
    size = (a * b).sqrt()
    error = torch.where(size > 0, ((a + b) / 2 - score) / torch.where(size > 0, size, 1), 1)
    best = best.masked_fill(~good[:, None, None], torch.nan)
    return RotationAlignment(best.float(), error.masked_fill(~good, torch.nan).float())


def random_rotations(count: int, *, seed: int | None = None, device: torch.device | None = None) -> Tensor:
    """(count, 3, 3) uniformly random rotations, from normalised quaternions."""
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    w, x, y, z = functional.normalize(torch.randn(count, 4, generator=generator), dim=1).to(device).unbind(1)
    rows = (
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    )  # fmt: skip
    return torch.stack(rows, dim=1).unflatten(1, (3, 3))


@lru_cache(maxsize=1)
def _grid() -> tuple[Tensor, Tensor]:
    rotations = random_rotations(GRID, seed=0).double()
    return rotations, representation(rotations)


def _products(operator: LieOperator, z: Tensor, z_next: Tensor) -> Tensor:
    """(B, M), (B, M) -> the sums over copies of v' v^T, (B, 8, 8), which score rotations."""
    algebra = operator.algebras[0]
    assert isinstance(algebra, Rotations)
    with torch.autocast(z.device.type, enabled=False):
        v, v_next = (algebra.copies(x[:, operator.fixed :].to(torch.promote_types(x.dtype, torch.float32)))
                     for x in (z, z_next))  # fmt: skip
        products = v_next.mT @ v
    mask = torch.zeros_like(products[:1])
    mask[:, :VECTOR, :VECTOR] = mask[:, VECTOR:, VECTOR:] = 1
    return products * mask


def _score(products: Tensor, rotation: Tensor) -> Tensor:
    return (products * representation(rotation)).sum(dim=(1, 2))
