"""Writes tables for the terminal, Markdown, LaTeX, CSV and HTML."""

from __future__ import annotations

import csv
import io
import math
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from lie_ssl.report.cells import Cell, Table
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import inside
from lie_ssl.storage.tables import csv_safe

if TYPE_CHECKING:
    from rich.table import Table as RichTable

EMPTY = "–"  # noqa: RUF001
COLOURS = {"more": "green", "same": "default", "less": "red"}  # in the terminal
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", EMPTY: "--", "²": r"$^2$", "°": r"$^\circ$",
}  # fmt: skip


def mean_text(cell: Cell) -> str:
    """Mean and standard error, such as "66.7 ± 0.3"."""
    if cell.empty:
        return EMPTY
    text = _number(cell.mean, cell.digits)
    return text if math.isnan(cell.error) else f"{text} ± {_number(cell.error, cell.digits)}"


def change_text(cell: Cell) -> str:
    """Difference and ratio, such as "+13.7, 1.26x"; empty without a baseline."""
    if math.isnan(cell.difference):
        return ""
    text = _number(cell.difference, cell.digits, "+")
    return text if math.isnan(cell.multiple) else f"{text}, {cell.multiple:.2f}x"


def cell_text(cell: Cell) -> str:
    """The whole cell, such as "66.7 ± 0.3 (+13.7, 1.26x)"."""
    change = change_text(cell)
    return f"{mean_text(cell)} ({change})" if change else mean_text(cell)


def to_rich(table: Table) -> RichTable:
    """A table for the terminal, with the change below the mean, so that six columns fit."""
    from rich import box
    from rich.markup import escape as plain
    from rich.table import Table as RichTable

    # At least as wide as the title, which would be wrapped otherwise.
    page = RichTable(
        title=plain(table.title), box=box.SIMPLE_HEAD, padding=0, pad_edge=False, min_width=len(table.title)
    )  # fmt: skip
    page.add_column(plain(table.corner), overflow="fold")  # wraps names in a narrow terminal
    for number, (group, column) in enumerate(table.columns):
        longest = max((len(mean_text(row.cells[number])) for row in table.rows), default=0)
        page.add_column(
            plain("\n".join(filter(None, (group, column)))), justify="right", min_width=longest, overflow="fold"
        )
    for row, after in zip(table.rows, [*table.rows[1:], None], strict=True):
        cells = [_rich_cell(cell) for cell in row.cells]
        page.add_row(plain(row.name), *cells, end_section=after is not None and after.block != row.block)
    return page


def to_markdown(table: Table) -> str:
    """A Markdown table below its title in bold."""
    heads = [table.corner, *(f"{group}, {column}" for group, column in table.columns)]
    lines = [f"**{_pipes(table.title)}**", "", _line(heads), _line(["---"] + ["---:"] * (len(heads) - 1))]
    for row in table.rows:
        cells = [f"**{mean_text(c)}**{_parentheses(c)}" if c.best else cell_text(c) for c in row.cells]
        lines.append(_line([row.name, *cells]))
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    r"""A LaTeX `table`, which needs \usepackage{booktabs} only."""
    count = len(table.columns)
    spans, start = [], 2
    for _, columns in table.groups:
        spans.append(rf"\cmidrule(lr){{{start}-{start + len(columns) - 1}}}")
        start += len(columns)
    heads = [rf"\multicolumn{{{len(columns)}}}{{c}}{{{latex_text(group)}}}" for group, columns in table.groups]
    lines = [
        r"\begin{table}", r"\centering", r"\footnotesize", r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{latex_text(table.title)}}}", rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{@{{}}l{'r' * count}@{{}}}}", r"\toprule",
        rf" & {' & '.join(heads)} \\", " ".join(spans),
        " & ".join(latex_text(c) for c in [table.corner, *(c for _, c in table.columns)]) + r" \\", r"\midrule",
    ]  # fmt: skip
    blocks = [row.block for row in table.rows]
    breaks = [a != b for a, b in pairwise([*blocks, blocks[-1]])] if blocks else []
    for row, last in zip(table.rows, breaks, strict=True):
        lines.append(" & ".join([latex_text(row.name), *map(_latex_cell, row.cells)]) + r" \\")
        lines += [r"\addlinespace"] if last else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def to_csv(table: Table) -> str:
    """One line per cell, with all digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row", "group", "column", "mean", "standard_error", "difference", "multiple"])
    for row in table.rows:
        for (group, column), cell in zip(table.columns, row.cells, strict=True):
            values = (cell.mean, cell.error, cell.difference, cell.multiple)
            words = (csv_safe(word) for word in (row.name, group, column))
            writer.writerow([*words, *("" if math.isnan(v) else f"{v:.6g}" for v in values)])
    return file.getvalue()


def to_html(table: Table) -> str:
    """A <table> without scripts, in a box that scrolls on narrow screens."""
    heads = "".join(f'<th scope="colgroup" colspan="{len(c)}">{escape(g)}</th>' for g, c in table.groups)
    columns = "".join(f'<th scope="col">{escape(c)}</th>' for _, c in table.columns)
    body, before = [], None
    for row in table.rows:
        cells = "".join(_html_cell(cell) for cell in row.cells)
        first = ' class="first"' if before is not None and row.block != before else ""
        body.append(f'<tr{first}><th scope="row">{escape(row.name)}</th>{cells}</tr>')
        before = row.block
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(table.title)}</caption>'
        f'<thead><tr><td></td>{heads}</tr><tr><th scope="col">{escape(table.corner)}</th>{columns}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def write_tables(tables: list[Table], folder: Path) -> list[Path]:
    """Writes every table as Markdown, LaTeX and CSV.

    Returns:
        The paths of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for table in tables:
        for suffix, write in (("md", to_markdown), ("tex", to_latex), ("csv", to_csv)):
            path = inside(folder, f"{table.name}.{suffix}")
            write_whole(path, [write(table).encode()], durable=False)
            paths.append(path)
    return paths


def latex_text(text: str) -> str:
    return "".join(LATEX.get(c, c) for c in text)


def _number(value: float, digits: int, sign: str = "") -> str:
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"  # + 0.0 turns -0.0 into 0.0


def _parentheses(cell: Cell) -> str:
    change = change_text(cell)
    return f" ({change})" if change else ""


def _kind(cell: Cell) -> str:
    """The sign of the difference at the shown digits."""
    shown = round(cell.difference, cell.digits)
    return "more" if shown > 0 else "less" if shown < 0 else "same"


def _rich_cell(cell: Cell) -> str:
    mean = f"[bold]{mean_text(cell)}[/bold]" if cell.best else mean_text(cell)
    change = change_text(cell)
    if not change:
        return mean
    return f"{mean}\n[{COLOURS[_kind(cell)]}]({change})[/]"


def _latex_cell(cell: Cell) -> str:
    mean = latex_text(mean_text(cell)).replace("-", "$-$") if not cell.empty else "--"
    change = change_text(cell).replace("x", r"$\times$").replace("-", "$-$")
    bold = rf"\textbf{{{mean}}}" if cell.best else mean
    return f"{bold} ({change})" if change else bold


def _html_cell(cell: Cell) -> str:
    if cell.empty:
        return f'<td class="empty" aria-label="not measured">{EMPTY}</td>'
    mean = f"<b>{mean_text(cell)}</b>" if cell.best else mean_text(cell)
    change = change_text(cell)
    return f"<td>{mean}" + (f' <small class="{_kind(cell)}">({change})</small>' if change else "") + "</td>"


def _pipes(text: str) -> str:
    return text.replace("|", "\\|")


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(_pipes(c) for c in cells)} |"
