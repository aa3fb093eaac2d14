"""Diagnostics on operators with known results."""

from __future__ import annotations

import math

import pytest
import torch

from lie_ssl import LieOperator
from lie_ssl.lie import diagnose
from lie_ssl.lie.diagnostics import pose_variance, spectrum_summary


def rotation_operator(frequencies: tuple[float, ...] = (1.0, 2.0, 3.0)) -> LieOperator:
    """An operator with one generator that rotates planes at the given frequencies."""
    operator = LieOperator(2 * len(frequencies), 1).double()
    weight = torch.zeros(1, operator.dim, operator.dim).double()
    for j, f in enumerate(frequencies):
        weight[0, 2 * j, 2 * j + 1], weight[0, 2 * j + 1, 2 * j] = -f, f
    operator.algebras[0].get_parameter("weight").data.copy_(weight)
    return operator


def test_a_perfect_group_action() -> None:
    operator = rotation_operator()
    torch.manual_seed(0)
    z, delta = torch.randn(20, 6).double(), 0.3 + torch.rand(20).double()
    t = delta[:, None]
    found = diagnose(operator, z, operator(z, t), delta, t)
    assert found.relative_error < 1e-9
    assert found.movement == pytest.approx(1)
    assert found.t_delta_correlation == pytest.approx(1)
    assert found.composition_error < 1e-9
    assert found.inverse_error < 1e-9
    assert found.imaginary_share == pytest.approx(1)
    assert found.integer_error < 1e-9
    assert found.closure_error == found.commutator_size == 0
    assert found.spectral_norm == pytest.approx(3 * float(delta.max()))
    assert found.warning() is None


def test_only_the_dimensions_that_move_are_diagnosed() -> None:
    """A correct group for the factor that moves; the share of the other factor is noise and is ignored."""
    torch.manual_seed(0)
    operator = LieOperator(
        10, (1, 1), fixed=2, sees="linear", split_factors=True, centred=True, algebra="commuting", frequencies=(1, 2)
    ).double()
    operator.centre.normal_()
    z = torch.randn(20, 10).double()
    for f, dims in ((0, slice(2, 6)), (1, slice(6, 10))):
        delta = torch.zeros(20, 2).double()
        delta[:, f] = 0.3 + torch.rand(20).double()
        z_next = torch.randn(20, 10).double()
        z_next[:, dims] = operator(z, delta)[:, dims].detach()
        found = diagnose(operator, z, z_next, delta)
        assert found.relative_error < 1e-9
        assert found.movement == pytest.approx(1)
        assert found.inverse_error < 1e-9
        assert found.composition_error < 1e-9
        assert found.t_delta_correlation == pytest.approx(1)
        assert found.pose_variance == pytest.approx(pose_variance(z[:, dims], z_next[:, dims]))
        assert found.imaginary_share == pytest.approx(1)
        assert found.warning() is None


def test_a_batch_without_moves() -> None:
    operator = LieOperator(6, (1, 1), split_factors=True).double()
    z = torch.randn(5, 6).double()
    found = diagnose(operator, z, z, torch.zeros(5, 2).double())
    assert found.movement == found.relative_error == found.t_norm == found.pose_variance == 0


def test_collapse_and_explosion_are_reported() -> None:
    operator = rotation_operator()
    z, z_next, delta = torch.randn(8, 6).double(), torch.randn(8, 6).double(), torch.rand(8).double()
    still = diagnose(operator, z, z_next, delta, torch.zeros(8, 1).double())
    assert still.collapsed
    assert still.relative_error == pytest.approx(1)
    assert "collapsed to the identity" in str(still.warning())
    wild = diagnose(operator, z, z_next, delta, torch.full((8, 1), 30.0).double())
    assert wild.exploded
    assert "explodes" in str(wild.warning())


def test_generators_that_do_not_commute_do_not_compose() -> None:
    torch.manual_seed(0)
    operator = LieOperator(6, 3, fixed=1).double()
    z, z_next, delta = torch.randn(8, 6).double(), torch.randn(8, 6).double(), torch.rand(8).double()
    found = diagnose(operator, z, z_next, delta, torch.randn(8, 3).double())
    assert found.composition_error > 0.01
    assert found.commutator_size > 0.01
    assert found.closure_error > 0.1
    assert found.inverse_error < 1e-8
    assert all(math.isfinite(v) for v in vars(found).values())


def test_spectrum() -> None:
    assert spectrum_summary(torch.eye(4)[None].double()) == (0.0, 0.0)
    generators = rotation_operator((1.0, 2.5)).generators.detach()
    imaginary, integers = spectrum_summary(generators)
    assert imaginary == pytest.approx(1)
    assert integers == pytest.approx(0.25)


def test_pose_variance() -> None:
    torch.manual_seed(0)
    v = torch.randn(500, 4)
    assert pose_variance(v, v) == 0
    assert pose_variance(v, torch.randn(500, 4)) == pytest.approx(0.5, abs=0.05)
