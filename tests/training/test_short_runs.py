"""The cost of short runs on small data sets: few checks, and no repeated pairs or frames. No test measures time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from lie_ssl.frames import FrameSet, PairSampler
from lie_ssl.frames.pairs import seen_instances
from lie_ssl.methods.features import embed_frames
from lie_ssl.training import checks, coordinates
from lie_ssl.training.checks import Checks, distinct_pairs, validation_pairs
from lie_ssl.training.config import LogConfig, kinds_of
from lie_ssl.training.coordinates import read_coordinates, store_coordinates
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import rows, tiny_run

PLAIN = LogConfig(every=1, tensorboard=False)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of frames in each call of `embed_frames` for the coordinates."""
    counts: list[int] = []

    def counted(encoder: nn.Module, frames: FrameSet, indices: np.ndarray) -> torch.Tensor:
        counts.append(len(indices))
        assert len(set(indices.tolist())) == len(indices)
        return embed_frames(encoder, frames, indices)

    monkeypatch.setattr(coordinates, "embed_frames", counted)
    return counts


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of frames in each call of `FrameSet.read`."""
    counts: list[int] = []
    original = FrameSet.read

    def spied(self: FrameSet, indices: np.ndarray) -> np.ndarray:
        counts.append(len(indices))
        return original(self, indices)

    monkeypatch.setattr(FrameSet, "read", spied)
    return counts


def test_a_short_run_checks_once_and_reads_little(
    tiny: FrameSet, tmp_path: Path, encoded: list[int], read: list[int]
) -> None:
    seen = seen_instances(tiny.index, "train", 0.5)
    varied = np.concatenate([k for i in seen for k in i.kinds])
    totals = {}
    for arm in ("alone", "lie"):
        read.clear()
        run = pretrain(replace(tiny_run(tiny, "mae", arm, optim__steps=3), log=PLAIN), tmp_path / arm)
        totals[arm] = sum(read)
        assert [row["step"] for row in rows(run / "checks.csv")] == ["3"]
    assert sum(encoded) <= len(varied)
    t, delta = read_coordinates(tmp_path / "lie")
    assert len(t) == len(delta) == distinct_pairs(seen) < coordinates.MAX_PAIRS
    # In addition to the frames of the method alone: those of coordinates, calibration and validation pairs.
    own = Checks(tiny, 8, 0.5, seed=0)
    assert own.pairs is not None
    pairs = len(own.pairs) * own.pairs.batch_size
    assert totals["lie"] - totals["alone"] <= len(varied) + 2 * len(seen) + 2 * pairs


def test_validation_pairs_are_distinct(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tiny.index[(tiny.index["split"] == "validation") & tiny.index["duplicate_of"].isna()]
    seen = seen_instances(own[own["pose"] == "2d"], "validation", 0.5)
    distinct = distinct_pairs(seen)
    assert distinct == sum(n * (n - 1) for n in own[own["pose"] == "2d"].groupby(["class", "instance"]).size())
    sampler = validation_pairs(own, 8, 0.5, 0, 0, 1)
    assert sampler is not None
    assert sampler.passes * len(sampler.instances) <= distinct < checks.PAIRS
    monkeypatch.setattr(checks, "PAIRS", distinct - 1)  # a data set above the cap
    large = validation_pairs(own, 8, 0.5, 0, 0, 1)
    assert large is not None
    assert large.passes == round((distinct - 1) / len(seen))


@pytest.mark.parametrize("arm", ["lie", "literal"])
def test_a_data_set_above_the_cap_has_the_same_pairs_as_before(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: str
) -> None:
    most = 100
    monkeypatch.setattr(coordinates, "MAX_PAIRS", most)
    config = tiny_run(tiny, "mae", arm)
    seen = seen_instances(tiny.index, "train", config.diverse)
    assert distinct_pairs(seen) > most
    sampler = PairSampler(
        tiny.index, batch_size=256, seed=config.seed, diverse=config.diverse, singles=False, drop_last=False,
        passes=-(-most // sum(bool(i.kinds) for i in seen)), kinds=kinds_of(config, tiny),
    )  # fmt: skip
    model = build_model(config, tiny.size, tiny.channels, sampler.deltas.factors)
    store_coordinates(tmp_path, model, tiny, config)
    t, delta = read_coordinates(tmp_path)
    (batch,) = list(sampler)  # as before: every frame once per pair
    z, z_next = embed_frames(model.method.encoder, tiny, np.concatenate([batch.first, batch.second])).chunk(2)
    assert model.operator is not None
    expected = torch.from_numpy(batch.delta)
    assert torch.equal(delta, expected[:most])
    with torch.no_grad():
        assert torch.allclose(t, model.operator.infer(z, z_next, expected)[:most], atol=1e-5)
