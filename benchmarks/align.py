"""Alignments per CPU-second: `LieOperator.align` against SciPy row by row and against a fine grid.

48 moved dimensions, the speeds 1 to 4, normalised, float32, pairs with noise. Every way finds the same t: SciPy's
`minimize_scalar` to 1e-9 within the best cell of a grid of 64, and the grid of 720 points, for which the operator moves
all embeddings, to half a degree. One thread, CPU time, interleaved rounds, medians.
"""

from __future__ import annotations

import csv
import math
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from lie_ssl.lie import LieOperator

DIM, FIXED, SPEEDS = 176, 128, (1.0, 2.0, 3.0, 4.0)
BATCHES = (1, 64, 4096)
TARGET = 20_000  # alignments per CPU-second, in large batches
GRID = 720
MOST = {"scipy minimize_scalar": 256, f"grid of {GRID}": 512}  # rows per round; the rates do not depend on it
COLUMNS = "batch way per_cpu_second speed_up largest_error_degrees".split()

Way = Callable[[Tensor, Tensor], Tensor]


def run(out: Path, rounds: int = 5) -> list[dict[str, Any]]:
    """Measures all batch sizes; prints a table, writes align.csv to `out` and returns its rows."""
    torch.set_num_threads(1)
    rows = [row for batch in BATCHES for row in measure(batch, rounds)]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "align.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    table = Table("batch", "way", "alignments / s", "our speed-up", "largest error", title=f"target: {TARGET:,} / s")
    for row in rows:
        table.add_row(*(f"{row[c]:,}" if c == "per_cpu_second" else str(row[c]) for c in COLUMNS))
    Console().print(table)
    return rows


@torch.no_grad()
def measure(batch: int, rounds: int) -> list[dict[str, Any]]:
    """The rows of one batch size: alignments per CPU-second of each way, and their distance from SciPy's result."""
    operator = make()
    z, z_next = pairs(operator, batch)
    ways: dict[str, Way] = {"align": lambda a, b: operator.align(a, b).t}
    ways["align with gradient"] = lambda a, b: gradient(operator, a, b)
    if find_spec("scipy"):
        ways["scipy minimize_scalar"] = row_by_row(operator)
    ways[f"grid of {GRID}"] = fine_grid(operator)
    used = {name: min(batch, MOST.get(name, batch)) for name in ways}
    found = {name: way(z[: used[name]], z_next[: used[name]]) for name, way in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(seconds(way, z[: used[name]], z_next[: used[name]]) / used[name])
    best = {name: statistics.median(each) for name, each in times.items()}
    reference = found.get("scipy minimize_scalar", found["align"])
    return [
        {
            "batch": batch,
            "way": name,
            "per_cpu_second": round(1 / best[name]),
            "speed_up": float(f"{best[name] / best['align']:.3g}"),
            "largest_error_degrees": float(f"{degrees_apart(found[name], reference):.2g}"),
        }
        for name in ways
    ]


def make() -> LieOperator:
    """The operator of an adapted encoder: 48 moved dimensions, four speeds, each of unit length."""
    return LieOperator(DIM, 1, algebra="commuting", sees="linear", fixed=FIXED, frequencies=SPEEDS, normalise="speed")


def pairs(operator: LieOperator, batch: int) -> tuple[Tensor, Tensor]:
    """Embeddings and moved ones with noise, always the same."""
    random = torch.Generator().manual_seed(batch)
    z = operator.normalise(torch.randn(batch, DIM, generator=random))
    t = math.pi * (2 * torch.rand(batch, 1, generator=random) - 1)
    return z, operator.normalise(operator(z, t) + 0.05 * torch.randn(batch, DIM, generator=random))


def gradient(operator: LieOperator, z: Tensor, z_next: Tensor) -> Tensor:
    """t, after the backward pass of t and the error to both embeddings and the speeds."""
    with torch.enable_grad():
        first, second = z.detach().requires_grad_(), z_next.detach().requires_grad_()
        found = operator.align(first, second)
        (found.t.sum() + found.error.sum()).backward()
    return found.t.detach()


def fine_grid(operator: LieOperator) -> Way:
    """Moves every embedding by each of 720 values of t."""
    times = 2 * math.pi * torch.arange(GRID) / GRID - math.pi

    def align(z: Tensor, z_next: Tensor) -> Tensor:
        best = [
            times[(operator.orbit(a, torch.ones(1), times) - b).square().sum(dim=2).argmin(dim=0)]
            for a, b in zip(z.split(32), z_next.split(32), strict=True)
        ]
        return torch.cat(best)

    return align


def row_by_row(operator: LieOperator) -> Way:
    """SciPy's bounded search for each row, with the distance in NumPy and complex numbers."""
    from scipy.optimize import minimize_scalar

    speeds = operator.algebras[0].get_parameter("speed")[0].detach().double().numpy()
    grid = 2 * math.pi * np.arange(64) / 64 - math.pi
    turns = np.exp(1j * np.outer(speeds, grid))
    cell = 2 * math.pi / 64

    def align(z: Tensor, z_next: Tensor) -> Tensor:
        planes = [torch.view_as_complex(x[:, FIXED:].double().unflatten(1, (-1, 2))).numpy() for x in (z, z_next)]
        products = planes[0] * planes[1].conj()
        best = []
        for row in products:

            def distance(t: float, row: Any = row) -> float:
                return -float((row * np.exp(1j * speeds * t)).real.sum())

            start = float(grid[(row @ turns).real.argmax()])
            bounds = (start - cell, start + cell)
            best.append(minimize_scalar(distance, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x)
        return torch.tensor(best)

    return align


def degrees_apart(found: Tensor, reference: Tensor) -> float:
    """The largest difference, modulo a full turn, over the rows that both have."""
    rows = min(len(found), len(reference))
    gap = (found[:rows].double() - reference[:rows].double() + math.pi).remainder(2 * math.pi) - math.pi
    return math.degrees(float(gap.abs().max()))


def seconds(way: Way, z: Tensor, z_next: Tensor, least: float = 0.2) -> float:
    """CPU seconds per call, repeated for at least `least` seconds."""
    start, calls = time.process_time(), 0
    while True:
        way(z, z_next)
        calls += 1
        passed = time.process_time() - start
        if passed >= least:
            return passed / calls
