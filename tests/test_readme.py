"""The README's tables are those of the results, and the results' tables are those of their CSVs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.report.formats import to_markdown
from lie_ssl.report.headline import headline_tables

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "results" / "small"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_main_tables(number: int) -> None:
    table = headline_tables(pd.read_csv(SMALL / "accuracy.csv"), pd.read_csv(SMALL / "equivariance.csv"))[number]
    stored = (SMALL / "tables" / f"{table.name}.md").read_text()
    assert stored.strip() == to_markdown(table).strip()
    readme = (ROOT / "README.md").read_text()
    for line in stored.splitlines():
        if line.startswith("|"):
            assert line in readme


def test_pictures_and_pages_are_there() -> None:
    text = (ROOT / "README.md").read_text()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link
