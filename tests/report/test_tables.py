"""Compares tables with numbers computed by hand."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest

from lie_ssl.report.cells import Cell, Table
from lie_ssl.report.names import Arm, arms_of
from lie_ssl.report.summary import curve_of, gaps_of, over_seeds
from lie_ssl.report.tables import (
    ablation_tables,
    accuracy_table,
    accuracy_tables,
    equivariance_tables,
    gap_tables,
    settings_tables,
)
from tests.report import long_tables


def cell(table: Table, row: str, group: str, column: str) -> Cell:
    cells = next(r.cells for r in table.rows if r.name == row)
    return cells[table.columns.index((group, column))]


def test_mean_and_standard_error_over_seeds() -> None:
    values = [51.2, 48.7, 55.1, 49.9]
    table = pd.DataFrame({"key": ["a"] * 4, "top1": values, "seed": range(4)})
    found = over_seeds(table, ["key"], "top1").iloc[0]
    assert found["mean"] == pytest.approx(statistics.mean(values))
    assert found["error"] == pytest.approx(statistics.stdev(values) / math.sqrt(4))
    assert found["seeds"] == 4


def test_one_seed_has_no_standard_error() -> None:
    table = accuracy_table(long_tables.accuracy(seeds=(7,)), "linear", "2d")
    found = cell(table, "MAE", "known instance in new pose", "50 %")
    assert found.mean == 50 + 4 + 7
    assert math.isnan(found.error)


def test_the_papers_layout_with_difference_and_multiple() -> None:
    table = accuracy_table(long_tables.accuracy(), "linear", "3d")
    assert [g for g, _ in table.groups] == ["known instance in new pose", "unknown instance in diverse pose"]
    assert table.groups[0][1] == ("5 %", "50 %")
    assert [r.name for r in table.rows] == ["MAE", "MAE Lie"]
    base = cell(table, "MAE", "unknown instance in diverse pose", "50 %")
    lie = cell(table, "MAE Lie", "unknown instance in diverse pose", "50 %")
    assert base.mean == pytest.approx(40 - 5 + 4 + 1)  # the mean of seeds 0, 1, 2 adds 1
    assert lie.mean == pytest.approx(50)
    assert lie.error == pytest.approx(1 / math.sqrt(3))
    assert lie.difference == pytest.approx(10)
    assert lie.multiple == pytest.approx(50 / 40)
    assert math.isnan(base.difference)
    assert lie.best
    assert not base.best


def test_arms_and_methods_are_in_order_with_their_names() -> None:
    arms = [
        (m, a, 0.0) for m in ("simclr", "own", "mae") for a in ("lie_off", "mine", "lie", "literal", "frames", "alone")
    ]
    names = [arm.name for arm in arms_of(long_tables.accuracy(arms, seeds=(0,)))]
    assert names[:6] == ["MAE", "MAE Frames", "MAE Lie (literal)", "MAE Lie", "MAE Lie off", "MAE mine"]
    assert names[6] == "SimCLR"
    assert names[-6:-4] == ["own", "own Frames"]
    assert Arm("vicreg", "literal", 2).name == "VICReg Lie (literal), option 2"


def test_missing_measurements_are_empty_cells() -> None:
    table = long_tables.accuracy(phases=("linear", "finetune"))
    missing = (
        (table["arm"] == "lie") & (table["phase"] == "finetune") & ((table["diverse"] == 5) | (table["poses"] == "3d"))
    )
    found = {t.name: t for t in accuracy_tables(table[~missing])}
    assert list(found) == [f"accuracy_{p}_{k}" for p in ("linear", "finetune") for k in ("2d", "3d")]
    partly = found["accuracy_finetune_2d"]
    assert cell(partly, "MAE Lie", "known instance in new pose", "5 %").empty
    assert not cell(partly, "MAE Lie", "known instance in new pose", "50 %").empty
    assert all(c.empty for c in found["accuracy_finetune_3d"].rows[1].cells)
    assert [r.name for r in found["accuracy_finetune_3d"].rows] == ["MAE", "MAE Lie"]


def test_without_a_baseline_there_is_no_difference() -> None:
    table = accuracy_table(long_tables.accuracy([("mae", "lie", 0.0)]), "linear", "2d")
    assert all(math.isnan(c.difference) and math.isnan(c.multiple) and not c.best for c in table.rows[0].cells)


def test_a_baseline_of_zero_gives_no_multiple() -> None:
    table = long_tables.accuracy(seeds=(0,))
    table.loc[table["arm"] == "alone", "top1"] = 0.0
    found = cell(accuracy_table(table, "linear", "2d"), "MAE Lie", "known instance in new pose", "5 %")
    assert found.difference == 60
    assert math.isnan(found.multiple)


def test_option_2_has_its_own_row_and_is_compared_with_the_baseline_with_option_1() -> None:
    table = long_tables.accuracy()
    second = table[table["arm"] == "lie"].assign(option=2, top1=lambda t: t["top1"] + 1)
    found = accuracy_table(pd.concat([table, second]), "linear", "2d")
    assert [r.name for r in found.rows] == ["MAE", "MAE Lie", "MAE Lie, option 2"]
    assert cell(found, "MAE Lie, option 2", "known instance in new pose", "5 %").difference == pytest.approx(11)


def test_all_settings_include_typical_poses() -> None:
    table = settings_tables(long_tables.accuracy())[0]
    assert len(table.groups) == 5
    assert cell(table, "MAE Lie", "known instance in typical pose", "50 %").mean == pytest.approx(95)


def test_gaps_are_paired_by_seed() -> None:
    table = long_tables.accuracy()
    table.loc[(table["seed"] == 0) & (table["setting"] == "known_typical"), "top1"] += 3
    found = {t.name: t for t in gap_tables(table)}
    assert list(found) == ["gaps_linear_5", "gaps_linear_50"]
    gap = cell(found["gaps_linear_5"], "MAE", "3D poses", "unknown instance in diverse pose")
    gaps = [90 + 3 - 35, 90 - 35, 90 - 35]
    assert gap.mean == pytest.approx(statistics.mean(gaps))
    assert gap.error == pytest.approx(statistics.stdev(gaps) / math.sqrt(3))
    occlusion = cell(found["gaps_linear_5"], "MAE Lie", "2D minus 3D", "self-occlusion")
    assert (occlusion.mean, occlusion.error) == pytest.approx((5, 0))


def test_one_kind_of_pose_has_no_self_occlusion() -> None:
    table = long_tables.accuracy()
    tables = gap_tables(table[table["poses"] == "2d"])
    assert [g for g, _ in tables[0].groups] == ["2D poses"]
    assert (
        len(gaps_of(table[table["setting"] != "known_typical"])["gap"].unique()) == 1
    )  # self-occlusion needs no typical poses


def test_the_equivariance_table_shows_the_pose_of_a_baseline() -> None:
    table = equivariance_tables(long_tables.equivariance())[0]
    error = cell(table, "MAE Lie", "retrieval, moved part", "relative error")
    assert (error.mean, error.error) == pytest.approx((0.8, 0.5))
    assert cell(table, "MAE Lie", "retrieval, whole embedding", "MRR, t of another instance").mean == pytest.approx(0.7)
    assert cell(table, "MAE", "relative pose", "pose R²").mean == pytest.approx(0.5)
    assert cell(table, "MAE", "retrieval, whole embedding", "MRR").empty
    plain = long_tables.equivariance().query("arm == 'alone'").drop(columns=["mrr", "hit1"])
    assert equivariance_tables(plain)[0].rows[0].cells[0].mean == pytest.approx(0.5)


def test_metrics_that_no_arm_has_are_not_shown() -> None:
    plain = long_tables.equivariance().query("arm == 'alone'")
    assert [group for group, _ in equivariance_tables(plain)[0].groups] == ["relative pose"]
    assert equivariance_tables(plain.assign(pose_r2=math.nan, pose_degrees=math.nan, constant_r2=math.nan)) == []


def test_ablations_show_the_drop() -> None:
    table = ablation_tables(long_tables.ablation())[0]
    assert [r.name for r in table.rows] == ["MAE Lie, full", "MAE Lie, mlp"]
    assert cell(table, "MAE Lie, mlp", "known instance in new pose", "50 %").difference == pytest.approx(-6)
    assert math.isnan(table.rows[0].cells[0].difference)


def test_many_angles_are_binned_and_weighted_by_frames() -> None:
    own = long_tables.accuracy([("mae", "alone", 0.0)], seeds=(0,)).query("setting == 'known_new' and poses == '2d'")
    angles = np.arange(0, 180, 0.5)
    parts = [own.assign(angle=a, frames=1 + int(a) % 2, top1=a) for a in angles]
    found = curve_of(pd.concat(parts, ignore_index=True)).query("diverse == 50")
    inside = angles[angles < 10]
    assert len(found) == 18
    assert found["mean"].iloc[0] == pytest.approx(np.average(inside, weights=1 + inside.astype(int) % 2))
    few = curve_of(long_tables.curve(own))
    assert sorted(few["angle"].unique()) == [60, 120, 180, 240, 300]
