"""Time and peak memory of a training step of X Lie relative to X Frames, for X = MAE, VICReg and SimCLR.

A step is the forward and backward passes, the clipping of gradients by group and the optimiser; the frames are already
in memory. Both objectives need one more pass of the plain frames through the encoder, so the ratio is the cost of the
operator and its terms; the ratio to X alone includes that pass. Half of the rows are paired.

Time: one thread, CPU time, interleaved rounds in a rotating order, medians.

Memory: the peak of live tensors during a step (weights, gradients, optimiser state, activations), from the allocations
that the profiler records. The resident memory of the process would also include memory cached by the allocator.

The large cases have the paper's encoders and heads, but 4 or 6 rows per batch instead of 64, and VICReg's expander is
2048 wide instead of 8192. Both reduce the shared part. The part of the operator grows with the length of the moves,
which is that of untrained weights here.

Shape letters: B batch, C channels, S image size.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from lie_ssl.commands.bench import load
from lie_ssl.methods.draws import Draws
from lie_ssl.methods.features import to_float
from lie_ssl.methods.vicreg import VICRegConfig
from lie_ssl.recipes.pretrain import PUBLISHED, paper_run, small_run
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.model import build_model
from lie_ssl.training.optimisers import build_optimiser, gradient_norms

LIE_ARMS = ("lie", "literal")
ARMS = ("alone", "frames", *LIE_ARMS)
MAX_TIME_RATIO, MAX_MEMORY_RATIO = 1.10, 1.15
COLUMNS = (
    "method arm encoder image_size batch dim ms_per_step ms_frames time_ratio time_ratio_to_base memory_mb "
    "memory_frames_mb memory_ratio"
).split()

# Rows per batch of the large cases; a step takes about 15 seconds. ResNet-50 has 6, because with 4 the memory of
# `literal` is above the target: its generators do not shrink with the batch. `memory_by_batch` shows by how much.
LARGE_BATCH = {"mae": 4, "vicreg": 6, "simclr": 6}
MEMORY_BATCHES = (4, 6)
MEMORY_COLUMNS = "method arm encoder image_size batch dim memory_mb memory_frames_mb memory_ratio".split()

Row = dict[str, Any]


class Case(NamedTuple):
    """The config of a method and an objective, the image size, and the maximum number of rounds."""

    config: Callable[[str, str], PretrainConfig]
    size: int
    rounds: int


def large(method: str, arm: str) -> PretrainConfig:
    """The run of the paper, reduced to a few seconds per step on a CPU."""
    config = paper_run(method, arm)
    config = replace(config, optim=replace(config.optim, batch=LARGE_BATCH[method]))
    if isinstance(config.method, VICRegConfig):
        config = replace(config, method=replace(config.method, expander=(2048, 2048, 2048)))
    return config


SMALL = Case(small_run, size=64, rounds=100)
LARGE = Case(large, size=224, rounds=3)


def run(out: Path, rounds: int = 7, large: bool = True) -> list[Row]:
    """Measures everything; writes train.csv to `out` and returns its rows."""
    torch.set_num_threads(1)
    rows: list[Row] = []
    for case in (SMALL, LARGE) if large else (SMALL,):
        for method in PUBLISHED:
            rows += compare(case, method, min(rounds, case.rounds))
            write(rows, out / "train.csv")  # after each case, as the large ones take minutes
    show(rows)
    if large:
        memory_by_batch(out)
    return rows


def memory_by_batch(out: Path, methods: tuple[str, ...] = ("simclr",)) -> list[Row]:
    """Peak memory with ResNet-50 for several batch sizes; writes train_memory.csv to `out`."""
    rows: list[Row] = []
    for method in methods:
        for batch in MEMORY_BATCHES:
            found = {}
            for arm in ("frames", *LIE_ARMS):
                config = large(method, arm)
                step = Step(replace(config, optim=replace(config.optim, batch=batch)), LARGE.size)
                found[arm] = step.peak_bytes()
            rows += [
                {
                    "method": method,
                    "arm": arm,
                    "encoder": config.encoder.name,
                    "image_size": LARGE.size,
                    "batch": batch,
                    "dim": step.model.method.encoder.dim,
                    "memory_mb": round(found[arm] / 1e6, 1),
                    "memory_frames_mb": round(found["frames"] / 1e6, 1),
                    "memory_ratio": round(found[arm] / found["frames"], 3),
                }
                for arm in LIE_ARMS
            ]
            write(rows, out / "train_memory.csv", MEMORY_COLUMNS)
    return rows


def write(rows: list[Row], path: Path, columns: list[str] = COLUMNS) -> None:
    """Writes the rows so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


