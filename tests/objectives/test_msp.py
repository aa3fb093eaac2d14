"""Prediction of the third frame: the loss against loops, the move that is found, what is refused, and the command."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.msp import Msp, Transition
from lie_ssl.training.coordinates import read_coordinates
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.objectives.shares import (
    OBJECTS,
    ROWS,
    check_empty,
    check_two_processes,
    cosine,
    cross_entropy,
    naive_frames,
    steps,
)
from tests.training.adapted_runs import flags
from tests.training.tiny_runs import few_pairs, rows, tiny_run

FIXED, HIGH, COLUMNS = 5, 7, 3
DIM = FIXED + HIGH * COLUMNS
RIDGE = 1e-3


def made(**values: Any) -> Msp:
    torch.manual_seed(0)
    found = objective_config("msp", {"fixed": FIXED, "columns": COLUMNS, **values}).build(DIM, ("2d",))
    assert isinstance(found, Msp)
    return found


def example() -> Pairs:
    generator = torch.Generator().manual_seed(2)
    z, z_next, negatives, more = (torch.randn(n, DIM, generator=generator).double() for n in (ROWS, ROWS, 3, ROWS))
    return Pairs(z, z_next, torch.ones(ROWS, 1).double(), negatives, more[:, None], objects=OBJECTS)


def embedding(h: Tensor) -> Tensor:
    """(B, HIGH, COLUMNS) -> z with these matrices as v."""
    return torch.cat([torch.randn(len(h), FIXED, dtype=h.dtype), h.flatten(1)], dim=1)


def test_the_loss_is_that_of_a_loop_over_clips() -> None:
    values = {"contrast": 0.5, "prediction": 2.0, "temperature": 0.3, "prediction_temperature": 0.4, "ridge": 0.2}
    objective, pairs = made(**values).double(), example()
    assert pairs.more is not None
    clips = torch.stack([pairs.z, pairs.z_next, pairs.more[:, 0]], dim=1)[:, :, FIXED:].numpy()
    clips = clips.reshape(ROWS, 3, HIGH, COLUMNS)
    wanted = 0.0
    for i, (h0, h1, h2) in enumerate(clips):
        move = np.linalg.inv(h0.T @ h0 + 0.2 * np.eye(COLUMNS)) @ h0.T @ h1
        others = [clips[j, 2] for j in range(ROWS) if OBJECTS[j] != OBJECTS[i]]
        positive, *scores = (
            cosine(*(torch.from_numpy(x).flatten() for x in (h1 @ move, other))) / 0.4
            for other in (h2, *others, h0, h1)
        )
        wanted += cross_entropy(positive, scores) / ROWS
    assert objective.loss is not None
    assert pairs.negatives is not None
    u, u_next, negatives = (x[:, :FIXED] for x in (pairs.z, pairs.z_next, pairs.negatives))
    frames = naive_frames(objective.loss.head, u, u_next, negatives, OBJECTS, 0.3)
    found = objective(pairs)
    assert found.terms["prediction"].item() == pytest.approx(wanted, rel=1e-9)
    assert found.terms["frames"].item() == pytest.approx(frames, rel=1e-9)
    assert found.total.item() == pytest.approx(2.0 * wanted + 0.5 * frames, rel=1e-9)


def test_without_numbers_of_objects_all_are_different() -> None:
    objective, pairs = made().double(), example()
    different = objective(pairs._replace(objects=torch.arange(ROWS))).terms["prediction"]
    assert torch.equal(objective(pairs._replace(objects=None)).terms["prediction"], different)
    assert objective(pairs).terms["prediction"] < different


@settings(deadline=None)
@given(st.integers(0, 1000), st.floats(0.2, 1.5))
def test_a_linear_move_is_found_and_predicts(seed: int, size: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    h = torch.linalg.qr(torch.randn(4, HIGH, COLUMNS, dtype=torch.float64, generator=generator)).Q  # H^T H = I
    move = size * torch.randn(4, COLUMNS, COLUMNS, dtype=torch.float64, generator=generator)
    z, z_next, third = (embedding(x) for x in (h, h @ move, h @ move @ move))
    mover = Transition(DIM, FIXED, COLUMNS, RIDGE)
    t = mover.infer(z, z_next, torch.ones(4, 1))
    torch.testing.assert_close(t.view(4, COLUMNS, COLUMNS), move / (1 + RIDGE))
    torch.testing.assert_close(mover(z, t)[:, FIXED:], z_next[:, FIXED:] / (1 + RIDGE))
    torch.testing.assert_close(mover(z_next, t)[:, FIXED:], third[:, FIXED:] / (1 + RIDGE))


def test_the_mover_leaves_u() -> None:
    mover, z = made().mover, torch.randn(4, DIM)
    t = mover.infer(z, torch.randn(4, DIM), torch.ones(4, 1))
    assert t.shape == (4, COLUMNS**2)
    assert torch.equal(mover(z, t)[:, :FIXED], z[:, :FIXED])
    assert mover.moved_dims(torch.ones(4, 1)).tolist() == list(range(FIXED, DIM))
    torch.testing.assert_close(mover(z, torch.eye(COLUMNS).flatten().expand(4, -1)), z)


@pytest.mark.parametrize(("high", "fits"), [(COLUMNS - 1, True), (COLUMNS, True), (COLUMNS + 1, False)])
def test_any_pair_fits_a_matrix_without_more_rows_than_columns(high: int, fits: bool) -> None:
    """The trap that the settings refuse."""
    mover = Transition(high * COLUMNS, 0, COLUMNS, ridge=1e-12)
    torch.manual_seed(0)
    z, z_next = torch.randn(2, 5, high * COLUMNS, dtype=torch.float64)
    error = (mover(z, mover.infer(z, z_next, torch.ones(5, 1))) - z_next).abs().max()
    assert (error < 1e-6) == fits


def test_not_moving_is_no_solution() -> None:
    """The frames of a clip are equal, so its own frames are as near to the prediction as the true one."""
    torch.manual_seed(0)
    h = torch.linalg.qr(torch.randn(ROWS, HIGH, COLUMNS)).Q
    turn = torch.linalg.matrix_exp(2.0 * torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    objective = made(contrast=0.0)
    z = embedding(h)
    still = objective(Pairs(z, z, torch.ones(ROWS, 1), more=z[:, None]))
    clip = [embedding(x) for x in (h, h @ turn, h @ turn @ turn)]
    moving = objective(Pairs(clip[0], clip[1], torch.ones(ROWS, 1), more=clip[2][:, None]))
    assert still.total > math.log(3)
    assert moving.total < still.total - 0.5


def test_it_learns_to_predict_clips() -> None:
    """Pictures are numbers that turn with the object, hidden in a fixed random mixture; every clip has its own step."""
    torch.manual_seed(0)
    objective, mixture = made(), torch.randn(6, 24)
    encoder = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, DIM))
    optimiser = torch.optim.Adam([*encoder.parameters(), *objective.parameters()], lr=3e-3)

    def clip(rows: int) -> list[Tensor]:
        start, step, phase = 2 * math.pi * torch.rand(rows), 0.3 + 2 * torch.rand(rows), 6 * torch.rand(rows, 1)
        angles = [start + k * step for k in range(3)]
        turned = [torch.stack([a.cos(), a.sin(), (2 * a).cos(), (2 * a).sin()], dim=1) for a in angles]
        return [encoder(torch.cat([x, phase.cos(), phase.sin()], dim=1) @ mixture) for x in turned]

    for _ in range(200):
        z = clip(64)
        found = objective(Pairs(z[0], z[1], torch.ones(64, 1), more=z[2][:, None]))
        optimiser.zero_grad()
        found.total.backward()
        optimiser.step()
    with torch.no_grad():
        z = clip(256)
        mover = objective.mover
        predicted = mover(z[1], mover.infer(z[0], z[1], torch.ones(256, 1)))[:, FIXED:]
        near = [torch.cosine_similarity(predicted, each[:, FIXED:]) for each in z]
    assert ((near[2] > near[0]) & (near[2] > near[1])).float().mean() > 0.9


def test_sizes() -> None:
    config = objective_config("msp")
    assert config.clip == 3
    assert (config.identity_dims(128), config.identity) == (80, None)
    assert config.build(128).mover is not None
    adapted = config.adapted()
    assert (adapted.identity, adapted.identity_dims(IDENTITY + 48)) == (IDENTITY, IDENTITY)
    assert adapted.build(IDENTITY + 48).mover is not None
    assert config.kinds(("2d", "yaw")) == ("2d", "yaw")
    assert config.separates


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"prediction": 0.0}, "objective.prediction is 0, so v would learn nothing"),
        ({"prediction": -1.0}, "objective.prediction is -1.0"),
        ({"contrast": -1.0}, "objective.contrast is -1.0"),
        ({"temperature": -1.0}, "objective.temperature is -1.0"),
        ({"prediction_temperature": 0.0}, "objective.prediction_temperature is 0.0"),
        ({"ridge": 0.0}, "objective.ridge is 0.0, but it must be above 0"),
        ({"columns": 0}, "objective.columns is 0, but it must be 1 or more"),
        ({"fixed": 0.0}, "objective.fixed is 0.0, but it must be"),
        ({"fixed": 6}, "objective.fixed leaves 20 of 26 dimensions for v, but msp needs a multiple of 3"),
        ({"fixed": 1, "columns": 5}, "objective.columns is 5, but with the 5 rows of v some matrix would fit any pair"),
        ({"view": "ssl"}, "msp compares plain frames, but objective.view is ssl; set it to clean"),
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
    main(["adapt", "resnet_mini", "msp", *flags(turned, tmp_path / "banks", out)])
    log = rows(out / "metrics.csv")
    assert all(float(row["prediction"]) > 0 and float(row["frames"]) > 0 for row in log if row["loss"])
    t, _ = read_coordinates(out)
    assert t.shape[1] == 4 * 4
    assert t.isfinite().all()
    assert load(out).embed(turned.read([0, 1])).shape == (2, IDENTITY + 2 * 48)


def test_it_pretrains(turned: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    loaded = load(pretrain(tiny_run(turned, "simclr", "msp", optim__steps=2), tmp_path / "run"))
    assert loaded.factors == ("2d", "yaw")
