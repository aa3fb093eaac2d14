"""Curves over amounts of training data, and tables of changes, from long tables with known numbers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from lie_ssl.report.amounts import amount_figures, with_amounts, without_amounts
from lie_ssl.report.changes import change_tables
from lie_ssl.report.figures import draw_figures

ENCODER, KINDS, SEEDS = "resnet50", ("2d", "yaw"), (0, 1)


def accuracy(tops: dict[str, float]) -> pd.DataFrame:
    """Every arm has its own accuracy; known objects have 1 more, 50 % labels 10 more, the second seed 2 more."""
    rows = [
        (ENCODER, arm, "linear", 1, share, kind, setting, seed, top + known + more + 2 * seed)
        for arm, top in tops.items() for share, more in ((5, 0), (50, 10)) for kind in KINDS
        for setting, known in (("known_new", 1), ("unknown_diverse", 0)) for seed in SEEDS
    ]  # fmt: skip
    columns = ["method", "arm", "phase", "option", "diverse", "poses", "setting", "seed", "top1"]
    return pd.DataFrame(rows, columns=columns)


def equivariance(medians: dict[str, float]) -> pd.DataFrame:
    rows = [
        (ENCODER, arm, kind, "unknown", part, seed, 0.5, median + 10 * (kind == "yaw") + seed, 2 * median)
        for arm, median in medians.items() for kind in KINDS for part in ("moved", "whole") for seed in SEEDS
    ]  # fmt: skip
    columns = ["method", "arm", "poses", "instances", "part", "seed", "mrr", "align_median", "align_mean"]
    return pd.DataFrame(rows, columns=columns)


AMOUNTS = {"frames-objects_2": 60.0, "frames-objects_10": 70.0, "lie-objects_2": 61.0, "lie-objects_10": 72.0}
MOVED = {"lie-objects_2": 20.0, "lie-objects_10": 5.0}
CHANGED = {"lie": 80.0, "lie-no_moves": 78.5, "lie-unit_speeds": 81.0}


def lines(figure: Figure, panel: int) -> dict[str, list[tuple[float, float]]]:
    """The points of the lines of a panel, by colour and dash."""
    found = {}
    for container in figure.axes[panel].containers:
        line = container[0]
        found[f"{line.get_color()} {line.get_linestyle()}"] = list(
            zip(*(d.tolist() for d in line.get_data()), strict=True)
        )
    return found


def test_one_figure_for_each_quantity_with_the_means_of_both_seeds() -> None:
    figures = amount_figures(accuracy(AMOUNTS | {"lie": 90.0}), equivariance(MOVED))
    assert list(figures) == ["amount_objects"]
    panels = figures["amount_objects"].axes
    assert [panel.get_title() for panel in panels] == ["2D poses", "turntable poses", "", ""]
    assert sorted(lines(figures["amount_objects"], 0).values()) == [
        [(2, 61), (10, 71)], [(2, 62), (10, 73)],
    ]  # fmt: skip
    assert sorted(lines(figures["amount_objects"], 3).values()) == [[(2, 30.5), (10, 15.5)], [(2, 40), (10, 10)]]


def test_amounts_are_taken_from_the_names_of_variants() -> None:
    table = accuracy(AMOUNTS | {"lie": 90.0, "lie-wide": 91.0, "lie-poses_5": 92.0})
    found = with_amounts(table)
    assert set(zip(found["arm"], found["quantity"], found["amount"], strict=True)) == {
        ("frames", "objects", 2), ("frames", "objects", 10), ("lie", "objects", 2), ("lie", "objects", 10),
        ("lie", "poses", 5),
    }  # fmt: skip
    assert set(without_amounts(table)["arm"]) == {"lie", "lie-wide"}
    assert amount_figures(pd.DataFrame(), pd.DataFrame()) == {}
    assert amount_figures(accuracy(CHANGED), equivariance({"lie": 1.0})) == {}


def test_figures_are_drawn_with_all_others(tmp_path: Path) -> None:
    paths = draw_figures(accuracy(AMOUNTS), pd.DataFrame(), tmp_path, equivariance(MOVED))
    assert {path.name for path in paths} == {"amount_objects.png", "amount_objects.svg"}
    assert all(path.stat().st_size > 1000 for path in paths)


def test_changes_are_paired_by_seed() -> None:
    correct = accuracy(CHANGED)
    correct = correct[~((correct["arm"] == "lie-no_moves") & (correct["seed"] == 0))]  # one seed is missing
    (table,) = change_tables(correct, equivariance({"lie": 3.0, "lie-no_moves": 4.5}))
    assert [row.name for row in table.rows] == ["Lie", "no_moves", "unit_speeds"]
    assert [row.cells[0].mean for row in table.rows] == pytest.approx([82.0, -1.5, 1.0])
    columns = dict(zip(table.columns, zip(*(row.cells for row in table.rows), strict=True), strict=True))
    full, no_moves, unit_speeds = columns["median angle error, unknown objects", "turntable"]
    assert (full.mean, no_moves.mean, unit_speeds.empty) == (13.5, 1.5, True)


def test_without_variants_there_is_no_table() -> None:
    assert change_tables(pd.DataFrame(), pd.DataFrame()) == []
    assert change_tables(accuracy({"lie": 80.0, "frames": 79.0}), equivariance({"lie": 1.0})) == []
    assert change_tables(accuracy(CHANGED | {"frozen": 70.0}), equivariance({"lie": 1.0})) == []
