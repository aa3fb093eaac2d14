"""The checks of a run: the frames they read, reproducibility, and messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.methods.features import embed_frames
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.training.checks import Checks
from lie_ssl.training.model import build_model
from lie_ssl.training.run import pretrain
from tests.conftest import tiny_config
from tests.training.tiny_runs import Notes, few_pairs, rows, tiny_run


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)


@pytest.fixture
def model(tiny: FrameSet) -> PairModel:
    return build_model(tiny_run(tiny, "simclr", "lie"), tiny.size, 3)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows that are read, in order."""
    seen: list[int] = []
    original = FrameSet.read

    def spied(self: FrameSet, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        seen.extend(int(row) for row in rows)
        return original(self, rows)

    monkeypatch.setattr(FrameSet, "read", spied)
    return seen


def test_only_training_and_validation_frames_are_read(tiny: FrameSet, model: PairModel, read: list[int]) -> None:
    checks = Checks(tiny, 8, 0.5, seed=0)
    checks.run(model)
    splits = tiny.index["split"]
    assert set(splits[checks.queries]) == {"validation"}
    assert set(splits[checks.bank]) == {"train"}
    assert set(splits[read]) == {"train", "validation"}
    assert set(checks.queries) | set(checks.bank) <= set(read)
    distinct = tiny.index[(splits == "validation") & tiny.index["duplicate_of"].isna()]
    assert set(checks.queries) == set(distinct.index)
    others = sorted(set(read) - set(checks.bank) - set(checks.queries))
    assert others == []  # the pairs are of validation instances too
    pairs = [row for row in read if splits[row] == "validation"]
    assert len(pairs) > len(checks.queries)


def test_the_bank_only_contains_frames_of_training(tiny: FrameSet) -> None:
    checks = Checks(tiny, 8, 0.25, seed=0)
    own = tiny.index.loc[checks.bank]
    poses = own.groupby(["class", "instance"]).size()
    ranks = own.groupby(["class", "instance"])["diverse_rank"].first()
    diverse = ranks < 2  # a quarter of six training instances, 1.5, counts as two
    assert bool((poses[~diverse] == 1).all())
    assert bool((poses[diverse] > 1).all())


def test_every_check_uses_the_same_frames(tiny: FrameSet, model: PairModel, read: list[int]) -> None:
    checks = Checks(tiny, 8, 0.5, seed=0)
    first = checks.run(model)
    once = list(read)
    read.clear()
    second = checks.run(model)
    assert read == once
    assert first == second
    again = Checks(tiny, 8, 0.5, seed=0)
    assert again.run(model) == first
    assert model.training
    assert all(bool(torch.isfinite(torch.tensor(v))) for v in first.values())


def test_knn_agrees_with_a_manual_vote(tiny: FrameSet, model: PairModel) -> None:
    checks = Checks(tiny, 8, 0.5, seed=0)
    bank, queries = (
        torch.nn.functional.normalize(embed_frames(model.method.encoder, tiny, part).double(), dim=1)
        for part in (checks.bank, checks.queries)
    )
    hits = 0
    for z, row in zip(queries, checks.queries, strict=True):
        cosines = bank @ z
        votes = dict.fromkeys(tiny.classes, 0.0)
        for i in cosines.argsort(descending=True)[:20].tolist():
            votes[tiny.classes[tiny.labels[checks.bank[i]]]] += float(torch.exp(cosines[i] / 0.07))
        hits += max(votes, key=lambda name: votes[name]) == tiny.index["class"][row]
    assert checks.run(model)["knn"] == pytest.approx(hits / len(queries), abs=1e-6)


def test_a_check_does_not_change_the_model(tiny: FrameSet, model: PairModel) -> None:
    before = {k: v.clone() for k, v in model.state_dict().items()}
    model.train()
    Checks(tiny, 8, 0.5, seed=0).run(model)
    changed = {k for k, v in model.state_dict().items() if not torch.equal(v, before[k])}
    assert changed == {"objective.loss.operator.centre"}  # which the check updates


@pytest.mark.parametrize(
    "changes", [{"validation": 0.0}, {"classes": ("car",), "instances": 16}], ids=["no validation", "one class"]
)
def test_without_validation_or_with_one_class_there_is_no_knn(tmp_path: Path, changes: dict[str, object]) -> None:
    frames = make_frames(tiny_config(**changes), tmp_path / "data", workers=1)
    out = pretrain(tiny_run(frames, "simclr", "lie", optim__batch=4, optim__steps=2), tmp_path / "run")
    (row,) = rows(out / "checks.csv")
    assert "knn" not in row
    assert "relative_error" in row
    base = pretrain(tiny_run(frames, "simclr", "alone", optim__batch=4, optim__steps=1), tmp_path / "alone")
    assert not (base / "checks.csv").exists()
    assert (base / "best.ckpt").exists()


def test_a_single_validation_instance_gives_no_pairs(tmp_path: Path) -> None:
    """There is no other instance to distinguish it from."""
    frames = make_frames(tiny_config(classes=("car",)), tmp_path / "data", workers=1)
    checks = Checks(frames, 8, 0.5, seed=0)
    assert checks.pairs is None
    assert checks.run(build_model(tiny_run(frames, "simclr", "lie"), frames.size, 3)) == {}


def test_diagnostics_are_logged_and_a_collapse_is_reported(tiny: FrameSet, tmp_path: Path) -> None:
    """Tiny generators that hardly learn move nothing."""
    sound, still = Notes(), Notes()
    pretrain(tiny_run(tiny, "simclr", "lie", optim__steps=1), tmp_path / "sound", sound)
    assert not any("warning" in text for text in sound.messages)
    config = tiny_run(
        tiny, "simclr", "lie", optim__steps=2, optim__operator_lr=1e-9, log__check_every=1,
        objective__operator__scale=1e-9, objective__operator__frequencies=(),
    )  # fmt: skip
    out = pretrain(config, tmp_path / "still", still)
    found = rows(out / "checks.csv")
    assert [r["step"] for r in found] == ["1", "2"]
    names = ("knn", "validation_lie", "validation_invariant", "relative_error", "movement", "t_norm", "closure_error")
    assert all(np.isfinite(float(r[name])) for r in found for name in names)
    assert float(found[-1]["movement"]) < 0.02
    warnings = [text for text in still.messages if text.startswith("warning: ")]
    assert len(warnings) == 2
    assert "has collapsed to the identity" in warnings[0]
    assert any("k-NN on validation" in text and "operator error 1.00 (identity: 1)" in text for text in still.messages)
