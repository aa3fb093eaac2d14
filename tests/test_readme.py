"""The tables of the README and of docs/from_scratch.md agree with the CSVs; links lead somewhere; code runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from lie_ssl.frames import FrameSet
from lie_ssl.recipes.grids import GRIDS
from lie_ssl.report.adapted import adapted_table
from lie_ssl.report.formats import to_markdown
from lie_ssl.report.gathering import gather
from lie_ssl.report.headline import headline_tables
from lie_ssl.training.run import pretrain
from tests.training.tiny_runs import ENVIRONMENT, few_pairs, tiny_run

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = PYTHON.findall((ROOT / "docs" / "tour.md").read_text())
FRONT_ARMS = ("frozen-last_layer", "frames", "lie")
# The code of the front page on a small network and the data set of the tests, for two steps.
SMALLER = {"resnet50": "test_resnet.r160_in1k", "pretrained=True": "pretrained=False", '"yaw"': '"2d"'}
FEWER_STEPS = "import lie_ssl.training.adapting as adapting\n\nadapting.STEPS, adapting.BATCH = 2, 8\n"


@pytest.mark.parametrize("recipe", ["small", "long"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_main_tables(recipe: str, number: int) -> None:
    folder = RESULTS / recipe
    table = headline_tables(pd.read_csv(folder / "accuracy.csv"), pd.read_csv(folder / "equivariance.csv"))[number]
    page = (ROOT / "docs" / "from_scratch.md").read_text()
    for line in to_markdown(table).splitlines():
        if line.startswith("|"):
            assert line in page


def test_the_front_table() -> None:
    report = gather([RESULTS / "adapt"])
    accuracy, equivariance = (
        table[(table["method"] == "tf_efficientnet_lite0") & table["arm"].isin(FRONT_ARMS)]
        for table in (report.accuracy, report.equivariance)
    )
    table = adapted_table(replace(report, accuracy=accuracy, equivariance=equivariance))
    readme = (ROOT / "README.md").read_text()
    rows = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    assert len(rows) == 5
    for line in rows[2:]:
        assert line in readme


def test_the_front_page_is_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert max(line.count("|") - 1 for line in lines) <= 5


@pytest.mark.parametrize("name", ["small", "long", "pretrained", "backbone"])
def test_rows_have_the_hashes_of_the_current_recipe(name: str) -> None:
    """A changed setting would change the hash of a unit, and its stored rows would no longer apply."""
    recipe = GRIDS[name]()
    kept = set(pd.read_csv(RESULTS / name / "accuracy.csv")["recipe"])
    assert kept <= {known for unit in recipe.units for known in recipe.known_hashes(unit)}
    if name == "small":
        assert len(kept) == len(recipe.units)


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.stem)
def test_linked_pictures_and_pages_exist(page: Path) -> None:
    links = [part.partition(")")[0] for part in page.read_text().split("](")[1:]]
    for link in links:
        name, _, heading = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / name if name else page
        assert target.exists(), link
        if heading:
            assert heading in headings(target), link


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


@pytest.fixture(scope="module")
def place(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny data set and run for the code of the tour: data/small and runs/mae_lie."""
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


def test_the_code_of_the_front_page_runs(place: Path, tiny: FrameSet) -> None:
    (code,) = PYTHON.findall((ROOT / "README.md").read_text())
    for old, new in SMALLER.items():
        assert old in code
        code = code.replace(old, new)
    folder = place / "front"
    shutil.copytree(tiny.folder, folder / "data" / "mine")
    (folder / "photos").mkdir()
    names = ["mug_a.png", "mug_b.png", *(f"photos/{i}.png" for i in range(4))]
    for name, picture in zip(names, tiny.read(range(len(names))), strict=True):
        Image.fromarray(picture).save(folder / name)
    (folder / "front.py").write_text(FEWER_STEPS + code)
    done = subprocess.run(
        [sys.executable, "front.py"], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "my_model" / "model.safetensors").exists()


def test_the_blocks_run_one_after_another(place: Path) -> None:
    """As in one interpreter, where later blocks use the names of earlier ones."""
    shutil.rmtree(place / "my_model", ignore_errors=True)
    (place / "all.py").write_text("\n".join(BLOCKS[1:]))
    done = subprocess.run(
        [sys.executable, "all.py"], cwd=place, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (place / "my_model" / "model.safetensors").exists()
