"""The README's tables are those of the results, and the results' tables are those of their CSVs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.recipes.grids import GRIDS
from lie_ssl.report.formats import to_markdown
from lie_ssl.report.headline import headline_tables

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"


@pytest.mark.parametrize("recipe", ["small", "long"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_main_tables(recipe: str, number: int) -> None:
    folder = RESULTS / recipe
    table = headline_tables(pd.read_csv(folder / "accuracy.csv"), pd.read_csv(folder / "equivariance.csv"))[number]
    stored = (folder / "tables" / f"{table.name}.md").read_text()
    assert stored.strip() == to_markdown(table).strip()
    readme = (ROOT / "README.md").read_text()
    for line in stored.splitlines():
        if line.startswith("|"):
            assert line in readme


@pytest.mark.parametrize("name", ["small", "long", "pretrained", "backbone"])
def test_rows_are_those_of_the_recipe_as_it_is(name: str) -> None:
    """A changed setting gives a unit another hash, and its kept rows would be of something else."""
    recipe = GRIDS[name]()
    kept = set(pd.read_csv(RESULTS / name / "accuracy.csv")["recipe"])
    assert kept <= {recipe.hash_of(unit) for unit in recipe.units}
    if name == "small":
        assert len(kept) == len(recipe.units)


def test_pictures_and_pages_are_there() -> None:
    text = (ROOT / "README.md").read_text()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link
