"""Rotations of space on vectors and on traceless symmetric matrices; the exponential by Rodrigues' formula.

Shape letters: B batch, N copies, M = 8 N dimensions that the group moves.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lie_ssl.lie.algebras.base import Algebra, algebra
from lie_ssl.lie.rotations import cross_matrix, rotation_matrix

VECTOR, SIZE = 3, 8  # dimensions of a vector (l = 1), and of a vector with a symmetric matrix (l = 2)


@algebra("rotations", title="rotations of space")
class Rotations(Algebra):
    """The three generators of SO(3), which are given and not learned; t is the rotation vector.

    The moved dimensions are N copies of eight: a vector, which R turns to R a, and the five coordinates of a symmetric
    matrix of trace zero, which becomes R S R^T. A vector cannot tell which side of a bottle is seen, and says so by
    being short; the matrices describe axes without a sign, such as those of a brick.
    """

    units: Tensor

    def __init__(self, dim: int, n_generators: int, scale: float = 1.0) -> None:
        super().__init__(dim, n_generators, scale)
        if n_generators != 3:
            raise ValueError(f"rotations of space have 3 generators, but got {n_generators}")
        if dim % SIZE:
            raise ValueError(f"rotations of space move a multiple of {SIZE} dimensions, but got {dim}")
        self.register_buffer("units", unit_generators().float(), persistent=False)  # moves with the module

    @property
    def generators(self) -> Tensor:
        return torch.stack([torch.block_diag(*[u] * (self.dim // SIZE)) for u in unit_generators().to(self.units)])

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        dtype = torch.promote_types(z.dtype, torch.float32)
        with torch.autocast(z.device.type, enabled=False):
            turned = self.copies(z.to(dtype)) @ representation(rotation_matrix(t.to(dtype))).mT
        return turned.flatten(1).to(z.dtype)

    def copies(self, z: Tensor) -> Tensor:
        """(B, M) -> (B, N, 8)."""
        return z.unflatten(1, (-1, SIZE))

    def cost(self, batch: int) -> float:
        return float(batch * self.dim * SIZE)


def symmetric_basis() -> Tensor:
    """(5, 3, 3), an orthonormal basis of the symmetric matrices of trace zero."""
    basis = torch.zeros(5, 3, 3, dtype=torch.float64)
    for k, (i, j) in enumerate(((0, 1), (1, 2), (0, 2))):
        basis[k, i, j] = basis[k, j, i] = 0.5**0.5
    basis[3] = torch.diag(basis.new_tensor([1.0, -1.0, 0.0])) * 0.5**0.5
    basis[4] = torch.diag(basis.new_tensor([-1.0, -1.0, 2.0])) / 6**0.5
    return basis


def representation(rotation: Tensor) -> Tensor:
    """(..., 3, 3) -> (..., 8, 8), the action on one copy: R a on a vector, R S R^T on the coordinates of a matrix."""
    basis = symmetric_basis().to(rotation)
    turned = rotation[..., None, :, :] @ basis @ rotation.mT[..., None, :, :]
    second = torch.einsum("kij,...lij->...kl", basis, turned)
    whole = rotation.new_zeros(*rotation.shape[:-2], SIZE, SIZE)
    whole[..., :VECTOR, :VECTOR] = rotation
    whole[..., VECTOR:, VECTOR:] = second
    return whole


def unit_generators() -> Tensor:
    """(3, 8, 8), the derivatives of :func:`representation` at the identity along x, y and z."""
    basis, units = symmetric_basis(), torch.zeros(3, SIZE, SIZE, dtype=torch.float64)
    cross = cross_matrix(torch.eye(3, dtype=torch.float64))
    units[:, :VECTOR, :VECTOR] = cross
    turned = cross[:, None] @ basis - basis @ cross[:, None]
    units[:, VECTOR:, VECTOR:] = torch.einsum("kij,dlij->dkl", basis, turned)
    return units
