"""Rotations of space, compared with SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from torch import Tensor

from lie_ssl.lie import align_rotations, rotation_matrix, rotation_vector


def vectors(rows: int, count: int = 7, seed: int = 0) -> Tensor:
    return torch.randn(rows, count, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def axes(rows: int, seed: int = 0) -> Tensor:
    return torch.nn.functional.normalize(vectors(rows, 1, seed)[:, 0], dim=1)


ANGLES = [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0, 2.5, math.pi - 1e-3, math.pi - 1e-7, math.pi - 1e-10]


@pytest.mark.parametrize("angle", ANGLES)
def test_conversions_agree_with_scipy(angle: float) -> None:
    given = angle * axes(50)
    matrix = rotation_matrix(given)
    assert np.allclose(matrix.numpy(), Rotation.from_rotvec(given.numpy()).as_matrix(), rtol=0, atol=1e-14)
    found = rotation_vector(matrix)
    assert torch.allclose(found, given, rtol=1e-7, atol=1e-14)
    assert np.allclose(found.numpy(), Rotation.from_matrix(matrix.numpy()).as_rotvec(), rtol=1e-7, atol=1e-14)


def test_half_turns_have_an_axis() -> None:
    axis = torch.cat([axes(50), torch.eye(3).double(), -torch.eye(3).double()])
    found = rotation_vector(rotation_matrix(math.pi * axis))
    assert torch.allclose(found.norm(dim=1), torch.full((56,), math.pi, dtype=torch.float64), rtol=1e-12)
    assert torch.allclose((found * axis).sum(dim=1).abs(), found.norm(dim=1), rtol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 0.3, 3.0, math.pi - 1e-6])
def test_gradients_of_conversions(angle: float) -> None:
    given = (angle * axes(3)).requires_grad_()
    assert torch.autograd.gradcheck(rotation_matrix, (given,), atol=1e-6)
    assert torch.autograd.gradcheck(lambda v: rotation_vector(rotation_matrix(v)), (given,), atol=1e-5)


def test_shapes_and_half_the_digits() -> None:
    given = torch.randn(2, 5, 3)
    assert rotation_matrix(given).shape == (2, 5, 3, 3)
    assert torch.allclose(rotation_vector(rotation_matrix(given[0, 0])), given[0, 0], atol=1e-5)
    assert rotation_vector(torch.empty(0, 3, 3)).shape == (0, 3)


@given(seed=st.integers(0, 10**6), count=st.integers(2, 9), noise=st.sampled_from([0.0, 0.1, 1.0, 10.0]))
@settings(max_examples=60, deadline=None)
def test_alignment_agrees_with_scipy(seed: int, count: int, noise: float) -> None:
    a = vectors(1, count, seed)
    b = a @ rotation_matrix(2 * vectors(1, 1, seed + 1)[:, 0]).mT + noise * vectors(1, count, seed + 2)
    found = align_rotations(a, b)
    expected, distance = Rotation.align_vectors(b[0].numpy(), a[0].numpy())
    assert np.allclose(found.rotation[0].numpy(), expected.as_matrix(), atol=1e-6)
    size = 2 * float(a.norm() * b.norm())
    assert float(found.error) == pytest.approx(distance**2 / size, abs=1e-9)
    assert float(torch.linalg.det(found.rotation)) == pytest.approx(1)


def test_a_reflection_is_not_used() -> None:
    a = vectors(20)
    found = align_rotations(a, -a)
    assert torch.allclose(torch.linalg.det(found.rotation), torch.ones(20).double())
    assert (found.error > 0.01).all()


@pytest.mark.parametrize("equal", [False, True])
def test_gradients_of_alignment(equal: bool) -> None:
    """Also with three equal singular values, where the gradient of an SVD is infinite."""
    a = torch.eye(3).double().expand(2, 3, 3) if equal else vectors(2)
    turned = a @ rotation_matrix(axes(2)).mT
    b = turned if equal else turned + 0.3 * vectors(2, seed=3)
    inputs = [x.clone().requires_grad_() for x in (a, b)]
    assert torch.autograd.gradcheck(lambda a, b: align_rotations(a, b).rotation, inputs, atol=1e-6)
    assert torch.autograd.gradcheck(lambda a, b: align_rotations(a, b).error, inputs, atol=1e-6)


def test_rows_without_an_answer() -> None:
    parallel = vectors(1, 1).expand(1, 7, 3)
    a = torch.cat([vectors(1), torch.zeros(1, 7, 3).double(), parallel, torch.full((1, 7, 3), torch.nan).double()])
    a = a.clone().requires_grad_()
    found = align_rotations(a, torch.cat([vectors(1), vectors(1), 2 * parallel, vectors(1)]))
    assert found.error[:2].tolist() == [pytest.approx(0, abs=1e-12), 1]
    assert found.error[2].item() == pytest.approx(0.25)  # the same direction, twice the length
    assert found.error[3].isnan()
    assert found.rotation[3].isnan().all()
    found.rotation[:3].sum().backward()
    assert a.grad is not None
    assert a.grad.isfinite().all()
    assert align_rotations(torch.empty(0, 4, 3), torch.empty(0, 4, 3)).rotation.shape == (0, 3, 3)


def test_invalid_tensors_are_named() -> None:
    good = torch.zeros(2, 4, 3)
    with pytest.raises(ValueError, match=r"^a has the shape \(2, 4\), but it must be \(B, N, 3\)"):
        align_rotations(torch.zeros(2, 4), good)
    with pytest.raises(ValueError, match=r"a \(2, 4, 3\) and b \(3, 4, 3\) must have the same shape"):
        align_rotations(good, torch.zeros(3, 4, 3))
    with pytest.raises(TypeError, match=r"^b is torch\.int64"):
        align_rotations(good, good.long())
    with pytest.raises(ValueError, match=r"^b is on meta, but a is on cpu"):
        align_rotations(good, good.to("meta"))
    with pytest.raises(ValueError, match=r"^vector has the shape \(2,\)"):
        rotation_matrix(torch.zeros(2))
    with pytest.raises(ValueError, match=r"^matrix has the shape \(3,\)"):
        rotation_vector(torch.zeros(3))
