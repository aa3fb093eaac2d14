"""`lie-ssl report RUN ...`: one page with the tables and plots of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.parsing import Trust, say


def report(
    sources: Annotated[tuple[Path, ...], tyro.conf.Positional],
    out: Path = Path("report.html"),
    files: Path | None = None,
    data: str | None = None,
    trust: Trust = (),
) -> None:
    """Compares evaluated runs in one HTML page that needs no network, and prints the main tables.

    Runs of the same arm with different seeds are averaged.

    Example: lie-ssl report runs/mae_alone runs/mae_lie --out report.html --files results

    Args:
        sources: Folders of evaluated runs, of evaluations, or of collected tables (accuracy.csv ...).
        out: The HTML file to write.
        files: Folder for the tables as Markdown, LaTeX and CSV (with the operator's gain in every cell), the figures
            as PNG and SVG, and the rows of all runs in the folder `rows`, from which a report can be made again.
        data: The data set, if it has moved since the runs were made.
        trust: An import path (package.module:Class) that the runs may name, also for its title. Importing runs code.
    """
    from rich.console import Console

    from lie_ssl.report.adaptation import adaptation_tables
    from lie_ssl.report.cells import group_tables
    from lie_ssl.report.changes import change_tables
    from lie_ssl.report.findings import findings
    from lie_ssl.report.formats import to_rich, write_tables
    from lie_ssl.report.gathering import gather, register_trusted, write_rows
    from lie_ssl.report.headline import ablation_operator, headline_tables, operator_gain
    from lie_ssl.report.page import write_page
    from lie_ssl.report.tables import accuracy_tables, all_tables, equivariance_tables
    from lie_ssl.storage.tables import write_table

    gathered = gather(sources)
    register_trusted(gathered, trust)
    console = Console()
    if len(gathered.accuracy):
        for table in accuracy_tables(gathered.accuracy):
            console.print(to_rich(table))
    if len(gathered.equivariance):
        unknown = gathered.equivariance[gathered.equivariance["instances"] == "unknown"]
        for table in group_tables(equivariance_tables(unknown)):
            console.print(to_rich(table))
    for sentence in (*findings(gathered), *gathered.notes):
        say(sentence)
    write_page(gathered, out, data, trust)
    print(f"wrote {out}")
    if files is not None:
        from lie_ssl.report.figures import draw_figures

        tables = all_tables(gathered.accuracy, gathered.equivariance, gathered.ablation)
        tables += headline_tables(gathered.accuracy, gathered.equivariance)
        tables += adaptation_tables(gathered.accuracy, gathered.equivariance)
        tables += change_tables(gathered.accuracy, gathered.equivariance)
        tables += ablation_operator(gathered.ablation_equivariance)
        written = write_tables(tables, files / "tables")
        if gathered.evaluated:  # collected tables already have their rows in one place
            written += write_rows(gathered, files / "rows")
        if len(gains := operator_gain(gathered.accuracy)):
            write_table(files / "tables" / "gains.csv", gains)
        written += draw_figures(gathered.accuracy, gathered.curve, files / "figures", gathered.equivariance)
        print(f"wrote {len(written)} files into {files}")
