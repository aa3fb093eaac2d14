"""exp(sum_k t_k L_k) z for a batch: `exp_action` against other implementations.

One thread, CPU time, float32, interleaved rounds, medians. Every peer is first checked to give the same result. `norm`
is sum_k |t_k| |L_k|, the same for every row of a batch. The reference, `matrix_exp`, computes B matrices of M x M;
where 64 of them would take minutes, it runs on a few rows and its time is extrapolated, as its note says.

Shape letters: B batch, D generators, M embedding.
"""

from __future__ import annotations

import contextlib
import csv
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from lie_ssl.lie import series
from lie_ssl.lie.action import exp_action
from lie_ssl.lie.norms import default_tolerance, largest_norm, plan, spectral_norms, traces

BATCH = 64
DIMS = (192, 768, 2048)
GENERATORS = (1, 4, 16)
WHATS = ("forward", "forward+backward")
# Rows on which the reference is measured, and its maximum number of rounds.
REFERENCE = {192: (64, 2), 768: (2, 2), 2048: (1, 1)}
COLUMNS = "m d batch what peer norm peer_ms action_ms ratio memory_ratio gemm_fraction note".split()
# (m, d, what, peer, norm) -> (minimum ratio, minimum memory ratio)
TARGETS: dict[tuple[int, int, str, str, float], tuple[float | None, float | None]] = {
    (192, 4, "forward+backward", "matrix_exp", 1.0): (130.0, 100.0),
    (768, 4, "forward+backward", "matrix_exp", 1.0): (380.0, 100.0),
    (2048, 1, "forward+backward", "matrix_exp", 1.0): (3000.0, None),
    (192, 4, "forward+backward", "taylor on skew", 10.0): (1 / 0.6, None),
}

Row = dict[str, Any]
Act = Callable[[Tensor, Tensor, Tensor], Tensor]
Thunk = Callable[[], object]


class Inputs(NamedTuple):
    """Generators (D, M, M), coordinates (B, D), vectors (B, M) and the gradient of the output (B, M)."""

    generators: Tensor
    t: Tensor
    z: Tensor
    g: Tensor

    def rows(self, n: int) -> Inputs:
        """The first n rows of the batch."""
        return Inputs(self.generators, self.t[:n], self.z[:n], self.g[:n])


def run(out: Path, rounds: int = 5) -> list[Row]:
    """Measures everything; writes action.csv to `out` and returns its rows."""
    torch.set_num_threads(1)
    rows = []
    for m in DIMS:
        once: dict[str, float] = {}
        for d in GENERATORS:
            rows += compare(m, d, rounds, once)
    rows += [compare_skew(norm, rounds) for norm in (1.0, 10.0, 50.0)]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "action.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    show(rows)
    return rows


def make(m: int, d: int, norm: float, skew: bool = False) -> Inputs:
    """Gaussian generators of spectral norm about 1 and coordinates whose absolute values add up to `norm`."""
    random = torch.Generator().manual_seed(m + d)
    generators = torch.randn(d, m, m, generator=random).div_(2 * m**0.5)
    if skew:
        generators = (generators - generators.transpose(1, 2)) / 2**0.5
    t = torch.randn(BATCH, d, generator=random)
    t = t * (norm / t.abs().sum(dim=1, keepdim=True))
    z, g = (torch.randn(BATCH, m, generator=random) for _ in range(2))
    return Inputs(generators, t, z, g)


def products(x: Inputs) -> int:
    """Number of products with all generators in the forward pass of `exp_action`."""
    tolerance = default_tolerance(x.z.dtype)
    steps = plan(largest_norm(x.generators, x.t, spectral_norms(x.generators)), tolerance)[0]
    mu = (x.t @ traces(x.generators))[:, None]
    return steps * series.taylor(x.generators, x.t, x.z, mu, steps, None, tolerance)[2]


