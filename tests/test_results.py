"""The folder `results` contains measurements and figures of pages, but nothing that can be generated from them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lie_ssl.cli import main
from tests.training.tiny_runs import ENVIRONMENT

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
MAX_FILES = 200
PAGES = sorted([ROOT / "README.md", RESULTS / "README.md", *(ROOT / "docs").rglob("*.md")])
CODE = re.compile(r"^```.*?^```$|^    [^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)")
MENTION = re.compile(r"\bresults/[\w./-]+\.(?:csv|json|md|png|svg|tex|txt)\b")


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """Paths of the committed files below `results`, from the root of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no git checkout")
    done = subprocess.run(["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"git cannot list the files: {done.stderr.strip()}")
    return [name for name in done.stdout.split("\0") if name]


def links_into_results(page: Path) -> set[Path]:
    """Files and folders in `results` that a page links to or names by path, except in code."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    paths = {ROOT / name for name in MENTION.findall(text)}
    paths |= {Path(os.path.normpath(page.parent / link)) for link in LINK.findall(text) if "://" not in link}
    return {path for path in paths if path == RESULTS or RESULTS in path.parents}


def test_there_are_few_files(tracked: list[str]) -> None:
    assert 0 < len(tracked) <= MAX_FILES


def test_no_file_can_be_generated_from_others(tracked: list[str]) -> None:
    assert not [name for name in tracked if "/tables/" in name or name.endswith((".svg", ".tex"))]


def test_every_figure_is_shown_on_a_page(tracked: list[str]) -> None:
    shown = set().union(*(links_into_results(page) for page in PAGES))
    figures = {ROOT / name for name in tracked if name.endswith(".png")}
    assert figures <= shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_point_to_existing_files(page: Path) -> None:
    for path in links_into_results(page):
        assert path.exists(), path


def test_links_point_to_committed_files(tracked: list[str]) -> None:
    """A generated table exists in the folder, but not in a fresh clone."""
    known = {ROOT / name for name in tracked}
    known |= {folder for path in known for folder in path.parents}
    for page in PAGES:
        assert links_into_results(page) <= known, page


def test_generated_files_are_ignored(tracked: list[str]) -> None:
    names = ["small/tables/gains.csv", "coil20/figures/bars_linear_3d.png", "long/figures/bars_linear_2d.svg"]
    for name in (f"results/{name}" for name in names):
        assert name not in tracked
        done = subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False)
        assert done.returncode == 0, name


def test_tables_and_figures_can_be_generated_again(tmp_path: Path) -> None:
    main(["report", str(RESULTS / "coil20" / "rows"), "--out", str(tmp_path / "r.html"), "--files", str(tmp_path)])
    assert (tmp_path / "tables" / "headline_accuracy.md").exists()
    assert (tmp_path / "tables" / "gains.csv").exists()
    assert (tmp_path / "figures" / "angles_linear_mae.png").exists()


def test_the_code_for_published_models_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", (RESULTS / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    for name in ("procedural", "furniture"):
        folder = tmp_path / "results" / "gaps" / name
        folder.mkdir(parents=True)
        shutil.copy(RESULTS / "gaps" / name / "accuracy.csv", folder)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("procedural", "furniture"):
        assert (tmp_path / "results" / "gaps" / name / "tables" / "gaps_linear_50.md").exists()
        assert (tmp_path / "results" / "gaps" / name / "figures" / "models_linear.png").exists()
