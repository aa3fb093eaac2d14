"""Replacements of the exponential in ablations: a network, or the identity."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.lie import LieLoss, LieOperator, OperatorConfig
from lie_ssl.lie.diagnostics import diagnose
from lie_ssl.lie.mlp_action import MlpAction


@pytest.mark.parametrize(("dim", "count"), [(32, 4), (48, 1), (128, 16), (768, 4)])
def test_it_has_about_as_many_parameters_as_the_generators(dim: int, count: int) -> None:
    parameters = sum(p.numel() for p in MlpAction(dim, count).parameters())
    assert parameters == pytest.approx(count * dim**2, rel=0.05)


@pytest.mark.parametrize("split", [False, True])
def test_it_starts_at_the_identity_and_only_learns_to_move_the_moved_part(split: bool) -> None:
    torch.manual_seed(0)
    operator = LieOperator(12, (2, 1), fixed=4, action="mlp", split_factors=split).double()
    z, t = torch.randn(6, 12).double(), torch.randn(6, 3).double()
    assert torch.equal(operator(z, t), z)
    assert not operator.generators.any()
    assert operator.generators.shape == (3, 12, 12)
    target = z + torch.cat([torch.zeros(6, 4), torch.ones(6, 8)], dim=1)
    optimiser = torch.optim.Adam(operator.mlps.parameters(), lr=1e-2)
    for _ in range(300):
        optimiser.zero_grad()
        (operator(z, t) - target).square().mean().backward()
        optimiser.step()
    moved = operator(z, t).detach()
    assert torch.equal(moved[:, :4], z[:, :4])
    assert torch.allclose(moved, target, atol=0.1)
    assert not torch.allclose(operator.inverse(moved, t), z, atol=0.1)  # it is not a group


def test_it_depends_on_the_coordinates() -> None:
    torch.manual_seed(0)
    operator = LieOperator(6, 2, action="mlp")
    torch.nn.init.normal_(operator.mlps[0].get_parameter("layers.2.weight"))
    z = torch.randn(3, 6)
    assert not torch.allclose(operator(z, torch.zeros(3, 2)), operator(z, torch.ones(3, 2)))


@pytest.mark.parametrize("action", ["identity", "mlp"])
def test_every_parameter_has_a_gradient_and_the_diagnostics_are_finite(action: str) -> None:
    torch.manual_seed(0)
    operator = LieOperator(10, 3, fixed=4, action=action)  # type: ignore[arg-type]
    loss = LieLoss(operator, invariant=1.0)
    z, z_next, delta = torch.randn(5, 10), torch.randn(5, 10), torch.rand(5)
    loss(z, z_next, delta).total.backward()
    assert all(p.grad is not None for p in loss.parameters())  # distributed training waits for each of them
    found = diagnose(operator, z, z_next, delta)
    assert found.collapsed
    assert not found.exploded
    assert (found.relative_error, found.spectral_norm, found.closure_error) == (1.0, 0.0, 0.0)


def test_an_unknown_action_is_rejected() -> None:
    with pytest.raises(ValueError, match="action is 'log', but it must be one of exp, identity, mlp"):
        LieOperator(4, action="log")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="action is 'log', but it must be one of exp, identity, mlp"):
        OperatorConfig(action="log")  # type: ignore[arg-type]
