"""Photographs of turning objects into the same kind of folder as rendered ones."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lie_ssl.errors import UserError
from lie_ssl.frames.folder import check_folder, claimed, finish
from lie_ssl.frames.frameset import FrameSet, shard_name
from lie_ssl.frames.importing import Importer, Shown
from lie_ssl.frames.listing import Layout, Photo, list_photos, open_tree
from lie_ssl.frames.pictures import load_picture
from lie_ssl.frames.plan import MOST_SHARDS
from lie_ssl.frames.splits import check_shares
from lie_ssl.render.view import RenderSettings


@dataclass(frozen=True)
class PhotoConfig:
    """An import of photographs; two equal configs on the same files give the same bytes."""

    path: str
    layout: Layout = "auto"
    angles: str = ""  # a csv with the columns file and angle
    pose: Literal["2d", "3d"] = "3d"  # 3d for a turntable, 2d where the camera was rolled
    size: int = 64
    grey: bool = False
    licence: str = "unknown"
    validation: float = 0.10
    test: float = 0.15
    seed: int = 0

    def __post_init__(self) -> None:
        RenderSettings(size=self.size)
        check_shares(self.validation, self.test)


def import_photographs(
    config: PhotoConfig,
    out: Path | str,
    *,
    strict: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FrameSet:
    """Reads the photographs and makes a data set of them in `out`; unreadable ones are left out and named in the card.

    With `strict` the first unreadable photograph stops the import.
    """
    folder = Path(out)
    with open_tree(Path(config.path)) as tree:
        photos = list_photos(tree, config.layout, Path(config.angles) if config.angles else None)
        plain = json.loads(json.dumps(dataclasses.asdict(config)))
        if check_folder(folder, plain):
            return FrameSet(folder)
        with claimed(folder, plain, "photographs") as finished:
            if finished:
                return FrameSet(folder)
            importer = Importer(config, strict)
            done = 0
            for number, instances in enumerate(_in_shards(photos)):
                frames: list[bytes] = []
                for own in instances:
                    pictures = _pictures(own, tree.read, config, importer)
                    importer.add(own[0].class_name, own[0].instance, config.pose, pictures, number, frames)
                    done += len(own)
                    progress(done, len(photos))
                importer.write(folder / shard_name(number), frames)
            rows = importer.split_rows()
            finish(
                folder, recipe="photographs", config=plain, source="photographs", size=config.size,
                channels=1 if config.grey else 3, factors=(), rows=rows, dropped=importer.dropped,
                hashes=importer.hashes,
            )  # fmt: skip
    return FrameSet(folder)


def _pictures(
    photos: list[Photo], read: Callable[[str], bytes], config: PhotoConfig, importer: Importer
) -> Iterator[Shown]:
    """The readable photographs of an instance."""
    for photo in photos:
        try:
            yield Shown(photo.angle, load_picture(read(photo.name), photo.name, config.size, grey=config.grey))
        except UserError as error:
            importer.drop(photo.name, error)


def _in_shards(photos: list[Photo]) -> list[list[list[Photo]]]:
    """Photographs -> shards of instances of photographs, the smallest angle of an instance first."""
    groups: dict[tuple[str, str], list[Photo]] = {}
    for photo in photos:
        groups.setdefault((photo.class_name, photo.instance), []).append(photo)
    instances = [sorted(groups[key], key=lambda p: (p.angle, p.name)) for key in sorted(groups)]
    per_shard = math.ceil(len(instances) / MOST_SHARDS)
    return [instances[i : i + per_shard] for i in range(0, len(instances), per_shard)]
