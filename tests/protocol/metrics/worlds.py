"""Embeddings in which several factors move their own parts of v by a true group, for tests of metrics."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from lie_ssl.frames import DataConfig
from lie_ssl.frames.index import InstanceRows, build_index, read_index, write_index
from lie_ssl.frames.pairs import Deltas, reaches
from lie_ssl.frames.poses import instance_poses
from lie_ssl.lie import LieOperator
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.objectives._operator import unit_rotations
from lie_ssl.protocol.context import MoveTest
from lie_ssl.protocol.moves import draw_moves
from lie_ssl.training.model import set_speeds

FIXED, SHARE = IDENTITY, 16


def make_index(folder: Path, config: DataConfig, count: int = 6) -> pd.DataFrame:
    """Two classes of test instances, without pictures."""
    rows = [
        InstanceRows(name, f"{i:02d}", "test", -1, "none", instance_poses(config, name, f"{i:02d}"), 0, 0)
        for name in ("cup", "jar")
        for i in range(count)
    ]
    write_index(folder / "index.parquet", build_index(rows))
    return read_index(folder / "index.parquet")


def world(index: pd.DataFrame, leak: dict[str, tuple[str, float]] | None = None) -> tuple[Any, MoveTest]:
    """A context with embeddings (u, exp(angle L) v0, exp(hue L) v1 ...), where u and the v are drawn for each instance.

    Args:
        index: Frames in 2d poses.
        leak: For a factor, another one and how far that one moves the factor's part as well.
    """
    deltas = Deltas(index, ["2d"])
    dim = FIXED + SHARE * len(deltas.factors)
    operator = unit_rotations().build(dim, deltas.factors)
    set_speeds(operator, deltas.factors, reaches(index, deltas.factors))
    rows = index.index.to_numpy(np.int64)
    numbers = index.groupby(["class", "instance"]).ngroup().to_numpy()
    first = np.array([rows[numbers == number][0] for number in numbers])
    start = torch.randn(int(numbers.max()) + 1, dim, generator=torch.Generator().manual_seed(0))[torch.tensor(numbers)]
    moved = deltas(first, rows)
    for name, (other, strength) in (leak or {}).items():
        moved[:, deltas.factors.index(name)] += strength * moved[:, deltas.factors.index(other)]
    z = operator(operator.normalise(start), torch.from_numpy(moved)).detach()
    context = SimpleNamespace(
        subject=SimpleNamespace(operator=operator), deltas=deltas, frames=SimpleNamespace(index=index),
        features=lambda rows: z[torch.tensor(rows)],
    )  # fmt: skip
    moves = draw_moves(index[index["duplicate_of"].isna()], pairs=40)
    return context, MoveTest("2d", "unknown", "whole", slice(None), moves)


def operator_of(context: Any) -> LieOperator:
    found: LieOperator = context.subject.operator
    return found


def all_embeddings(context: Any) -> Tensor:
    found: Tensor = context.features(context.frames.index.index.to_numpy(np.int64))
    return found
