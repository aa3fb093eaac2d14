"""u predicts the published features of the other frame: against the formula, over processes, and in a run."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lie_ssl.contrast.gather import JoinedBatch
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.adapted import AdaptConfig, Head
from lie_ssl.objectives import objective_config
from lie_ssl.objectives.prediction import FeaturePrediction
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from lie_ssl.training.sampling import pair_sampler, shows_singles
from tests.training.adapted_runs import tiny_adapted
from tests.training.tiny_runs import tiny_run

PAIRS, IDENTITY, TARGETS = 6, 5, 4


def test_the_error_is_the_mean_over_both_directions() -> None:
    torch.manual_seed(0)
    prediction = FeaturePrediction(IDENTITY, TARGETS)
    u, u_next = torch.randn(2, PAIRS, IDENTITY)
    y, y_next = torch.randn(2, PAIRS, TARGETS)
    wanted = 0.0
    for i in range(PAIRS):
        for source, target in ((u[i], y_next[i]), (u_next[i], y[i])):
            error = prediction.linear.weight @ source + prediction.linear.bias - target
            wanted += float((error**2).sum().detach()) / (2 * PAIRS * TARGETS)
    assert float(prediction(u, u_next, y, y_next).detach()) == pytest.approx(wanted, rel=1e-5)


def test_the_shares_of_processes_average_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    prediction = FeaturePrediction(IDENTITY, TARGETS)
    batch = [torch.randn(PAIRS, n) for n in (IDENTITY, IDENTITY, TARGETS, TARGETS)]
    whole = prediction(*batch).detach()
    shares = []
    for rank, rows in enumerate((slice(0, 4), slice(4, PAIRS))):
        monkeypatch.setattr(JoinedBatch, "of", lambda rows, device, rank=rank: JoinedBatch((4, 2), rank))
        shares.append(prediction(*(x[rows] for x in batch)).detach())
    torch.testing.assert_close(sum(shares) / 2, whole)


def test_the_best_prediction_from_one_frame_is_the_mean_of_its_object() -> None:
    """A linear map that is fitted to pairs predicts the mean over the frames of an object, which no pair shows."""
    random = torch.Generator().manual_seed(0)
    objects, frames = 40, 60
    identity = torch.eye(objects).repeat_interleave(frames, dim=0)  # u says which object it is
    y = torch.randn(objects, 1, TARGETS, generator=random) + torch.randn(objects, frames, TARGETS, generator=random)
    y_next = y[:, torch.randperm(frames, generator=random)]
    means, y, y_next = y.mean(dim=1), y.flatten(0, 1), y_next.flatten(0, 1)
    prediction = FeaturePrediction(objects, TARGETS)
    optimiser = torch.optim.LBFGS(prediction.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        found = prediction(identity, identity, y, y_next)
        found.backward()
        return found

    optimiser.step(loss)
    torch.testing.assert_close(prediction.linear(torch.eye(objects)).detach(), means, atol=1e-3, rtol=0)


def test_targets_have_unit_size_and_do_not_change_while_the_head_learns() -> None:
    torch.manual_seed(0)
    slices = {"pooled": slice(0, 5), "layer3": slice(5, 12)}
    head = Head(slices, 12, 8, AdaptConfig(hidden=16, components=8, linear=True))
    x = 3 * torch.randn(200, 12) + 1
    head.standardise(x.mean(dim=0), x.std(dim=0))
    head.reduce(x)
    head.scale_down(torch.randn(300, 12), x)
    before = head.targets(x)
    assert float(before.square().mean()) == pytest.approx(1, rel=1e-4)
    assert before.shape == (200, head.target_count)
    torch.testing.assert_close(head.targets(torch.cat([x, head.components(x)], dim=1)), before)
    assert head.identity is not None
    for parameter in head.identity.parameters():
        torch.nn.init.zeros_(parameter)
    assert torch.equal(head.targets(x), before)
    assert "whitening" not in head.state_dict()  # runs do not store what every start computes


@pytest.mark.parametrize(("name", "weight"), [("frames", 20.0), ("lie", 20.0), ("lie_off", 20.0), ("literal", 0.0)])
def test_on_an_adapted_encoder_every_u_learns_alike(name: str, weight: float) -> None:
    """The group of `literal` acts on all of z, so nothing of it could be the same in both frames."""
    config = objective_config(name).adapted()
    assert (config.predict, config.singles, objective_config(name).predict) == (weight, False, 0.0)


def test_a_run_reports_the_error_and_shows_pairs_only(tiny: FrameSet, tmp_path: Path) -> None:
    config = tiny_adapted(tiny, tmp_path / "banks", "frames")
    assert config.objective.predict > 0
    sampler = pair_sampler(config, tiny)
    assert all(instance.kinds for instance in sampler.instances)
    assert next(iter(sampler)).paired.all()
    out = pretrain(config, tmp_path / "run")
    with (out / "metrics.csv").open(newline="") as file:
        errors = [float(row["predict"]) for row in csv.DictReader(file) if row.get("predict")]
    assert errors
    assert all(0 < error < 10 for error in errors)


def test_instances_in_one_pose_are_shown_where_a_loss_needs_them(tiny: FrameSet, tmp_path: Path) -> None:
    config = tiny_adapted(tiny, tmp_path / "banks", "frames")
    assert not shows_singles(config)
    for changes in ({"singles": True}, {"ssl": 1.0}):
        assert shows_singles(replace(config, objective=replace(config.objective, **changes)))
    assert shows_singles(tiny_run(tiny, "simclr", "lie"))


def test_without_a_linear_path_there_is_nothing_to_predict(tiny: FrameSet) -> None:
    config = tiny_run(tiny, "simclr", "frames")
    config = replace(config, objective=replace(config.objective, predict=1.0))
    with pytest.raises(UserError, match=r"objective\.predict needs an adapted encoder"):
        build_model(config, tiny.size, tiny.channels)