class Step:
    """A model with its optimiser and one batch; a call is a whole training step."""

    def __init__(self, config: PretrainConfig, size: int) -> None:
        self.config = config
        factors = config.objective.kinds(("2d", "3d")) or ("pose",)
        self.model = build_model(config, size, 3, factors).train()
        self.optimiser = build_optimiser(self.model, config.optim)
        batch = config.optim.batch
        random = torch.Generator().manual_seed(0)
        self.x, self.x_next = (pictures(batch, size, random) for _ in range(2))
        rows = torch.arange(batch)
        self.paired = rows % 2 == 0
        self.delta = torch.zeros(batch, len(factors))  # each row moves in one factor
        self.delta[rows, rows // 2 % len(factors)] = torch.rand(batch, generator=random)
        self.count = 0

    def __call__(self) -> None:
        draws = Draws(self.config.seed, self.count, len(self.x))
        out = self.model(to_float(self.x), to_float(self.x_next), self.delta, self.paired, draws)
        # As in Lightning, the previous gradients live until here and count towards the peak memory.
        self.optimiser.zero_grad()
        out.total.backward()
        gradient_norms(self.model, self.config.optim.clip)
        self.optimiser.step()
        self.count += 1

    def peak_bytes(self) -> int:
        """Peak memory of tensors during a step."""
        transient: int = load("action").peak_bytes(self._with_new_gradients)
        state = [v for s in self.optimiser.state.values() for v in s.values() if isinstance(v, Tensor)]
        persistent = (*self.model.parameters(), *self.model.buffers(), *state, self.x, self.x_next)
        return transient + sum(t.nbytes for t in persistent)

    def _with_new_gradients(self) -> None:
        """Copies the previous gradients before a step, as the profiler only sees memory freed that it saw allocated."""
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad = parameter.grad.clone()
        self()


def pictures(batch: int, size: int, random: torch.Generator) -> Tensor:
    """(B, C, S, S) uint8 noise, channels last, like the frames of a data set."""
    return torch.randint(0, 256, (batch, size, size, 3), dtype=torch.uint8, generator=random).permute(0, 3, 1, 2)


def compare(case: Case, method: str, rounds: int) -> list[Row]:
    """The rows of a method: both variants of X Lie against X Frames and X."""
    steps = {arm: Step(case.config(method, arm), case.size) for arm in ARMS}
    memory = {arm: step.peak_bytes() for arm, step in steps.items()}  # also the warm-up
    times: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for i in range(rounds):
        for j in range(len(ARMS)):
            arm = ARMS[(i + j) % len(ARMS)]
            start = time.process_time()
            steps[arm]()
            times[arm].append(time.process_time() - start)
    ms = {arm: 1e3 * statistics.median(found) for arm, found in times.items()}
    frames = steps["frames"]
    return [
        {
            "method": method,
            "arm": arm,
            "encoder": frames.config.encoder.name,
            "image_size": case.size,
            "batch": frames.config.optim.batch,
            "dim": frames.model.method.encoder.dim,
            "ms_per_step": round(ms[arm], 1),
            "ms_frames": round(ms["frames"], 1),
            "time_ratio": round(ms[arm] / ms["frames"], 3),
            "time_ratio_to_base": round(ms[arm] / ms["alone"], 3),
            "memory_mb": round(memory[arm] / 1e6, 1),
            "memory_frames_mb": round(memory["frames"] / 1e6, 1),
            "memory_ratio": round(memory[arm] / memory["frames"], 3),
        }
        for arm in LIE_ARMS
    ]


def show(rows: list[Row]) -> None:
    """Prints all rows with their targets."""
    table = Table(*(name.replace("_", " ") for name in COLUMNS), "target")
    for row in rows:
        missed = [
            f"{name} above {most}"
            for name, most in (("time_ratio", MAX_TIME_RATIO), ("memory_ratio", MAX_MEMORY_RATIO))
            if row[name] > most
        ]
        table.add_row(*(str(row[name]) for name in COLUMNS), ", ".join(missed) or "met")
    Console(width=200).print(table)
