"""Rotations of space: the best one between two sets of vectors, and rotation vectors.

Shape letters: B batch, N vectors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from lie_ssl.contrast.checks import check_device, check_float


class RotationAlignment(NamedTuple):
    """The best rotations between two sets of vectors."""

    rotation: Tensor  # (B, 3, 3)
    error: Tensor  # (B,) |A R^T - A'|^2 / (2 |A| |A'|): 0 for equal vectors, 1 for unrelated ones of equal length


def align_rotations(a: Tensor, b: Tensor) -> RotationAlignment:
    """Finds the proper rotation R that minimises |A R^T - A'|^2, in closed form.

    This is the problem of Wahba (1965), solved by the singular values of A'^T A, with a correction of the sign of the
    determinant. The gradient divides by sums of two singular values, not by differences as that of an SVD does, so it
    is also exact for equal ones. It is zero where R is not determined: for vectors that are all parallel, say.

    Args:
        a, b: Vectors A and A', (B, N, 3).

    Returns:
        R, (B, 3, 3), and the remaining error, (B,); 1 if all vectors of a or of b are zero. A row that is not finite
        gives nan.

    Example:
        >>> a = torch.eye(3)[None]
        >>> turn = rotation_matrix(torch.tensor([[0.0, 0.0, 0.5]]))
        >>> rotation_vector(align_rotations(a, a @ turn.mT).rotation).abs().round(decimals=4)
        tensor([[0.0000, 0.0000, 0.5000]])
    """
    _check(a, b)
    dtype = torch.promote_types(torch.promote_types(a.dtype, b.dtype), torch.float32)
    with torch.autocast(a.device.type, enabled=False):
        good = (a.isfinite() & b.isfinite()).all(dim=2).all(dim=1)
        a, b = (torch.where(good[:, None, None], x.to(dtype), 0) for x in (a, b))
        rotation = _best(b.mT @ a)
        distance = (a @ rotation.mT - b).square().sum(dim=(1, 2))
        squares = a.square().sum(dim=(1, 2)) * b.square().sum(dim=(1, 2))
    known = squares > 0
    error = torch.where(known, distance / (2 * torch.where(known, squares, 1).sqrt()), 1)
    rotation = rotation.masked_fill(~good[:, None, None], torch.nan)
    return RotationAlignment(rotation, error.masked_fill(~good, torch.nan))


def _best(products: Tensor) -> Tensor:
    """(B, 3, 3) -> the rotations R with the largest <R, products>, with gradients."""
    with torch.no_grad():
        u, values, vt = torch.linalg.svd(products)
        sign = torch.linalg.det(u @ vt).sign()
        signs = torch.stack([torch.ones_like(sign), torch.ones_like(sign), sign], dim=1)
        rotation = (u * signs[:, None]) @ vt
        # To first order, R exp([w]) is best if (tr P - P) w is the axial vector of P - P^T, with P = R^T products.
        inside = rotation.mT @ products
        symmetric = (inside + inside.mT) / 2
        eye = torch.eye(3, dtype=products.dtype, device=products.device)
        bend = inside.diagonal(dim1=1, dim2=2).sum(dim=1)[:, None, None] * eye - symmetric
        determined = values[:, 1] + sign * values[:, 2] > 1e3 * torch.finfo(values.dtype).eps * values[:, 0]
        bend = torch.where(determined[:, None, None], bend, eye)
    inside = rotation.mT @ products
    axial = torch.where(determined[:, None], _axial(inside), 0)
    turn = torch.linalg.solve(bend, axial - axial.detach())  # zero, with the gradient of the maximum
    return rotation + rotation @ cross_matrix(turn)


def cross_matrix(vector: Tensor) -> Tensor:
    """(..., 3) -> the matrices (..., 3, 3) of the cross product with these vectors."""
    x, y, z = vector.unbind(-1)
    zero = torch.zeros_like(x)
    return torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], dim=-1).unflatten(-1, (3, 3))


def _axial(matrix: Tensor) -> Tensor:
    """(..., 3, 3) -> (..., 3), the vector of the cross product M - M^T."""
    skew = matrix - matrix.mT
    return torch.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], dim=-1)


def rotation_matrix(vector: Tensor) -> Tensor:
    """Converts rotation vectors to matrices, by Rodrigues' formula.

    Args:
        vector: (..., 3), the axis times the angle in radians.

    Returns:
        (..., 3, 3).
    """
    if vector.ndim == 0 or vector.shape[-1] != 3:
        raise ValueError(f"vector has the shape {tuple(vector.shape)}, but it must be (..., 3)")
    check_float("vector", vector)
    angle = vector.norm(dim=-1)[..., None, None]
    cross = cross_matrix(vector)
    # sin(x) / x and (1 - cos x) / x^2, without a division by zero
    first, second = torch.sinc(angle / math.pi), torch.sinc(angle / (2 * math.pi)).square() / 2
    eye = torch.eye(3, dtype=vector.dtype, device=vector.device)
    return eye + first * cross + second * (cross @ cross)


def rotation_vector(matrix: Tensor) -> Tensor:
    """Converts rotation matrices to rotation vectors of length 0 to pi; exact near both ends, with finite gradients.

    Args:
        matrix: (..., 3, 3), rotations.

    Returns:
        (..., 3), the axis times the angle in radians.
    """
    if matrix.shape[-2:] != (3, 3):
        raise ValueError(f"matrix has the shape {tuple(matrix.shape)}, but it must be (..., 3, 3)")
    check_float("matrix", matrix)
    w, axis = _quaternion(matrix).split([1, 3], dim=-1)
    square = axis.square().sum(dim=-1, keepdim=True)
    tiny = square < torch.finfo(matrix.dtype).eps
    sine = torch.where(tiny, 1, square).sqrt()
    # The angle is 2 atan2(sine, w); near 0, angle / sine is 2 / w up to rounding, and w is 1.
    ratio = torch.where(tiny, 2 / torch.where(tiny, w, 1), 2 * torch.atan2(sine, w) / sine)
    return ratio * axis


def _quaternion(matrix: Tensor) -> Tensor:
    """(..., 3, 3) -> unit quaternions (w, x, y, z) with w >= 0, (..., 4).

    4 q q^T is linear in the matrix; we divide its row with the largest diagonal entry, which is at least 1.
    """
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    trace = diagonal.sum(dim=-1, keepdim=True)
    corner = 1 + trace
    edge = _axial(matrix)
    eye = torch.eye(3, dtype=matrix.dtype, device=matrix.device)
    block = matrix + matrix.mT + (1 - trace)[..., None] * eye
    outer = torch.cat(
        [torch.cat([corner, edge], dim=-1)[..., None, :], torch.cat([edge[..., None], block], dim=-1)], dim=-2
    )
    sizes = outer.diagonal(dim1=-2, dim2=-1)
    best = sizes.argmax(dim=-1, keepdim=True)
    row = outer.gather(-2, best[..., None].expand(*best.shape[:-1], 1, 4))[..., 0, :]
    quaternion = row / (2 * sizes.gather(-1, best).sqrt())
    return torch.where(quaternion[..., :1] < 0, -quaternion, quaternion)


def _check(a: Tensor, b: Tensor) -> None:
    for name, x in (("a", a), ("b", b)):
        if x.ndim != 3 or x.shape[2] != 3:
            raise ValueError(f"{name} has the shape {tuple(x.shape)}, but it must be (B, N, 3)")
        check_float(name, x)
    if a.shape != b.shape:
        raise ValueError(f"a {tuple(a.shape)} and b {tuple(b.shape)} must have the same shape")
    check_device("b", b, a, "a")
