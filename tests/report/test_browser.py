"""A real browser opens the page from disk, draws every plot and reports no error."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lie_ssl.report.gathering import gather
from lie_ssl.report.page import write_page

BROWSER = next((b for b in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if b), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")]
VOID = {"meta", "img", "br", "input", "link", "hr"}


class Plots(HTMLParser):
    """Counts the .main-svg elements in every .js-plotly-plot, by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, int] = {}
        self._open: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        box = values.get("id") if "js-plotly-plot" in classes else None
        if box:
            self.boxes[box] = 0
        if tag == "svg" and "main-svg" in classes:
            for outer in filter(None, self._open):
                self.boxes[outer] += 1
        if tag not in VOID:
            self._open.append(box)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()


def opened(page: Path, profile: Path, *flags: str) -> tuple[str, str]:
    """The page's DOM after its scripts, and the browser's log."""
    assert BROWSER is not None
    common = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = [
        BROWSER, *common, f"--user-data-dir={profile}", "--virtual-time-budget=20000", "--enable-logging=stderr",
        *flags, page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, done.stderr


def test_every_plot_is_drawn_and_the_console_is_clean(evaluated: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_page(gather(evaluated), page)
    dom, log = opened(page, tmp_path / "profile", "--dump-dom")
    plots = Plots()
    plots.feed(re.sub(r"<script.*?</script>", "", dom, flags=re.S))
    assert set(plots.boxes) == {"accuracy-plot", "gap-plot", "angle-plot", "orbit-0", "spectrum-0"}
    assert all(count >= 1 for count in plots.boxes.values()), plots.boxes
    assert dom.count('class="point"') > 0
    buttons = set(re.findall(r'class="modebar-btn[^>]*data-title="([^"]*)"', dom))
    assert buttons == {"Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Autoscale", "Reset axes"}
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []


def test_another_view_can_be_chosen(evaluated: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_page(gather(evaluated), page)
    choose = (
        "<script>const list = document.getElementById('accuracy-plot-view'); list.selectedIndex = 1;"
        "list.dispatchEvent(new Event('change'));"
        "document.title = document.getElementById('accuracy-plot').data[1].y[0];</script></body>"
    )
    text = page.read_text()
    found = re.search(r'id="plots">(.*?)</script>', text, flags=re.S)
    assert found is not None
    first, second = json.loads(found[1])["accuracy-plot"]["views"][:2]
    assert first["traces"][1]["y"] != second["traces"][1]["y"]
    page.write_text(text.replace("</body>", choose))
    dom, _ = opened(page, tmp_path / "profile", "--dump-dom")
    assert f"<title>{second['traces'][1]['y'][0]}</title>" in dom


def test_a_script_error_is_detected(tmp_path: Path) -> None:
    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><script>missing()</script>")
    _, log = opened(page, tmp_path / "profile", "--dump-dom")
    assert "CONSOLE" in log


def test_a_picture_of_the_page(evaluated: list[Path], tmp_path: Path) -> None:
    page, picture = tmp_path / "report.html", tmp_path / "page.png"
    write_page(gather(evaluated), page)
    opened(page, tmp_path / "profile", f"--screenshot={picture}", "--window-size=1200,3000")
    assert picture.stat().st_size > 50_000
