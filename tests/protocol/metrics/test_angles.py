"""Angles read by the operator and by a network, against independent computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.objectives._operator import unit_rotations
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.context import Context, MoveTest, Subject
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.metrics.alignment import alignment, angle_summary
from lie_ssl.protocol.metrics.readout import readout
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.readout import ReadoutConfig, angle_errors, train_readout

FIXED, FACTORS = 80, ("2d", "3d")  # of 128 dimensions, 24 for each factor
CONFIG = EvaluateConfig(
    proportions=(0.5,), probe=ProbeConfig(steps=1), finetune=FinetuneConfig(steps=0), pairs=4, limit=10,
    readout=ReadoutConfig(steps=20, batch=16, hidden=16, components=30),
)  # fmt: skip


@pytest.fixture(scope="module")
def context(tiny: FrameSet) -> Context:
    torch.manual_seed(0)
    encoder = create_encoder(EncoderConfig("resnet_mini"), 16, 3)
    operator = replace(unit_rotations(), fixed=FIXED).build(128, FACTORS)
    encoder.output = operator.normalisation()
    subject = Subject(encoder, "resnet", "lie", operator=operator, factors=FACTORS)
    return Context(subject, tiny, CONFIG, Features(encoder, tiny))


def whole_tests(context: Context) -> list[MoveTest]:
    return [tests[-1] for tests in context.move_tests()]


def summary(found: NDArray[np.float64], true: NDArray[np.float64]) -> list[float]:
    """Median, mean and percentage within 30, by complex numbers; angles in degrees."""
    errors = np.abs(np.degrees(np.angle(np.exp(1j * np.radians(found - true)))))
    return [float(np.median(errors)), float(errors.mean()), float(100 * (errors <= 30).mean())]


def true_angles(context: Context, test: MoveTest) -> NDArray[np.float64]:
    angle = context.frames.index["angle"].to_numpy(np.float64)
    difference: NDArray[np.float64] = angle[test.moves.target] - angle[test.moves.source]
    return difference


@torch.no_grad()
def test_alignment_against_a_fine_grid(context: Context) -> None:
    """The best of many turns; the distance is 1 - cos, as the share of each factor has length 1."""
    operator = context.subject.operator
    assert operator is not None
    grid = np.arange(-180, 180, 0.25)
    for test in whole_tests(context):
        factor = FACTORS.index(test.poses)
        own = slice(FIXED + 24 * factor, FIXED + 24 * (factor + 1))
        z, z_next = (operator.normalise(context.features(r)) for r in (test.moves.source, test.moves.target))
        distances = []
        for angle in grid:
            t = torch.zeros(len(z), 2)
            t[:, factor] = float(np.radians(angle))
            distances.append(((operator(z, t) - z_next)[:, own] ** 2).sum(dim=1) / 2)
        best = torch.stack(distances).min(dim=0)
        found = alignment(context, test)
        wanted = summary(grid[best.indices.numpy()], true_angles(context, test))
        assert [found["align_median"], found["align_mean"]] == pytest.approx(wanted[:2], abs=0.3)
        assert found["align_remaining"] == pytest.approx(float(best.values.mean()), abs=1e-4)
        assert 0 <= found["align_near"] <= 100


def test_alignment_of_a_true_group(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Embeddings that the group made of the frames' angles give an error of zero."""
    operator, index = context.subject.operator, context.frames.index
    assert operator is not None
    start = operator.normalise(torch.randn(1, 128, generator=torch.Generator().manual_seed(1)))

    def turned(rows: NDArray[np.int64]) -> torch.Tensor:
        t = torch.zeros(len(rows), 2)
        for factor, kind in enumerate(FACTORS):
            own = index["angle"].to_numpy(np.float64)[rows] * (index["pose"].to_numpy()[rows] == kind)
            t[:, factor] = torch.from_numpy(np.radians(own)).float()
        moved: torch.Tensor = operator(start.expand(len(rows), -1), t)
        return moved

    monkeypatch.setattr(context, "features", turned)
    for test in whole_tests(context):
        found = alignment(context, test)
        assert found["align_mean"] < 0.05
        assert found["align_near"] == 100
        assert found["align_remaining"] == pytest.approx(0, abs=1e-6)


def test_the_network_is_trained_once_and_measured_as_it_says(context: Context) -> None:
    for test in whole_tests(context):
        found = readout(context, test)
        network = context.readouts[test.poses]
        z, z_next = (context.features(r).numpy() for r in (test.moves.source, test.moves.target))
        x = [((a - network.mean.numpy()) @ network.basis.numpy()) / network.scale.numpy() for a in (z, z_next)]
        assert x[0].shape[1] == 30
        with torch.no_grad():
            cosine, sine = network.layers(torch.from_numpy(np.concatenate(x, axis=1))).numpy().T
        wanted = summary(np.degrees(np.arctan2(sine, cosine)), true_angles(context, test))
        assert [found[f"readout_{name}"] for name in ("median", "mean", "near")] == pytest.approx(wanted, abs=0.01)
        assert readout(context, test) == found
    assert set(context.readouts) == set(FACTORS)


def test_a_network_learns_what_can_be_read() -> None:
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 600)
    z = torch.from_numpy(np.stack([np.cos(angle), np.sin(angle), random.normal(size=600)], axis=1)).float()
    groups = list(np.arange(400).reshape(40, 10))
    a, b = np.arange(400, 500), np.arange(500, 600)
    network = train_readout(
        z, angle, groups, (z[a], z[b], angle[b] - angle[a]), ReadoutConfig(steps=300, batch=64, hidden=32, lr=1e-2)
    )
    assert summary(np.degrees(network.angles(z[a], z[b])), np.degrees(angle[b] - angle[a]))[0] < 5
    blind = torch.zeros_like(z)  # constant embeddings: an angle that is not there cannot be read, nor is it nan
    network = train_readout(blind, angle, groups, (blind[a], blind[b], angle[b] - angle[a]), ReadoutConfig(steps=5))
    assert np.isfinite(network.angles(blind[a], blind[b])).all()


def test_errors_go_around_the_circle() -> None:
    random = np.random.default_rng(0)
    found, true = random.uniform(-20, 20, (2, 1000))
    wanted = np.abs(np.degrees(np.angle(np.exp(1j * (found - true)))))
    np.testing.assert_allclose(angle_errors(found, true), wanted, atol=1e-9)
    assert list(angle_summary("x", wanted).values()) == pytest.approx(summary(np.degrees(found), np.degrees(true)))


def test_other_operators_and_settings_give_no_angles(context: Context, tiny: FrameSet) -> None:
    frames_only = Context(
        replace(context.subject, operator=None), tiny, replace(CONFIG, readout=None), context.features
    )  # fmt: skip
    for test in whole_tests(frames_only):
        assert alignment(frames_only, test) == readout(frames_only, test) == {}
