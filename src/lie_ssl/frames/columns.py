"""The columns that every index has, beside those of the factors of variation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

PoseKind = Literal["2d", "3d", "so3"]
FrameKind = Literal[PoseKind, "time"]  # what the column pose holds; time for the frames of a clip

ROW = "row"  # name of the row numbers, by which pictures are read
SPLITS = ("train", "validation", "test")
TYPES: dict[str, Any] = {
    **dict.fromkeys(("class", "instance", "pose", "split", "licence"), str),
    "angle": float, **dict.fromkeys(("diverse_rank", "shard", "slot"), np.int32),
}  # fmt: skip
COLUMNS = (*TYPES, "rotation", "duplicate_of")
