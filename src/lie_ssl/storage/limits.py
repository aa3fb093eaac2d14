"""What fits on this machine, checked before hours of work begin or the system kills the process."""

from __future__ import annotations

import os
from pathlib import Path

from lie_ssl.errors import UserError

STEPS_PER_SECOND = 1000  # faster than any step here
YEAR = 365 * 24 * 3600
YEARS = 10
MIN_MEMORY = 5e8  # bytes
V1 = "memory/memory."  # files of cgroups version 1


def available_memory() -> int:
    """Bytes that this process can still allocate: on the machine, in its control group, under its own limit."""
    found = [_machine(), _group(), _own_limit()]
    return max(0, min(value for value in found if value is not None))


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Rejects what needs more memory than is available.

    Args:
        needed: A lower bound in bytes, so that nothing is rejected that could work.
        what: What needs the memory, as the subject of the message.
        remedy: How to need less.
    """
    available = available_memory()
    if needed > available:
        free = gigabytes(available)
        raise UserError(f"{what} needs at least {gigabytes(needed)}, but only {free} are free; {remedy}")


def check_minimum_memory() -> None:
    """Rejects a machine with too little memory for torch, which would crash silently, or wait forever for threads that
    could not be started."""
    check_memory(MIN_MEMORY, "torch", "close other programs, or raise `ulimit -v`")


def check_steps(name: str, steps: int) -> None:
    """Rejects numbers of steps that would take years."""
    years = steps / STEPS_PER_SECOND / YEAR
    if years > YEARS:
        raise UserError(
            f"{name} is {steps:.3g}, which takes {years:.3g} years at {STEPS_PER_SECOND:,} steps per second; use fewer"
        )


def gigabytes(size: float) -> str:
    """A size in GB, for messages.

    >>> gigabytes(2.5e9), gigabytes(3e20)
    ('2.5 GB', '3e+11 GB')
    """
    return f"{size / 1e9:.3g} GB"


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):  # not Linux
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 62


def _group() -> int | None:
    """What is left of a container's limit. Cached files do not count: the system drops them when needed."""
    folder = Path("/sys/fs/cgroup")
    for limit, stat, used in (("memory.max", "memory.stat", "anon"), (V1 + "limit_in_bytes", V1 + "stat", "total_rss")):
        try:
            most = int((folder / limit).read_text(encoding="ascii"))
            words = (line.split() for line in (folder / stat).read_text(encoding="ascii").splitlines())
            return most - next(int(value) for name, value in words if name == used)
        except (OSError, ValueError, StopIteration):  # no such file, or "max"
            continue
    return None


def _own_limit() -> int | None:
    """What is left under `ulimit -v`."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit - used
