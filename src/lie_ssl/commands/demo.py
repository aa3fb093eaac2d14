"""`lie-ssl demo`: the effect in minutes."""

from __future__ import annotations

from pathlib import Path

from lie_ssl.commands.make import run as make_data
from lie_ssl.commands.parsing import Jobs, check_jobs
from lie_ssl.errors import UserError


def demo(out: Path = Path("demo"), jobs: Jobs = None) -> None:
    """Renders objects, trains MAE, MAE Frames and MAE Lie on them, and compares all three in new poses.

    It takes minutes on two cores. It can be interrupted at any time, and the same command resumes it. Run again, it
    only shows the results.

    Example: lie-ssl demo --out demo

    Args:
        out: Folder for the data set, the runs, the tables and the page report.html.
        jobs: Models to train in parallel; by default one per core, as far as memory allows.
    """
    from rich.console import Console

    from lie_ssl.commands.bar import Bar
    from lie_ssl.frames import FrameSet
    from lie_ssl.frames.figures import draw_figures
    from lie_ssl.protocol.grid import run_units
    from lie_ssl.recipes.demo import demo_recipe
    from lie_ssl.report.findings import plain_sentences
    from lie_ssl.report.formats import to_rich
    from lie_ssl.report.gathering import gather
    from lie_ssl.report.page import write_page
    from lie_ssl.report.tables import accuracy_tables

    check_jobs(jobs)
    recipe = demo_recipe()
    data, runs = out / "data", out / "runs"
    make_data(recipe.name, recipe.data, data)
    draw_figures(FrameSet(data), data / "figures")
    with Bar() as bar:
        if failed := run_units(recipe, recipe.units, data, runs, out / "results", bar, jobs):
            raise UserError(f"{', '.join(failed)} failed; see the messages above")
        bar.busy("writing the report")
        report = gather([runs / "_".join(unit.key) for unit in recipe.units])
        write_page(report, out / "report.html")
    console = Console()
    for table in accuracy_tables(report.accuracy):
        if table.name.startswith("accuracy_linear"):
            console.print(to_rich(table))
    for sentence in plain_sentences(report):
        print(sentence)
    print(f"Open {out / 'report.html'} in a browser, and {data / 'figures' / 'turning.gif'} to see the objects turn.")
