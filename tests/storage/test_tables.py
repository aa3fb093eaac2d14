"""CSV files contain no formulas and survive writing and reading."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.storage.tables import FORMULA, csv_safe, csv_text, read_table, table_bytes, write_table
from tests.bad_input.workspace import Workspace


@given(st.text(alphabet=st.sampled_from("'=+-@\tab")))
def test_formulas_are_escaped_without_losing_text(text: str) -> None:
    safe = csv_safe(text)
    assert not safe.startswith(FORMULA)
    assert csv_text(safe) == text


def test_tables_survive_writing_and_reading(tmp_path: Path) -> None:
    table = pd.DataFrame({
        "class": ["=cmd()", "'=x", "mug", None], "drop": [-1.5, 2.0, float("nan"), 0.0], "seed": [1, 2, 3, -4],
    })  # fmt: skip
    write_table(tmp_path / "t.csv", table)
    pd.testing.assert_frame_equal(read_table(tmp_path / "t.csv"), table, check_dtype=False)
    with (tmp_path / "t.csv").open(newline="") as file:
        cells = [row["class"] for row in csv.DictReader(file)]
    assert cells == ["'=cmd()", "''=x", "mug", ""]
    assert b"-1.5" in (tmp_path / "t.csv").read_bytes()  # numbers are not escaped


def test_usual_tables_are_written_as_by_pandas() -> None:
    table = pd.DataFrame({"method": ["mae", "pkg:Net"], "top1": [12.345678, -3.0], "passed": [True, False]})
    assert table_bytes(table, "%.6g") == table.to_csv(index=False, float_format="%.6g").encode()


def test_a_damaged_table_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'a,b\n"1,2\n')
    with pytest.raises(UserError, match=r"t\.csv cannot be read"):
        read_table(tmp_path / "t.csv")


def test_an_exported_list_has_no_formula(tiny: FrameSet, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tiny.folder, *[tmp_path] * 5)
    data = workspace.with_index(class_=lambda column: ["=1+1" if name == "car" else name for name in column])
    main(["data", "export", str(data), "--out", str(tmp_path / "out")])
    for path in (tmp_path / "out").rglob("metadata.csv"):
        with path.open(newline="") as file:
            cells = {cell for row in csv.reader(file) for cell in row}
        assert not any(cell.startswith("=") for cell in cells)
        assert "'=1+1" in cells


def test_names_are_read_as_text(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"arm": ["NA", "007", "1e5", "true"], "class": ["null", "001", "nan", "mug"], "top1": [1.0] * 4}
    )
    write_table(tmp_path / "t.csv", table)
    back = read_table(tmp_path / "t.csv", ["arm", "class", "setting"])
    assert back["arm"].tolist() == table["arm"].tolist()
    assert back["class"].tolist() == table["class"].tolist()
    assert back["top1"].tolist() == [1.0] * 4
