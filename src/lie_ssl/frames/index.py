"""The index of a data set (`index.parquet`), with one row per frame.

Columns: class, instance, pose (one of KINDS), angle (degrees), rotation (9 floats, row by row, in camera axes), split,
diverse_rank (-1 outside the training set), licence, duplicate_of (the row with the same picture, empty for most), one
column for each factor of variation (named as in :mod:`lie_ssl.frames.factors`), and shard and slot, the position of
the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lie_ssl.errors import UserError
from lie_ssl.frames.columns import COLUMNS, ROW, SPLITS, TYPES
from lie_ssl.frames.factors.base import Factor, all_factors, factor_columns, get_factor
from lie_ssl.frames.kinds import KINDS
from lie_ssl.frames.poses import Pose
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import check_name

REMEDY = "make or copy the data set again"


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
        """Positions of the poses that are stored, those without an earlier duplicate."""
        return [i for i, pose in enumerate(self.poses) if pose.duplicate_of < 0]


def build_index(instances: Sequence[InstanceRows]) -> pa.Table:
    """Builds the index. Duplicates refer to the picture of the first frame that looks the same."""
    counts = [len(r.poses) for r in instances]
    first_row = np.concatenate([[0], np.cumsum(counts)])
    poses = [pose for r in instances for pose in r.poses]
    twins = np.array([pose.duplicate_of for pose in poses], np.int64)
    twin_rows = twins + np.repeat(first_row[:-1], counts)
    rotations = np.array([pose.rotation for pose in poses], np.float32).reshape(-1) + np.float32(0)  # no -0.0
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
    for factor in _stored_factors(poses):
        values = [pose.values.get(factor.name, factor.neutral) for pose in poses]
        table[factor.name] = pa.array(values, pa.float64())
    table["shard"] = pa.array(np.repeat([r.shard for r in instances], counts), pa.int32())
    table["slot"] = pa.array(np.concatenate([_slots(r) for r in instances]), pa.int32())
    return pa.table(table)


def write_index(path: Path, table: pa.Table) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd")
    write_whole(path, [buffer.getvalue().to_pybytes()])


def read_index(path: Path) -> pd.DataFrame:
    """Reads the index as a pandas table; `rotation` is a column of lists, `duplicate_of` has missing values."""
    try:
        # Without pandas' own metadata: an index in it would assign wrong pictures to frames.
        table = pq.read_table(path).replace_schema_metadata(None)
        frame: pd.DataFrame = table.to_pandas()
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"cannot read {path}: {error}; make or copy the data set again") from error
    needed = (*COLUMNS, *(factor.name for factor in _stored_factors()))
    missing = [c for c in needed if c not in frame.columns]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}; make or copy the data set again")
    types = TYPES | dict.fromkeys(factor_columns(frame.columns), float)
    for column, kind in types.items():
        if kind is not float and frame[column].isna().any():
            raise UserError(f"{path} has an empty cell in the column {column}; {REMEDY}")
    if not pd.api.types.is_numeric_dtype(frame["duplicate_of"]) and frame["duplicate_of"].notna().any():
        raise UserError(f"{path} has no numbers in the column duplicate_of; {REMEDY}")
    try:
        frame = frame.astype(types)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError(f"{path} has values of the wrong type ({error}); {REMEDY}") from error
    frame = frame.rename_axis(index=ROW)
    check_rotations(table["rotation"], path)
    check_index(frame, path)
    return frame


def check_rotations(column: pa.ChunkedArray, path: Path) -> None:
    """Rejects anything but nine finite numbers per row."""
    kind = column.type
    whole = pa.types.is_fixed_size_list(kind) and kind.list_size == 9 and pa.types.is_floating(kind.value_type)
    if whole and not column.null_count:
        values = np.concatenate([np.zeros(0), *(c.flatten().to_numpy(zero_copy_only=False) for c in column.chunks)])
        whole = len(values) == 9 * len(column) and bool(np.isfinite(values).all())
    if not whole or column.null_count:
        raise UserError(f"{path}: the column rotation is not nine finite numbers in every row; {REMEDY}")


def check_index(frame: pd.DataFrame, path: Path) -> None:
    """Rejects values that make no sense, and names that would break a path or a line of output."""
    if frame.empty:
        raise UserError(f"{path} has no frames; {REMEDY}")
    known = {"split": SPLITS, "pose": tuple(KINDS)}
    for column, names in known.items():
        if strange := sorted(set(frame[column]) - set(names)):
            raise UserError(f"{path} has the {column} {strange[0]!r}, but there are {', '.join(names)}; {REMEDY}")
    for column in ("class", "instance", "licence"):
        for name in frame[column].unique():
            check_name(name, f"the {column}", f"in {path}")
            if not name:
                raise UserError(f"{path} has a frame with an empty {column}; {REMEDY}")
    _check_values(np.isfinite(frame["angle"].to_numpy(np.float64)), "angle", "a finite number", path)
    for factor in map(get_factor, factor_columns(frame.columns)):
        _check_values(factor.allows(frame[factor.name].to_numpy(np.float64)), factor.name, factor.limits, path)
    twins = frame["duplicate_of"].dropna().to_numpy(np.float64)
    if len(twins) and not (twins.min() >= 0 and twins.max() < len(frame)):
        raise UserError(f"{path} has a frame that is the duplicate of a missing frame; {REMEDY}")


def _stored_factors(poses: Sequence[Pose] = ()) -> list[Factor]:
    """The factors that have a column: those in every index, and those that vary."""
    varied = {name for pose in poses for name in pose.values}
    return [factor for factor in all_factors() if factor.in_every_index or factor.name in varied]


def _check_values(good: NDArray[np.bool_], column: str, what: str, path: Path) -> None:
    if not good.all():
        raise UserError(f"{path}, row {int(np.argmin(good))}: the column {column} is not {what}; {REMEDY}")


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
