"""The tables of adapted encoders, from small long tables with known numbers, and those of the docs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.report.adaptation import adaptation_tables
from lie_ssl.report.cells import Table
from lie_ssl.report.formats import to_markdown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adapting_results.md"
KINDS, SETTINGS = ("2d", "yaw"), ("known_new", "unknown_diverse")


def accuracy() -> pd.DataFrame:
    """Frozen 50 and 60, Frames 80 and 82, Lie 81 and 87."""
    numbers = {("frozen", 0): 50.0, ("frozen-last_layer", 0): 60.0, ("frames", 0): 80.0, ("frames", 1): 82.0,
               ("lie", 0): 81.0, ("lie", 1): 87.0}  # fmt: skip
    return pd.DataFrame([
        {"method": "net", "arm": arm, "phase": "linear", "option": 1, "diverse": 5, "poses": kind, "setting": setting,
         "seed": seed, "top1": top1}
        for (arm, seed), top1 in numbers.items() for kind in KINDS for setting in SETTINGS
    ])  # fmt: skip


def equivariance() -> pd.DataFrame:
    return pd.DataFrame([
        {"method": "net", "arm": arm, "poses": kind, "instances": "unknown", "part": part, "seed": seed,
         "align_median": 2.0 + seed if arm == "lie" else None, "readout_median": 7.0,
         "mrr": 0.9 if part == "moved" else 0.4}
        for arm in ("frozen", "lie") for kind in KINDS for part in ("moved", "whole") for seed in (0, 1)
    ])  # fmt: skip


def named(tables: list[Table]) -> dict[str, Table]:
    return {table.name: table for table in tables}


def test_gains_are_paired_and_the_better_frozen_encoder_counts() -> None:
    found = named(adaptation_tables(accuracy(), equivariance()))
    frozen, frames = found["adapted_gains_5"].rows
    assert [cell.mean for cell in frozen.cells] == [24.0] * 4  # 84 - 60
    assert [cell.error for cell in frozen.cells] == pytest.approx([3.0] * 4)  # of 21 and 27
    assert [cell.mean for cell in frames.cells] == [3.0] * 4
    assert [cell.error for cell in frames.cells] == pytest.approx([2.0] * 4)  # of 1 and 5


def test_angles_and_retrieval_of_the_moved_part() -> None:
    found = named(adaptation_tables(accuracy(), equivariance()))
    (lie,) = found["adapted_angle_align"].rows
    assert [cell.mean for cell in lie.cells] == [2.5, 2.5]
    assert len(found["adapted_angle_readout"].rows) == 2
    assert [cell.mean for cell in found["adapted_retrieval"].rows[-1].cells] == [0.9, 0.9]
    assert "adapted_angle_predicted" not in found


def test_there_are_none_without_a_frozen_encoder() -> None:
    own = accuracy()
    assert adaptation_tables(own[own["arm"] != "frozen"], equivariance()) == []
    assert adaptation_tables(pd.DataFrame(), pd.DataFrame()) == []


@pytest.mark.parametrize("recipe", ["adapt", "adapt/classes", "adapt/furniture"])
def test_the_page_shows_the_recorded_tables(recipe: str) -> None:
    folder, page = ROOT / "results" / recipe, PAGE.read_text()
    tables = adaptation_tables(pd.read_csv(folder / "accuracy.csv"), pd.read_csv(folder / "equivariance.csv"))
    assert len(tables) >= 6
    for table in tables:
        for line in to_markdown(table).splitlines():
            assert line in page, f"{recipe}: {table.name}"
