"""The same table for the terminal, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from lie_ssl.report.cells import Cell, Row, Table
from lie_ssl.report.formats import (
    cell_text,
    latex_text,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_rich,
    write_tables,
)
from lie_ssl.report.tables import all_tables
from tests.report import long_tables

CELLS = (Cell(66.7, 0.3, 13.7, 1.2585, best=True), Cell(), Cell(5.0, difference=-0.04))
TABLE = Table(
    "t", "50 % & more_", "name", (("a|b", ("5 %",)), ("c", ("<b>", "50 %"))), (Row("MAE_x [red]", CELLS, "MAE"),)
)


def everything() -> list[Table]:
    return all_tables(long_tables.accuracy(), long_tables.equivariance(), long_tables.ablation())


def test_a_cell_as_in_the_paper() -> None:
    assert cell_text(CELLS[0]) == "66.7 ± 0.3 (+13.7, 1.26x)"
    assert cell_text(CELLS[1]) == "–"  # noqa: RUF001
    assert cell_text(CELLS[2]) == "5.0 (+0.0)"  # and never -0.0
    assert cell_text(Cell(0.1234, digits=3)) == "0.123"


def test_markdown_has_a_cell_for_every_column() -> None:
    lines = to_markdown(TABLE).splitlines()
    assert lines[0] == "**50 % & more_**"
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:]] == [5, 5, 5]
    assert lines[4] == "| MAE_x [red] | **66.7 ± 0.3** (+13.7, 1.26x) | – | 5.0 (+0.0) |"  # noqa: RUF001


def test_latex_escapes_and_balances() -> None:
    assert latex_text(r"50 % & a_b #1 {x} $y$ ~ ^ \z") == (
        r"50 \% \& a\_b \#1 \{x\} \$y\$ \textasciitilde{} \textasciicircum{} \textbackslash{}z"
    )
    text = to_latex(TABLE)
    assert r"\textbf{66.7 $\pm$ 0.3} (+13.7, 1.26$\times$) & -- & 5.0 (+0.0) \\" in text
    assert r"MAE\_x" in text
    for table in everything():
        text = to_latex(table)
        body = text[text.index(r"\midrule") : text.index(r"\bottomrule")].splitlines()
        rows = [line for line in body if line.endswith(r"\\")]
        assert len(rows) == len(table.rows)
        assert all(len(re.findall(r"(?<!\\)&", row)) == len(table.columns) for row in rows)
        assert not re.search(r"(?<!\\)%", text)
        assert text.isascii()


@pytest.mark.slow
def test_latex_compiles(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no pdflatex")
    body = "\n".join(map(to_latex, [TABLE, *everything()]))
    document = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + body + "\\end{document}\n"
    (tmp_path / "t.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "t.pdf").stat().st_size > 1000


def test_csv_has_every_number() -> None:
    found = pd.read_csv(io.StringIO(to_csv(TABLE)))
    assert list(found["group"]) == ["a|b", "c", "c"]
    assert found["mean"].tolist()[::2] == [66.7, 5.0]
    assert found.loc[0, "multiple"] == 1.2585
    assert found.loc[1, ["mean", "standard_error", "difference", "multiple"]].isna().all()


def test_the_terminal_shows_every_number_even_when_narrow() -> None:
    console = Console(width=80, file=io.StringIO(), no_color=True)
    table = everything()[0]
    console.print(to_rich(table))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "MAE Lie" in text
    assert all(f"{c.mean:.1f} ± {c.error:.1f}" in text for row in table.rows for c in row.cells)
    console.print(to_rich(TABLE))
    assert "MAE_x [red]" in console.file.getvalue()  # type: ignore[attr-defined]


class Counter(HTMLParser):
    """Records tags, and checks that they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_escaped() -> None:
    counter = Counter()
    text = to_html(TABLE)
    counter.feed(text)
    assert counter.open == []
    assert counter.seen.count("tr") == 3
    assert "&lt;b&gt;" in text
    assert "<b>66.7 ± 0.3</b>" in text
    assert 'class="more">(+13.7, 1.26x)' in text
    assert 'class="same">(+0.0)' in text


def test_files_of_every_table(tmp_path: Path) -> None:
    tables = everything()
    paths = write_tables(tables, tmp_path / "deep" / "tables")
    assert len({t.name for t in tables}) == len(tables)
    assert len(paths) == 3 * len(tables)
    assert all(p.stat().st_size > 100 for p in paths)
