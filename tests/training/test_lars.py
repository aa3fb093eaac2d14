"""LARS: against loops in float64, against torch's SGD, edge cases and state."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.training.lars import LARS

Vector = list[float]


def norm(v: Vector) -> float:
    return math.sqrt(sum(x * x for x in v))


def naive_step(w: Vector, g: Vector, v: Vector, lr: float, decay: float, trust: float, momentum: float) -> None:
    """One step of an adapted weight, in place, element by element."""
    u = [g[i] + decay * w[i] for i in range(len(w))]
    ratio = trust * norm(w) / norm(u) if norm(w) > 0 and norm(u) > 0 else 1.0
    for i in range(len(w)):
        v[i] = momentum * v[i] + ratio * u[i]
        w[i] -= lr * v[i]


def parameters(*shapes: tuple[int, ...]) -> list[nn.Parameter]:
    torch.manual_seed(0)
    return [nn.Parameter(torch.randn(s).double()) for s in shapes]


def gradients(p: Tensor, step: int) -> Tensor:
    return torch.randn(p.shape, generator=torch.Generator().manual_seed(step)).to(p.dtype)


@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2, 2), (1, 1)])
def test_agrees_with_the_naive_loop(shape: tuple[int, ...], decay: float) -> None:
    (p,) = parameters(shape)
    w, v = p.detach().flatten().tolist(), [0.0] * p.numel()
    optimizer = LARS([p], lr=0.7, weight_decay=decay, trust=0.02)
    for step in range(6):
        p.grad = gradients(p, step)
        optimizer.param_groups[0]["lr"] = lr = 0.7 / (1 + step)
        optimizer.step()
        naive_step(w, gradients(p, step).flatten().tolist(), v, lr, decay, 0.02, 0.9)
        assert p.detach().flatten().tolist() == pytest.approx(w, rel=1e-12, abs=1e-14)


def test_vectors_use_plain_momentum_without_decay() -> None:
    ours, theirs = parameters((5,), (), (3, 4)), parameters((5,), (), (3, 4))
    groups: list[dict[str, Any]] = [{"params": ours[:2]}, {"params": ours[2:], "adapt": False}]
    optimizer = LARS(groups, lr=0.1, weight_decay=0.5)
    reference = torch.optim.SGD(
        [{"params": theirs[:2], "weight_decay": 0.0}, {"params": theirs[2:], "weight_decay": 0.5}], lr=0.1, momentum=0.9
    )
    for step in range(5):
        for p in [*ours, *theirs]:
            p.grad = gradients(p, step)
        optimizer.step()
        reference.step()
    for p, q in zip(ours, theirs, strict=True):
        assert torch.allclose(p, q, rtol=1e-14, atol=0)


def test_the_first_step_is_proportional_to_the_weight() -> None:
    (p,) = parameters((6, 6))
    before = p.detach().clone()
    p.grad = 1e6 * gradients(p, 0)
    LARS([p], lr=2.0, trust=0.01).step()
    assert float((p.detach() - before).norm() / before.norm()) == pytest.approx(0.02)


def test_zero_weights_use_the_plain_gradient() -> None:
    p = nn.Parameter(torch.zeros(2, 2))
    p.grad = torch.ones(2, 2)
    LARS([p], lr=0.5, weight_decay=1.0).step()
    assert p.detach().tolist() == [[-0.5, -0.5], [-0.5, -0.5]]


def test_zero_gradients_only_decay() -> None:
    still, decaying = nn.Parameter(torch.full((2, 2), 3.0)), nn.Parameter(torch.full((2, 2), 3.0))
    still.grad, decaying.grad = torch.zeros(2, 2), torch.zeros(2, 2)
    groups: list[dict[str, Any]] = [{"params": [still]}, {"params": [decaying], "weight_decay": 0.1}]
    LARS(groups, lr=1.0, trust=0.01).step()
    assert still.detach().tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert decaying.detach().flatten().tolist() == pytest.approx([2.97] * 4)  # trust times the weight itself


def test_a_parameter_without_a_gradient_does_not_change() -> None:
    used, unused = parameters((2, 2), (2, 2))
    before = unused.detach().clone()
    used.grad = gradients(used, 0)
    optimizer = LARS([used, unused], lr=1.0, weight_decay=0.1)
    optimizer.step()
    assert torch.equal(unused, before)
    assert list(optimizer.state) == [used]


def test_the_closure_is_called_with_gradients_and_its_loss_is_returned() -> None:
    (p,) = parameters((2, 2))

    def closure() -> float:
        loss = p.square().sum()
        loss.backward()
        return float(loss.detach())

    before = float(p.detach().square().sum())
    assert LARS([p], lr=1.0).step(closure) == before
    assert float(p.detach().square().sum()) < before


def test_the_state_can_be_restored_exactly() -> None:
    def train(model: nn.Module, optimizer: LARS, steps: range) -> None:
        for step in steps:
            for p in model.parameters():
                p.grad = gradients(p, step)
            optimizer.step()

    model, other = (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)) for _ in range(2))
    optimizer = LARS(model.parameters(), lr=0.3, weight_decay=0.1)
    train(model, optimizer, range(3))
    file = io.BytesIO()
    torch.save((model.state_dict(), optimizer.state_dict()), file)
    file.seek(0)
    weights, state = torch.load(file, weights_only=True)
    again = LARS(other.parameters(), lr=1.0)
    other.load_state_dict(weights)
    again.load_state_dict(state)
    train(model, optimizer, range(3, 6))
    train(other, again, range(3, 6))
    for p, q in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q)
        assert torch.equal(optimizer.state[p]["momentum"], again.state[q]["momentum"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": -1.0}, "lr=-1"),
        ({"lr": math.nan}, "lr=nan"),
        ({"lr": 1.0, "weight_decay": -0.1}, "weight_decay=-0.1"),
        ({"lr": 1.0, "trust": -0.1}, "trust=-0.1"),
        ({"lr": 1.0, "momentum": 1.0}, r"momentum=1\.0"),
    ],
)
def test_invalid_settings_are_named(settings: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        LARS(parameters((2, 2)), **settings)  # type: ignore[arg-type]
