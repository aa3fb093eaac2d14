"""`lie-ssl demo`: the effect in minutes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lie_ssl.commands.make import run as make_data
from lie_ssl.commands.parsing import Jobs, check_jobs
from lie_ssl.errors import UserError

if TYPE_CHECKING:
    from lie_ssl.protocol.grid import Recipe
    from lie_ssl.report.cells import Table
    from lie_ssl.report.gathering import ReportData

    Show = Callable[[ReportData], tuple[list[Table], list[str]]]  # the tables and sentences to print


def demo(out: Path | None = None, jobs: Jobs = None, from_scratch: bool = False) -> None:
    """Renders objects, adapts EfficientNet-Lite0 to them by Frames and by Lie, and compares both with it in new poses.

    It takes minutes on two cores. It can be interrupted at any time, and the same command resumes it. Run again, it
    only shows the results.

    Example: lie-ssl demo --out demo

    Args:
        out: Folder for the data set, the runs, the tables and the page report.html; by default `demo`, or
            `demo-from-scratch`.
        jobs: Models to train in parallel; by default one per core, as far as memory allows.
        from_scratch: Train small encoders instead: MAE, MAE Frames and MAE Lie, in more minutes.
    """
    from lie_ssl.recipes import demo as recipes

    check_jobs(jobs)
    if from_scratch:
        run_demo(recipes.from_scratch_recipe(), out or Path("demo-from-scratch"), jobs, results_from_scratch)
    else:
        run_demo(recipes.demo_recipe(), out or Path("demo"), jobs, results)


def run_demo(recipe: Recipe, out: Path, jobs: int | None, show: Show) -> None:
    """Makes the data set, runs all units, writes the page and prints the results."""
    from rich.console import Console

    from lie_ssl.commands.bar import Bar
    from lie_ssl.frames import FrameSet
    from lie_ssl.frames.figures import draw_figures
    from lie_ssl.protocol.grid import done_units, run_units
    from lie_ssl.report.formats import to_rich
    from lie_ssl.report.gathering import gather
    from lie_ssl.report.page import write_page
    from lie_ssl.training.banked import stored_features

    data, runs, tables = out / "data", out / "runs", out / "results"
    make_data(recipe.name, recipe.data, data)
    draw_figures(FrameSet(data), data / "figures")
    config = recipe.units[0].pretraining
    with Bar() as bar:
        if config.adapt is not None and len(done_units(tables, recipe)) < len(recipe.units):
            stored_features(config.encoder, config, FrameSet(data), bar)  # once, by all cores, for all units
        if failed := run_units(recipe, recipe.units, data, runs, tables, bar, jobs):
            raise UserError(f"{', '.join(failed)} failed; see the messages above")
        bar.busy("writing the report")
        report = gather([runs / "_".join(unit.key) for unit in recipe.units])
        write_page(report, out / "report.html")
    console = Console()
    shown, sentences = show(report)
    for table in shown:
        console.print(to_rich(table))
    for sentence in sentences:
        print(sentence)
    print(f"Open {out / 'report.html'} in a browser, and {data / 'figures' / 'turning.gif'} to see the objects turn.")


def results(report: ReportData) -> tuple[list[Table], list[str]]:
    """One small table and three sentences."""
    from lie_ssl.report.adapted import adapted_sentences, adapted_table

    return [adapted_table(report)], adapted_sentences(report)


def results_from_scratch(report: ReportData) -> tuple[list[Table], list[str]]:
    """The tables of linear evaluation in the paper's layout, and three sentences."""
    from lie_ssl.report.findings import plain_sentences
    from lie_ssl.report.tables import accuracy_tables

    linear = [table for table in accuracy_tables(report.accuracy) if table.name.startswith("accuracy_linear")]
    return linear, plain_sentences(report)
