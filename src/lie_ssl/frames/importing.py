"""What imports of photographs and of video share: pictures become frames, instances get their splits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.card import file_hash
from lie_ssl.frames.codec import encode
from lie_ssl.frames.config import FrameKind
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.poses import Pose
from lie_ssl.frames.shards import write_shard
from lie_ssl.frames.splits import assign, assign_objects
from lie_ssl.objects.sources import Dropped
from lie_ssl.render.view import View, turn


class ImportConfig(Protocol):
    """The settings that every import has."""

    @property
    def path(self) -> str: ...
    @property
    def licence(self) -> str: ...
    @property
    def validation(self) -> float: ...
    @property
    def test(self) -> float: ...
    @property
    def seed(self) -> int: ...


class Shown(NamedTuple):
    """A picture of an instance, and where in its move it was taken (degrees)."""

    angle: float
    picture: NDArray[np.uint8]  # (size, size, channels)


class Importer:
    """Collects rows, shard hashes and what was left out while pictures are read."""

    def __init__(self, config: ImportConfig, strict: bool) -> None:
        self.config, self.strict = config, strict
        self.rows: list[InstanceRows] = []
        self.dropped: list[Dropped] = []
        self.hashes: dict[str, str] = {}

    def drop(self, name: str, error: UserError) -> None:
        """Leaves something out and remembers why; with `strict` the import ends instead."""
        if self.strict:
            raise error
        self.dropped.append(Dropped(name, str(error)))

    def note(self, name: str, why: str) -> None:
        """Remembers that a part of something was left out."""
        self.dropped.append(Dropped(name, why))

    def add(
        self,
        class_name: str,
        instance: str,
        kind: FrameKind,
        pictures: Iterable[Shown],
        shard: int,
        frames: list[bytes],
    ) -> None:
        """Appends the encoded pictures of one instance to `frames`; the same picture twice is kept once."""
        poses: list[Pose] = []
        first, seen = len(frames), dict[bytes, int]()
        for angle, picture in pictures:
            blob = encode(picture)
            earlier = seen.setdefault(blob, len(poses))
            if earlier == len(poses):
                frames.append(blob)
            view = View(turn(2 if kind == "2d" else 1, angle if kind != "time" else 0.0))
            poses.append(Pose(kind, angle, view, -1 if earlier == len(poses) else earlier))
        if poses:
            self.rows.append(InstanceRows(class_name, instance, "", -1, self.config.licence, poses, shard, first))
        else:
            self.dropped.append(Dropped(f"{class_name}/{instance}", "none of its pictures can be read"))

    def write(self, path: Path, frames: list[bytes]) -> None:
        write_shard(path, frames)
        self.hashes[path.name] = file_hash(path)

    def split_rows(self) -> list[InstanceRows]:
        """The rows with their splits. Where every class is one object, some objects are seen in all poses."""
        if not self.rows:
            why = f" ({self.dropped[0].key}: {self.dropped[0].why})" if self.dropped else ""
            raise UserError(f"nothing in {self.config.path} can be read{why}")
        c = self.config
        names: dict[str, list[str]] = {}
        for row in self.rows:
            names.setdefault(row.class_name, []).append(row.instance)
        if len(names) > 1 and all(len(own) == 1 for own in names.values()):
            ranks = assign_objects(list(names), c.seed)
            chosen = [("train", ranks[r.class_name]) for r in self.rows]
        else:
            splits = {n: assign(own, n, validation=c.validation, test=c.test, seed=c.seed) for n, own in names.items()}
            chosen = [splits[r.class_name][r.instance] for r in self.rows]
        return [
            dataclasses.replace(r, split=split, diverse_rank=rank)
            for r, (split, rank) in zip(self.rows, chosen, strict=True)
        ]
