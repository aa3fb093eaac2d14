"""The tables of the README agree with the CSVs in results, its links are valid, and its code runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.frames import FrameSet
from lie_ssl.recipes.grids import GRIDS
from lie_ssl.report.formats import to_markdown
from lie_ssl.report.headline import headline_tables
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import ENVIRONMENT, few_pairs, tiny_run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("recipe", ["small", "long"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_main_tables(recipe: str, number: int) -> None:
    folder = RESULTS / recipe
    table = headline_tables(pd.read_csv(folder / "accuracy.csv"), pd.read_csv(folder / "equivariance.csv"))[number]
    readme = (ROOT / "README.md").read_text()
    for line in to_markdown(table).splitlines():
        if line.startswith("|"):
            assert line in readme


@pytest.mark.parametrize("name", ["small", "long", "pretrained", "backbone"])
def test_rows_have_the_hashes_of_the_current_recipe(name: str) -> None:
    """A changed setting would change the hash of a unit, and its stored rows would no longer apply."""
    recipe = GRIDS[name]()
    kept = set(pd.read_csv(RESULTS / name / "accuracy.csv")["recipe"])
    assert kept <= {known for unit in recipe.units for known in recipe.known_hashes(unit)}
    if name == "small":
        assert len(kept) == len(recipe.units)


def test_linked_pictures_and_pages_exist() -> None:
    text = (ROOT / "README.md").read_text()
    links = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link


@pytest.fixture(scope="module")
def place(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny data set and run for the code of the README: data/small and runs/mae_lie."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(tiny.folder, folder / "data" / "small")
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        pretrain(tiny_run(tiny, "mae", "lie", optim__steps=1), folder / "runs" / "mae_lie")
    return folder


def test_there_are_blocks_of_code() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_block_of_code_runs_on_its_own(place: Path, number: int) -> None:
    code = place / f"block_{number}.py"
    code.write_text(BLOCKS[number])
    done = subprocess.run(
        [sys.executable, code.name], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_blocks_run_one_after_another(place: Path) -> None:
    """As in one interpreter, where later blocks use the names of earlier ones."""
    shutil.rmtree(place / "my_model", ignore_errors=True)
    (place / "all.py").write_text("\n".join(BLOCKS[1:]))
    done = subprocess.run(
        [sys.executable, "all.py"], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (place / "my_model" / "model.safetensors").exists()
