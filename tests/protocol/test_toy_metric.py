"""A metric that is registered only in this file works in `lie-ssl evaluate` and `lie-ssl report`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.context import Context, MoveTest
from lie_ssl.protocol.metrics import METRICS, Values, metric, with_measures
from lie_ssl.protocol.schema import EQUIVARIANCE, Column
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import few_pairs, tiny_run

QUICK = ["--probe.steps", "4", "--probe.batch", "16", "--finetune.steps", "0", "--proportions", "0.5", "--pairs", "1"]


def distance(context: Context, test: MoveTest) -> Values:
    """The distance between the two embeddings of a move."""
    z, z_next = context.features(test.moves.source), context.features(test.moves.target)
    return {"toy_distance": float((z_next - z).norm(dim=1).mean()), "toy_moves": float(len(z))}


@pytest.fixture
def toy() -> Iterator[None]:
    columns = (Column("toy_distance", "mean toy distance", digits=2), Column("toy_moves"))
    metric("toy", title="distance of moves", columns=columns, about="Toy distances are small.")(distance)
    yield
    METRICS.remove("toy")


@pytest.fixture(scope="module")
def run(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        return pretrain(tiny_run(tiny, "simclr", "lie", optim__steps=1), tmp_path_factory.mktemp("toy") / "run")


@pytest.fixture(scope="module")
def old(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation from before the metric was added."""
    out = tmp_path_factory.mktemp("toy") / "old"
    main(["evaluate", str(run), "--out", str(out), *QUICK])
    return out


@pytest.mark.usefixtures("toy")
def test_a_toy_metric_reaches_the_report(
    run: Path, old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "tables", tmp_path / "page.html"
    main(["evaluate", str(run), "--out", str(out), *QUICK])
    table = pd.read_csv(out / "equivariance.csv")
    assert list(table.columns) == [*pd.read_csv(old / "equivariance.csv").columns, "toy_distance", "toy_moves"]
    assert (table["toy_distance"] > 0).all()
    capsys.readouterr()

    main(["report", str(out), "--out", str(page)])
    output, html = capsys.readouterr().out, page.read_text()
    value = table.query("poses == '2d' and instances == 'unknown' and part == 'whole'")["toy_distance"].iloc[0]
    for text in (output, html):
        assert "distance of moves" in text
        assert "mean toy distance" in text
        assert f"{value:.2f}" in text
        assert "toy_moves" not in text  # it has no title
    assert "Toy distances are small." in html


@pytest.mark.usefixtures("toy")
def test_older_tables_are_shown_without_the_metric(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", str(old), "--out", str(tmp_path / "page.html")])
    for text in (capsys.readouterr().out, (tmp_path / "page.html").read_text()):
        assert "MRR" in text
        assert "toy distance" not in text.lower()


@pytest.mark.usefixtures("toy")
def test_two_metrics_cannot_have_the_same_column() -> None:
    assert with_measures(EQUIVARIANCE).names[-2:] == ["toy_distance", "toy_moves"]
    with pytest.raises(UserError, match="the metric 'toy' is already registered"):
        metric("toy", title="another", columns=())(distance)
    metric("twin", title="twin", columns=(Column("mrr"),))(distance)
    try:
        with pytest.raises(UserError, match="'twin' has a column 'mrr', but so does the metric 'retrieval'"):
            with_measures(EQUIVARIANCE)
    finally:
        METRICS.remove("twin")
