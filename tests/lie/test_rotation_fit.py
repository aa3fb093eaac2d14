"""Free rotations: the algebra, the likelihood and the best rotation, against formulas that share no code with them."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lie_ssl.lie import LieOperator
from lie_ssl.lie.algebras import closure_error, make_algebra
from lie_ssl.lie.algebras.rotations import representation, symmetric_basis
from lie_ssl.lie.rotation_fit import align_free, random_rotations, rotation_log_likelihood
from lie_ssl.lie.rotations import align_rotations, rotation_matrix


def free(copies: int = 4, fixed: int = 5) -> LieOperator:
    return LieOperator(8 * copies + fixed, (1, 1, 1), algebra="rotations", sees="linear", fixed=fixed)


def euler(a: float, b: float, c: float) -> np.ndarray:
    """Rz Ry Rx, written out."""
    x = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    y = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    return z @ y @ x


def test_the_action_is_the_exponential_of_the_generators() -> None:
    algebra = make_algebra("rotations", 16, 3).double()
    z, t = torch.randn(6, 16).double(), torch.randn(6, 3).double()
    dense = torch.linalg.matrix_exp(torch.einsum("bk,kij->bij", t, algebra.generators))
    torch.testing.assert_close(algebra.action(z, t), torch.einsum("bij,bj->bi", dense, z))
    assert closure_error(algebra.generators) < 1e-6
    torch.testing.assert_close(algebra.action(z, t).norm(dim=1), z.norm(dim=1))


def test_a_vector_turns_and_a_matrix_turns_from_both_sides() -> None:
    turn = torch.from_numpy(euler(0.3, -1.1, 2.0))
    vector, matrix = torch.randn(3).double(), torch.randn(3, 3).double()
    matrix = matrix + matrix.T
    matrix = matrix - matrix.trace() / 3 * torch.eye(3)
    basis = symmetric_basis()
    moved = representation(turn) @ torch.cat([vector, torch.einsum("kij,ij->k", basis, matrix)])
    torch.testing.assert_close(moved[:3], turn @ vector)
    torch.testing.assert_close(
        torch.einsum("k,kij->ij", moved[3:], basis), turn @ matrix @ turn.T, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("angle", [0.0, 1e-4, 1.0, math.pi - 1e-4, math.pi])
def test_the_true_rotation_is_found_whatever_its_angle(angle: float) -> None:
    operator, z = free(), torch.randn(9, 37)
    t = torch.nn.functional.normalize(torch.randn(9, 3), dim=1) * angle
    found = operator.align_rotation(z, operator(z, t))
    torch.testing.assert_close(found.rotation, rotation_matrix(t), atol=1e-4, rtol=0)
    assert found.error.abs().max() < 1e-5


def test_vectors_alone_give_the_closed_form() -> None:
    operator, copies = free(fixed=0), 4
    a, b = torch.randn(2, 12, copies, 8)
    a[..., 3:] = b[..., 3:] = 0
    found, closed = align_free(operator, a.flatten(1), b.flatten(1)), align_rotations(a[..., :3], b[..., :3])
    torch.testing.assert_close(found.rotation, closed.rotation, atol=1e-3, rtol=0)
    torch.testing.assert_close(found.error, closed.error, atol=1e-5, rtol=0)


def test_the_best_rotation_beats_every_other_one() -> None:
    operator, z, z_next = free(fixed=0), torch.randn(5, 32), torch.randn(5, 32)
    best = operator.align_rotation(z, z_next).error
    for t in torch.randn(300, 3) * 2:
        moved = operator(z, t.expand(5, 3))
        error = (moved - z_next).square().sum(dim=1) / (2 * z.norm(dim=1) * z_next.norm(dim=1))
        assert bool((best <= error + 1e-5).all())


def test_the_likelihood_is_a_density() -> None:
    operator, z = free(fixed=0), torch.randn(1, 32) * 0.3
    grid = random_rotations(4000, seed=1)
    z_next = operator(z, torch.tensor([[0.4, 0.0, -0.9]]))
    others = torch.randn(2000, 4)
    others = others / others.norm(dim=1, keepdim=True)
    angle = 2 * others[:, :1].clamp(-1, 1).acos()
    vectors = angle * torch.nn.functional.normalize(others[:, 1:], dim=1)  # uniform rotations, from quaternions
    logs = rotation_log_likelihood(operator, z.expand(2000, -1), z_next.expand(2000, -1), vectors, grid)
    assert logs.exp().mean() == pytest.approx(1, abs=0.15)


def test_parallel_vectors_are_less_likely_than_three_axes() -> None:
    """A rotation about the common axis is lost, although the vectors fit exactly."""
    operator, grid, t = free(copies=3, fixed=0), random_rotations(2000, seed=0), torch.randn(50, 3)
    line, axes = torch.zeros(50, 3, 8), torch.zeros(50, 3, 8)
    line[..., 0] = 3.0
    axes[:, range(3), range(3)] = 3.0
    results = []
    for v in (line.flatten(1), axes.flatten(1)):
        results.append(rotation_log_likelihood(operator, v, operator(v, t), t, grid).mean())
    assert results[1] > results[0] + 1


def test_bad_rows_and_bad_settings() -> None:
    operator, z = free(), torch.randn(2, 37)
    z[0, 10] = torch.nan
    found = operator.align_rotation(z, z)
    assert found.rotation[0].isnan().all()
    assert found.error[0].isnan()
    assert found.error[1] < 1e-5
    assert operator.align_rotation(torch.zeros(1, 37), torch.zeros(1, 37)).error == 1
    with pytest.raises(ValueError, match="multiple of 8"):
        make_algebra("rotations", 10, 3)
    with pytest.raises(ValueError, match="3 generators"):
        make_algebra("rotations", 8, 2)
    with pytest.raises(ValueError, match="use align"):
        LieOperator(8, 1).align_rotation(torch.randn(1, 8), torch.randn(1, 8))
