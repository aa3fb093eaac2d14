"""Transfer to rotated photographs by adapting, from the command to the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.protocol.probe import Linear
from lie_ssl.protocol.schema import UPRIGHT
from lie_ssl.protocol.studies import UprightTransfer
from lie_ssl.protocol.turned_tests import Angles, TurnedTests, score, wrapped
from lie_ssl.training.checks import Checks
from tests.protocol.test_transfer import photographs
from tests.training.tiny_runs import few_pairs

ARMS = ["frozen", "frozen_rotated", "frozen_averaged", "frames", "lie", "lie_upright", "lie_upright_rotated"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("upright")
    photographs(folder / "stripes.zip", count=30)
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        transfer(folder)
    return folder


def transfer(folder: Path, *flags: str) -> None:
    main([
        "transfer", "resnet_mini", "--recipe", "upright", "--photos", str(folder / "stripes.zip"),
        "--out", str(folder / "results"), "--size", "32", "--turns", "4", "--copies", "2", "--validation", "0.2",
        "--seeds", "0", "--optim.steps", "4", "--optim.batch", "16", "--adapt.features.grid", "2",
        "--probe.steps", "50", "--probe.rates", "0.01", *flags,
    ])  # fmt: skip


def test_the_command_writes_one_row_for_each_arm(out: Path) -> None:
    table = pd.read_csv(out / "results" / "upright.csv")
    assert table["arm"].tolist() == ARMS
    assert table.columns.tolist() == UPRIGHT.names
    assert table[["upright", "rotated"]].to_numpy().min() >= 0
    assert table[["upright", "rotated"]].to_numpy().max() <= 100
    told = table.set_index("arm")[["relative_median", "absolute_median"]].notna().all(axis=1)
    assert told[told].index.tolist() == ARMS[-3:]
    assert (table["frames"] == 60).all()


def test_the_same_command_trains_nothing_again(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (out / "results" / "upright.csv").read_bytes()
    monkeypatch.setattr(Checks, "run", lambda *_: pytest.fail("a head was trained again"))
    transfer(out)
    assert (out / "results" / "upright.csv").read_bytes() == before


def test_the_run_reads_angles_and_turns_pictures(out: Path, tmp_path: Path) -> None:
    model = lie_ssl.load(out / "results" / "runs" / "lie_0")
    pictures = np.random.default_rng(0).integers(0, 255, (3, 32, 32, 3), np.uint8)
    found = model.angle(pictures)
    assert found.degrees.shape == (3,)
    assert bool((found.error <= found.second_error).all())
    upright = model.upright(pictures, turns=4)
    assert upright.pictures.shape == pictures.shape
    assert bool((upright.probability <= 1.0001).all())
    saved = lie_ssl.from_pretrained(model.save_pretrained(tmp_path / "saved"))
    torch.testing.assert_close(saved.angle(pictures).degrees, found.degrees)


def test_a_model_without_an_anchor_says_so(out: Path) -> None:
    frames = lie_ssl.load(out / "results" / "runs" / "frames_0")
    with pytest.raises(UserError, match="no operator"):
        frames.angle(np.zeros((1, 32, 32, 3), np.uint8))


def test_wrong_input_is_one_sentence(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    photos = ["--photos", str(out / "stripes.zip"), "--out", str(tmp_path)]
    for words, message in ((["--recipe", "upright"], "name one encoder"),
                           (["resnet_mini", "--recipe", "upright", "--prior", "1"], "prior is 1")):  # fmt: skip
        with pytest.raises(SystemExit, match="2"):
            main(["transfer", *words, *photos])
        assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    with pytest.raises(UserError, match="at least one seed"):
        UprightTransfer(seeds=())


def test_loss_prefers_the_classifier_that_is_not_too_sure() -> None:
    features, labels = torch.tensor([[1.0], [1.0], [-1.0]]), torch.tensor([1, 1, 1])
    sure, careful = (
        Linear(torch.zeros(1), torch.ones(1), torch.tensor([[-w], [w]]), torch.zeros(2)) for w in (20.0, 0.3)
    )
    assert score(sure, features, labels, "accuracy") == score(careful, features, labels, "accuracy")
    assert score(sure, features, labels, "loss") < score(careful, features, labels, "loss")


def test_small_helpers() -> None:
    assert wrapped(np.array([190.0, -180.0, 540.0])).tolist() == [-170.0, -180.0, -180.0]
    found = TurnedTests._angles(torch.tensor([10.0, -170.0, 90.0]), np.array([350.0, 170.0, 0.0]))
    assert found == pytest.approx(Angles(20.0, 130 / 3, 2 / 3))
