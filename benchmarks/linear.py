"""The whole linear evaluation on stored features: all proportions, rates, optimisers, settings and kinds of poses.

Size: 52 classes, 40 instances, a pose every 8 degrees in 2d and 3d, embeddings of 128 dimensions. The index is real;
the embeddings are random (a centre per class, one per instance, noise), as the time does not depend on their origin.
Wall time from the index and the features to the tables of accuracy, including model selection on the validation set.

Shape letters: N frames, M embedding.
"""

from __future__ import annotations

import csv
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import Tensor

from lie_ssl.frames import DataConfig, FrameSet
from lie_ssl.frames.index import InstanceRows, build_index, read_index, write_index
from lie_ssl.frames.poses import instance_poses
from lie_ssl.frames.splits import assign
from lie_ssl.methods.encoders import Encoder
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.evaluate import EvaluateConfig, Evaluation, Subject
from lie_ssl.protocol.features import Features

CLASSES, DIM = 52, 128
DATA = DataConfig(instances=40, step=8.0)
MAX_SECONDS = 120.0
COLUMNS = "classes instances frames dim proportions trials steps settings threads seconds cpu_seconds".split()

Row = dict[str, Any]


class PicturelessFrames(FrameSet):
    """A data set without pictures."""

    def __init__(self, index: pd.DataFrame) -> None:
        self.folder, self.card = Path("random"), {"card_hash": "random"}
        self.__dict__["index"] = index


@dataclass(frozen=True)
class EncoderStub:
    """The part of an encoder that the linear evaluation uses if the features are stored."""

    dim: int


class StoredFeatures(Features):
    """Precomputed embeddings (N, M)."""

    def __init__(self, z: Tensor) -> None:
        self.z = z

    def __call__(self, rows: NDArray[np.int64]) -> Tensor:
        return self.z[torch.tensor(rows)]

    def save(self) -> None:
        """Does nothing."""


def run(out: Path, threads: int = 2) -> list[Row]:
    """Measures once; writes linear.csv to `out` and returns its row."""
    torch.set_num_threads(threads)
    frames = PicturelessFrames(make_index())
    config = EvaluateConfig()
    subject = Subject(cast(Encoder, EncoderStub(DIM)), "random", "alone")
    stored = StoredFeatures(make_features(frames))
    start, start_cpu = time.perf_counter(), time.process_time()
    evaluation = Evaluation(Context(subject, frames, config, stored))
    found = evaluation.phases("linear")["accuracy"]
    seconds = time.perf_counter() - start
    cpu_seconds = time.process_time() - start_cpu
    settings = len(found[["setting", "poses"]].drop_duplicates())
    row: Row = {
        "classes": CLASSES, "instances": DATA.instances, "frames": len(frames), "dim": DIM,
        "proportions": len(config.proportions), "trials": len(config.probe.trials), "steps": config.probe.steps,
        "settings": settings, "threads": threads, "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
    }  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    with (out / "linear.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    table = Table(*COLUMNS, "target")
    table.add_row(
        *(str(row[c]) for c in COLUMNS), f"at most {MAX_SECONDS:g} s {'met' if seconds <= MAX_SECONDS else 'MISSED'}"
    )
    Console(width=160).print(table)
    return [row]


def make_index() -> pd.DataFrame:
    """The index of such a data set, written to a file and read again, as for a user."""
    config = DATA
    names = [f"{i:03d}" for i in range(config.instances)]
    rows = []
    for c in range(CLASSES):
        name = f"class{c:02d}"
        for instance, (split, rank) in assign(names, name).items():
            poses = instance_poses(config, name, instance)
            rows.append(InstanceRows(name, instance, split, rank, "none", poses, shard=0, first_slot=0))
    rows.sort(key=lambda r: (r.class_name, r.instance))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.parquet"
        write_index(path, build_index(rows))
        return read_index(path)


def make_features(frames: FrameSet) -> Tensor:
    """(N, M) random embeddings; classes overlap, so that the task is not trivial."""
    random = torch.Generator().manual_seed(0)
    instances = frames.index.groupby(["class", "instance"]).ngroup().to_numpy(np.int64, copy=True)
    centres, own = (torch.randn(n, DIM, generator=random) for n in (CLASSES, int(instances.max()) + 1))
    noise = torch.randn(len(frames), DIM, generator=random)
    return 0.3 * centres[torch.from_numpy(frames.labels)] + 0.3 * own[torch.from_numpy(instances)] + noise
