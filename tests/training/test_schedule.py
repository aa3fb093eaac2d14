"""The learning rate: exact values, shape for any run, and torch's scheduler."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.errors import UserError
from lie_ssl.training.schedule import Schedule, capped_cosine, constant, half_cosine, scheduler, warmup_cosine


def test_exact_values() -> None:
    found = [warmup_cosine(step, 9, 4, 0.2) for step in range(9)]
    assert found[:4] == [0.25, 0.5, 0.75, 1.0]
    expected = [0.2 + 0.8 * math.cos(math.pi * k / 10) ** 2 for k in range(1, 6)]  # (1 + cos 2a) / 2 = cos^2 a
    assert found[4:] == pytest.approx(expected, rel=1e-12)
    assert [warmup_cosine(step, 5, 0) for step in (0, 2, 4)] == pytest.approx([1.0, 0.5, 0.0], abs=1e-15)
    assert [constant(step, 2) for step in range(4)] == [0.5, 1.0, 1.0, 1.0]
    assert constant(0) == 1.0


@given(st.integers(1, 300), st.data())
def test_the_shapes_of_the_supervised_phases(steps: int, data: st.DataObject) -> None:
    warmup = data.draw(st.integers(1, steps))
    falling = [half_cosine(step, steps) for step in range(steps)]
    assert falling[0] == 1.0
    assert all(a > b > 0 for a, b in pairwise(falling))
    assert half_cosine(steps, steps) == pytest.approx(0.0, abs=1e-15)
    rising = [constant(step, warmup) for step in range(steps)]
    assert [capped_cosine(step, steps, warmup) for step in range(steps)] == list(map(min, falling, rising))


def test_short_runs() -> None:
    assert warmup_cosine(0, 1, 0) == 1.0
    assert warmup_cosine(0, 1, 1) == 1.0
    assert [warmup_cosine(step, 2, 0, 0.1) for step in range(2)] == pytest.approx([1.0, 0.1])
    assert [warmup_cosine(step, 3, 3) for step in range(5)] == pytest.approx([1 / 3, 2 / 3, 1.0, 1.0, 1.0])


@given(st.integers(1, 300), st.data())
def test_the_rate_rises_to_one_and_falls_to_the_floor(steps: int, data: st.DataObject) -> None:
    warmup = data.draw(st.integers(0, steps))
    floor = data.draw(st.floats(0, 1))
    values = [warmup_cosine(step, steps, warmup, floor) for step in range(steps)]
    peak = max(warmup - 1, 0)
    assert values[peak] == pytest.approx(1.0)
    assert all(a < b for a, b in pairwise(values[: peak + 1]))
    assert all(a >= b for a, b in pairwise(values[peak:]))
    assert all(0 <= v <= 1 + 1e-12 for v in values)
    assert values[:warmup] == [constant(step, warmup) for step in range(warmup)]
    if peak < steps - 1:
        assert values[-1] == pytest.approx(floor, abs=1e-15)
        assert warmup_cosine(steps + 7, steps, warmup, floor) == values[-1]


@pytest.mark.parametrize(
    ("step", "steps", "warmup", "floor", "message"),
    [
        (0, 0, 0, 0.0, "run of 0"),
        (0, 5, 6, 0.0, "warm-up of 6"),
        (0, 5, -1, 0.0, "warm-up of -1"),
        (-1, 5, 2, 0.0, "step is -1"),
        (-1, 5, 0, 0.0, "step is -1"),
        (0, 5, 2, 1.5, "floor is 1.5"),
        (0, 5, 2, math.nan, "floor is nan"),
    ],
)
def test_invalid_settings_are_named(step: int, steps: int, warmup: int, floor: float, message: str) -> None:
    with pytest.raises(UserError, match=message):
        warmup_cosine(step, steps, warmup, floor)


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_the_scheduler_sets_all_groups_and_resumes_from_its_state(schedule: Schedule) -> None:
    def make() -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LambdaLR]:
        groups = [{"params": [torch.zeros(1)], "lr": lr} for lr in (0.3, 2.0)]
        optimizer = torch.optim.SGD(groups)
        return optimizer, scheduler(optimizer, schedule, steps=6, warmup=2, floor=0.1)

    optimizer, rates = make()
    for step in range(6):
        factor = warmup_cosine(step, 6, 2, 0.1) if schedule == "cosine" else constant(step, 2)
        assert [g["lr"] for g in optimizer.param_groups] == pytest.approx([0.3 * factor, 2.0 * factor], rel=1e-15)
        optimizer.step()
        rates.step()
        if step == 2:  # as after a restart
            states = optimizer.state_dict(), rates.state_dict()
            optimizer, rates = make()
            optimizer.load_state_dict(states[0])
            rates.load_state_dict(states[1])


def test_the_scheduler_rejects_invalid_settings_immediately() -> None:
    optimizer = torch.optim.SGD([torch.zeros(1)])
    with pytest.raises(UserError, match="warm-up of 9"):
        scheduler(optimizer, steps=5, warmup=9)
    with pytest.raises(UserError, match="'linear'"):
        scheduler(optimizer, "linear", steps=5)  # type: ignore[arg-type]
