"""What adapting an encoder costs: the whole command on a new data set, and the training of a head alone.

Three runs of `lie-ssl adapt` on the same data set, as a user starts them: the first one fills the bank with all cores
and trains a head; the second one trains another head on the same bank, with one thread; the third one trains for a
single step, so that its difference from the second is the training alone.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.recipes.adapt import adapt_data
from lie_ssl.threads import child_environment, usable_cores

ENCODER = "package:efficientnet_lite0"
OBJECTIVE = "lie"
MOST_CPU_SECONDS, MOST_SECONDS = 60, 360  # of the training of a head; of the whole, with 30,000 frames
COLUMNS = "encoder objective frames cores whole_seconds process_cpu_seconds training_cpu_seconds".split()


class Seconds(NamedTuple):
    """The time of a command."""

    wall: float
    cpu: float


def run(out: Path, instances: int = 14) -> list[dict[str, Any]]:
    """Measures the objective lie; writes adapt.csv to `out` and returns its row.

    Args:
        out: The folder for adapt.csv.
        instances: Objects per class; 14 give 30,240 frames.
    """
    with tempfile.TemporaryDirectory() as folder:
        frames = make_frames(adapt_data(instances=instances), Path(folder) / "frames")
        rows = [measure(frames, Path(folder))]
    write(rows, out)
    show(rows)
    return rows


def measure(frames: FrameSet, folder: Path) -> dict[str, Any]:
    """The row of a data set; the bank is filled in the given folder."""
    whole = timed(frames, folder, "first", os.environ)
    again = timed(frames, folder, "second", child_environment(1))
    start = timed(frames, folder, "start", child_environment(1), "--optim.steps", "1")
    return {
        "encoder": ENCODER, "objective": OBJECTIVE, "frames": len(frames), "cores": usable_cores(),
        "whole_seconds": round(whole.wall, 1), "process_cpu_seconds": round(again.cpu, 1),
        "training_cpu_seconds": round(again.cpu - start.cpu, 1),
    }  # fmt: skip


def timed(frames: FrameSet, folder: Path, name: str, environment: Mapping[str, str], *flags: str) -> Seconds:
    """Runs `lie-ssl adapt` in a process of its own."""
    command = [
        sys.executable, "-m", "lie_ssl", "adapt", ENCODER, OBJECTIVE, "--data", str(frames.folder), "--banks",
        str(folder / "banks"), "--out", str(folder / name), *flags,
    ]  # fmt: skip
    before, begin = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    wall, after = time.perf_counter() - begin, os.times()
    if done.returncode:
        raise UserError(f"lie-ssl adapt failed: {done.stderr.strip().splitlines()[-1:]}")
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Seconds(wall, spent)


def write(rows: list[dict[str, Any]], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with (out / "adapt.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def show(rows: list[dict[str, Any]]) -> None:
    table = Table("objective", "frames", "whole, s", "process, CPU s", "training, CPU s")
    for row in rows:
        table.add_row(*(str(row[column]) for column in COLUMNS if column not in ("encoder", "cores")))
    console = Console()
    console.print(table)
    slow = [r for r in rows if r["training_cpu_seconds"] > MOST_CPU_SECONDS or r["whole_seconds"] > MOST_SECONDS]
    console.print(
        f"Goal: {MOST_CPU_SECONDS} CPU-seconds for the training, {MOST_SECONDS} seconds for the whole; "
        + ("missed." if slow else "reached.")
    )
