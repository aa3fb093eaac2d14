"""Figures are drawn from tables alone, and show the numbers in them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import BarContainer
from PIL import Image

from lie_ssl.report.colours import colour_of
from lie_ssl.report.figures import angle_curves, bars, draw_figures, gap_bars
from lie_ssl.report.names import Arm
from lie_ssl.report.summary import gaps_of
from tests.report import long_tables


def test_figures_need_only_csv_files(tmp_path: Path) -> None:
    table = long_tables.accuracy()
    table.to_csv(tmp_path / "accuracy.csv", index=False)
    long_tables.curve(table).to_csv(tmp_path / "curve.csv", index=False)
    paths = draw_figures(
        pd.read_csv(tmp_path / "accuracy.csv"), pd.read_csv(tmp_path / "curve.csv"), tmp_path / "figures"
    )
    names = ["bars_linear_2d", "gaps_linear_2d", "bars_linear_3d", "gaps_linear_3d", "angles_linear_mae"]
    assert [p.name for p in paths] == [f"{n}.{s}" for n in names for s in ("png", "svg")]
    for path in paths:
        assert 5_000 < path.stat().st_size < 500_000
        if path.suffix == ".png":
            image = Image.open(path)
            assert min(image.size) > 400
            assert len(image.convert("RGB").getcolors(1 << 24) or []) > 10
    again = draw_figures(table[table["poses"] == "2d"], table.head(0), tmp_path / "again")
    assert [p.read_bytes() for p in paths[:2]] == [p.read_bytes() for p in again[:2]]


def test_empty_tables_give_no_figures(tmp_path: Path) -> None:
    empty = long_tables.accuracy().head(0)
    assert draw_figures(empty, empty, tmp_path) == []


def test_bars_have_the_heights_and_errors_of_the_table() -> None:
    figure = bars(long_tables.accuracy(), "linear", "2d")
    panel = figure.axes[0]
    drawn = [c for c in panel.containers if isinstance(c, BarContainer)]
    assert [p.get_height() for p in drawn[0]] == pytest.approx([55, 65, 45])
    assert [p.get_height() for p in drawn[1]] == pytest.approx([65, 65, 55])
    segments = drawn[0].errorbar.lines[2][0].get_segments()  # type: ignore[union-attr]
    assert np.diff(segments[0][:, 1])[0] == pytest.approx(2 / np.sqrt(3))
    edges = sorted((p.get_x(), p.get_x() + p.get_width()) for c in drawn for p in c)
    assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(edges))  # no bar hides another


def test_methods_have_separate_panels_and_a_common_legend() -> None:
    arms = [(m, a, 1.0) for m in ("vicreg", "mae") for a in ("alone", "lie", "mine")]
    figure = gap_bars(gaps_of(long_tables.accuracy(arms)), "linear", "3d")
    assert [a.get_title() for a in figure.axes] == ["MAE", "VICReg"]
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["baseline", "Lie", "mine"]
    assert len(figure.axes[0].get_xticks()) == 4  # self-occlusion too


def test_curves_go_through_the_means() -> None:
    figure = angle_curves(long_tables.curve(long_tables.accuracy()), "linear", "mae")
    assert len(figure.axes) == 4
    line = figure.axes[0].lines[1]
    assert np.asarray(line.get_xdata()).tolist() == [60, 120, 180, 240, 300]
    assert np.asarray(line.get_ydata(), float) == pytest.approx(65)


def test_colours_differ() -> None:
    arms = [Arm("mae", a) for a in ("alone", "frames", "literal", "lie", "lie_off", "mine", "yours")]
    assert len({colour_of(a, arms) for a in arms}) == len(arms)
