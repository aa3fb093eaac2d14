"""A phase that is registered in this file alone goes through `evaluate` and `report` as a user calls them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import Tensor

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.context import Context, Rows
from lie_ssl.protocol.phases import PHASES, phase
from lie_ssl.protocol.rows import ClassifierKey, TableRows, classifier_rows
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import few_pairs, tiny_run

QUICK = ["--probe.steps", "4", "--probe.batch", "16", "--finetune.steps", "0", "--proportions", "0.5", "--pairs", "1"]
TITLE = "Nearest class mean"


def centroid(context: Context) -> TableRows:
    """Classifies a frame by the nearest mean of the training embeddings of a class."""
    for proportion in context.config.proportions:
        rows = context.settings.training(proportion).all
        z, labels = context.features(rows), context.labels(rows)
        classes = labels.unique()
        means = torch.stack([z[labels == each].mean(0) for each in classes])

        def answers(rows: Rows, means: Tensor = means, classes: Tensor = classes) -> Tensor:
            return classes[torch.cdist(context.features(rows), means).argmin(1)]

        yield from classifier_rows(context, ClassifierKey("centroid", 1, proportion), answers)


@pytest.fixture
def toy() -> Iterator[None]:
    phase("centroid", title=TITLE, order=40)(centroid)
    yield
    PHASES.remove("centroid")


@pytest.mark.usefixtures("toy")
def test_a_toy_phase_reaches_the_report(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_pairs(monkeypatch)
    run = pretrain(tiny_run(tiny, "simclr", "alone", optim__steps=1), tmp_path / "run")
    page = tmp_path / "page.html"
    main(["evaluate", str(run), "--out", str(run / "evaluation"), *QUICK])
    table = pd.read_csv(run / "evaluation" / "accuracy.csv")
    own, knn = (table[table["phase"] == name] for name in ("centroid", "knn"))
    assert list(own["setting"]) == list(knn["setting"])
    assert own["top1"].between(0, 100).all()
    capsys.readouterr()
    main(["report", str(run), "--out", str(page)])
    assert TITLE in capsys.readouterr().out
    assert TITLE in page.read_text()
