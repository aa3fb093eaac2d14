"""A short demo on an idle machine, and on one shared with another program.

The other program is a loop that keeps one core busy. Measured is `lie-ssl demo --from-scratch` with fewer steps, in its
own process, as a user would start it: training and evaluation of MAE, MAE Frames and MAE Lie, without rendering the
data set. Wall time is how long a user waits; CPU time, summed over all processes, is the work done.

Run as a script, `python shared.py STEPS OUT`, this file is that process. It also works with earlier versions.
"""

from __future__ import annotations

import csv
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

NAME = "shared_machine.csv"
COLUMNS = "version cores neighbours steps rounds seconds cpu_seconds slowdown".split()
STEPS = 500  # of the demo; the other durations scale with it
AFTER, BEFORE = "after", "before"

Row = dict[str, Any]


def run(out: Path, steps: int, rounds: int, before: Path | None) -> None:
    """Measures, writes and prints the table; rows of versions that are not measured now are kept."""
    import lie_ssl
    from lie_ssl.frames import make_frames
    from lie_ssl.recipes.data import small_data

    versions = {AFTER: Path(lie_ssl.__file__).resolve().parents[1]}
    if before is not None:
        versions = {BEFORE: before.resolve(), **versions}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        make_frames(small_data(), data, recipe="demo")
        rows = [row for name, source in versions.items() for row in compare(name, source, data, steps, rounds)]
    path = out / NAME
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["version"] not in versions] + rows
    out.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        print(", ".join(f"{name} {row[name]}" for name in COLUMNS))
    print(f"wrote {path}")


def compare(version: str, source: Path, data: Path, steps: int, rounds: int) -> list[Row]:
    """Rows without and with a busy neighbour; rounds alternate, so that changes of the machine affect both."""
    times: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for _ in range(rounds):
        for neighbours in times:
            with busy(neighbours):
                times[neighbours].append(timed(source, data, steps))
    seconds, cpu = ({n: statistics.median(t[i] for t in own) for n, own in times.items()} for i in (0, 1))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [
        {
            "version": version, "cores": cores, "neighbours": n, "steps": steps, "rounds": rounds,
            "seconds": round(seconds[n], 1), "cpu_seconds": round(cpu[n], 1),
            "slowdown": round(seconds[n] / seconds[0], 2),
        }
        for n in times
    ]  # fmt: skip


@contextmanager
def busy(neighbours: int) -> Iterator[None]:
    """Starts programs that keep one core busy each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(neighbours)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def timed(source: Path, data: Path, steps: int) -> tuple[float, float]:
    """Wall and CPU seconds of a short demo with the package in the folder `source`."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME", "LIE_SSL_AUTOMATIC_THREADS"):
        environment.pop(name, None)  # as in a new terminal
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(data, Path(folder) / "data")
        command = [sys.executable, __file__, str(steps), folder]
        start, cpu = time.perf_counter(), _children_cpu_seconds()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start, _children_cpu_seconds() - cpu


def _children_cpu_seconds() -> float:
    """CPU seconds of all child processes that have ended, including their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def short_demo(steps: int, out: str) -> None:
    """Runs `lie-ssl demo --from-scratch` with fewer steps of training and of classifiers, and fewer test frames."""
    from lie_ssl.cli import main

    if "lie_ssl.threads" in sys.modules:  # before torch is imported, as on the command line
        sys.modules["lie_ssl.threads"].prepare_environment()
    from lie_ssl.recipes import demo

    # Earlier versions had other names, and no other demo.
    name = next(name for name in ("from_scratch_recipe", "demo_recipe", "demo") if hasattr(demo, name))
    recipe, units = getattr(demo, name)(), []
    for unit in recipe.units:
        optim, log = replace(unit.pretraining.optim, steps=steps), replace(unit.pretraining.log, check_every=steps)
        probe = replace(unit.evaluation.probe, steps=max(1, unit.evaluation.probe.steps * steps // STEPS))
        evaluation = replace(unit.evaluation, probe=probe, limit=500)
        units.append(replace(unit, pretraining=replace(unit.pretraining, optim=optim, log=log), evaluation=evaluation))
    setattr(demo, name, lambda: replace(recipe, units=tuple(units)))
    sys.argv = ["lie-ssl", "demo", "--out", out, *(["--from-scratch"] if name == "from_scratch_recipe" else [])]
    main()


if __name__ == "__main__":
    short_demo(int(sys.argv[1]), sys.argv[2])
