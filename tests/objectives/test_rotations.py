"""The objective of free rotations: what it is given, what it learns, and what it rejects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.spatial.transform import Rotation

from lie_ssl.errors import UserError
from lie_ssl.frames.columns import ROW
from lie_ssl.frames.kinds import AXES
from lie_ssl.frames.pairs import Deltas
from lie_ssl.lie import LieOperator, OperatorConfig
from lie_ssl.lie.rotation_fit import random_rotations
from lie_ssl.lie.rotations import rotation_matrix, rotation_vector
from lie_ssl.objectives import Pairs, objective_config
from lie_ssl.objectives.rotations import RotationsConfig, all_pairs, first_pairs
from lie_ssl.protocol.metrics.rotations import axis_errors, rotation_errors
from lie_ssl.training.moving import check_rotational, factor_index, read_rotation, rotate


def test_deltas_are_the_rotations_that_carry_the_first_pose_to_the_second() -> None:
    turns = random_rotations(12, seed=0).double().numpy()
    index = pd.DataFrame({"pose": "so3", "angle": np.nan, "rotation": [m.ravel() for m in turns]})
    index.index.name = ROW
    first, second = np.arange(0, 12, 2), np.arange(1, 12, 2)
    deltas = Deltas(index, AXES)
    found = rotation_matrix(torch.from_numpy(deltas(first, second)).double()).numpy()
    assert deltas.factors == AXES
    np.testing.assert_allclose(found @ turns[first], turns[second], atol=1e-5)
    angle = np.linalg.norm(deltas(first, second), axis=1)
    np.testing.assert_allclose(Deltas(index)(first, second)[:, 0], angle, atol=1e-5)


def test_it_learns_three_axes() -> None:
    """From the nine entries of rotation matrices a linear layer can learn vectors that turn with the object."""
    torch.manual_seed(0)
    config = objective_config("rotations").adapted()
    loss, layer = config.build(128 + 16, AXES), torch.nn.Linear(9, 144)
    optimiser = torch.optim.Adam([*layer.parameters(), *loss.parameters()], lr=0.02)
    for _ in range(150):
        first, t = random_rotations(64), torch.randn(64, 3)
        z, z_next = layer(first.flatten(1)), layer((rotation_matrix(t) @ first).flatten(1))
        terms = loss(Pairs(z, z_next, t))
        optimiser.zero_grad()
        terms.total.backward()
        optimiser.step()
    assert isinstance(loss.mover, LieOperator)
    found = read_rotation(loss.mover, z.detach(), z_next.detach())
    errors = rotation_errors(found.matrix.double().numpy(), rotation_matrix(t).double().numpy())
    assert np.median(errors) < 15
    assert terms.terms["likelihood"] < -3


def test_all_pairs_of_the_frames_of_an_object() -> None:
    """From three pairs that share their first frame follow six, each with the rotation between its two frames."""
    poses = random_rotations(8, seed=1).double().unflatten(0, (2, 4))  # two objects in four frames
    z = poses.flatten(2)  # embeddings that name their pose
    t = rotation_vector(poses[:, 1:] @ poses[:, :1].mT).flatten(0, 1)
    pairs = Pairs(z[:, :1].expand(-1, 3, -1).flatten(0, 1), z[:, 1:].flatten(0, 1), t, per_object=3)
    first, second, turn = all_pairs(pairs)
    assert len(first) == 2 * 6
    a, b = first.unflatten(1, (3, 3)), second.unflatten(1, (3, 3))
    torch.testing.assert_close(rotation_matrix(turn) @ a, b, atol=1e-5, rtol=0)
    reference = Rotation.from_matrix(b.numpy()) * Rotation.from_matrix(a.numpy()).inv()
    np.testing.assert_allclose(turn.numpy(), reference.as_rotvec(), atol=1e-5)
    assert len({(*x.tolist(), *y.tolist()) for x, y in zip(first, second, strict=True)}) == 12
    one = first_pairs(pairs)
    assert torch.equal(one.z, z[:, 0])
    assert torch.equal(one.z_next, z[:, 1])


def test_one_pair_per_object_stays_as_it_is() -> None:
    pairs = Pairs(torch.randn(4, 144), torch.randn(4, 144), torch.randn(4, 3))
    for found, own in zip(all_pairs(pairs), pairs[:3], strict=True):
        assert found is own


def test_a_rotation_that_was_made_is_read_again() -> None:
    operator = objective_config("rotations").adapted().build(144, AXES).mover
    assert isinstance(operator, LieOperator)
    z = torch.randn(3, 144)
    found = read_rotation(operator, z, rotate(operator, z, [10.0, -70.0, 100.0]))
    torch.testing.assert_close(found.degrees, torch.tensor([[10.0, -70.0, 100.0]]).expand(3, 3), atol=0.01, rtol=0)
    for bad in ([1.0, 2.0], [[1.0, 2.0, 3.0]] * 2, [np.nan, 0, 0], "up"):
        with pytest.raises(UserError, match="three finite numbers"):
            rotate(operator, z, bad)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"model\.rotation"):
        factor_index(operator, AXES, None)
    with pytest.raises(UserError, match="objective rotations"):
        check_rotational(None)


def test_errors_of_rotations_and_of_axes() -> None:
    turn = rotation_matrix(torch.tensor([[0.0, 0.5, 0.0]])).double().numpy()
    eye, up = np.eye(3)[None], np.array([[0.0, 1.0, 0.0]])
    assert rotation_errors(turn, eye) == pytest.approx(np.degrees(0.5), abs=1e-3)
    assert axis_errors(turn, up, up) == pytest.approx(0, abs=1e-3)  # a turn about the axis does not move it
    assert axis_errors(turn, up[:, [1, 2, 0]], up[:, [1, 2, 0]]) == pytest.approx(np.degrees(0.5), abs=1e-3)


def test_other_factors_and_algebras_are_rejected() -> None:
    with pytest.raises(UserError, match="objective lie"):
        objective_config("rotations").adapted().build(144, (*AXES, "hue"))
    with pytest.raises(UserError, match="algebra rotations"):
        RotationsConfig(operator=OperatorConfig(algebra="skew"))
    with pytest.raises(UserError, match=r"objective\.frames is 1"):
        RotationsConfig(frames=1)
