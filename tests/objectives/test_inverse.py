"""Inverse dynamics against a naive reference, and what it reads."""

from __future__ import annotations

import math

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.base import Reader
from lie_ssl.objectives.inverse import Inverse, InverseConfig

FACTORS = ("2d", "yaw")
DELTA = torch.tensor([[0.5, 0.0], [0.0, -2.0], [3.0, 0.0]])


def made(**settings: float) -> Inverse:
    torch.manual_seed(0)
    found = InverseConfig(**settings).build(6, FACTORS)  # type: ignore[arg-type]
    assert isinstance(found, Inverse)
    return found


def test_the_loss_is_that_of_a_loop_over_pairs() -> None:
    objective = made(contrast=0.5, move=2.0)
    z, z_next = torch.randn(3, 6), torch.randn(3, 6)
    wanted = 0.0
    for i, factor in enumerate((0, 1, 0)):
        out = objective.predictor(torch.cat([z[i], z_next[i]])).tolist()
        angle = float(DELTA[i, factor])
        errors = (out[2 * factor] - math.cos(angle)) ** 2, (out[2 * factor + 1] - math.sin(angle)) ** 2
        wanted += sum(errors) / 2 / 3
    found = objective(Pairs(z, z_next, DELTA))
    assert found.terms["move"].item() == pytest.approx(wanted, rel=1e-5)
    frames = objective_config("frames").build(6, FACTORS)
    assert objective.loss is not None
    frames.loss.load_state_dict(objective.loss.state_dict())  # type: ignore[union-attr]
    own = frames(Pairs(z, z_next, DELTA)).terms["frames"]
    assert found.total.item() == pytest.approx(0.5 * own.item() + 2 * wanted, rel=1e-5)


def test_it_learns_to_read_a_move() -> None:
    """Embeddings that turn with the pose: the angle between two of them is read within a few degrees."""
    objective = made(contrast=0.0)
    assert isinstance(objective, Reader)
    optimiser = torch.optim.Adam(objective.parameters(), lr=1e-2)

    def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        a, b = (torch.rand(2, 256) - 0.5) * 2 * math.pi
        z, z_next = (torch.stack([x.cos(), x.sin(), *torch.zeros(4, 256)], dim=1) for x in (a, b))
        return z, z_next, torch.stack([b - a, torch.zeros(256)], dim=1)

    for _ in range(300):
        loss = objective(Pairs(*batch())).total
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    z, z_next, delta = batch()
    with torch.no_grad():
        wrong = objective.read(z, z_next)[:, 0] - delta[:, 0]
    assert torch.atan2(wrong.sin(), wrong.cos()).abs().median() < math.radians(8)


def test_settings_that_learn_nothing_are_rejected() -> None:
    with pytest.raises(UserError, match=r"objective\.move is 0"):
        InverseConfig(move=0.0)
    with pytest.raises(UserError, match=r"objective\.temperature is -1"):
        InverseConfig(temperature=-1.0)


def test_the_network_for_the_move_alone_sees_all_features() -> None:
    assert InverseConfig().identity_dims(700) == IDENTITY
    assert InverseConfig(contrast=0.0).identity_dims(700) == 0
