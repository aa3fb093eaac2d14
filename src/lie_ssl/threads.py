"""The number of threads of a computation, and how they wait for each other.

On a shared machine a second thread can cost more than it gains: each matrix product ends when the slower thread does,
and that thread may be waiting for a core that another program uses. So independent work runs in single-threaded
processes (:mod:`lie_ssl.training.jobs`), and small work runs on one thread.

This only affects the command line, and only if OMP_NUM_THREADS is not set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

NUM_THREADS = "OMP_NUM_THREADS"
AUTOMATIC = "LIE_SSL_AUTOMATIC_THREADS"  # 1 if we choose the number of threads
# Waiting threads yield their core to other programs instead of spinning: the settings of OpenMP and of Intel's library.
WAIT_POLICY = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
SMALL = 200_000_000  # multiplications in a matrix product
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def prepare_environment() -> None:
    """Sets how threads wait. Must run before torch is imported, because its libraries read the environment once."""
    if not os.environ.get(NUM_THREADS):
        os.environ[AUTOMATIC] = "1"
    for name, value in WAIT_POLICY.items():
        os.environ.setdefault(name, value)


def child_environment(threads: int) -> Mapping[str, str]:
    """The environment of a child process with at most this number of threads; it uses fewer for small work."""
    automatic = {} if os.environ.get(NUM_THREADS) and AUTOMATIC not in os.environ else {AUTOMATIC: "1"}
    return {**WAIT_POLICY, **os.environ, **automatic, NUM_THREADS: str(threads)}


def usable_cores() -> int:
    """The number of cores that this process may use: its affinity mask, limited by the quota of its container."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = QUOTA.read_text(encoding="ascii").split()
        found = min(found, max(1, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or no limit ("max")
        pass
    return found


def core_budget() -> int:
    """The number of cores shared by all threads and processes of a command: OMP_NUM_THREADS, or all usable cores."""
    try:
        return max(1, int(os.environ.get(NUM_THREADS, "").split(",")[0]))
    except ValueError:
        return usable_cores()


def is_small(products: float) -> bool:
    """Whether one thread is better for a matrix product with this number of multiplications.

    An average layer of vit_mini has 4e7 multiplications with 64 pictures of 32 pixels and 1.4e8 with 256 pictures. On
    an almost idle machine, a second thread gained nothing in training with 64 pictures and at most 5 % in embedding
    with 256. A layer of ResNet-18 has 2.4e8 (32 pictures of 64 pixels), and there a second thread halved the time per
    step.

    Seconds per step on two cores that other programs kept busy:

    =========  ==========  ============================  ==================================
    model      one thread  two threads, passive waiting  two threads, spinning (by default)
    =========  ==========  ============================  ==================================
    vit_mini   0.1         0.16                          1.4 to 4.2
    ResNet-18  0.9 to 1.4  0.8 to 1.0                    5.8 to 6.8
    =========  ==========  ============================  ==================================
    """
    return products < SMALL


def is_automatic() -> bool:
    """Whether we choose the number of threads and more than one is available."""
    import torch

    return os.environ.get(AUTOMATIC) == "1" and torch.get_num_threads() > 1


@contextmanager
def one_thread(enabled: bool = True) -> Iterator[None]:
    """Limits torch to one thread inside the context, if enabled."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1 if enabled else threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
