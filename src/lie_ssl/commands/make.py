"""`lie-ssl data make RECIPE`; the recipe sets the defaults of the flags.

Sources and factors of variation come from their registries, so the help also lists those of a user.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, fields, make_dataclass
from inspect import getdoc
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import tyro

from lie_ssl._text import count
from lie_ssl.commands.parsing import call, say
from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.factors import Range, all_factors
from lie_ssl.frames.folder import LEFT_OUT
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.kinds import KINDS, RENDERED_KINDS
from lie_ssl.frames.make import Progress, make_frames
from lie_ssl.frames.splits import assign
from lie_ssl.frames.video import UNLABELLED
from lie_ssl.objects.sources import SOURCES, Source
from lie_ssl.objects.textures import printable
from lie_ssl.recipes.data import DATA_RECIPES
from lie_ssl.storage.paths import shown


def make_demo(arguments: list[str]) -> None:
    """Makes a data set of all 52 procedural classes in seconds.

    Example: lie-ssl data make demo --out data/demo
    """
    make_recipe("demo", arguments, make_demo)


def make_small(arguments: list[str]) -> None:
    """Makes a data set for experiments on a CPU.

    Example: lie-ssl data make small --out data/small --classes car chair mug --instances 40
    """
    make_recipe("small", arguments, make_small)


def make_paper(arguments: list[str]) -> None:
    """Makes a data set of the paper's size: 52 classes x 50 instances x 180 poses at 224 pixels.

    Example: lie-ssl data make paper --out data/shapenet --source folder --path ~/ShapeNetCore.v2
    """
    make_recipe("paper", arguments, make_paper)


def make_recipe(recipe: str, arguments: list[str], command: Callable[[list[str]], None]) -> None:
    """Reads the flags and makes the data set; the command's docstring opens its help."""
    default = DATA_RECIPES[recipe]()

    def main(out: Path, config: Any, ranges: Any, workers: int | None = None, strict: bool = False) -> None:
        """Makes a data set.

        Args:
            out: Folder of the data set. An unfinished one is resumed; another data set is never overwritten.
            config: Contents of the data set.
            ranges: Factors of variation, drawn from MIN to MAX for every frame except the typical one.
            workers: Worker processes; one per core by default. The result does not depend on their number.
            strict: Stop at the first mesh that cannot be rendered, instead of leaving it out.
        """
        chosen = {f.name: getattr(config, f.name) for f in fields(DataConfig)} | {"ranges": vars(ranges)}
        if config.source != default.source and config.classes == default.classes:
            chosen["classes"] = ()  # the recipe's classes belong to its own source
        run(recipe, DataConfig(**chosen), out, workers, strict)

    main.__annotations__ |= {"config": setting_flags(default), "ranges": range_flags(default)}
    about, flat = getdoc(command), (tyro.conf.OmitArgPrefixes,)  # the names of the settings say enough
    call(main, f"lie-ssl data make {recipe}", arguments, description=about, config=flat)


def setting_flags(default: DataConfig) -> type[DataConfig]:
    """A :class:`DataConfig` with the defaults of a recipe, whose help lists the sources and the kinds of pose."""
    sources = "; ".join(f"{entry.name} ({entry.title})" for entry in SOURCES.entries())
    source = Annotated[str, tyro.conf.arg(help=f"Source of the objects: {sources}.")]
    about = "; ".join(f"{name} ({KINDS[name].about})" for name in RENDERED_KINDS)
    poses = Annotated[tuple[str, ...], tyro.conf.arg(help=f"Kinds of poses: {about}.", metavar="KIND [KIND ...]")]
    hidden = Annotated[Any, tyro.conf.Suppress]  # ranges have their own flags
    types = get_type_hints(DataConfig) | {"source": source, "poses": poses, "ranges": hidden}
    own = [(name, kind, field(default=getattr(default, name))) for name, kind in types.items()]
    return make_dataclass("DataFlags", own, bases=(DataConfig,), frozen=True)


def range_flags(default: DataConfig) -> type:
    """One flag with two numbers for every registered factor of variation."""
    own = []
    for factor in all_factors():
        unit = f", {factor.unit}" if factor.unit else ""
        text = tyro.conf.arg(help=f"{factor.summary.rstrip('.')}{unit}.", metavar="MIN MAX")
        span = default.ranges.get(factor.name, factor.default)
        own.append((factor.name, Annotated[Range, text], field(default=span)))
    return make_dataclass("RangeFlags", own, frozen=True)


def run(recipe: str, config: DataConfig, out: Path, workers: int | None = None, strict: bool = False) -> None:
    """Makes the data set with a progress bar and prints what was left out."""
    for note in config.notes():
        print(shown(f"note: {note}"), file=sys.stderr)
    with progress_bar("drawing") as progress:
        frames = make_frames(config, out, recipe=recipe, workers=workers, strict=strict, progress=progress)
    print_result(frames)


