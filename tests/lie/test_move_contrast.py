"""The contrast between moves: against a naive reference with matrix exponentials, and what it prevents."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl import LieLoss, LieOperator

TAU = 0.3


def make_loss(speeds: tuple[float, ...] = (1.0, 2.0), **settings: Any) -> LieLoss:
    """Two factors with two planes each, after two fixed dimensions."""
    operator = LieOperator(
        10, (1, 1), algebra="commuting", fixed=2, sees="linear", split_factors=True, frequencies=speeds,
        normalise="share",
    )  # fmt: skip
    weights: dict[str, Any] = {"lie": 0.0, "euclidean": 0.0, "coordinates": 0.0, "moves": 1.0, "moves_temperature": TAU}
    return LieLoss(operator, **weights | settings).double()


def batch(b: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs that move in the first factor, the second or both; two of them make the same move."""
    generator = torch.Generator().manual_seed(0)
    z, z_next = (torch.randn(b, 10, generator=generator, dtype=torch.float64) for _ in range(2))
    delta = torch.randn(b, 2, generator=generator, dtype=torch.float64)
    delta[:3, 1] = 0
    delta[3:5, 0] = 0
    delta[1, 0] = delta[0, 0]
    return z, z_next, delta


def naive(loss: LieLoss, z: Tensor, z_next: Tensor, delta: Tensor) -> float:
    """The mean over pairs of the sum over factors, with loops and matrix exponentials."""
    total = 0.0
    for factor, place in enumerate((slice(2, 6), slice(6, 10))):
        generator = loss.operator.generators[factor, place, place]
        changed = [i for i in range(len(z)) if delta[i, factor] != 0]
        for i in changed:
            v, target = (x[i, place] / x[i, place].norm() for x in (z, z_next))

            def score(t: float, v: Tensor = v, target: Tensor = target, generator: Tensor = generator) -> float:
                moved = torch.linalg.matrix_exp(t * generator) @ v
                return math.exp(-float((moved - target).square().sum().detach()) / 2 / TAU)

            own = float(delta[i, factor])
            others = [float(delta[j, factor]) for j in changed if abs(float(delta[j, factor]) - own) > 1e-9]
            total -= math.log(score(own) / (score(own) + score(0.0) + sum(map(score, others))))
    return total / len(z)


def test_it_equals_a_naive_sum() -> None:
    loss, data = make_loss(), batch()
    terms = loss(*data)
    assert terms.moves is not None
    assert float(terms.moves) == pytest.approx(naive(loss, *data), rel=1e-10)
    assert float(terms.total) == pytest.approx(float(terms.moves), rel=1e-12)


def test_learned_speeds_get_the_gradient_of_finite_differences() -> None:
    loss, data = make_loss(speeds=(1.3, 2.4)), batch()
    loss(*data).total.backward()
    speed = loss.operator.algebras[0].speed
    assert isinstance(speed, torch.nn.Parameter)
    assert speed.grad is not None
    step, values = 1e-6, []
    for sign in (1, -1):
        with torch.no_grad():
            speed[0, 1] += sign * step
            values.append(naive(loss, *data))
            speed[0, 1] -= sign * step
    assert float(speed.grad[0, 1]) == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5)


def half_turns(speeds: tuple[float, ...]) -> float:
    """The loss of a perfect embedding whose pairs are quarter and half turns."""
    loss = make_loss(speeds)
    angle = torch.tensor([0.1, 0.7, 2.0, 4.0, 5.5, 1.2], dtype=torch.float64)
    turn = torch.tensor([math.pi, math.pi / 2, math.pi, -math.pi / 2, math.pi, math.pi / 2], dtype=torch.float64)

    def embed(angle: Tensor) -> Tensor:
        planes = [torch.stack([(s * angle).cos(), (s * angle).sin()], dim=1) for s in speeds]
        return torch.cat([torch.zeros(len(angle), 2, dtype=torch.float64), *planes, *planes], dim=1)

    delta = torch.stack([turn, torch.zeros_like(turn)], dim=1)
    terms = loss(embed(angle), embed(angle + turn), delta)
    assert float(terms.moves) > 0
    return float(terms.moves)


def test_even_speeds_and_no_speed_are_penalised() -> None:
    # All of them have distances of zero, but half turns look like no turn, or everything does.
    good, even, none = half_turns((1.0, 2.0)), half_turns((2.0, 4.0)), half_turns((0.0, 0.0))
    assert good < even - 0.2 < none - 0.2


def test_no_pairs_give_zero() -> None:
    z = torch.zeros(0, 10, dtype=torch.float64)
    terms = make_loss(batch_norm=False)(z, z, torch.zeros(0, 2, dtype=torch.float64))
    assert float(terms.total) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "unit lengths"),
        ({"algebra": "commuting", "normalise": "share", "n_generators": (1, 1)}, "split_factors"),
        ({"algebra": "commuting", "normalise": "share", "n_generators": 2}, "one generator"),
        ({"action": "identity"}, "unit lengths"),
    ],
)
def test_unfit_operators_are_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LieLoss(LieOperator(8, **settings), moves=1.0)


def test_bad_temperatures_are_rejected() -> None:
    with pytest.raises(ValueError, match="moves_temperature"):
        make_loss(moves_temperature=0.0)


WORKER = """
import sys, torch
from torch import distributed as dist
from tests.lie.test_move_contrast import batch, make_loss
rank, world, folder, cut = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
if world > 1:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
torch.manual_seed(0)
encoder, loss = torch.nn.Linear(10, 10).double(), make_loss(speeds=(1.3, 2.4))
own = slice(None) if world == 1 else (slice(0, cut), slice(cut, None))[rank]
z, z_next, delta = (x[own] for x in batch())
total = loss(encoder(z), encoder(z_next), delta).total
total.backward()
grads = torch.cat([p.grad.flatten() for p in [*encoder.parameters(), *loss.operator.parameters()]])
total = total.detach().clone()
if world > 1:
    dist.all_reduce(grads)
    dist.all_reduce(total)
torch.save((total / world, grads / world), f"{folder}/{world}-{rank}.pt")
if world > 1:
    dist.barrier()
    dist.destroy_process_group()
"""


def test_two_processes_give_the_gradients_of_one(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    commands = [[sys.executable, "-c", WORKER, *map(str, (r, w, tmp_path, 3))] for r, w in ((0, 1), (0, 2), (1, 2))]
    for process in [subprocess.Popen(c, stderr=subprocess.PIPE, text=True, cwd=root) for c in commands]:
        assert process.wait(timeout=120) == 0, process.stderr.read() if process.stderr else ""
    alone, grads = torch.load(tmp_path / "1-0.pt", weights_only=True)
    for rank in (0, 1):
        total, found = torch.load(tmp_path / f"2-{rank}.pt", weights_only=True)
        assert float(total) == pytest.approx(float(alone), rel=1e-12)
        assert torch.allclose(found, grads, rtol=1e-9, atol=1e-12)
