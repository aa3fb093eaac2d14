"""How many threads a computation takes, and how they wait for each other.

On a shared machine a second thread can cost more than it gives: each product of matrices ends when the slower thread
does, and that one may be waiting for a core that another program has. So independent work goes to processes of one
thread each (:mod:`lie_ssl.training.jobs`), and what is small stays on one thread.

Nothing here changes what somebody asked for: it acts in the command line only, and not where OMP_NUM_THREADS is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NUMBER = "OMP_NUM_THREADS"
AUTOMATIC = "LIE_SSL_AUTOMATIC_THREADS"  # set to 1 where the number of threads is ours to choose
# Threads that wait give their core to other programs, in place of asking again and again whether they may go on:
# OpenMP's own setting, and that of Intel's library.
WAIT_POLICY = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
SMALL = 200_000_000  # multiplications of a product
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def prepare_environment() -> None:
    """Sets how threads wait. Must run before torch is imported, whose libraries read the environment once."""
    if not os.environ.get(NUMBER):
        os.environ[AUTOMATIC] = "1"
    for name, value in WAIT_POLICY.items():
        os.environ.setdefault(name, value)


def child_environment(threads: int) -> Mapping[str, str]:
    """The environment of a process that may take so many threads, or fewer if its work is small."""
    automatic = {} if os.environ.get(NUMBER) and AUTOMATIC not in os.environ else {AUTOMATIC: "1"}
    return {**WAIT_POLICY, **os.environ, **automatic, NUMBER: str(threads)}


def usable_cores() -> int:
    """Cores that this process may use: those of its affinity mask, and no more than its container's quota."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = QUOTA.read_text(encoding="ascii").split()
        found = min(found, max(1, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or no limit ("max")
        pass
    return found


def core_budget() -> int:
    """Cores that all threads and processes of a command share: OMP_NUM_THREADS if it is set, else the usable ones."""
    try:
        return max(1, int(os.environ.get(NUMBER, "").split(",")[0]))
    except ValueError:
        return usable_cores()


def is_small(products: float) -> bool:
    """Whether one thread is the better choice for a product of matrices with so many multiplications.

    A mean layer of vit_mini has 4e7 of them with 64 pictures of 32 pixels, and 1.4e8 with 256. On a machine that was
    almost free, a second thread gained nothing in training with the one and 5 % at most in embedding with the other. A
    layer of ResNet-18 has 2.4e8 (32 pictures of 64 pixels), and there the second thread halved the time of a step.

    With two cores that other programs kept busy, a step of vit_mini took 0.1 seconds on one thread, 0.16 on two that
    sleep while they wait, and 1.4 to 4.2 on two that do not (torch's default); one of ResNet-18 0.9 to 1.4 on one
    thread, 0.8 to 1.0 and 5.8 to 6.8 on two.
    """
    return products < SMALL


def is_automatic() -> bool:
    """Whether the number of threads is ours to choose, and there is more than one to choose from."""
    import torch

    return os.environ.get(AUTOMATIC) == "1" and torch.get_num_threads() > 1


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Computes on one thread, if it is wanted, and afterwards on as many as before."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
