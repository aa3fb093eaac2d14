"""Predictor against loops, and its target head: when it moves, where it is kept, and that no gradient reaches it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.objectives import Pairs
from lie_ssl.objectives.predictor import PredictorConfig
from lie_ssl.training.run import pretrain
from tests.objectives.told_moves import (
    batch,
    check_adapts,
    check_few_pairs,
    check_two_processes,
    cosine,
    frames_share,
    made,
    naive_features,
    naive_layers,
)
from tests.training.adapted_runs import tiny_adapted
from tests.training.tiny_runs import Notes, StopError, checkpoint, differences, few_pairs

TARGET = "target.layers.0.weight"


def constant(module: Any) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in module.named_buffers()}


def naive_targets(objective: Any, x: Tensor) -> Tensor:
    """The target head, whose weights are buffers, with the statistics of the batch."""
    kept = constant(objective.target)
    hidden = x @ kept["layers.0.weight"].T
    mean, variance = hidden.mean(dim=0), hidden.var(dim=0, unbiased=False)
    hidden = (hidden - mean) / (variance + 1e-5).sqrt() * kept["layers.1.weight"] + kept["layers.1.bias"]
    return hidden.clamp_min(0) @ kept["layers.3.weight"].T + kept["layers.3.bias"]


def naive(objective: Any, pairs: Pairs) -> Tensor:
    """Both directions, pair by pair, with constant targets."""
    rows = len(pairs.z)
    with torch.no_grad():
        targets = naive_targets(objective, torch.cat([pairs.z_next, pairs.z]))
    y = naive_layers(torch.cat([pairs.z, pairs.z_next]), objective.projector.layers)
    code = torch.stack([
        objective.code.weight @ g + objective.code.bias
        for g in naive_features(torch.cat([pairs.delta, -pairs.delta]))
    ])  # fmt: skip
    predicted = naive_layers(torch.cat([y, code], dim=1), objective.predictor.layers)
    total = pairs.z.new_zeros(())
    for i in range(rows):
        there, back = cosine(predicted[i], targets[i]), cosine(predicted[rows + i], targets[rows + i])
        total = total + (2 - there - back) / 2 / rows
    return total


def moved(**settings: float) -> Any:
    """An objective whose target head differs from its projector."""
    objective = made("predictor", **settings)
    with torch.no_grad():
        for name, value in objective.target.named_buffers():
            if name.endswith(("weight", "bias")):
                value.add_(torch.rand_like(value))
    return objective


def test_the_loss_and_the_gradient_are_those_of_loops() -> None:
    """The gradient of z' too: no part of it comes through the target."""
    objective, pairs = moved(cosine=2.0, contrast=0.5), batch()
    found: list[Tensor] = []
    wanted: list[Tensor] = []
    for out, compute in ((wanted, naive), (found, lambda o, p: o(p).terms["cosine"])):
        z, z_next = (x.clone().requires_grad_() for x in (pairs.z, pairs.z_next))
        loss = compute(objective, pairs._replace(z=z, z_next=z_next))
        out += [loss.detach(), *torch.autograd.grad(loss, (z, z_next))]
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-8, atol=1e-11)
    again = moved(cosine=2.0, contrast=0.5)
    total = 2 * wanted[0].item() + 0.5 * frames_share(again, pairs)
    assert again(pairs).total.item() == pytest.approx(total, rel=1e-9)


def test_no_gradient_reaches_the_target() -> None:
    """Targets are constant, and the target head has no parameters."""
    objective, pairs = moved(contrast=0.0), batch()
    z_next = pairs.z_next.clone().requires_grad_()
    assert not objective._targets(pairs.z, z_next).requires_grad
    names = {name for name, _ in objective.named_parameters()}
    assert not any(name.startswith("target") for name in names)
    objective(pairs).total.backward()
    assert all(p.grad is not None for p in objective.parameters())


def test_the_target_starts_as_the_projector() -> None:
    objective = PredictorConfig(width=5).build(6)
    target: Any = objective.target
    for name, weight in objective.projector.named_parameters():  # type: ignore[union-attr]
        assert torch.equal(target.get_buffer(name), weight)
        assert target.get_buffer(name).data_ptr() != weight.data_ptr()


def test_the_target_moves_in_training_only() -> None:
    objective, pairs = moved(momentum=0.9), batch()
    before = constant(objective.target)
    loss = objective.eval()(pairs).terms["cosine"]
    assert all(torch.equal(before[name], value) for name, value in objective.target.named_buffers())
    assert objective(pairs).terms["cosine"] == loss
    objective.train()(pairs)
    for name, weight in objective.projector.named_parameters():
        wanted = 0.9 * before[name] + 0.1 * weight.detach()
        torch.testing.assert_close(objective.target.get_buffer(name), wanted, rtol=1e-12, atol=1e-12)
    still = moved(momentum=1.0)
    before = constant(still.target)
    still(pairs)
    assert torch.equal(still.target.get_buffer("layers.0.weight"), before["layers.0.weight"])


def test_the_target_is_in_the_state() -> None:
    objective, pairs = moved(), batch()
    objective(pairs)
    other = made("predictor")
    assert TARGET in objective.state_dict()
    assert not torch.equal(other.state_dict()[TARGET], objective.state_dict()[TARGET])
    other.load_state_dict(objective.state_dict())
    for each in (objective, other):
        each(pairs)
    assert differences(objective.state_dict(), other.state_dict()) == []
    assert objective(pairs).total == other(pairs).total


def test_a_resumed_run_is_identical(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    config = tiny_adapted(tiny, tmp_path / "banks", "predictor", log__save_every=2)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "broken", Notes(stop=3))
    runs = [pretrain(config, tmp_path / name) for name in ("broken", "whole")]
    states = [checkpoint(run / "last.ckpt")["state_dict"] for run in runs]
    assert differences(*states) == []
    name = f"model.objective.{TARGET}"
    assert not torch.equal(states[0][name], states[0][name.replace("target", "projector")])


def test_settings() -> None:
    for settings, message in (
        ({"cosine": 0.0}, r"objective\.cosine is 0, so the move would have no effect"),
        ({"cosine": -1.0}, r"objective\.cosine is -1"),
        ({"contrast": -1.0}, r"objective\.contrast is -1"),
        ({"temperature": 0.0}, r"objective\.temperature is 0"),
        ({"width": 0}, r"objective\.width is 0"),
        ({"momentum": 1.5}, r"objective\.momentum is 1.5, but it must lie in \[0, 1\]"),
    ):
        with pytest.raises(UserError, match=message) as error:
            PredictorConfig(**settings)
        assert "\n" not in str(error.value)
    assert PredictorConfig(ssl=0.0).separates
    assert not PredictorConfig(ssl=0.0, contrast=0.0).separates
    assert PredictorConfig().kinds(["2d", "3d"]) == ("2d", "3d")


def test_few_pairs() -> None:
    check_few_pairs("predictor")


def test_two_processes_equal_one(tmp_path: Path) -> None:
    check_two_processes("predictor", tmp_path)


def test_the_commands(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_adapts("predictor", "cosine", tiny, tmp_path, monkeypatch)
