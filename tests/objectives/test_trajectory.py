"""Straight paths of clips: the loss against loops, its values on known paths, what is refused, and the command."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.trajectory import Trajectory, step_cosines
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.objectives.shares import OBJECTS, ROWS, check_empty, check_two_processes, naive_frames, steps
from tests.training.adapted_runs import flags
from tests.training.tiny_runs import few_pairs, rows, tiny_run

DIM = 6
STEPS = st.floats(0.01, 3.1)  # shorter than half a turn


def made(**values: Any) -> Trajectory:
    torch.manual_seed(0)
    found = objective_config("trajectory", values).build(DIM, ("pose",))
    assert isinstance(found, Trajectory)
    return found


def example() -> Pairs:
    generator = torch.Generator().manual_seed(2)
    z, z_next, negatives, more = (torch.randn(n, DIM, generator=generator).double() for n in (ROWS, ROWS, 3, ROWS))
    return Pairs(z, z_next, torch.ones(ROWS, 1).double(), negatives, more[:, None], objects=OBJECTS)


def on_a_circle(*angles: float) -> list[Tensor]:
    """Vectors (1, DIM) of different lengths at the given angles of a random great circle."""
    plane = torch.linalg.qr(torch.randn(DIM, 2, dtype=torch.float64)).Q
    points = [plane @ torch.tensor([math.cos(a), math.sin(a)]).double() for a in angles]
    return [(0.1 + 3 * torch.rand(1).double()) * point[None] for point in points]


def test_the_loss_is_that_of_a_loop_over_clips() -> None:
    objective, pairs = made(contrast=0.5, straight=2.0, temperature=0.3).double(), example()
    assert pairs.more is not None
    wanted = 0.0
    for z in zip(pairs.z.numpy(), pairs.z_next.numpy(), pairs.more[:, 0].numpy(), strict=True):
        left, centre, right = (x / np.sqrt(x @ x) for x in z)
        u1, u2 = centre - left, right - centre
        u1, u2 = u1 - (u1 @ centre) * centre, u2 - (u2 @ centre) * centre
        wanted -= u1 @ u2 / np.sqrt((u1 @ u1) * (u2 @ u2)) / ROWS
    assert objective.loss is not None
    assert pairs.negatives is not None
    frames = naive_frames(objective.loss.head, pairs.z, pairs.z_next, pairs.negatives, OBJECTS, 0.3)
    found = objective(pairs)
    assert found.terms["straight"].item() == pytest.approx(wanted, rel=1e-9)
    assert found.terms["frames"].item() == pytest.approx(frames, rel=1e-9)
    assert found.total.item() == pytest.approx(2.0 * wanted + 0.5 * frames, rel=1e-9)
    assert found.t is None


@settings(deadline=None)
@given(STEPS)
def test_a_great_circle_is_straight(step: float) -> None:
    left, centre, right = on_a_circle(0.0, step, 2 * step)
    found = made(contrast=0.0)(Pairs(left, centre, torch.ones(1, 1), more=right[:, None]))
    assert found.total.item() == pytest.approx(-1, abs=1e-9)


@settings(deadline=None)
@given(STEPS, STEPS)
def test_a_turn_back_is_the_opposite(step: float, back: float) -> None:
    left, centre, right = on_a_circle(0.0, step, step - back)
    found = made(contrast=0.0)(Pairs(left, centre, torch.ones(1, 1), more=right[:, None]))
    assert found.total.item() == pytest.approx(1, abs=1e-9)


def test_a_right_angle_is_between() -> None:
    eye = torch.eye(3)
    assert step_cosines(eye[:1] + eye[2:], eye[2:], eye[1:2] + eye[2:]).item() == pytest.approx(0, abs=1e-6)


def test_equal_frames_have_no_direction() -> None:
    z = torch.randn(4, DIM, requires_grad=True)
    found = made(contrast=0.0)(Pairs(z, z, torch.ones(4, 1), more=z[:, None]))
    found.total.backward()
    assert found.total.item() == pytest.approx(0, abs=1e-5)
    assert z.grad is not None
    assert z.grad.isfinite().all()


def test_without_the_path_it_is_frames() -> None:
    objective, pairs = made(straight=0.0).double(), example()
    frames = objective_config("frames").build(DIM, ("pose",)).double()
    frames.load_state_dict(objective.state_dict())
    assert torch.equal(objective(pairs).total, frames(pairs).total)


def test_settings() -> None:
    config = objective_config("trajectory")
    assert config.clip == 3
    assert config.separates
    assert not objective_config("trajectory", {"ssl": 0.0, "contrast": 0.0}).separates
    assert (config.identity_dims(128), config.identity) == (128, None)
    assert (config.adapted().ssl, config.adapted().predict > 0) == (0.0, True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"straight": -1.0}, "objective.straight is -1.0"),
        ({"contrast": -1.0}, "objective.contrast is -1.0"),
        ({"contrast": 0.0, "straight": 0.0}, "objective.contrast and objective.straight are 0"),
        ({"temperature": 0.0}, "objective.temperature is 0.0"),
        ({"view": "ssl"}, "trajectory compares plain frames, but objective.view is ssl; set it to clean"),
    ],
)
def test_bad_settings_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        made(**values)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_batch_without_pairs() -> None:
    check_empty(made(), clip=3)


def shares(rank: int, world: int) -> list[dict[str, Tensor]]:
    return steps(made, example, rank, world)


def test_two_processes_have_the_loss_of_one(tmp_path: Path) -> None:
    check_two_processes(shares, tmp_path)


def test_the_command(turned: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    out = tmp_path / "run"
    main(["adapt", "resnet_mini", "trajectory", *flags(turned, tmp_path / "banks", out)])
    log = rows(out / "metrics.csv")
    assert all(-1 <= float(row["straight"]) <= 1 and float(row["frames"]) > 0 for row in log if row["loss"])
    assert load(out).embed(turned.read([0, 1])).shape == (2, IDENTITY)


def test_it_pretrains(turned: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    loaded = load(pretrain(tiny_run(turned, "simclr", "trajectory", optim__steps=2), tmp_path / "run"))
    assert loaded.operator is None
