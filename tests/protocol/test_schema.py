"""Long tables: the declarations of columns, names of older versions, and invalid cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lie_ssl.errors import UserError
from lie_ssl.protocol.metrics import with_measures
from lie_ssl.protocol.schema import (
    ACCURACY,
    EQUIVARIANCE,
    GAP,
    POSES,
    SETTING,
    TABLES,
    TEXT_COLUMNS,
    TRANSFER,
    TRIALS,
    in_order,
    read_table,
)
from lie_ssl.storage.tables import write_table
from tests.report import long_tables


def test_a_column_has_the_same_type_in_all_tables() -> None:
    kinds: dict[str, type] = {}
    for table in TABLES:
        assert len(set(table.names)) == len(table.names)
        assert table.keys
        for column in table.columns:
            assert kinds.setdefault(column.name, column.kind) is column.kind
    assert {"method", "arm", "class", "optimiser", "recipe", "settings", "status"} <= TEXT_COLUMNS
    assert "top1" not in TEXT_COLUMNS


def test_titles_and_order_in_reports() -> None:
    assert POSES.title_of("2d") == "2D poses"
    assert POSES.title_of("4d") == "4d"
    assert SETTING.in_order(["unknown_diverse", "mine", "known_new", "known_new"]) == [
        "known_new", "unknown_diverse", "mine",
    ]  # fmt: skip
    assert "known_typical" not in GAP.categories
    assert list(GAP.categories)[-1] == "self_occlusion"
    assert in_order({"b", "a"}, ()) == ["a", "b"]


def test_rows_become_a_table() -> None:
    keys = dict.fromkeys(EQUIVARIANCE.keys, "x")
    table = with_measures(EQUIVARIANCE).frame([{"mrr": 1.0, **keys}])
    assert list(table.columns) == with_measures(EQUIVARIANCE).names
    assert table["pose_r2"].isna().all()
    assert ACCURACY.frame([]).columns.empty
    with pytest.raises(ValueError, match="the table equivariance has no column mrr"):
        EQUIVARIANCE.frame([{"mrr": 1.0, **keys}])


def test_adam_in_old_tables_is_read_as_adamw(tmp_path: Path) -> None:
    row = dict.fromkeys(TRIALS.names, 1) | {"method": "007", "arm": "NA", "phase": "linear"}
    write_table(tmp_path / "t.csv", TRIALS.frame([row | {"optimiser": o} for o in ("adam", "sgd", "adamw")]))
    found = read_table(tmp_path / "t.csv")
    assert found["optimiser"].tolist() == ["adamw", "sgd", "adamw"]
    assert found["method"].tolist() == ["007"] * 3
    assert found["arm"].tolist() == ["NA"] * 3


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("method", None, "empty cell in the column method"),
        ("phase", "a b", "'a b' in the column phase, which is not a name"),
        ("method", "a\x1b[2J", "in the column method, which is not a name"),
        ("seed", float("inf"), "rows without a number in the column seed"),
        ("top1", "many", "line 3: 'many' in the column top1 is not a number"),
    ],
)
def test_invalid_cells_are_rejected(column: str, cell: Any, words: str) -> None:
    table = long_tables.accuracy().astype({column: object})
    table.loc[1, column] = cell
    with pytest.raises(UserError, match=words.replace("[", r"\[")):
        ACCURACY.check(table, Path("here"))
    with pytest.raises(UserError, match=f"accuracy.csv has no column '{column}'"):
        ACCURACY.check(table.drop(columns=column), Path("here"))


def test_names_that_users_choose_may_have_spaces() -> None:
    table = long_tables.accuracy().assign(method="my net", recipe="small-123")
    pd.testing.assert_frame_equal(ACCURACY.check(table, Path("here")), table)
    assert ACCURACY.check(table.head(0), Path("here")).empty
    assert TRANSFER.keys == ["photos", "method", "arm", "seed", "test", "settings"]