def matrix_exp(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
    """The straightforward implementation."""
    exponentials = torch.linalg.matrix_exp(torch.einsum("bd,dij->bij", t, generators))
    moved: Tensor = (exponentials @ z[:, :, None])[:, :, 0]
    return moved


def taylor_loop(degree: int) -> Act:
    """A Taylor series of the same degree, differentiated by autograd."""

    def act(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
        w = total = z
        for k in range(1, degree + 1):
            w = torch.einsum("bd,bdi->bi", t, torch.einsum("dij,bj->bdi", generators, w)) / k
            total = total + w
        return total

    return act


def ode(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
    """dz/ds = M z from s = 0 to 1, differentiated through the solver."""
    from torchdiffeq import odeint

    def field(_: Tensor, w: Tensor) -> Tensor:
        return torch.einsum("bd,bdi->bi", t, torch.einsum("dij,bj->bdi", generators, w))

    path: Tensor = odeint(field, z, torch.tensor([0.0, 1.0]), method="dopri5", rtol=1e-6, atol=1e-6)
    return path[-1]


def expm_multiply(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
    """SciPy's action of a matrix exponential, row by row."""
    from scipy.sparse.linalg import expm_multiply as act

    matrices = torch.einsum("bd,dij->bij", t, generators).numpy()
    return torch.from_numpy(np.stack([act(a, v) for a, v in zip(matrices, z.numpy(), strict=True)]))


def thunk(act: Act, x: Inputs, what: str) -> Thunk:
    """A call to measure: the forward pass without a graph, or with the gradients of all three inputs."""

    def forward() -> Tensor:
        with torch.no_grad():
            return act(x.generators, x.t, x.z)

    def both() -> tuple[Tensor, ...]:
        leaves = [v.detach().requires_grad_() for v in x[:3]]
        return torch.autograd.grad(act(*leaves), leaves, x.g)

    return forward if what == "forward" else both


def gemms(x: Inputs, count: int) -> Thunk:
    """Only `count` products of (B, M) with (M, D M), into the same memory."""
    right = x.generators.flatten(0, 1).t()
    result = torch.empty(x.z.shape[0], right.shape[1])

    def multiply() -> None:
        for _ in range(count):
            torch.mm(x.z, right, out=result)

    return multiply


def check(name: str, act: Act, x: Inputs, kind: Any = "general") -> None:
    """Raises unless the peer and `exp_action` agree."""
    with torch.no_grad():
        own, other = exp_action(*x[:3], kind=kind), act(*x[:3])
    error = float((own - other).norm() / own.norm())
    if not error < 1e-4:
        raise RuntimeError(f"{name} and exp_action differ by {error:.1e}")


def seconds(call: Thunk, least: float = 0.03) -> float:
    """CPU seconds per call, repeated for at least `least` seconds."""
    start, calls = time.process_time(), 0
    while True:
        call()
        calls += 1
        passed = time.process_time() - start
        if passed >= least:
            return passed / calls


def medians(calls: dict[str, Thunk], rounds: dict[str, int]) -> dict[str, float]:
    """Median milliseconds of each call; every round runs each call that has rounds left."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(max(rounds.values())):
        for name, call in calls.items():
            if i < rounds[name]:
                times[name].append(seconds(call))
    return {name: 1e3 * statistics.median(found) for name, found in times.items()}


def peak_bytes(call: Thunk) -> int:
    """Peak memory of the tensors of a call."""
    from torch.profiler import ProfilerActivity, profile

    call()
    with silenced_stderr(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        call()
    results = found.profiler.kineto_results
    events = sorted((e for e in results.events() if e.name() == "[memory]"), key=lambda e: e.start_ns())
    total = peak = 0
    for event in events:
        total += event.nbytes()
        peak = max(peak, total)
    return peak


def memory_ratio(act: Act, x: Inputs) -> float:
    """Peak memory of a peer relative to `exp_action`, forward+backward.

    If the reference does not run on the whole batch, its peak is extrapolated from 1 and 2 rows.
    """
    own = peak_bytes(thunk(exp_action, x, WHATS[1]))
    if act is not matrix_exp or REFERENCE[x.z.shape[1]][0] == BATCH:
        return peak_bytes(thunk(act, x, WHATS[1])) / own
    one, two = (peak_bytes(thunk(act, x.rows(n), WHATS[1])) for n in (1, 2))
    return (one + (BATCH - 1) * (two - one)) / own


def peers(m: int, d: int, degree: int) -> dict[str, Act]:
    """The differentiable peers of a case; torchdiffeq only if installed."""
    found: dict[str, Act] = {"matrix_exp": matrix_exp, "taylor loop": taylor_loop(degree)}
    if (m, d) == (192, 4) and find_spec("torchdiffeq"):
        found["torchdiffeq dopri5"] = ode
    return found


def compare(m: int, d: int, rounds: int, once: dict[str, float]) -> list[Row]:
    """All rows of one size. `once` stores the times of the reference at the first d for other d with the same m."""
    x = make(m, d, 1.0)
    degree = products(x)
    acts = peers(m, d, degree)
    few = REFERENCE[m][0]
    for name, act in acts.items():
        check(name, act, x.rows(few))
    with_memory = (m, d) in {(192, 1), (192, 4), (768, 1), (768, 4)}
    memory = {name: memory_ratio(acts[name], x) for name in ("matrix_exp", "taylor loop")} if with_memory else {}
    rows = []
    for what in WHATS:
        found, note = measure(x, acts, what, degree, rounds, once)
        for name in found.keys() - {"exp_action", "gemm"}:
            row = line(x, what, name, 1.0, found, note.get(name, f"{degree} products"))
            rows.append({**row, "memory_ratio": significant(memory.get(name)) if what == WHATS[1] else None})
    return sorted(rows, key=lambda r: str(r["peer"]))


def measure(
    x: Inputs, acts: dict[str, Act], what: str, degree: int, rounds: int, once: dict[str, float]
) -> tuple[dict[str, float], dict[str, str]]:
    """Milliseconds of `exp_action`, its GEMMs alone and all peers for 64 rows; notes on extrapolated times."""
    d, m = x.generators.shape[:2]
    few, most = REFERENCE[m]
    usual = min(rounds, 2) if m * m * d > 2e7 else rounds if m > DIMS[0] else 3 * rounds
    reuse = m == DIMS[-1] and what == WHATS[1] and what in once
    calls = {name: thunk(a, x.rows(few) if a is matrix_exp else x, what) for name, a in acts.items()}
    if reuse:
        del calls["matrix_exp"]
    if (m, d, what) == (192, 4, WHATS[0]) and find_spec("scipy"):
        check("expm_multiply", expm_multiply, x)
        calls["scipy expm_multiply"] = thunk(expm_multiply, x, what)
    calls |= {"exp_action": thunk(exp_action, x, what), "gemm": gemms(x, degree * (1 if what == WHATS[0] else 3))}
    limits = {"matrix_exp": min(rounds, most), "scipy expm_multiply": min(rounds, 2)}
    found = medians(calls, {name: limits.get(name, usual) for name in calls})
    note = {"scipy expm_multiply": "row by row"}
    if reuse:
        found["matrix_exp"] = once[WHATS[1]] * once[f"{WHATS[0]} {d}"] / once[WHATS[0]]
        note["matrix_exp"] = "the time at d=1 times the ratio of the forward times"
        return found, note
    if few < BATCH:
        found["matrix_exp"] *= BATCH / few
        note["matrix_exp"] = f"measured at B={few}, times {BATCH // few}"
    once[f"{what} {d}"] = found["matrix_exp"]
    once.setdefault(what, found["matrix_exp"])
    return found, note


@contextlib.contextmanager
def silenced_stderr() -> Iterator[None]:
    """Suppresses standard error, to which the profiler writes a line at every start and stop."""
    sys.stderr.flush()
    saved = os.dup(2)
    with open(os.devnull, "wb") as devnull:  # noqa: PTH123
        os.dup2(devnull.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def compare_skew(norm: float, rounds: int) -> Row:
    """kind="skew" (Chebyshev) against kind="general" (Taylor) on the same skew generators."""
    x = make(192, 4, norm, skew=True)
    check("taylor on skew", exp_action, x, "skew")

    def skew(generators: Tensor, t: Tensor, z: Tensor) -> Tensor:
        moved: Tensor = exp_action(generators, t, z, kind="skew")
        return moved

    calls = {"taylor on skew": thunk(exp_action, x, WHATS[1]), "exp_action": thunk(skew, x, WHATS[1])}
    found = medians(calls, dict.fromkeys(calls, 3 * rounds))
    part = found["exp_action"] / found["taylor on skew"]
    return line(x, WHATS[1], "taylor on skew", norm, found, f"skew takes {part:.2f} of Taylor")


def line(x: Inputs, what: str, peer: str, norm: float, found: dict[str, float], note: str) -> Row:
    """One row of the CSV."""
    own, other = found["exp_action"], found[peer]
    return {
        "m": x.z.shape[1],
        "d": x.t.shape[1],
        "batch": x.z.shape[0],
        "what": what,
        "peer": peer,
        "norm": norm,
        "peer_ms": significant(other),
        "action_ms": significant(own),
        "ratio": significant(other / own),
        "memory_ratio": None,
        "gemm_fraction": significant(found["gemm"] / own) if "gemm" in found else None,
        "note": note,
    }


def significant(value: float | None) -> float | None:
    """Rounds to three significant digits."""
    return None if value is None else float(f"{value:.3g}")


def show(rows: list[Row]) -> None:
    """Prints all rows with their targets, if any."""
    table = Table(
        "m", "d", "what", "peer", "norm", "peer ms", "action ms", "ratio", "memory", "of GEMM", "target", "note"
    )
    for row in rows:
        least = TARGETS.get((row["m"], row["d"], row["what"], row["peer"], row["norm"]), (None, None))
        cells = [row[c] for c in ("m", "d", "what", "peer", "norm", "peer_ms", "action_ms", "ratio", "memory_ratio")]
        cells += [row["gemm_fraction"], target(row, least), row["note"]]
        table.add_row(*("" if c is None else f"{c:g}" if isinstance(c, float) else str(c) for c in cells))
    Console(width=180).print(table)


def target(row: Row, least: tuple[float | None, float | None]) -> str:
    """The target of a row and whether it was met."""
    parts = []
    for name, goal in zip(("ratio", "memory_ratio"), least, strict=True):
        if goal is not None:
            met = row[name] is not None and row[name] >= goal
            parts.append(f"{name.split('_')[0]} >= {goal:.3g} {'met' if met else 'MISSED'}")
    return ", ".join(parts)
