"""The whole protocol on tiny runs: from the command line, from Python, and the messages for mistakes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import embed_frames
from lie_ssl.protocol import features as protocol_features
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.evaluate import EvaluateConfig, Evaluation, Subject
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import DivergedError, FinetuneConfig, finetune
from lie_ssl.protocol.metrics import retrieval
from lie_ssl.protocol.phases import finetune as finetuning
from lie_ssl.protocol.phases import knn
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.results import evaluate_encoder, evaluate_run, read_results
from lie_ssl.protocol.settings import SETTINGS
from lie_ssl.training.export import export_run
from lie_ssl.training.run import pretrain
from tests.conftest import tiny_config
from tests.refusals import refusal
from tests.training.tiny_runs import differences, few_pairs, tiny_run

ACCURACY = "method,arm,phase,option,diverse,poses,setting,seed,top1"
EQUIVARIANCE = (
    "method,arm,poses,instances,part,seed,candidates,mrr,mrr_identity,mrr_transfer,hit1,hit5,relative_error,pose_r2,"
    "pose_degrees,constant_r2"
)
OTHERS = ("readout_", "rotation_", "upright_", "predicted_", "symmetric_")  # of metrics that do not apply here
SHORT = ["--probe.steps", "20", "--probe.batch", "32", "--finetune.steps", "0"]
QUICK = EvaluateConfig(probe=ProbeConfig(steps=10, batch=16), finetune=FinetuneConfig(steps=0))


@pytest.fixture(scope="module")
def runs(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        return {
            arm: pretrain(tiny_run(tiny, "simclr", arm, optim__steps=2, seed=3), folder / arm)
            for arm in ("lie", "alone")
        }


def evaluation(frames: FrameSet, config: EvaluateConfig = QUICK, **settings: Any) -> Evaluation:
    torch.manual_seed(0)
    encoder = create_encoder(EncoderConfig(name="resnet_mini"), 16, 3)
    subject = replace(Subject(encoder, "resnet", "alone"), **settings)
    return Evaluation(Context(subject, frames, config, Features(subject.encoder, frames)))


def test_a_run_with_an_operator(
    tiny: FrameSet, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tables"
    steps = ["--finetune.steps", "2", "--finetune.batch", "8", "--finetune.rates", "1e-3"]
    main(["evaluate", str(runs["lie"]), "--out", str(out), *SHORT[:4], *steps, "--options", "1", "2"])
    output = capsys.readouterr().out
    assert "linear evaluation: top-1" in output
    assert f"wrote {out}" in output
    assert (out / "accuracy.csv").read_text().splitlines()[0] == ACCURACY
    assert (out / "equivariance.csv").read_text().startswith(EQUIVARIANCE)
    results, card = read_results(out)
    accuracy = results.accuracy
    cells = accuracy.groupby(["phase", "option", "diverse"]).size()
    assert set(cells.index) == {
        *((phase, option, d) for phase in ("linear", "finetune") for option in (1, 2) for d in (5, 25, 50)),
        *(("knn", 1, d) for d in (5, 25, 50)),
    }
    assert (cells == 2 * len(SETTINGS)).all()
    assert set(accuracy["setting"]) == set(SETTINGS)
    assert accuracy["top1"].between(0, 100).all()
    assert set(accuracy["seed"]) == {3}
    typical = accuracy[accuracy["setting"].str.endswith("typical")]
    sides = typical.pivot_table(index=["phase", "option", "diverse", "setting"], columns="poses", values="top1")
    assert (sides["2d"] == sides["3d"]).all()
    equivariance = results.equivariance
    assert list(zip(equivariance["poses"], equivariance["instances"], equivariance["part"], strict=True)) == [
        (p, i, part) for p in ("2d", "3d") for i in ("known", "unknown") for part in ("moved", "whole")
    ]
    names = equivariance.columns.astype(str)
    optional = [name for name in names if name.startswith(OTHERS)]
    assert equivariance.drop(columns=optional).notna().all(axis=None)
    assert equivariance[optional].isna().all(axis=None)
    assert set(results.trials["phase"]) == {"linear", "finetune"}
    assert len(results.trials.query("phase == 'linear'")) == 2 * 3 * 14
    assert set(results.curve["setting"]) == {"known_new", "unknown_diverse"}
    assert (tiny.index.loc[results.predictions["row"], "class"].to_numpy() == results.predictions["class"]).all()
    assert card["pretraining"]["objective"]["name"] == card["arm"] == "lie"
    assert card["data"]["card_hash"] == tiny.card["card_hash"]
    assert EvaluateConfig().proportions == tuple(card["config"]["proportions"])


def test_the_curve_adds_up_to_the_accuracy(tiny: FrameSet) -> None:
    results = evaluation(tiny).run()
    keys = ["phase", "option", "diverse", "poses", "setting"]
    curve = results.curve.assign(correct=lambda c: c["top1"] * c["frames"])
    sums = curve.groupby(keys)[["correct", "frames"]].sum()
    whole = results.accuracy.set_index(keys)["top1"].loc[sums.index]
    np.testing.assert_allclose(sums["correct"] / sums["frames"], whole, rtol=1e-9)


def test_embeddings_are_cached_between_evaluations(runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs["alone"]
    calls: list[int] = []

    def counted(encoder: Encoder, frames: FrameSet, rows: np.ndarray) -> torch.Tensor:
        calls.append(len(rows))
        return embed_frames(encoder, frames, rows)

    monkeypatch.setattr(protocol_features, "embed_frames", counted)
    main(["evaluate", str(run), *SHORT])
    assert sum(calls) > 0
    folder = run / "evaluation"
    first = {p.name: p.read_bytes() for p in folder.glob("*.csv")}
    calls.clear()
    main(["evaluate", str(run), *SHORT])
    assert calls == []  # all embeddings were cached
    assert {p.name: p.read_bytes() for p in folder.glob("*.csv")} == first
    lines = first["equivariance.csv"].decode().splitlines()
    assert lines[0].startswith(EQUIVARIANCE)
    table = pd.read_csv(folder / "equivariance.csv")
    operators = table.loc[:, "candidates":"relative_error"]
    assert operators.shape == (4, 7)
    assert operators.isna().all(axis=None)
    assert table[["pose_r2", "pose_degrees", "constant_r2"]].notna().all(axis=None)
    main(["evaluate", str(run), *SHORT, "--which", "best", "--seed", "1"])
    assert (folder / "trials.csv").read_bytes() != first["trials.csv"]


@pytest.mark.parametrize("training", [True, False])
def test_encoders_stay_frozen(tiny: FrameSet, training: bool) -> None:
    tuning = FinetuneConfig(steps=1, batch=4, rates=(1e-2,))
    config = replace(QUICK, proportions=(0.5,), options=(1, 2), finetune=tuning)
    operator = LieOperator(128, 2)
    whole = evaluation(tiny, config, operator=operator, coordinates=torch.randn(20, 2))
    encoder = whole.context.subject.encoder.train(training)
    assert any("running_mean" in key for key in encoder.state_dict())
    before = {k: v.clone() for k, v in (encoder.state_dict() | operator.state_dict()).items()}
    whole.run()
    assert differences(before, encoder.state_dict() | operator.state_dict()) == []
    assert all(m.training is training for m in encoder.modules())


def test_test_labels_have_no_influence(tiny: FrameSet) -> None:
    """With other labels on all test frames, the chosen trials and the predictions are the same."""
    config = replace(QUICK, proportions=(0.5,), finetune=FinetuneConfig(steps=1, batch=4, rates=(1e-2, 1e-3)))
    plain = evaluation(tiny, config).run()
    other = FrameSet(tiny.folder)
    unknown = (other.index["split"] == "test").to_numpy()
    other.__dict__["labels"] = np.where(unknown, (tiny.labels + 1) % 3, tiny.labels)
    changed = evaluation(other, config).run()
    pd.testing.assert_frame_equal(plain.trials, changed.trials)
    pd.testing.assert_series_equal(plain.predictions["predicted"], changed.predictions["predicted"])
    of_unknown = plain.accuracy["setting"].str.startswith("unknown")
    pd.testing.assert_frame_equal(plain.accuracy[~of_unknown], changed.accuracy[~of_unknown])
    assert (plain.accuracy[of_unknown]["top1"] != changed.accuracy[of_unknown]["top1"]).any()


def test_knn_searches_training_frames_only(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evaluation(tiny, replace(QUICK, limit=None))
    every = whole.context.features(np.arange(len(tiny)))
    banks: list[torch.Tensor] = []

    def spy(bank: torch.Tensor, *rest: torch.Tensor) -> float:
        banks.append(bank)
        return 0.5

    monkeypatch.setattr(knn, "knn_accuracy", spy)
    accuracy = whole.phases("knn")["accuracy"]
    assert set(accuracy["top1"]) == {50}
    assert [len(banks[i]) for i in (0, 10, 20)] == [
        len(whole.context.settings.training(p).all) for p in (0.05, 0.25, 0.5)
    ]
    others = every[torch.tensor((tiny.index["split"] != "train").to_numpy())]
    for bank in banks:
        assert not bool((torch.cdist(bank, others) == 0).any())


def test_moves_are_of_known_and_unknown_instances(tiny: FrameSet) -> None:
    whole = evaluation(tiny)
    for moves in whole.context.moves.values():
        assert set(tiny.index.loc[moves["unknown"].source, "split"]) == {"test"}
        known = tiny.index.loc[moves["known"].source]
        assert set(known["split"]) == {"train"}
        assert known["diverse_rank"].max() == 2  # half of six
        assert tiny.index.loc[np.concatenate(moves["known"].candidates), "duplicate_of"].isna().all()


def test_new_poses_are_new_in_every_phase(tiny: FrameSet) -> None:
    """If 5 of 6 instances were shown in all poses, one is left for known_new."""
    for whole in (evaluation(tiny, seen=0.8), evaluation(tiny, replace(QUICK, proportions=(0.5, 0.8)))):
        rows = whole.context.settings.test("known_new", "2d")
        assert set(tiny.index.loc[rows, "diverse_rank"]) == {5}


def test_the_diverse_share_of_the_run_determines_known_new(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        run = pretrain(tiny_run(tiny, "simclr", "alone", optim__steps=1, diverse=0.8), tmp_path / "run")
    results = evaluate_run(run, QUICK, tmp_path / "out")
    turned = tiny.index.loc[results.predictions["row"]].query("split == 'train' and angle > 0")
    assert set(turned["diverse_rank"]) == {3, 4, 5}  # from known_new_supervised; known_new has rank 5 only
    counts = results.curve.query("setting == 'known_new' and poses == '2d' and diverse == 50")["frames"]
    assert int(counts.sum()) == 3 * 5


def test_diverging_trials_are_recorded_and_skipped(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:

    def fragile(*arguments: Any) -> Any:
        if arguments[4] == 1.0:
            raise DivergedError("finetuning at rate 1 diverged")
        return finetune(*arguments)

    monkeypatch.setattr(finetuning, "finetune", fragile)
    config = replace(QUICK, proportions=(0.5,), finetune=FinetuneConfig(steps=1, batch=4, rates=(1.0, 1e-3)))
    trials = evaluation(tiny, config).run().trials.query("phase == 'finetune'")
    assert trials["validation"].isna().tolist() == [True, False]
    config = replace(config, finetune=FinetuneConfig(steps=1, batch=4, rates=(1.0,)))
    with pytest.raises(UserError, match="diverged at every rate"):
        evaluation(tiny, config).run()


def test_any_encoder(tiny: FrameSet, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "test_resnet"
    common = ["--data", str(tiny.folder), *SHORT]
    main(["evaluate", "--encoder.name", "test_resnet", *common, "--out", str(out)])
    assert "linear evaluation" in capsys.readouterr().out
    results, card = read_results(out)
    assert set(zip(results.accuracy["method"], results.accuracy["arm"], strict=True)) == {("test_resnet", "alone")}
    assert card["encoder"]["name"] == "test_resnet"
    assert card["pretraining"] is None
    again = evaluate_encoder(
        EncoderConfig(name="test_resnet"), tiny.folder,
        EvaluateConfig(probe=ProbeConfig(steps=20, batch=32), finetune=FinetuneConfig(steps=0)),
        tmp_path / "again", method="mine",
    )  # fmt: skip
    np.testing.assert_allclose(again.accuracy["top1"], results.accuracy["top1"], rtol=1e-5)  # the same random weights
    assert set(again.accuracy["method"]) == {"mine"}

    file = export_run(runs["alone"], tmp_path / "exported.safetensors")
    main(["evaluate", str(file), *common, "--out", str(tmp_path / "file")])
    module = evaluate_encoder(lie_ssl.load(runs["alone"]).encoder, tiny.folder, QUICK, tmp_path / "module")
    of_file, card = read_results(tmp_path / "file")
    assert set(of_file.accuracy["method"]) == {"exported"}
    assert card["encoder"] == {"file": "exported.safetensors"}
    assert len(module.accuracy) == len(of_file.accuracy)
    assert "is a file; give a data set with --data" in refusal(capsys, "evaluate", file)


def test_mistakes(tiny: FrameSet, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, lie = runs["alone"], runs["lie"]
    assert "Option 2 moves embeddings and needs a run with an operator" in refusal(
        capsys, "evaluate", base, "--options", "2"
    )
    assert "there is no run" in refusal(capsys, "evaluate", tmp_path / "nowhere")
    assert "is not a run" in refusal(capsys, "evaluate", tiny.folder.parent)
    assert "no recipe 'papers'; did you mean 'paper'?" in refusal(capsys, "evaluate", base, "--recipe", "papers")
    assert "name what to evaluate" in refusal(capsys, "evaluate")
    assert "name what to evaluate" in refusal(capsys, "evaluate", "--limit", "3")
    assert "not both" in refusal(capsys, "evaluate", base, "--encoder.name", "test_resnet")
    assert "options are (3,)" in refusal(capsys, "evaluate", base, "--options", "3")
    assert "proportions are (1.5,)" in refusal(capsys, "evaluate", base, "--proportions", "1.5")
    assert "limit is 0, but it must be 1 or more, or None for all frames" in refusal(
        capsys, "evaluate", base, "--limit", "0"
    )
    assert "seed 0 or more" in refusal(capsys, "evaluate", base, "--seed", "-1")
    out = tmp_path / "full"
    out.mkdir()
    (out / "thesis.tex").write_text("important")
    assert "contains other files" in refusal(capsys, "evaluate", base, "--out", out)
    assert "is a file" in refusal(capsys, "evaluate", base, "--out", out / "thesis.tex")
    data = ["--data", str(tiny.folder), "--out", str(tmp_path / "x")]
    assert "did you mean resnet_mini?" in refusal(capsys, "evaluate", "--encoder.name", "resnet_minii", *data)
    assert "the encoder needs 32 px" in refusal(
        capsys, "evaluate", "--encoder.name", "resnet_mini", "--encoder.image-size", "32", *data
    )
    assert not (tmp_path / "x").exists()
    assert not (lie / "evaluation").exists()


def test_data_sets_that_do_not_fit(
    tiny: FrameSet, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tiny_config(classes=("car", "chair", "lamp"), instances=3, step=180.0)
    folder = make_frames(other, tmp_path / "other", workers=1).folder
    assert "has other classes than the run's data set (lamp, mug ...)" in refusal(
        capsys, "evaluate", runs["alone"], "--data", folder, "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()
    index = tiny.index
    few = index[(index["split"] != "train") | (index["diverse_rank"] < 2)]
    for changed, words in (
        (few, "select the same instances, because classes have as few as 2 training instances"),
        (index[index["split"] != "test"], "has no test instances in 2d poses"),
        (index[index["split"] != "validation"], "no validation instances"),
        (index.assign(hue=np.arange(len(index))), "varies in pose, hue, but the run's operator was trained on pose;"),
    ):
        frames = FrameSet(tiny.folder)
        frames.__dict__["index"] = changed
        with pytest.raises(UserError, match=words):
            evaluation(frames, operator=LieOperator(128, 2))


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        (("2d",), "varies in 2d, 3d, but the run's operator was trained on 2d;"),
        (("2d", "3d", "hue"), "varies in 2d, 3d, but the run's operator was trained on 2d, 3d, hue;"),
        (("pose", "hue"), "varies in pose, but the run's operator was trained on pose, hue;"),
        (("2d", "so3"), "varies in 2d, so3, 3d, but the run's operator was trained on 2d, so3;"),
    ],
)
def test_factors_are_compared_by_their_names(tiny: FrameSet, factors: tuple[str, ...], words: str) -> None:
    operator = LieOperator(128, [1] * len(factors))
    with pytest.raises(UserError, match=words) as error:
        evaluation(tiny, operator=operator, factors=factors)
    assert "\n" not in str(error.value)


def test_the_moved_part_has_the_dimensions_of_the_kind_of_pose(tiny: FrameSet, monkeypatch: pytest.MonkeyPatch) -> None:
    operator = LieOperator(128, (1, 1), fixed=100, sees="linear", split_factors=True, centred=True)
    whole = evaluation(tiny, operator=operator, factors=("2d", "3d"))
    assert whole.context.deltas.factors == ("2d", "3d")
    parts: list[object] = []
    retrieve = retrieval.retrieve

    def spied(*arguments: Any) -> Any:
        parts.append(arguments[4])
        return retrieve(*arguments)

    monkeypatch.setattr(retrieval, "retrieve", spied)
    table = whole.run().equivariance
    assert list(table["part"]) == ["moved", "whole"] * 4
    own = [p.tolist() for p in parts if isinstance(p, torch.Tensor)]
    assert own == [list(range(100, 114))] * 2 + [list(range(114, 128))] * 2  # of 2d, then of 3d
    assert [p for p in parts if isinstance(p, slice)] == [slice(None)] * 4
    assert table["mrr"].notna().all()


def test_a_run_may_have_more_kinds_of_pose_than_the_data_set(tiny: FrameSet) -> None:
    frames = FrameSet(tiny.folder)
    frames.__dict__["index"] = tiny.index[tiny.index["pose"] == "2d"]
    whole = evaluation(frames, operator=LieOperator(128, (1, 1), split_factors=True), factors=("2d", "3d"))
    rows = whole.context.deltas._rows[:5].to_numpy()
    assert whole.context.deltas(rows[:-1], rows[1:]).shape == (4, 2)
    assert not whole.context.deltas(rows[:-1], rows[1:])[:, 1].any()


def test_an_unfinished_run(runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for path in runs["alone"].iterdir():
        if path.is_file():
            (run / path.name).write_bytes(path.read_bytes())
    card = json.loads((run / "card.json").read_text())
    (run / "card.json").write_text(json.dumps(card | {"finished": False}))
    assert "is not finished; run its command again to finish it first" in refusal(capsys, "evaluate", run)


def test_help_shows_the_defaults_of_the_recipe(runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--recipe", "paper", str(runs["alone"])], [str(runs["alone"]), "--recipe=paper"]):
        with pytest.raises(SystemExit) as stop:
            main(["evaluate", *arguments, "--help"])
        assert stop.value.code == 0
        assert "20000" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["evaluate", "--encoder.name", "test_resnet", "--help"])
    assert "--encoder.weights" in capsys.readouterr().out
