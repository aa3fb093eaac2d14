"""`lie-ssl data make RECIPE`: one function a recipe, so that the help shows the recipe's own numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.make import Progress, make_frames
from lie_ssl.recipes.data import DATA_RECIPES, demo, paper, small


def make_demo(out: Path, config: DataConfig = demo(), workers: int = 0, strict: bool = False) -> None:  # noqa: B008
    """Makes a data set of all 52 procedural classes in seconds.

    Example: lie-ssl data make demo --out data/demo

    Args:
        out: The folder to make. An unfinished one is finished; another data set is never written over.
        config: What the data set holds.
        workers: Processes; 0 takes all cores. The bytes are the same with any number.
        strict: Stop at the first mesh that cannot be drawn, in place of leaving it out.
    """
    run("demo", config, out, workers, strict)


def make_small(out: Path, config: DataConfig = small(), workers: int = 0, strict: bool = False) -> None:  # noqa: B008
    """Makes a data set for work on a CPU in minutes.

    Example: lie-ssl data make small --out data/small --classes car chair mug --instances 40

    Args:
        out: The folder to make. An unfinished one is finished; another data set is never written over.
        config: What the data set holds.
        workers: Processes; 0 takes all cores. The bytes are the same with any number.
        strict: Stop at the first mesh that cannot be drawn, in place of leaving it out.
    """
    run("small", config, out, workers, strict)


def make_paper(out: Path, config: DataConfig = paper(), workers: int = 0, strict: bool = False) -> None:  # noqa: B008
    """Makes a data set of the paper's size: 52 classes x 50 instances x 180 poses at 224 pixels.

    Example: lie-ssl data make paper --out data/shapenet --source folder --path ~/ShapeNetCore.v2

    Args:
        out: The folder to make. An unfinished one is finished; another data set is never written over.
        config: What the data set holds.
        workers: Processes; 0 takes all cores. The bytes are the same with any number.
        strict: Stop at the first mesh that cannot be drawn, in place of leaving it out.
    """
    run("paper", config, out, workers, strict)


def run(recipe: str, config: DataConfig, out: Path, workers: int, strict: bool) -> None:
    """Makes the data set with a progress bar and says what was left out."""
    # The classes that a recipe names are procedural ones; another source has its own.
    if config.source != "procedural" and config.classes == DATA_RECIPES[recipe]().classes:
        config = replace(config, classes=())
    with progress_bar("drawing") as progress:
        frames = make_frames(config, out, recipe=recipe, workers=workers or None, strict=strict, progress=progress)
    print_result(frames)


def print_result(frames: FrameSet) -> None:
    """What was left out and what the data set holds."""
    card = frames.card
    for dropped in card["dropped"]:
        print(f"left out {dropped['key']}: {dropped['why']}")
    if card["dropped"]:
        print(f"left out {len(card['dropped'])} in all")
    counts = card["counts"]
    missing = [s for s in ("validation", "test") if counts[s] == 0]
    if missing and counts["classes"] == counts["instances"] > 1:
        print("note: every class is one object; half of them are seen in all poses, the others in one")
    elif missing:
        print(f"note: the classes have too few instances for a {' or '.join(missing)} split")
    print(
        f"{frames.folder}: {counts['frames']:,} frames of {counts['instances']:,} instances in "
        f"{counts['classes']} classes, {card['bytes_per_frame'] / 1000:.1f} kB a frame"
    )


@contextmanager
def progress_bar(verb: str, what: str = "frames") -> Iterator[Progress]:
    """A bar with the rate in frames (or what else is counted) a second and the time that is left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.0f} {what}/s" if speed else "")

    columns = (TextColumn(verb), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    bar = Progress(*columns)
    task = bar.add_task(verb, total=None)

    def report(done: int, total: int) -> None:
        bar.start()  # with the first frame, not before: an error on the way there stands alone
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
