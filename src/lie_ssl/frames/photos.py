"""Photographs of turning objects into the same kind of folder as rendered ones."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.card import file_hash
from lie_ssl.frames.codec import encode
from lie_ssl.frames.folder import check_folder, claimed, finish
from lie_ssl.frames.frameset import FrameSet, shard_name
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.listing import Layout, Photo, list_photos, open_tree
from lie_ssl.frames.pictures import load_picture
from lie_ssl.frames.plan import MOST_SHARDS
from lie_ssl.frames.poses import Pose
from lie_ssl.frames.shards import write_shard
from lie_ssl.frames.splits import assign, check_shares
from lie_ssl.objects.sources import Dropped
from lie_ssl.render.view import RenderSettings, View, turn


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
            importer = _Importer(config, strict)
            done = 0
            for number, instances in enumerate(_in_shards(photos)):
                frames: list[bytes] = []
                for own in instances:
                    importer.add(own, tree.read, number, frames)
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


class _Importer:
    """Collects rows, shard hashes and what was left out while the photographs are read."""

    def __init__(self, config: PhotoConfig, strict: bool) -> None:
        self.config, self.strict = config, strict
        self.rows: list[InstanceRows] = []
        self.dropped: list[Dropped] = []
        self.hashes: dict[str, str] = {}

    def add(self, photos: list[Photo], read: Callable[[str], bytes], shard: int, frames: list[bytes]) -> None:
        """Reads all photographs of one instance and appends the encoded ones to `frames`."""
        poses: list[Pose] = []
        first, seen = len(frames), dict[bytes, int]()
        for photo in photos:
            try:
                picture = load_picture(read(photo.name), photo.name, self.config.size, grey=self.config.grey)
            except UserError as error:
                if self.strict:
                    raise
                self.dropped.append(Dropped(photo.name, str(error)))
                continue
            blob = encode(picture)
            earlier = seen.setdefault(blob, len(poses))
            if earlier == len(poses):
                frames.append(blob)
            rotation = self._rotation(photo.angle)
            poses.append(Pose(self.config.pose, photo.angle, View(rotation), -1 if earlier == len(poses) else earlier))
        name, instance = photos[0].class_name, photos[0].instance
        if poses:
            self.rows.append(InstanceRows(name, instance, "", -1, self.config.licence, poses, shard, first))
        else:
            self.dropped.append(Dropped(f"{name}/{instance}", "none of its pictures can be read"))

    def write(self, path: Path, frames: list[bytes]) -> None:
        write_shard(path, frames)
        self.hashes[path.name] = file_hash(path)

    def split_rows(self) -> list[InstanceRows]:
        if not self.rows:
            raise UserError(f"none of the pictures in {self.config.path} can be read")
        c = self.config
        names: dict[str, list[str]] = {}
        for row in self.rows:
            names.setdefault(row.class_name, []).append(row.instance)
        splits = {n: assign(own, n, validation=c.validation, test=c.test, seed=c.seed) for n, own in names.items()}
        chosen = [splits[r.class_name][r.instance] for r in self.rows]
        return [
            dataclasses.replace(r, split=split, diverse_rank=rank)
            for r, (split, rank) in zip(self.rows, chosen, strict=True)
        ]

    def _rotation(self, angle: float) -> NDArray[np.float64]:
        return turn(2 if self.config.pose == "2d" else 1, angle)


def _in_shards(photos: list[Photo]) -> list[list[list[Photo]]]:
    """Photographs -> shards of instances of photographs, the smallest angle of an instance first."""
    groups: dict[tuple[str, str], list[Photo]] = {}
    for photo in photos:
        groups.setdefault((photo.class_name, photo.instance), []).append(photo)
    instances = [sorted(groups[key], key=lambda p: (p.angle, p.name)) for key in sorted(groups)]
    per_shard = math.ceil(len(instances) / MOST_SHARDS)
    return [instances[i : i + per_shard] for i in range(0, len(instances), per_shard)]
