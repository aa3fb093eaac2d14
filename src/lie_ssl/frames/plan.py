"""Plans a data set: which instances are rendered, in which split, and into which shard.

The plan depends only on the config and not on the number of processes, and so do the bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lie_ssl.errors import UserError
from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.index import InstanceRows
from lie_ssl.frames.poses import instance_poses
from lie_ssl.frames.splits import assign
from lie_ssl.objects.sources.base import CatalogueEntry, Dropped, Source
from lie_ssl.storage.paths import check_name

MAX_SHARDS = 256  # keeps open files well below the usual limit of 1,024 per process


@dataclass(frozen=True)
class Plan:
    """The frames to render: `rows[i]` are those of `entries[i]`, in the order of the index."""

    source: Source
    entries: list[CatalogueEntry]
    rows: list[InstanceRows]
    dropped: list[Dropped]
    notes: list[str]

    @property
    def n_frames(self) -> int:
        return sum(len(r.poses) for r in self.rows)

    def shards(self) -> list[list[int]]:
        """The positions of the instances of each shard."""
        shards: list[list[int]] = [[] for _ in range(self.rows[-1].shard + 1)]
        for position, row in enumerate(self.rows):
            shards[row.shard].append(position)
        return shards


def make_plan(config: DataConfig, *, strict: bool = False) -> Plan:
    """Lists the source and lays out the data set."""
    source = config.make_source()
    catalogue = source.catalogue(strict=strict, classes=config.classes)
    entries: list[CatalogueEntry] = []
    for name in sorted({e.class_name for e in catalogue.entries}):
        own = sorted((e for e in catalogue.entries if e.class_name == name), key=lambda e: e.instance)
        entries += own[: config.instances]
    for entry in entries:
        check_name(entry.class_name, "the class", f"of the source {source.name}")
        check_name(entry.instance, "the instance", f"of the source {source.name}")
    if not entries:
        raise UserError(f"the source {source.name} has no object that can be rendered; check its files")
    return Plan(source, entries, _lay_out(config, entries), catalogue.dropped, catalogue.notes)


def _lay_out(config: DataConfig, entries: list[CatalogueEntry]) -> list[InstanceRows]:
    names: dict[str, list[str]] = {}
    for entry in entries:
        names.setdefault(entry.class_name, []).append(entry.instance)
    splits = {
        c: assign(own, c, validation=config.validation, test=config.test, seed=config.seed) for c, own in names.items()
    }
    per_shard = math.ceil(len(entries) / MAX_SHARDS)
    rows: list[InstanceRows] = []
    slot = 0
    for position, entry in enumerate(entries):
        slot = 0 if position % per_shard == 0 else slot
        split, rank = splits[entry.class_name][entry.instance]
        poses = instance_poses(config, entry.class_name, entry.instance)
        row = InstanceRows(
            entry.class_name, entry.instance, split, rank, entry.licence, poses, position // per_shard, slot
        )
        rows.append(row)
        slot += len(row.distinct())
    return rows
