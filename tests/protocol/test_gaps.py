"""Published models: evaluated if their weights are available, otherwise listed with how to get them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.cli import main
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.kinds import KINDS
from lie_ssl.methods import bodies
from lie_ssl.methods.packaged import PACKAGES
from lie_ssl.recipes import gaps
from lie_ssl.recipes.evaluate import small_evaluation
from lie_ssl.recipes.gaps import FROM_PACKAGE, published
from lie_ssl.report.models import model_gaps
from tests.conftest import tiny_config

torchvision = import_torchvision()


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SimCLR checkpoint in the format of lightning-bolts, with random weights."""
    path: Path = tmp_path_factory.mktemp("weights") / "simclr.ckpt"
    state = torchvision.models.resnet18().state_dict()
    torch.save({"state_dict": {f"encoder.{k}": v for k, v in state.items()}}, path)
    return path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses few steps, and ResNet-18 instead of ResNet-50, whose pose regression takes a minute."""
    for name in ("simclr", "vicreg"):
        monkeypatch.setitem(gaps.FROM_FILE, name, ("resnet18", gaps.FROM_FILE[name][1]))
    small = small_evaluation()
    monkeypatch.setattr(gaps, "small_evaluation", lambda: replace(small, probe=replace(small.probe, steps=20)))


@pytest.mark.usefixtures("quick")
def test_models_with_and_without_weights(
    tiny: FrameSet, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "gaps"
    command = ["gaps", "simclr", "vicreg", "--weights", f"simclr={weights}", "--no-finetune"]
    command += ["--data", str(tiny.folder), "--out", str(out)]
    main(command)
    output = capsys.readouterr().out
    assert "not measured: vicreg (vicreg has no weights; give --weights vicreg=FILE with resnet50.pth" in output
    assert "keys loaded" in output
    models = pd.read_csv(out / "models.csv")
    assert dict(zip(models["model"], models["measured"], strict=True)) == {"simclr": True, "vicreg": False}
    accuracy = pd.read_csv(out / "accuracy.csv")
    assert set(accuracy["method"]) == {"simclr"}
    assert set(accuracy["diverse"]) == {50}
    assert {"known_typical", "known_new", "unknown_typical", "unknown_diverse"} <= set(accuracy["setting"])
    # 7 rates with SGD and with Adam, as in the paper.
    trials = pd.read_csv(out / "trials.csv").query("phase == 'linear'")
    assert trials.groupby("optimiser")["rate"].nunique().to_dict() == {"adamw": 7, "sgd": 7}
    assert {"models_linear.png", "models_linear.svg"} <= {p.name for p in (out / "figures").iterdir()}
    assert (out / "tables" / "gaps_linear_50.md").read_text().count("SimCLR") == 1
    main(command)
    assert "simclr is already done" in capsys.readouterr().out
    # Another model can be added to the same folder, but not results on another data set.
    for file in (out / "simclr").rglob("*.csv"):  # the joined tables and the card are enough
        file.unlink()
    first = accuracy
    beside = ["gaps", "vicreg", "--weights", f"vicreg={weights}", "--no-finetune", "--out", str(out)]
    main([*beside, "--data", str(tiny.folder)])
    assert set(pd.read_csv(out / "accuracy.csv")["method"]) == {"simclr", "vicreg"}
    both = pd.read_csv(out / "accuracy.csv")
    pd.testing.assert_frame_equal(both[both["method"] == "simclr"].reset_index(drop=True), first)
    assert pd.read_csv(out / "models.csv")["measured"].tolist() == [True, True]
    main(command)  # a model of which only the card is left is evaluated again
    pd.testing.assert_frame_equal(
        pd.read_csv(out / "accuracy.csv").query("method == 'simclr'").reset_index(drop=True), first
    )
    make_frames(tiny_config(seed=5), tmp_path / "other", workers=1)
    with pytest.raises(SystemExit):
        main([*beside, "--data", str(tmp_path / "other")])
    assert "was evaluated on another data set" in capsys.readouterr().err
    (out / "other").mkdir()
    (out / "other" / "card.json").write_text((tiny.folder / "card.json").read_text())
    with pytest.raises(SystemExit):
        main([*beside, "--data", str(tiny.folder)])
    assert "is not the card of an evaluation" in capsys.readouterr().err


def test_an_unreachable_hub_is_contacted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    asked = []

    def fail(address: str, timeout: float) -> None:
        asked.append(address)
        raise OSError("no network")

    monkeypatch.setattr(bodies, "urlopen", fail)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    bodies.go_offline_if_unreachable.cache_clear()
    for _ in range(2):
        bodies.go_offline_if_unreachable()
    assert asked == [constants.ENDPOINT]
    assert constants.HF_HUB_OFFLINE
    bodies.go_offline_if_unreachable.cache_clear()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["simclir"], "there is no model 'simclir'; did you mean 'simclr'?"),
        (["mae"], "none of the models could be evaluated; mae has no weights; give --weights mae=FILE"),
        (["mae", "--weights", "mae"], "--weights must be NAME=FILE, but mae has no file"),
        (["mae", "--weights", "mae=nowhere.pth"], "there is no weight file nowhere.pth"),
    ],
)
def test_mistakes(
    words: list[str], sentence: str, tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["gaps", *words, "--data", str(tiny.folder), "--out", str(tmp_path / "gaps")])
    assert sentence in capsys.readouterr().err


def test_every_model_says_how_to_get_it() -> None:
    assert all(e.how_to_get for e in published())
    assert set(FROM_PACKAGE) == set(PACKAGES)
    assert [e.name for e in published()] == [e.name for e in published("paper")]
    assert len(published()) == 12


def two_models(*kinds: str) -> pd.DataFrame:
    rows = [
        {"method": m, "arm": "alone", "option": 1, "phase": "linear", "diverse": 50, "poses": p, "setting": s,
         "seed": 0, "top1": 90 - 10 * i - j}
        for j, m in enumerate(("a", "b")) for p in kinds
        for i, s in enumerate(("known_typical", "known_new", "unknown_typical", "unknown_diverse"))
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), ("2d", "3d", "yaw"), tuple(KINDS)], ids="+".join)
def test_every_kind_of_pose_has_its_own_bars(kinds: tuple[str, ...]) -> None:
    (panel,) = model_gaps(two_models(*kinds), "linear").axes
    labels = [c.get_label() for c in panel.containers]
    assert labels[: len(kinds)] == [f"known, new {KINDS[k].short} pose" for k in KINDS if k in kinds]
    assert labels.count("unknown, typical pose") == 1
    assert len(labels) == 2 * len(kinds) + 1 + ({"2d", "3d"} <= set(kinds))
    assert len({bars[0].get_facecolor() for bars in panel.containers}) == len(labels)


def test_the_figure_has_a_bar_for_every_gap() -> None:
    (panel,) = model_gaps(two_models("2d", "3d"), "linear").axes
    heights = [[bar.get_height() for bar in bars] for bars in panel.containers]
    assert heights == [[10, 10], [10, 10], [20, 20], [30, 30], [30, 30], [0, 0]]
    assert [t.get_text() for t in panel.get_xticklabels()] == ["a\n(90 %)", "b\n(89 %)"]
