"""`lie-ssl data import | show | export | verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from lie_ssl._text import count
from lie_ssl.commands.make import progress_bar
from lie_ssl.commands.parsing import say
from lie_ssl.errors import UserError
from lie_ssl.frames.factors import get_factor
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.pairs import pose_kinds, varied_factors
from lie_ssl.objects.sources import SOURCES
from lie_ssl.storage.paths import has_controls

Folder = Annotated[Path, tyro.conf.Positional]


def show(folder: Folder, out: Path | None = None, class_name: str | None = None) -> None:
    """Prints the card of a data set and draws its figures.

    Figures: samples.png (five classes in rising poses), poses_2d.png, poses_3d.png and so on (one instance in all poses
    of a kind), classes.png (all classes) and turning.gif.

    Example: lie-ssl data show data/demo --class-name chair

    Args:
        folder: The data set.
        out: Folder for the figures; figures/ in the data set by default.
        class_name: Class whose first instance is shown in all poses.
    """
    from lie_ssl.frames.figures import draw_figures

    frames = FrameSet(folder)
    if class_name is not None and class_name not in frames.classes:
        raise UserError(f"{folder} has no class {class_name!r}; it has {', '.join(frames.classes)}")
    print_card(frames)
    for path in draw_figures(frames, out or Path(folder) / "figures", class_name):
        print(f"drew {path}")


def print_card(frames: FrameSet) -> None:
    """Prints the card as a table."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    card, config = frames.card, frames.card.get("config")
    source = str(config.get("source")) if isinstance(config, dict) else ""  # imports have none
    title = f" ({SOURCES[source].title})" if source in SOURCES else ""
    rows = {
        "recipe": f"{card['recipe']} ({card['config_hash']})",
        "source": f"{card['source']}{title}",
        "pictures": f"{card['size']} px, {count(card['channels'], 'channel')}, {card['bytes_per_frame']:,.0f} B each",
    }
    for title in ("counts", "licences", "versions"):
        pairs = card[title].items()
        rows[title] = ", ".join(f"{k} {v:,}" if isinstance(v, int) else f"{k} {v}" for k, v in pairs)
    rows |= {
        "varies in": variation(frames),
        "classes": ", ".join(frames.classes),
        "left out": str(len(card["dropped"])),
    }
    table = Table(title=escape(str(frames.folder)), show_header=False)
    for title, text in rows.items():
        table.add_row(title, escape("".join("?" if has_controls(c) else c for c in text)))
    Console().print(table)


def variation(frames: FrameSet) -> str:
    """The kinds of pose and the factors of variation of a data set, with the values that occur."""
    parts = [f"Pose ({', '.join(pose_kinds(frames.index))})"]
    for factor in map(get_factor, varied_factors(frames.index)):
        values = frames.index[factor.name]
        parts.append(f"{factor.title} ({values.min():.3g} to {values.max():.3g} {factor.unit}".rstrip() + ")")
    return ", ".join(parts)


def export(folder: Folder, out: Path, to: Literal["imagefolder", "huggingface"] = "imagefolder") -> None:
    """Writes a data set in another layout.

    Example: lie-ssl data export data/demo --to huggingface --out exported

    Args:
        folder: The data set.
        out: A new folder.
        to: imagefolder for split/class/*.png; huggingface for parquet files with an image column.
    """
    from lie_ssl.frames.export import export_huggingface, export_image_folder

    frames = FrameSet(folder)
    with progress_bar("writing") as progress:
        (export_image_folder if to == "imagefolder" else export_huggingface)(frames, out, progress)
    print(f"wrote {out}")


def verify(folder: Folder) -> None:
    """Checks every byte of a data set against its hashes; the exit code is 2 if one has changed.

    Example: lie-ssl data verify data/demo

    Args:
        folder: The data set.
    """
    from lie_ssl.frames.verify import verify as find_changes

    problems = find_changes(folder)
    for problem in problems:
        say(f"{folder}: {problem}")
    if problems:
        more = f" and {len(problems) - 1:,} more" if len(problems) > 1 else ""
        raise UserError(f"{folder} has changed since it was made ({problems[0]}{more}); make or copy it again")
    print(f"{folder}: no byte has changed")


def import_photos(
    folder: Folder,
    out: Path,
    layout: Literal["auto", "folders", "coil20", "coil100"] = "auto",
    angles: Path | None = None,
    pose: str = "yaw",
    video: bool = False,
    rate: float = 5.0,
    unit: float = 1.0,
    size: int = 64,
    grey: bool = False,
    licence: str = "unknown",
    validation: float = 0.10,
    test: float = 0.15,
    seed: int = 0,
    strict: bool = False,
) -> None:
    """Makes a data set from photographs or video clips of rotating objects.

    Photographs are class/instance/*.png (or jpg). The angle is the last number of the file name (`view_035.png`), or
    comes from a CSV file with the columns file and angle. COIL-20 and COIL-100 are recognised by their file names.
    Clips (--video) are class/instance.mp4, or files without folders; these have no labels, so they can be used for
    pretraining but not for evaluation. Only the longest shot of a clip is kept, without frames in which nothing moves.

    Example: lie-ssl data import coil20.zip --out data/coil20 --size 64
    Example: lie-ssl data import clips --video --rate 5 --out data/clips

    Args:
        folder: Folder or zip file with the photographs or clips.
        out: Folder of the new data set.
        layout: Layout of the photographs.
        angles: CSV file with the columns file and angle (degrees), if the angles are not in the file names.
        pose: Kind of pose of the photographs: yaw for a turntable, 2d for a rolling camera; 3d for a turntable as
            imported by version 0.1.
        video: Import video clips instead of photographs.
        rate: Frames per second to keep.
        unit: Seconds between two frames that count as a delta of 1.
        size: Side of a frame in pixels.
        grey: Store one channel instead of three.
        licence: Licence of the pictures, for the card.
        validation: Share of the instances of each class in the validation set.
        test: Share of the instances of each class in the test set.
        seed: Seed of the splits.
        strict: Stop at the first picture or clip that cannot be used, instead of leaving it out.
    """
    from lie_ssl.commands.make import print_result
    from lie_ssl.frames.photos import PhotoConfig, import_photographs
    from lie_ssl.frames.video import VideoConfig, import_video

    common: dict[str, Any] = {
        "path": str(folder), "size": size, "grey": grey, "licence": licence, "validation": validation, "test": test,
        "seed": seed,
    }  # fmt: skip
    with progress_bar("reading", "objects") as progress:
        if video:
            clips = VideoConfig(rate=rate, unit=unit, **common)
            frames = import_video(clips, out, strict=strict, progress=progress)
        else:
            photographs = PhotoConfig(
                layout=layout, angles=None if angles is None else str(angles), pose=pose, **common
            )
            frames = import_photographs(photographs, out, strict=strict, progress=progress)
    print_result(frames)