def print_result(frames: FrameSet) -> None:
    """Prints what was left out, notes, and the size of the data set."""
    card, counts = frames.card, frames.card["counts"]
    for line in left_out_lines(card["dropped"], card["config"].get("path", "")):
        say(line)
    if card["dropped"]:
        table = frames.folder / LEFT_OUT
        listed = f", listed in {table}" if table.is_file() else ""  # older data sets do not have this file
        print(f"left out {len(card['dropped']):,} in all{listed}")
    for note in [*card.get("notes", []), *split_notes(frames)]:
        say(f"note: {note}")
    print(
        f"{frames.folder}: {count(counts['frames'], 'frame')} of {count(counts['instances'], 'instance')} in "
        f"{count(counts['classes'], 'class', 'classes')}, {card['bytes_per_frame'] / 1000:.1f} kB per frame"
    )


def left_out_lines(dropped: Sequence[dict[str, str]], root: str = "") -> list[str]:
    """One line per reason, with a count and an example, or with the name if there is only one.

    Args:
        dropped: The list from the card.
        root: The folder with which names in the reasons may begin.
    """
    groups: dict[str, list[dict[str, str]]] = {}
    for each in dropped:
        groups.setdefault(common_reason(each["key"], each["why"], root), []).append(each)
    lines = [
        f"left out {own[0]['key']}: {own[0]['why']}"
        if len(own) == 1
        else f"left out {len(own):,}: {reason} (first: {own[0]['key']})"
        for reason, own in groups.items()
    ]
    return [printable(line) for line in lines]


def common_reason(key: str, why: str, root: str = "") -> str:
    """Why `key` was left out, without names and numbers that are specific to it.

    >>> common_reason("mug/a.obj", "data/mug/a.obj cannot be used (it has no faces)", "data")
    'cannot be used (it has no faces)'
    """
    why = re.sub(r"^.+(?= (?:is used|was taken) as the mesh of this folder)", "another file", why)
    why = re.sub(r"(?<=same geometry as ).+?(?=, which has another class|$)", "another mesh", why)
    if "." in key:  # a file; in an archive, its name may stand alone
        for name in (str(Path(root) / key), key, key.rpartition(":")[2]):
            why = re.sub(rf"\S*{re.escape(name)}", "...", why)
    why = re.sub(r"(?<![\w.-])\d+(\.\d+)?(?!\w)", "N", why)
    return why.removeprefix("... ").removesuffix(".")


def split_notes(frames: FrameSet) -> list[str]:
    """Why the data set cannot be used for evaluation, and what to do; or that every class has one instance only."""
    card, config, counts = frames.card, frames.card["config"], frames.card["counts"]
    imported = card["recipe"] in ("photographs", "video")
    thing, things = ("clip", "clips") if card["recipe"] == "video" else ("object", "objects")
    limits = "so the data set can be used for pretraining but not for evaluation"
    source = SOURCES[config["source"]].value if config.get("source") in SOURCES else Source
    if frames.classes in ([UNLABELLED], [source.unlabelled]):
        return [f"the {things} have no classes, {limits}; {source.add_labels}"]
    if counts["classes"] == 1:
        return [f"all {things} are of one class ({frames.classes[0]}), {limits}; add {things} of other classes"]
    missing = [s for s in ("validation", "test") if counts[s] == 0]
    if not missing:
        return []
    if imported and counts["classes"] == counts["instances"]:
        return ["every class has one instance; half of them are seen in all poses, the others in one"]
    sizes = frames.index.groupby("class")["instance"].nunique().tolist()
    low, high = min(sizes), max(sizes)
    number = f"{low:,} {thing if low == 1 else things}" if low == high else f"{low:,} to {high:,} {things}"
    what = f"with {number} per class there is {' and '.join(f'no {s}' for s in missing)} split, {limits}"
    shares = enough_shares(sizes, config["validation"], config["test"])
    if shares is None:
        return [f"{what}; at least 3 {things} per class are needed"]
    how = f"{'import' if imported else 'make'} it into another folder with"
    more = f"add {things}" if imported else source.add_instances
    return [f"{what}; {how} --validation {shares[0]:g} --test {shares[1]:g}, or {more}"]


def enough_shares(sizes: Sequence[int], validation: float, test: float) -> tuple[float, float] | None:
    """Shares for validation and test that give every class at least one instance in each split, training included.

    The given shares are returned if they are large enough, and None if a class has fewer than three instances.

    Args:
        sizes: Number of instances of each class.
        validation, test: The shares that the data set was made with.
    """
    least = math.ceil(100 / min(sizes)) / 100
    for shares in ((max(validation, least), max(test, least)), (least, least)):
        if sum(shares) < 1 and all(_fills_all_splits(size, *shares) for size in set(sizes)):
            return shares
    return None


def _fills_all_splits(size: int, validation: float, test: float) -> bool:
    splits = assign([str(i) for i in range(size)], "", validation=validation, test=test)
    return {split for split, _ in splits.values()} == {"train", "validation", "test"}


@contextmanager
def progress_bar(verb: str, what: str = "frames") -> Iterator[Progress]:
    """A progress bar with the speed (frames per second by default) and the time left."""
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
        bar.start()  # shown with the first frame, so that an earlier error stands alone
        bar.update(task, completed=done, total=total)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
