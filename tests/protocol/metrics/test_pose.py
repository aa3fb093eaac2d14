"""Compares quaternions and errors of rotations with SciPy, and R^2 with its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from lie_ssl.protocol.metrics.pose import degrees, quaternions, r_squared, regress_pose, relative_quaternions


def scalar_first(rotation: Rotation) -> np.ndarray:
    """SciPy's quaternions with the real part first and not negative."""
    q = rotation.as_quat()[:, [3, 0, 1, 2]]
    return np.where(q[:, :1] < 0, -q, q)


def test_quaternions_against_scipy() -> None:
    rotations = Rotation.random(200, random_state=0)
    np.testing.assert_allclose(quaternions(rotations.as_matrix()), scalar_first(rotations), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-7, 1.0, 179.9999, 180.0])
def test_quaternions_at_hard_angles(angle: float) -> None:
    axes = np.concatenate([np.eye(3), -np.eye(3), [[0.6, 0.0, 0.8]]])
    rotations = Rotation.from_rotvec(np.radians(angle) * axes)
    found = Rotation.from_quat(quaternions(rotations.as_matrix())[:, [1, 2, 3, 0]])
    assert (found * rotations.inv()).magnitude().max() < 1e-7


def test_half_turns_have_one_sign() -> None:
    """Stored rotations are float32, so the real part at 180 degrees is noise around 0."""
    turn = Rotation.from_euler("z", [[180.0], [179.999999], [-179.999999]], degrees=True).as_matrix().astype(np.float32)
    found = quaternions(turn.astype(np.float64))
    np.testing.assert_allclose(found, [[0, 0, 0, 1]] * 3, atol=1e-6)


def test_relative_rotations_against_scipy() -> None:
    rotations = Rotation.random(20, random_state=1)
    first, second = np.arange(10), np.arange(10, 20)
    wanted = scalar_first(rotations[second] * rotations[first].inv())
    found = relative_quaternions(rotations.as_matrix(), first, second)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert relative_quaternions(rotations.as_matrix(), first[:0], first[:0]).shape == (0, 4)


def test_degrees_against_scipy() -> None:
    true, found = (Rotation.random(50, random_state=s) for s in (2, 3))
    wanted = np.degrees((found * true.inv()).magnitude()).mean()
    q, p = (torch.from_numpy(scalar_first(r)) for r in (true, found))
    assert degrees(p, q) == pytest.approx(wanted, abs=1e-9)
    assert degrees(-3 * p, q) == pytest.approx(wanted, abs=1e-9)  # neither length nor sign is part of a rotation
    assert degrees(q, q) < 1e-9


def test_r_squared_is_the_mean_over_components() -> None:
    random = torch.Generator().manual_seed(0)
    scales, means = torch.tensor([1.0, 10.0, 0.1, 3.0]), torch.tensor([5.0, -3.0, 0.0, 1.0])
    true = torch.randn(500, 4, generator=random).double() * scales + means
    assert r_squared(true, true) == 1
    assert abs(r_squared(true.mean(dim=0).expand_as(true), true)) < 1e-12
    found = true + torch.randn(500, 4, generator=random)
    each = 1 - ((true - found) ** 2).sum(0) / ((true - true.mean(0)) ** 2).sum(0)
    assert r_squared(found, true) == pytest.approx(float(each.mean()), rel=1e-9)
    # With a single mean over all components, the constant predictor would explain the differences between them.
    assert 1 - float(((true - true.mean(0)) ** 2).sum() / ((true - true.mean()) ** 2).sum()) > 0.1


def test_components_that_do_not_vary_are_left_out() -> None:
    true = torch.zeros(6, 4).double()
    assert np.isnan(r_squared(true + 1, true))
    true[:, 3] = torch.arange(6)
    assert r_squared(true + torch.tensor([9.0, 9.0, 9.0, 0.0]), true) == 1
    assert np.isnan(r_squared(true[:0], true[:0]))


def test_rotations_are_regressed_from_embeddings_that_rotate() -> None:
    """Embeddings are mixed harmonics of the angle: the difference of angles is linear in products only."""
    random = np.random.default_rng(0)
    angles = random.uniform(0, 2 * np.pi, (1500, 2))
    speeds = np.arange(1, 5)
    waves = np.concatenate([np.cos(angles[..., None] * speeds), np.sin(angles[..., None] * speeds)], axis=-1)
    x = torch.from_numpy((waves @ random.normal(size=(8, 20))).reshape(1500, 40) + 3)
    turned = Rotation.from_euler("z", angles.reshape(-1, 1)).as_matrix()
    q = relative_quaternions(turned, np.arange(0, 3000, 2), np.arange(1, 3000, 2))
    found = regress_pose(*((x[a:b], q[a:b]) for a, b in ((0, 800), (800, 1000), (1000, 1500))))
    assert found.r2 > 0.85
    assert found.degrees < 20
    assert found.constant_degrees > 80
    alone = torch.cat([x[:, :20], torch.from_numpy(random.normal(size=(1500, 20)))], dim=1)  # one frame only
    assert regress_pose(*((alone[a:b], q[a:b]) for a, b in ((0, 800), (800, 1000), (1000, 1500)))).r2 < 0.02


def test_a_linear_relation_is_found_and_noise_is_not() -> None:
    random = torch.Generator().manual_seed(1)
    q = torch.nn.functional.normalize(torch.randn(300, 4, generator=random).double(), dim=1)
    x = q @ torch.randn(4, 30, generator=random).double() + 7
    parts = [(x[a:b], q[a:b]) for a, b in ((0, 150), (150, 200), (200, 300))]
    found = regress_pose(*parts)
    assert found.r2 > 0.9999
    assert found.degrees < 0.5
    assert abs(found.constant_r2) < 0.05
    assert found.constant_degrees > 60
    noise = [(torch.randn(n, 400, generator=random), y) for n, (_, y) in zip((150, 50, 100), parts, strict=True)]
    # More features than pairs: without a penalty chosen on validation pairs, the fit would be far worse.
    assert regress_pose(*noise).r2 > -0.3
