"""Evaluations of adapted encoders: by the identity part, and of the frozen encoder beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet, make_frames
from lie_ssl.methods.adapted import IDENTITY, AdaptConfig
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.extractor import FeatureConfig
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.results import evaluate_frozen, evaluate_run, read_results, subject_of
from lie_ssl.protocol.schema import CROSSTALK
from lie_ssl.render.view import RenderSettings
from lie_ssl.training.adapting import adapt_config
from lie_ssl.training.banked import stored_features
from lie_ssl.training.loading import load
from lie_ssl.training.pretrained import from_pretrained
from lie_ssl.training.run import pretrain
from tests.training.adapted_runs import tiny_adapted
from tests.training.tiny_runs import few_pairs

CONFIG = EvaluateConfig(
    proportions=(0.5,), probe=ProbeConfig(steps=5, rates=(0.1,), optimisers=("adamw",)),
    finetune=FinetuneConfig(steps=0), pairs=1, limit=20, part="identity",
)  # fmt: skip


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("banks")


@pytest.fixture(scope="module")
def runs(tiny: FrameSet, banks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        yield {arm: pretrain(tiny_adapted(tiny, banks, arm), folder / arm) for arm in ("lie", "frames")}


def context(run: Path, tiny: FrameSet, config: EvaluateConfig = CONFIG) -> Context:
    loaded = load(run)
    assert loaded.config is not None
    frames = stored_features(loaded.config.encoder, loaded.config, tiny, None)
    return Context(subject_of(run, loaded), frames, config, Features(loaded.encoder, frames))


def accuracies(context: Context) -> list[Any]:
    return [row["top1"] for name in ("linear", "knn") for table, row in PHASES[name].value(context)
            if table.name == "accuracy"]  # fmt: skip


def test_classifiers_see_the_identity_part_only(runs: dict[str, Path], tiny: FrameSet) -> None:
    found = context(runs["lie"], tiny)
    rows = np.arange(6)
    assert found.recognised_dim == IDENTITY
    assert torch.equal(found.recognised(rows), found.features(rows)[:, :IDENTITY])
    before = accuracies(found)
    spoilt = context(runs["lie"], tiny)
    features = spoilt.features

    class Spoilt:
        """The same embeddings with noise in the moved part."""

        def __call__(self, rows: Any) -> torch.Tensor:
            z = features(rows).clone()
            z[:, IDENTITY:] = 1000 * torch.randn(z[:, IDENTITY:].shape)
            return z

    spoilt.features = Spoilt()  # type: ignore[assignment]
    assert accuracies(spoilt) == before
    whole = context(runs["lie"], tiny, replace(CONFIG, part="whole"))
    assert whole.recognised_dim == IDENTITY + 96
    frames = context(runs["frames"], tiny)
    assert frames.recognised_dim == frames.subject.encoder.dim  # there is no identity part without an operator


def test_classifiers_of_the_identity_part_are_not_finetuned() -> None:
    for wrong in ({"options": (1, 2)}, {"finetune": FinetuneConfig(steps=1)}):
        with pytest.raises(UserError, match=r"need --options 1 and --finetune.steps 0"):
            replace(CONFIG, **wrong)
    with pytest.raises(UserError, match="part is 'u', but it must be one of whole, identity"):
        replace(CONFIG, part="u")  # type: ignore[arg-type]


def test_a_run_is_evaluated_by_stored_features(
    runs: dict[str, Path], tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    original = FrameSet.read

    def counted(self: FrameSet, rows: Any) -> Any:
        read.extend(int(row) for row in rows)
        return original(self, rows)

    monkeypatch.setattr(FrameSet, "read", counted)
    results = evaluate_run(runs["lie"], CONFIG, tmp_path / "evaluation")
    assert set(read) == {0}  # only to check that the bank is that of the encoder
    assert results.equivariance["align_median"].notna().any()
    assert set(results.accuracy["method"]) == {"resnet_mini"}
    again, card = read_results(tmp_path / "evaluation")
    assert card["run"]["dim"] == IDENTITY + 96
    assert len(again.accuracy) == len(results.accuracy)


def test_the_frozen_encoder(tiny: FrameSet, tmp_path: Path) -> None:
    """By the features on which heads are trained."""
    config = replace(
        adapt_config(EncoderConfig("resnet_mini"), "frozen"), data=str(tiny.folder),
        adapt=AdaptConfig(FeatureConfig(layers=())),
    )  # fmt: skip
    results = evaluate_frozen(config, CONFIG, tmp_path / "frozen")
    _, card = read_results(tmp_path / "frozen")
    assert (card["method"], card["arm"], card["run"]) == ("resnet_mini", "frozen", None)
    assert set(results.accuracy["arm"]) == {"frozen"}
    assert results.accuracy["top1"].between(0, 100).all()


def test_several_factors_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pose, hue and scale vary together: the run knows their ranges, and the evaluation has a table of cross-talk."""
    few_pairs(monkeypatch)
    ranges = {"hue": (-180.0, 180.0), "scale": (0.5, 1.0)}
    config = DataConfig(
        classes=("chair", "mug"), instances=8, step=60.0, poses=("2d",), ranges=ranges, validation=0.2, test=0.25,
        render=RenderSettings(size=16, supersample=1),
    )  # fmt: skip
    frames = make_frames(config, tmp_path / "data", workers=1)
    run = pretrain(tiny_adapted(frames, tmp_path / "banks"), tmp_path / "run")
    loaded = load(run)
    index = frames.index
    reach = float(np.log(index["scale"].max() / index["scale"].min()))
    assert loaded.factors == ("2d", "hue", "scale")
    assert loaded.reaches == pytest.approx((np.pi, np.pi, reach))
    assert loaded.operator is not None
    speeds = loaded.operator.algebras[2].get_parameter("speed").detach()
    assert float(speeds.min()) == pytest.approx(np.pi / 4 / reach)
    saved = from_pretrained(loaded.save_pretrained(tmp_path / "saved"))
    z = torch.randn(4, loaded.encoder.dim)
    assert saved.reaches == loaded.reaches
    assert torch.equal(saved.pose(z, z.flip(0), "scale").value, loaded.pose(z, z.flip(0), "scale").value)
    evaluate_run(run, CONFIG, tmp_path / "evaluation")
    table = read_results(tmp_path / "evaluation")[0].others["crosstalk"]
    keys = ["instances", "factor", "other"]
    names = ("2d", "hue", "scale")
    assert list(table[keys].itertuples(index=False, name=None)) == [
        (i, a, b) for i in ("known", "unknown") for a in names for b in names if a != b
    ]
    assert list(table.columns) == CROSSTALK.names
    evaluate_run(run, replace(CONFIG, metrics=("alignment",)), tmp_path / "evaluation")
    assert not (tmp_path / "evaluation" / "crosstalk.csv").exists()
    assert not read_results(tmp_path / "evaluation")[0].others
