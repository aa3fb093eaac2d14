"""Runs a function of a test file in several processes that communicate over gloo.

The processes are fresh interpreters, not forks: a fork of a process in which torch already has threads may hang.
"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import distributed as dist

ROOT = Path(__file__).parents[1]


def run_in_processes(
    function: Callable[..., Any], world: int, folder: Path, *args: float | str, timeout: float = 120.0
) -> list[Any]:
    """Runs `function(rank, world, *args)` on each rank and returns the results; a world of 1 has no process group.

    The function is at the top level of its file and returns tensors, numbers and text in tuples, lists and dicts. The
    folder must be empty. A process that fails or hangs fails the test with its output.
    """
    command = [sys.executable, "-m", "tests.gloo", function.__code__.co_filename, function.__name__, json.dumps(args)]
    logs = [folder / f"{rank}.txt" for rank in range(world)]
    processes = []
    for rank, log in enumerate(logs):
        with log.open("w") as out:
            own = [*command, str(rank), str(world), str(folder)]
            processes.append(subprocess.Popen(own, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT))
    try:
        codes = [process.wait(timeout) for process in processes]
    except subprocess.TimeoutExpired:
        codes = [-1]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert not any(codes), "\n".join(log.read_text() for log in logs)
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(world)]


def main(file: str, name: str, args: list[float | str], rank: int, world: int, folder: Path) -> None:
    """Runs one process."""
    torch.set_num_threads(1)
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
    result = runpy.run_path(file)[name](rank, world, *args)
    torch.save(result, folder / f"{rank}.pt")
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), Path(sys.argv[6]))
