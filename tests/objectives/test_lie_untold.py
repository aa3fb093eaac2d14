"""Lie untold: its loss, what it is not told, and that it learns the step of clips."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.lie.clips import clip_loss, steps_to_try
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.lie_untold import LieUntold

FACTORS = ("2d", "yaw")
DIM, FIXED = 32, 16


def make(**settings: object) -> LieUntold:
    operator = {"fixed": FIXED, "sees": ["align"], "generators": [1], "algebra": "commuting", "normalise": "share",
                "frequencies": [1.0, 2.0], "split_factors": True}  # fmt: skip
    built = objective_config("lie_untold", {"frames": 4, "operator": operator, **settings}).build(DIM, FACTORS)
    assert isinstance(built, LieUntold)
    return built


def make_pairs(delta: Tensor) -> Pairs:
    torch.manual_seed(0)
    z, z_next = torch.randn(2, len(delta), DIM)
    return Pairs(z, z_next, delta, more=torch.randn(len(delta), 2, DIM))


DELTA = torch.tensor([[0.5, 0.0], [0.0, 0.7], [1.0, 0.0], [0.0, 2.0], [0.3, 0.0]])


@pytest.mark.parametrize("forward", [True, False])
def test_the_loss_is_that_of_each_clip_in_its_own_share(forward: bool) -> None:
    untold, pairs = make(forward=forward, likelihood=2.0, invariant=0.5).eval(), make_pairs(DELTA)
    found = untold(pairs)
    assert pairs.more is not None
    expected = []
    for i, delta in enumerate(DELTA):
        share = int(delta[1] != 0)
        clip = torch.stack([pairs.z[i], pairs.z_next[i], *pairs.more[i]])[:, FIXED:].split(8, dim=1)[share]
        clip = nn.functional.normalize(clip, dim=1)[None]
        expected.append(clip_loss(untold.mover, share, clip, 0.1, steps_to_try(untold.mover, share, forward)))
    torch.testing.assert_close(found.terms["likelihood"], torch.cat(expected).mean())
    total = 2.0 * found.terms["likelihood"] + 0.5 * found.terms["invariant"]
    torch.testing.assert_close(found.total, total)


def test_it_is_not_told_how_far_a_clip_turns() -> None:
    untold = make().eval()
    pairs = make_pairs(DELTA)
    others = pairs._replace(delta=DELTA * torch.linspace(-3, 2, 5)[:, None])
    first, second = untold(pairs), untold(others)
    assert first.total == second.total
    assert (first.t == second.t).all()


def test_it_learns_the_step_of_clips_without_being_told() -> None:
    """Pictures are four numbers that turn with the object at speed 1, hidden in a fixed random mixture."""
    torch.manual_seed(0)
    untold = make(frames=5).train()
    mixture = torch.randn(6, 24)

    def pictures(angle: Tensor, phase: Tensor) -> Tensor:
        turned = torch.stack([angle.cos(), angle.sin(), (2 * angle).cos(), (2 * angle).sin()], dim=-1)
        return torch.cat([turned, phase.cos(), phase.sin()], dim=-1) @ mixture

    encoder = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, DIM))
    optimiser = torch.optim.Adam(encoder.parameters(), lr=3e-3)
    for _ in range(150):
        start, step = 2 * math.pi * torch.rand(32), math.pi * torch.rand(32)
        phase = torch.rand(32, 1)
        z = [encoder(pictures(start + k * step, phase)) for k in range(5)]
        delta = torch.zeros(32, 2)
        delta[:, 0] = 1.0  # only that it is the first kind of pose
        loss = untold(Pairs(z[0], z[1], delta, more=torch.stack(z[2:], dim=1))).total
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    angle, turn, phase = 6 * torch.rand(64), 3 * (2 * torch.rand(64) - 1), torch.rand(64, 1)
    with torch.no_grad():
        found = untold.mover.align(encoder(pictures(angle, phase)), encoder(pictures(angle + turn, phase)), 0).t
    error = torch.remainder(found - turn + math.pi, 2 * math.pi) - math.pi
    assert error.abs().median() < math.radians(10)  # with the right sign and scale
