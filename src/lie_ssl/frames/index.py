"""The index of a data set (`index.parquet`): one row a frame.

Columns: class, instance, pose (2d, 3d, so3), angle (degrees), rotation (9 floats, row by row, in camera axes), split,
diverse_rank (-1 outside training), licence, duplicate_of (row of the frame with the same picture, empty for most), one
column for each further factor (elevation, light, hue in degrees, scale), and shard and slot, where the picture lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from lie_ssl.errors import UserError
from lie_ssl.frames.poses import Pose
from lie_ssl.frames.shards import write_whole

FACTORS = ("elevation", "light", "hue", "scale")
ROW = "row"  # name of the row numbers, by which pictures are read
COLUMNS = (
    "class", "instance", "pose", "angle", "rotation", "split", "diverse_rank", "licence", "duplicate_of", *FACTORS,
    "shard", "slot",
)  # fmt: skip


@dataclass(frozen=True)
class InstanceRows:
    """All frames of one instance, for the index."""

    class_name: str
    instance: str
    split: str
    diverse_rank: int
    licence: str
    poses: Sequence[Pose]
    shard: int
    first_slot: int

    def distinct(self) -> list[int]:
        """Positions of the poses that are stored: those without an earlier twin."""
        return [i for i, pose in enumerate(self.poses) if pose.duplicate_of < 0]


def build_index(instances: Sequence[InstanceRows]) -> pa.Table:
    """The index table. Duplicates point at the picture of their twin."""
    counts = [len(r.poses) for r in instances]
    first_row = np.concatenate([[0], np.cumsum(counts)])
    poses = [pose for r in instances for pose in r.poses]
    twins = np.array([pose.duplicate_of for pose in poses], np.int64)
    twin_rows = twins + np.repeat(first_row[:-1], counts)
    rotations = np.array([pose.view.rotation for pose in poses], np.float32).reshape(-1) + np.float32(0)  # no -0.0
    table = {
        "class": _repeated([r.class_name for r in instances], counts),
        "instance": _repeated([r.instance for r in instances], counts),
        "pose": pa.array([pose.kind for pose in poses]).dictionary_encode(),
        "angle": pa.array([pose.angle for pose in poses], pa.float64()),
        "rotation": pa.FixedSizeListArray.from_arrays(pa.array(rotations), 9),
        "split": _repeated([r.split for r in instances], counts),
        "diverse_rank": pa.array(np.repeat([r.diverse_rank for r in instances], counts), pa.int32()),
        "licence": _repeated([r.licence for r in instances], counts),
        "duplicate_of": pa.array(twin_rows, pa.int64(), mask=twins < 0),
    }
    for factor in FACTORS:
        table[factor] = pa.array([getattr(pose.view, factor) for pose in poses], pa.float64())
    table["shard"] = pa.array(np.repeat([r.shard for r in instances], counts), pa.int32())
    table["slot"] = pa.array(np.concatenate([_slots(r) for r in instances]), pa.int32())
    return pa.table(table)


def write_index(path: Path, table: pa.Table) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd")
    write_whole(path, [buffer.getvalue().to_pybytes()])


def read_index(path: Path) -> pd.DataFrame:
    """The index as a frame of pandas; `rotation` is a column of lists, `duplicate_of` has missing values."""
    try:
        frame: pd.DataFrame = pq.read_table(path).to_pandas()
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"cannot read {path}: {error}; make or copy the data set again") from error
    missing = [c for c in COLUMNS if c not in frame.columns]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}; make or copy the data set again")
    frame = frame.astype({"class": str, "instance": str, "pose": str, "split": str, "licence": str})
    return frame.rename_axis(index=ROW)


def _repeated(values: Sequence[str], counts: Sequence[int]) -> pa.Array:
    unique = sorted(set(values))
    codes = {v: i for i, v in enumerate(unique)}
    indices = np.repeat(np.array([codes[v] for v in values], np.int32), counts)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(unique, pa.string()))


def _slots(rows: InstanceRows) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    slots = np.empty(len(rows.poses), np.int64)
    own = rows.distinct()
    slots[own] = rows.first_slot + np.arange(len(own))
    for i, pose in enumerate(rows.poses):
        if pose.duplicate_of >= 0:
            slots[i] = slots[pose.duplicate_of]
    return slots
