"""Turning pictures upright: what the copies of a picture tell together, with ideal embeddings."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from lie_ssl import LieOperator
from lie_ssl.errors import UserError
from lie_ssl.training.moving import moved_factor, read_angle
from lie_ssl.training.upright import STEP, angle_posterior, best_angle, copy_weights
from tests.lie.test_anchor import make_operator, typical

TURNS = 8


def copies(operator: LieOperator, degrees: list[float]) -> Tensor:
    """(N, K, M): the embeddings of ideal pictures at the given angles, in all turned copies."""
    angles = torch.tensor([[a + 360 * k / TURNS for k in range(TURNS)] for a in degrees], dtype=torch.float64)
    return typical(operator, torch.deg2rad(angles).view(-1, 1)).unflatten(0, (len(degrees), TURNS))


def test_the_copies_agree_on_the_angle() -> None:
    operator = make_operator(anchor=0.02)
    degrees = [0.0, 44.0, -90.0, 170.0]
    posterior = angle_posterior(operator, copies(operator, degrees))
    torch.testing.assert_close(posterior.sum(dim=1), torch.ones(4, dtype=torch.float64))
    found, probability = best_angle(posterior, TURNS)
    assert np.allclose(found, degrees, atol=STEP)
    assert float(probability.min()) > 0.9


def test_the_upright_copy_has_the_weight() -> None:
    """A picture at 90 degrees is upright after a quarter turn clockwise, or six eighths counter-clockwise."""
    operator = make_operator(anchor=0.02)
    weights = copy_weights(angle_posterior(operator, copies(operator, [0.0, 90.0, -50.0])), TURNS)
    assert weights.argmax(dim=1).tolist() == [0, 6, 1]
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(3, dtype=torch.float64))


def test_a_prior_prefers_the_picture_as_it_is_and_sharpness_the_best_copy() -> None:
    operator = make_operator(anchor=1.0)
    z = copies(operator, [90.0])
    plain, prior, sharp = (
        copy_weights(angle_posterior(operator, z, prior=prior, sharpness=sharpness), TURNS)[0]
        for prior, sharpness in ((0.0, 1.0), (0.5, 1.0), (0.0, 8.0))
    )
    assert prior[0] > plain[0]
    assert sharp[6] > plain[6]


def test_angles_of_a_circle_are_covered_for_every_number_of_copies() -> None:
    operator = make_operator(anchor=0.05)
    for turns in (1, 3, 7):
        angles = torch.arange(turns) * (2 * math.pi / turns)
        z = typical(operator, (angles.double() + math.radians(20))[:, None])[None]
        posterior = angle_posterior(operator, z)
        assert posterior.shape[1] % turns == 0
        assert abs(float(best_angle(posterior, turns)[0][0]) - 20) <= STEP


def test_readings_of_one_picture_are_refused_where_they_mean_nothing() -> None:
    z = torch.randn(2, 10, dtype=torch.float64)
    with pytest.raises(UserError, match="anchor 1, or give"):
        read_angle(make_operator(anchor=None), z, 0, moved_factor("2d"))
    with pytest.raises(UserError, match="hue has no typical value"):
        read_angle(make_operator(), z, 0, moved_factor("hue"))
    ideal = typical(make_operator(), torch.full((1, 1), 0.5, dtype=torch.float64))
    found = read_angle(make_operator(), ideal, 0, moved_factor("yaw"))
    assert float(found.degrees) == pytest.approx(math.degrees(0.5), abs=1e-3)
    assert found.unit == "degrees"
