"""Filling a bank of features against the bare forward passes of the same encoder.

Filling reads and decodes frames, runs the encoder, averages the map of a middle layer, checks, converts and writes. The
bare passes are those of the encoder alone on the same pictures, already in memory as floats. Both run in the same
single-threaded processes, one or one per core, in turns. Rates are medians over rounds of the wall time until the last
process has finished; ratios are medians of those within a round, of wall time and of CPU time.

    python benchmarks/features.py NAME WEIGHTS DATA BANK FIRST     is one of these processes
"""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.loader import to_tensor
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.features import to_float
from lie_ssl.recipes.data import demo_data
from lie_ssl.render import RenderSettings
from lie_ssl.threads import child_environment, usable_cores
from lie_ssl.training.bank import build_extractor
from lie_ssl.training.bank_blocks import BlockFiller, prepare_files
from lie_ssl.training.bank_card import BLOCK, ViewConfig

SIZE = 96
BLOCKS = 2  # of each process in a round
LEAST_RATIO = 0.85
# Random weights take the same time.
ENCODERS = {"tf_efficientnet_lite0": "package:efficientnet_lite0", "resnet50": ""}
COLUMNS = "encoder size processes features bare_per_second fill_per_second ratio cpu_ratio".split()
WAYS = ("bare", "fill")


class Seconds(NamedTuple):
    """The time of a turn."""

    wall: float
    cpu: float


def run(out: Path, rounds: int = 7) -> list[dict[str, Any]]:
    """Measures all encoders; writes features.csv to `out` and returns its rows."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        config = replace(demo_data(), instances=1, step=30.0, render=RenderSettings(size=SIZE))
        frames = make_frames(config, Path(folder) / "frames")
        for name, weights in ENCODERS.items():
            for processes in sorted({1, usable_cores()}):
                rows.append(measure(name, weights, frames, Path(folder), processes, rounds))
                write(rows, out)
    show(rows)
    return rows


def measure(name: str, weights: str, frames: FrameSet, folder: Path, processes: int, rounds: int) -> dict[str, Any]:
    """One row: the rates of both ways with a number of processes."""
    bank = folder / f"{name}-{processes}"
    bank.mkdir()
    extractor = build_extractor(EncoderConfig(name), frames)
    prepare_files(bank, len(frames), 2 * extractor.dim)
    children = [start(name, weights, frames, bank, i * BLOCKS) for i in range(processes)]
    times: dict[str, list[Seconds]] = {way: [] for way in WAYS}
    try:
        for way in WAYS:
            turn(children, way)  # warm-up
        for i in range(rounds):
            for way in WAYS if i % 2 else WAYS[::-1]:
                times[way].append(turn(children, way))
    finally:
        for child in children:
            child.communicate()
    wall = {way: statistics.median(t.wall for t in times[way]) for way in WAYS}
    # Within a round, both had about the same share of the machine.
    pairs = list(zip(times["bare"], times["fill"], strict=True))
    pictures = processes * BLOCKS * BLOCK
    return {
        "encoder": name,
        "size": SIZE,
        "processes": processes,
        "features": extractor.dim,
        "bare_per_second": round(pictures / wall["bare"], 1),
        "fill_per_second": round(pictures / wall["fill"], 1),
        "ratio": round(statistics.median(bare.wall / fill.wall for bare, fill in pairs), 3),
        "cpu_ratio": round(statistics.median(bare.cpu / fill.cpu for bare, fill in pairs), 3),
    }


def start(name: str, weights: str, frames: FrameSet, bank: Path, first: int) -> subprocess.Popen[str]:
    """Starts a process, which waits for turns."""
    command = [sys.executable, __file__, name, weights, str(frames.folder), str(bank), str(first)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=child_environment(1))


def turn(children: Sequence[subprocess.Popen[str]], way: str) -> Seconds:
    """Lets all processes run one way at the same time; returns the time of the slowest and their CPU time."""
    for child in children:
        assert child.stdin is not None
        print(way, file=child.stdin, flush=True)
    answers = []
    for child in children:
        assert child.stdout is not None
        words = child.stdout.readline().split()
        if len(words) != 2:
            raise UserError("a process of the benchmark has stopped; its message is above")
        answers.append(Seconds(*map(float, words)))
    return Seconds(max(a.wall for a in answers), sum(a.cpu for a in answers))


def child(name: str, weights: str, data: str, bank: str, first: str) -> None:
    """Does what it is told by lines on standard input, and prints wall and CPU seconds."""
    torch.set_num_threads(1)
    frames = FrameSet(data)
    extractor = build_extractor(EncoderConfig(name, weights=weights or None), frames)
    filler = BlockFiller(extractor, frames, Path(bank), ViewConfig())
    blocks = range(int(first), int(first) + BLOCKS)
    pictures = [to_float(to_tensor(frames.read(np.arange(b * BLOCK, (b + 1) * BLOCK)))) for b in blocks]

    @torch.inference_mode()
    def bare() -> None:
        for each in pictures:
            extractor.encoder(each)

    def fill() -> None:
        for block in blocks:
            filler(block)

    ways: dict[str, Callable[[], None]] = {"bare": bare, "fill": fill}
    for line in sys.stdin:
        start, cpu = time.perf_counter(), time.process_time()
        ways[line.strip()]()
        print(time.perf_counter() - start, time.process_time() - cpu, flush=True)


def write(rows: list[dict[str, Any]], out: Path) -> None:
    """Writes the rows so far."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / "features.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)


def show(rows: list[dict[str, Any]]) -> None:
    """Prints all rows with the target."""
    table = Table(*(name.replace("_", " ") for name in COLUMNS), "target")
    for row in rows:
        met = "met" if row["ratio"] >= LEAST_RATIO else f"ratio below {LEAST_RATIO}"
        table.add_row(*(str(row[name]) for name in COLUMNS), met)
    Console(width=160).print(table)


if __name__ == "__main__":
    child(*sys.argv[1:])
