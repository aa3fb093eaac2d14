"""What imports of photographs and of video share: pictures become frames, instances are split."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.codec import encode
from lie_ssl.frames.folder import RECIPE, check_folder, claimed, finish
from lie_ssl.frames.frameset import FrameSet, shard_name
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.kinds import KINDS
from lie_ssl.frames.plan import MAX_SHARDS
from lie_ssl.frames.poses import Pose, rotation
from lie_ssl.frames.shards import write_shard
from lie_ssl.frames.splits import assign, assign_objects, check_shares
from lie_ssl.objects.sources.base import Dropped
from lie_ssl.render.view import RenderSettings, axis_rotation
from lie_ssl.serialization import check_numbers
from lie_ssl.storage.hashes import file_hash

T = TypeVar("T")


@dataclass(frozen=True)
class ImportConfig:
    """Settings of every import; two equal configs on the same files give the same bytes."""

    path: str
    size: int = 64
    grey: bool = False
    licence: str = "unknown"
    validation: float = 0.10
    test: float = 0.15
    seed: int = 0

    def __post_init__(self) -> None:
        check_numbers(self)
        RenderSettings(size=self.size)
        check_shares(self.validation, self.test)


class PosedPicture(NamedTuple):
    """A picture of an instance, and its angle (degrees)."""

    angle: float
    picture: NDArray[np.uint8]  # (size, size, channels)


class Importer:
    """Collects rows, shard hashes and skipped files while pictures are read."""

    def __init__(self, config: ImportConfig, strict: bool) -> None:
        self.config, self.strict = config, strict
        self.shard, self.frames = 0, list[bytes]()  # the shard that is being filled
        self.rows: list[InstanceRows] = []
        self.dropped: list[Dropped] = []
        self.hashes: dict[str, str] = {}

    def drop(self, name: str, error: UserError) -> None:
        """Skips a file and records why; with `strict`, raises the error instead."""
        if self.strict:
            raise error
        self.dropped.append(Dropped(name, str(error)))

    def note(self, name: str, why: str) -> None:
        """Records that a part of a file was left out."""
        self.dropped.append(Dropped(f"a part of {name}", why))

    def add(
        self, class_name: str, instance: str, kind: str, pictures: Iterable[PosedPicture], turns: int = 1,
        split: str = "",
    ) -> None:  # fmt: skip
        """Adds the pictures of one instance to the shard; identical pictures are stored once.

        `turns` is 1 if increasing angles are counter-clockwise (seen from above, or in the picture for 2d), else -1.
        `split` is that of the instance, if it is given and not drawn; then all instances need one.
        """
        poses: list[Pose] = []
        first, seen = len(self.frames), dict[bytes, int]()
        for angle, picture in pictures:
            blob = encode(picture)
            earlier = seen.setdefault(blob, len(poses))
            if earlier == len(poses):
                self.frames.append(blob)
            angle, matrix = _pose(kind, angle, turns)
            poses.append(Pose(kind, angle, matrix, duplicate_of=-1 if earlier == len(poses) else earlier))
        if poses:
            licence = self.config.licence
            self.rows.append(InstanceRows(class_name, instance, split, -1, licence, poses, self.shard, first))
        else:
            self.dropped.append(Dropped(f"{class_name}/{instance}", "none of its pictures can be read"))

    def write(self, folder: Path) -> None:
        """Writes the shard and begins the next one."""
        path = folder / shard_name(self.shard)
        write_shard(path, self.frames)
        self.hashes[path.name] = file_hash(path)
        self.shard, self.frames = self.shard + 1, []

    def split_rows(self) -> list[InstanceRows]:
        """The rows with their splits. If every class has one instance, half of the classes are seen in all poses."""
        if not self.rows:
            why = f" ({self.dropped[0].key}: {self.dropped[0].why})" if self.dropped else ""
            raise UserError(f"no file in {self.config.path} can be read{why}; replace the files")
        c = self.config
        names: dict[str, list[str]] = {}
        for row in self.rows:
            names.setdefault(row.class_name, []).append(row.instance)
        if self.rows[0].split:
            ranks = {name: count(0) for name in names}
            chosen = [(r.split, next(ranks[r.class_name]) if r.split == "train" else -1) for r in self.rows]
        elif len(names) > 1 and all(len(own) == 1 for own in names.values()):
            objects = assign_objects(list(names), c.seed)
            chosen = [("train", objects[r.class_name]) for r in self.rows]
        else:
            splits = {n: assign(own, n, validation=c.validation, test=c.test, seed=c.seed) for n, own in names.items()}
            chosen = [splits[r.class_name][r.instance] for r in self.rows]
        return [
            dataclasses.replace(r, split=split, diverse_rank=rank)
            for r, (split, rank) in zip(self.rows, chosen, strict=True)
        ]


def _pose(kind: str, angle: float, turns: int) -> tuple[float, NDArray[np.float64]]:
    """The angle and the rotation of a picture; equal angles of a kind are equal moves in all data sets."""
    if KINDS[kind].rotation is None:  # unknown
        return angle, np.eye(3)
    if kind == "3d":  # turntables were imported in this way before there was yaw; the bytes must stay the same
        return angle, axis_rotation(1, turns * angle)
    angle = turns * angle % 360
    return angle, rotation(kind, angle)


def import_instances(
    config: ImportConfig, recipe: str, instances: Sequence[T], add: Callable[[Importer, T], None], folder: Path,
    strict: bool, progress: Callable[[int, int], None],
) -> FrameSet:  # fmt: skip
    """Makes the data set in `folder`, unless it exists; `add` passes one instance to the importer."""
    values = {k: "" if v is None else v for k, v in dataclasses.asdict(config).items()}  # as in cards of older versions
    plain = json.loads(json.dumps(values))
    if check_folder(folder, plain):
        return FrameSet(folder)
    with claimed(folder, plain, recipe) as finished:
        if finished:
            return FrameSet(folder)
        importer = Importer(config, strict)
        per_shard = math.ceil(len(instances) / MAX_SHARDS)
        try:
            for number, instance in enumerate(instances, 1):
                add(importer, instance)
                if number % per_shard == 0 or number == len(instances):
                    importer.write(folder)
                progress(number, len(instances))
            rows = importer.split_rows()
        except BaseException:  # imports are not resumed, so its files are useless
            for name in (RECIPE, *importer.hashes):
                (folder / name).unlink(missing_ok=True)
            raise
        finish(
            folder, recipe=recipe, config=plain, source=recipe, size=config.size, channels=1 if config.grey else 3,
            factors=(), rows=rows, dropped=importer.dropped, hashes=importer.hashes,
        )  # fmt: skip
    return FrameSet(folder)
