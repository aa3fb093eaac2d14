"""The figures of a data set: the paper's three, a sheet of all classes, and an animation."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.kinds import KINDS
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import check_link, inside

# The paper's choice: five classes, doubling angles, and one more angle where 0 has been shown already.
PAPER_CLASSES = ("guitar", "lamp", "birdhouse", "plant pot", "airplane")
PAPER_ANGLES = (4, 8, 16, 32, 64, 128, 256)
LAST_ANGLE = 320
FONT = 12
Cell = tuple[str, int]  # caption, row of the index


def draw_figures(frames: FrameSet, out: Path, class_name: str | None = None) -> list[Path]:
    """Writes all figures to the folder `out`; figures of one instance show `class_name` (a guitar by default)."""
    check_link(out, frames.folder)
    out.mkdir(parents=True, exist_ok=True)
    index = frames.index
    chosen = [c for c in PAPER_CLASSES if c in frames.classes]
    chosen += [c for c in frames.classes if c not in chosen]
    pages: dict[str, Image.Image] = {
        "classes.png": grid(frames, class_cells(index, 8)),
        "samples.png": grid(frames, [row for c in chosen[:5] for row in _rising(index, c)]),
    }
    for kind in index["pose"].unique():
        cells = _all_poses(index, class_name or chosen[0], kind)
        if cells:
            pages[f"poses_{kind}.png"] = grid(frames, [cells[i : i + 15] for i in range(0, len(cells), 15)])
    paths = []
    for name, page in pages.items():
        paths.append(inside(out, name))
        write_whole(paths[-1], [_bytes(page, "png")])
    return [*paths, draw_turning(frames, out / "turning.gif")]


def draw_turning(frames: FrameSet, path: Path, columns: int = 13) -> Path:
    """Writes an animation: one instance of every class rotates through its poses, one kind after another."""
    index = frames.index
    tracks = []
    for name in frames.classes:
        own = _instance(index, name, 0)
        tracks.append(own.sort_values(["pose", "angle"], kind="stable").index.to_list())
    length = min(72, max(len(t) for t in tracks))
    pictures = []
    for step in range(length):
        cells = [("", track[step * len(track) // length]) for track in tracks]
        page = grid(frames, [cells[i : i + columns] for i in range(0, len(cells), columns)], zoom=1, captions=False)
        pictures.append(page.quantize(128))
    moving = _bytes(pictures[0], "gif", save_all=True, append_images=pictures[1:], duration=110, loop=0, optimize=False)
    write_whole(path, [moving])
    return path


def _bytes(picture: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def class_cells(index: pd.DataFrame, instances: int) -> list[list[Cell]]:
    """Some instances of every class in the typical pose, several classes per row."""
    rows = []
    for name in sorted(index["class"].unique()):
        cells = []
        for i in range(min(instances, index.loc[index["class"] == name, "instance"].nunique())):
            cells.append((name if i == 0 else "", int(_instance(index, name, i).index[0])))
        rows.append(cells)
    beside = max(1, min(13, 20 // max(len(r) for r in rows)))
    height = -(-len(rows) // beside)
    return [[cell for row in rows[i::height] for cell in row] for i in range(height)]


def grid(
    frames: FrameSet, rows: Sequence[Sequence[Cell]], zoom: int | None = None, captions: bool = True
) -> Image.Image:
    """A sheet of pictures with a caption above each."""
    zoom = zoom or max(1, 128 // frames.size)
    side, head = frames.size * zoom, FONT + 4 if captions else 0
    page = Image.new("RGB", (side * max(len(r) for r in rows), (side + head) * len(rows)), "white")
    pen, font, tiny = ImageDraw.Draw(page), ImageFont.load_default(FONT), ImageFont.load_default(FONT - 3)
    for i, row in enumerate(rows):
        pictures = frames.read([cell[1] for cell in row])
        for j, ((caption, _), picture) in enumerate(zip(row, pictures, strict=True)):
            image = Image.fromarray(np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else picture)
            image = image.resize((side, side), Image.Resampling.LANCZOS) if zoom > 1 else image
            page.paste(image, (j * side, i * (side + head) + head))
            if captions:
                fitting = font if pen.textlength(caption, font) < side - 4 else tiny
                pen.text((j * side + 3, i * (side + head) + 1), caption, fill="black", font=fitting)
    return page


def _instance(index: pd.DataFrame, class_name: str, number: int) -> pd.DataFrame:
    """All rows of the n-th instance of a class, the typical pose first."""
    own = index[index["class"] == class_name]
    names = own["instance"].unique()
    chosen: pd.DataFrame = own[own["instance"] == names[number % len(names)]]
    return chosen


def _rising(index: pd.DataFrame, class_name: str) -> list[list[Cell]]:
    """One row for each kind of pose of a class: the typical pose once, and increasing angles."""
    own = _instance(index, class_name, 0)
    rows: list[list[Cell]] = []
    for kind in (k for k in KINDS if KINDS[k].periodic):
        poses = own[own["pose"] == kind].sort_values("angle", kind="stable")
        angles = (*PAPER_ANGLES, LAST_ANGLE) if rows else (0, *PAPER_ANGLES)
        cells = [_nearest(poses, kind, angle) for angle in angles] if len(poses) else []
        if len({row for _, row in cells}) < len(cells):  # the data set is coarser: evenly spaced poses instead
            places = np.linspace(0, len(poses) - 1, min(len(angles), len(poses))).round().astype(int)
            cells = [_nearest(poses, kind, poses["angle"].iloc[i]) for i in places]
        rows += [cells] if cells else []
    if not rows:  # only free rotations, or a clip
        short = KINDS[own["pose"].iloc[0]].short
        rows.append([(f"{short} {a:.0f}", r) for r, a in _angles(own)[:8]])
    rows[0][0] = (f"{class_name} {rows[0][0][0]}", rows[0][0][1])
    return rows


def _nearest(poses: pd.DataFrame, kind: str, angle: float) -> Cell:
    row, found = min(_angles(poses), key=lambda pose: abs(pose[1] - angle))
    return f"{KINDS[kind].short} {found:g}", row


def _angles(poses: pd.DataFrame) -> list[tuple[int, float]]:
    """The row and the angle of every pose."""
    return list(zip(poses.index.to_list(), poses["angle"].to_list(), strict=True))


def _all_poses(index: pd.DataFrame, class_name: str, kind: str) -> list[Cell]:
    """One instance in all poses of a kind, including identical frames."""
    own = _instance(index, class_name, 0)
    poses = own[own["pose"] == kind].sort_values("angle", kind="stable")
    return [(f"{angle:.4g}°", row) for row, angle in _angles(poses)]
