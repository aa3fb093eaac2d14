"""SIE against loops, and the matrix of the move, which has no constant part."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.objectives._moves import feature_count, move_features
from lie_ssl.objectives.sie import SIEConfig
from tests.objectives.told_moves import (
    DIM,
    FACTORS,
    batch,
    check_adapts,
    check_few_pairs,
    check_two_processes,
    made,
    naive_features,
    naive_layers,
)


def naive_hinge(x: Tensor) -> float:
    rows, dims = x.shape
    total = 0.0
    for d in range(dims):
        values = x[:, d].tolist()
        mean = sum(values) / rows
        variance = sum((v - mean) ** 2 for v in values) / (rows - 1)
        total += max(0.0, 1 - math.sqrt(variance + 1e-4)) / dims
    return total


def naive_covariances(x: Tensor) -> float:
    rows, dims = x.shape
    centred = (x - sum(x) / rows).tolist()
    total = 0.0
    for a in range(dims):
        for b in range(dims):
            if a != b:
                total += (sum(row[a] * row[b] for row in centred) / (rows - 1)) ** 2 / dims
    return total


def test_the_loss_is_that_of_loops() -> None:
    objective, pairs = made("sie"), batch()
    found = objective(pairs)
    rows, half = len(pairs.z), DIM // 2
    both = torch.cat([pairs.z, pairs.z_next])
    i, e = naive_layers(both[:, :half], objective.invariant), naive_layers(both[:, half:], objective.equivariant)
    features, moved = naive_features(pairs.delta), torch.zeros(rows, 5, dtype=torch.float64)
    for row in range(rows):
        for feature in range(features.shape[1]):
            moved[row] += features[row, feature] * (objective.move.basis[feature] @ e[row]).detach()
    views = [torch.cat([i[part], e[part]], dim=1) for part in (slice(0, rows), slice(rows, None))]
    wanted = {
        "sie_invariance": float(sum(((a - b) ** 2).mean() for a, b in zip(i[:rows], i[rows:], strict=True))) / rows,
        "sie_equivariance": float(sum(((a - b) ** 2).mean() for a, b in zip(moved, e[rows:], strict=True))) / rows,
        "sie_variance": (naive_hinge(views[0]) + naive_hinge(views[1])) / 2 + naive_hinge(moved),
        "sie_covariance": naive_covariances(views[0]) + naive_covariances(views[1]),
    }
    assert {name: term.item() for name, term in found.terms.items()} == pytest.approx(wanted, rel=1e-9)
    weights = (10.0, 4.5, 10.0, 1.0)
    total = sum(w * term for w, term in zip(weights, wanted.values(), strict=True))
    assert found.total.item() == pytest.approx(total, rel=1e-9)
    assert min(wanted.values()) > 0


def test_the_matrix_is_linear_in_the_move_without_a_constant() -> None:
    move = made("sie").move
    g, h = torch.randn(2, 3, feature_count(FACTORS), dtype=torch.float64)
    torch.testing.assert_close(move.matrix(2 * g - h), 2 * move.matrix(g) - move.matrix(h))
    assert (move.matrix(torch.zeros_like(g)) == 0).all()
    assert (move(torch.randn(3, 5, dtype=torch.float64), torch.zeros_like(g)) == 0).all()
    e = torch.randn(3, 5, dtype=torch.float64)
    torch.testing.assert_close(move(e, g), (move.matrix(g) @ e[:, :, None])[:, :, 0])


def test_the_matrix_cannot_be_the_identity_for_all_moves() -> None:
    """Over a circle it averages to zero, whatever its weights. With nine poses, though, it can be for all moves."""
    move = made("sie").move
    delta = torch.zeros(24, 2, dtype=torch.float64)
    delta[:, 0] = (torch.arange(24, dtype=torch.float64) + 0.5) * 2 * math.pi / 24
    assert move.matrix(move_features(delta)).mean(dim=0).abs().max() < 1e-12
    for poses, possible in ((9, True), (10, False), (24, False)):
        angles = torch.arange(1, poses, dtype=torch.float64)[:, None] * 2 * math.pi / poses
        ones = torch.ones(len(angles), 1, dtype=torch.float64)
        features = move_features(angles)
        best = features @ torch.linalg.lstsq(features, ones, driver="gelsd").solution
        assert ((best - ones).abs().max() < 1e-9) == possible


def test_factors_that_do_not_change_are_left_out() -> None:
    delta = torch.tensor([[0.5, 0.0], [0.0, -2.0]], dtype=torch.float64)
    features = move_features(delta)
    torch.testing.assert_close(features, naive_features(delta))
    assert (features[0, 8:] == 0).all()
    assert (features[1, :8] == 0).all()


def test_each_half_has_its_own_terms() -> None:
    """The distance of the invariant halves has no gradient in the other half, and the moved half none in the first."""
    for name, own in (("sie_invariance", slice(0, 3)), ("sie_equivariance", slice(3, 6))):
        pairs = batch()
        pairs.z.requires_grad_()
        (gradient,) = torch.autograd.grad(made("sie")(pairs).terms[name], pairs.z)
        assert gradient[:, own].abs().max() > 0
        gradient[:, own] = 0
        assert (gradient == 0).all()


def test_settings() -> None:
    for name in ("invariance", "equivariance", "variance", "covariance"):
        with pytest.raises(UserError, match=rf"objective\.{name} is -1.0, but weights must be 0 or more") as error:
            SIEConfig(**{name: -1.0})  # type: ignore[arg-type]
        assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=r"objective\.equivariance is 0, so the move would have no effect"):
        SIEConfig(equivariance=0.0)
    with pytest.raises(UserError, match=r"objective\.width is 0"):
        SIEConfig(width=0)
    with pytest.raises(UserError, match="sie splits embeddings in halves, but they have 1 dimension"):
        SIEConfig().build(1)
    assert SIEConfig(ssl=0.0).separates
    assert not SIEConfig(ssl=0.0, variance=0.0).separates
    assert SIEConfig().kinds(["2d", "3d"]) == ("2d", "3d")
    assert SIEConfig().build(7).halves == (4, 3)


def test_few_pairs() -> None:
    check_few_pairs("sie")


def test_two_processes_equal_one(tmp_path: Path) -> None:
    check_two_processes("sie", tmp_path)


def test_the_commands(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_adapts("sie", "sie_equivariance", tiny, tmp_path, monkeypatch)
