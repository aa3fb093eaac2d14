"""Matrices that a rotation multiplies: the loss against loops, what is moved, what is refused, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from torch import Tensor

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.kinds import AXES
from lie_ssl.lie.rotation_fit import random_rotations
from lie_ssl.lie.rotations import rotation_matrix
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.matrices import Matrices
from lie_ssl.training.coordinates import read_coordinates
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.objectives.shares import OBJECTS, ROWS, check_empty, check_two_processes, naive_frames, steps
from tests.training.adapted_runs import flags
from tests.training.tiny_runs import few_pairs, rows, tiny_run

FIXED, COUNT = 5, 3
DIM = FIXED + 9 * COUNT
ANGLES = st.floats(-6.0, 6.0)


def made(**values: Any) -> Matrices:
    torch.manual_seed(0)
    found = objective_config("matrices", {"fixed": FIXED, **values}).build(DIM, AXES)
    assert isinstance(found, Matrices)
    return found


def example() -> Pairs:
    generator = torch.Generator().manual_seed(2)
    z, z_next, negatives = (torch.randn(n, DIM, generator=generator).double() for n in (ROWS, ROWS, 3))
    delta = torch.randn(ROWS, 3, generator=generator).double()
    return Pairs(z, z_next, delta, negatives, objects=OBJECTS)


def turned_pair(vector: Tensor, rows: int = 4) -> tuple[Tensor, Tensor]:
    """Embeddings whose matrices turn by a rotation vector, as SciPy turns them; u stays."""
    z = torch.randn(rows, DIM, dtype=torch.float64)
    columns = z[:, FIXED:].reshape(-1, 3, 3).mT.reshape(-1, 3)
    moved = torch.from_numpy(Rotation.from_rotvec(vector.numpy()).apply(columns.numpy()))
    return z, torch.cat([z[:, :FIXED], moved.reshape(-1, 3, 3).mT.reshape(rows, -1)], dim=1)


def test_the_loss_is_that_of_a_loop_over_matrices() -> None:
    objective, pairs = made(contrast=0.5, equivariance=2.0, temperature=0.3).double(), example()
    wanted = 0.0
    for z, z_next, t in zip(pairs.z.numpy(), pairs.z_next.numpy(), pairs.delta.numpy(), strict=True):
        turn = Rotation.from_rotvec(t).as_matrix()
        for k in range(FIXED, DIM, 9):
            a, b = turn @ z[k : k + 9].reshape(3, 3), z_next[k : k + 9].reshape(3, 3)
            a, b = a / np.sqrt((a**2).sum()), b / np.sqrt((b**2).sum())
            wanted += ((a - b) ** 2).sum() / 9 / COUNT / ROWS
    assert objective.loss is not None
    assert pairs.negatives is not None
    u, u_next, negatives = (x[:, :FIXED] for x in (pairs.z, pairs.z_next, pairs.negatives))
    frames = naive_frames(objective.loss.head, u, u_next, negatives, OBJECTS, 0.3)
    found = objective(pairs)
    assert found.terms["equivariance"].item() == pytest.approx(wanted, rel=1e-9)
    assert found.terms["frames"].item() == pytest.approx(frames, rel=1e-9)
    assert found.total.item() == pytest.approx(2.0 * wanted + 0.5 * frames, rel=1e-9)
    assert found.t is not None
    assert torch.equal(found.t, pairs.delta)


@settings(deadline=None)
@given(st.tuples(ANGLES, ANGLES, ANGLES), st.floats(0.1, 10.0))
def test_matrices_that_turn_fit_exactly(vector: tuple[float, float, float], scale: float) -> None:
    t = torch.tensor(vector, dtype=torch.float64)
    z, z_next = turned_pair(t)
    mover, delta = made().mover, t.expand(len(z), 3)
    torch.testing.assert_close(mover(z, mover.infer(z, z_next, delta)), z_next, rtol=0, atol=1e-9)
    longer = torch.cat([z_next[:, :FIXED], scale * z_next[:, FIXED:]], dim=1)  # lengths do not count
    assert made(contrast=0.0).double()(Pairs(z, longer, delta)).total < 1e-15


def test_matrices_of_rank_one_fit_but_do_not_tell_a_turn_about_their_axis() -> None:
    """The trap that the module names."""
    axis = torch.tensor([0.0, 0.6, 0.8]).double()
    parallel = axis[:, None] * torch.randn(3, dtype=torch.float64)
    z = torch.cat([torch.randn(FIXED).double(), parallel.repeat(COUNT, 1, 1).flatten()])[None]
    objective, about = made(contrast=0.0).double(), 1.3 * axis[None]
    assert objective(Pairs(z, z, about)).total < 1e-15
    assert objective(Pairs(z, z, about[:, [1, 0, 2]])).total > 0.1


def test_the_mover_leaves_u() -> None:
    mover, z, t = made().mover, torch.randn(4, DIM), torch.randn(4, 3)
    assert torch.equal(mover(z, t)[:, :FIXED], z[:, :FIXED])
    assert mover.moved_dims(t).tolist() == list(range(FIXED, DIM))
    torch.testing.assert_close(mover(mover(z, t), -t), z)


def test_it_learns_matrices_that_turn() -> None:
    torch.manual_seed(0)
    objective, layer = made(), torch.nn.Linear(9, DIM)
    optimiser = torch.optim.Adam([*layer.parameters(), *objective.parameters()], lr=0.02)
    for _ in range(150):
        first, t = random_rotations(64), torch.randn(64, 3)
        z, z_next = layer(first.flatten(1)), layer((rotation_matrix(t) @ first).flatten(1))
        found = objective(Pairs(z, z_next, t))
        optimiser.zero_grad()
        found.total.backward()
        optimiser.step()
    assert found.terms["equivariance"] < 0.01  # unrelated matrices have 2 / 9


def test_sizes() -> None:
    config = objective_config("matrices")
    assert (config.identity_dims(128), config.identity) == (128 - 5 * 9, None)
    assert config.build(128, AXES).mover is not None
    adapted = config.adapted()
    assert (adapted.identity, adapted.identity_dims(IDENTITY + 144)) == (IDENTITY, IDENTITY)
    assert adapted.build(IDENTITY + 144, AXES).mover is not None
    assert config.kinds(("2d",)) == AXES
    assert config.separates


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"equivariance": 0.0}, "objective.equivariance is 0, so v would learn nothing"),
        ({"equivariance": -1.0}, "objective.equivariance is -1.0"),
        ({"contrast": -1.0}, "objective.contrast is -1.0"),
        ({"temperature": 0.0}, "objective.temperature is 0.0"),
        ({"fixed": 0}, "objective.fixed is 0, but it must be"),
        ({"fixed": -3}, "objective.fixed is -3, but it must be"),
        ({"fixed": 1.5}, "objective.fixed is 1.5, but it must be"),
        ({"fixed": FIXED + 1}, "objective.fixed leaves 26 of 32 dimensions for v, but matrices needs a multiple of 9"),
        ({"fixed": DIM + 9}, "objective.fixed leaves 0 of 32 dimensions for v"),
        ({"fixed": 0.8}, "objective.fixed leaves 0 of 32 dimensions for v"),
    ],
)
def test_bad_settings_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        made(**values)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_other_factors_are_refused() -> None:
    with pytest.raises(UserError, match="matrices reads rotations alone, but the factors are rotation_x"):
        objective_config("matrices").build(128, (*AXES, "hue"))


def test_a_batch_without_pairs() -> None:
    check_empty(made())


def shares(rank: int, world: int) -> list[dict[str, Tensor]]:
    return steps(made, example, rank, world)


def test_two_processes_have_the_loss_of_one(tmp_path: Path) -> None:
    check_two_processes(shares, tmp_path)


def test_the_command(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    out = tmp_path / "run"
    main(["adapt", "resnet_mini", "matrices", *flags(tiny, tmp_path / "banks", out)])
    log = rows(out / "metrics.csv")
    assert all(0 < float(row["equivariance"]) < 0.5 and float(row["frames"]) > 0 for row in log if row["loss"])
    t, delta = read_coordinates(out)
    assert torch.equal(t, delta)
    assert load(out).embed(tiny.read([0, 1])).shape == (2, IDENTITY + 144)


def test_it_pretrains(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    loaded = load(pretrain(tiny_run(tiny, "simclr", "matrices", optim__steps=2), tmp_path / "run"))
    assert loaded.factors == AXES
