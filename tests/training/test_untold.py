"""Clips from end to end: the commands, resuming, pretraining, and data sets without clips."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.frames.make import make_frames
from lie_ssl.training.checkpoints import LAST
from lie_ssl.training.loading import load
from lie_ssl.training.run import pretrain
from tests.conftest import tiny_config
from tests.refusals import refusal
from tests.training.adapted_runs import flags, tiny_adapted
from tests.training.tiny_runs import Notes, StopError, checkpoint, differences, few_pairs, tiny_run

SHORT = ("--proportions", "0.5", "--probe.steps", "2", "--probe.rates", "0.01", "--limit", "20", "--pairs", "2")


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        yield


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    folder: Path = tmp_path_factory.mktemp("data") / "turned"
    return make_frames(tiny_config(step=30.0, poses=("2d", "yaw")), folder, workers=1)


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("banks")


def test_the_commands(turned: FrameSet, banks: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    own = ("--objective.frames", "4")
    main(["adapt", "resnet_mini", "lie_untold", *flags(turned, banks, out, *own)])
    model = load(out)
    assert model.factors == ("2d", "yaw")
    picture = turned.read([0, 1])
    assert abs(float(model.pose(picture[:1], picture[1:], factor="2d").degrees)) <= 180
    main(["evaluate", str(out), *SHORT, "--metrics", "retrieval", "alignment"])
    main(["report", str(out), "--out", str(tmp_path / "page.html")])
    with (out / "evaluation" / "equivariance.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["poses"] for row in rows} == {"2d", "yaw"}
    assert all(float(row["mrr_transfer"]) > 0 and float(row["align_median"]) >= 0 for row in rows if row["mrr"])
    assert "Lie untold" in (tmp_path / "page.html").read_text()


def test_a_resumed_run_is_identical(turned: FrameSet, banks: Path, tmp_path: Path) -> None:
    config = tiny_adapted(turned, banks, "lie_untold", objective__frames=4, log__save_every=2)
    with pytest.raises(StopError):
        pretrain(config, tmp_path / "broken", Notes(stop=3))
    pretrain(config, tmp_path / "broken")
    pretrain(config, tmp_path / "whole")
    broken, whole = (checkpoint(tmp_path / name / LAST) for name in ("broken", "whole"))
    assert not differences(broken, whole)


@pytest.mark.parametrize("method", ["mae", "vicreg"])
def test_it_pretrains(turned: FrameSet, tmp_path: Path, method: str) -> None:
    config = tiny_run(turned, method, "lie_untold", objective__frames=3, optim__steps=2)
    assert load(pretrain(config, tmp_path / "run")).operator is not None


def test_a_data_set_without_clips_is_refused(
    tiny: FrameSet, banks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, "adapt", "resnet_mini", "lie_untold", *flags(tiny, banks, tmp_path / "run"))
    assert "no instance has 10 2D poses at equal steps; use shorter clips, or a data set with smaller steps" in said
    assert not (tmp_path / "run").exists()
