"""Turntable poses, and several factors of variation at once, in all commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet, PairSampler, make_frames
from lie_ssl.protocol.results import read_results
from tests.conftest import tiny_config
from tests.training.tiny_runs import few_pairs, flags

SMALL = [
    "--classes", "car", "mug", "--instances", "8", "--step", "60", "--size", "16", "--validation", "0.2", "--test",
    "0.2", "--workers", "1",
]  # fmt: skip
OTHERS = ("readout_", "rotation_", "upright_", "predicted_", "symmetric_")  # of metrics that do not apply here
QUICK = ["--probe.steps", "10", "--probe.batch", "16", "--finetune.steps", "0", "--proportions", "0.25", "0.5"]


def run_and_evaluate(frames: FrameSet, folder: Path, method: str) -> dict[str, object]:
    """Trains Lie for three steps, evaluates it, and returns the card of the run."""
    main(["pretrain", method, "lie", *flags(frames, folder, "--optim.steps", "3", "--optim.batch", "4")])
    main(["evaluate", str(folder), *QUICK])
    card: dict[str, object] = json.loads((folder / "card.json").read_text())
    return card


def test_turntable_poses(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    few_pairs(monkeypatch)
    data, run = tmp_path / "d", tmp_path / "run"
    main(["data", "make", "small", "--out", str(data), *SMALL, "--poses", "2d", "3d", "yaw"])
    frames = FrameSet(data)
    assert frames.card["config"]["poses"] == ["2d", "3d", "yaw"]
    main(["data", "show", str(data)])
    assert "Pose (2d, 3d, yaw)" in capsys.readouterr().out
    assert (data / "figures" / "poses_yaw.png").is_file()
    card = run_and_evaluate(frames, run, "mae")
    assert card["factors"] == ["2d", "3d", "yaw"]
    results, _ = read_results(run / "evaluation")
    for table in (results.accuracy, results.curve, results.equivariance):
        assert set(table["poses"]) == {"2d", "3d", "yaw"}
    yaw = results.equivariance.query("poses == 'yaw'")
    optional = [name for name in yaw.columns.astype(str) if name.startswith(OTHERS)]
    assert yaw.drop(columns=optional).notna().all(axis=None)
    main(["report", str(run), "--out", str(tmp_path / "r.html"), "--files", str(tmp_path / "files")])
    assert "turntable poses" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "files" / "figures" / "bars_linear_yaw.png").is_file()
    headline = (tmp_path / "files" / "tables" / "headline_accuracy.md").read_text()
    assert "linear, unknown object, turntable" in headline


def test_factors_vary_together_with_the_pose(tmp_path: Path) -> None:
    ranges = {"hue": (0.0, 180.0), "light": (-60.0, 60.0), "scale": (0.6, 1.0), "elevation": (-10.0, 20.0)}
    config = tiny_config(poses=("2d", "yaw"), instances=4, step=20.0, repeats=2, ranges=ranges)
    index = make_frames(config, tmp_path / "d", workers=1).index
    sampler = PairSampler(index, batch_size=6, passes=60, singles=False)
    assert sampler.deltas.factors == ("pose", "elevation", "light", "hue", "scale")
    batches = list(sampler)
    delta = np.concatenate([batch.delta for batch in batches])
    assert (delta[:, 1:] != 0).all()
    first, second = (np.concatenate([getattr(b, name) for b in batches]) for name in ("first", "second"))
    same_angle = index["angle"].loc[first].to_numpy() == index["angle"].loc[second].to_numpy()
    assert ((delta[:, 0] == 0) == same_angle).all()  # the two repeats of one pose
    assert same_angle.mean() < 0.1
    assert np.abs(np.corrcoef(delta.T) - np.eye(5)).max() < 0.25  # drawn independently of each other


def test_several_factors_are_learned_and_evaluated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    data, run = tmp_path / "d", tmp_path / "run"
    factors = ["--hue", "0", "180", "--light", "-60", "60", "--no-clay", "--no-grey"]
    main(["data", "make", "small", "--out", str(data), *SMALL, "--poses", "2d", "--repeats", "2", *factors])
    card = run_and_evaluate(FrameSet(data), run, "vicreg")
    assert card["factors"] == ["2d", "light", "hue"]
    assert card["finished"]
    results, _ = read_results(run / "evaluation")
    assert set(results.accuracy["poses"]) == {"2d"}
    assert results.accuracy["top1"].between(0, 100).all()
    assert results.equivariance[["mrr", "relative_error", "pose_r2"]].notna().all(axis=None)
