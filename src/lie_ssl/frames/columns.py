"""The columns that every index has besides those of the factors of variation."""

from __future__ import annotations

from typing import Any

import numpy as np

ROW = "row"  # name of the row numbers, with which pictures are read
SPLITS = ("train", "validation", "test")
TYPES: dict[str, Any] = {
    **dict.fromkeys(("class", "instance", "pose", "split", "licence"), str),
    "angle": float, **dict.fromkeys(("diverse_rank", "shard", "slot"), np.int32),
}  # fmt: skip
COLUMNS = (*TYPES, "rotation", "duplicate_of")
