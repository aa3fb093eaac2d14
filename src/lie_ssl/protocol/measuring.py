"""Time, operations and memory of one step of training."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lie_ssl.objectives.pair_model import trained

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Cost(NamedTuple):
    """Of one step, with the batch of one GPU."""

    seconds: float
    flops: int
    resident: int | None  # bytes of this process at the worst moment; None where the system does not say
    gpu: int | None  # bytes of weights, gradients, states and what backward needs; None where nothing is trained


def measure(step: Callable[[], nn.Module], steps: int, states: int) -> Cost:
    """Calls a step, which gives the trained model, once to count its operations and then as often as is asked for.

    `states` is how many numbers the optimiser keeps for a weight; 0 where there is none. The time is the median; on one
    thread it is that of the CPU, so that other programs on the machine do not count.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    # The counter does not know the CPU's own attention; the plain one consists of products that it knows.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        step()
    reset_resident()
    seconds: list[float] = []
    for _ in range(steps):
        kept: dict[int, int] = {}  # by address, for tensors may share a piece of memory

        def note(tensor: Tensor, kept: dict[int, int] = kept) -> Tensor:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with saved_tensors_hooks(note, lambda tensor: tensor):
            begin = clock()
            model = step()
            seconds.append(clock() - begin)
    gpu = needed_bytes(model, kept, states) if states else None
    return Cost(statistics.median(seconds), counter.get_total_flops(), resident(), gpu)


def needed_bytes(model: nn.Module, kept: dict[int, int], states: int) -> int:
    """Of the weights, their gradients, the optimiser's state, and what was kept beside them (bytes by address)."""
    weights = [*model.parameters(), *model.buffers()]
    own = {w.untyped_storage().data_ptr() for w in weights}
    gradients = sum(p.grad.nbytes for p in model.parameters() if p.grad is not None)
    state = states * sum(p.nbytes for p in trained(model))
    activations = sum(size for address, size in kept.items() if address not in own)
    return sum(w.nbytes for w in weights) + gradients + state + activations


def reset_resident() -> None:
    """Forgets the largest size that this process has had so far, where the system can."""
    if RESET.exists():
        RESET.write_text("5")


def resident() -> int | None:
    """The largest size in bytes that this process has had in memory."""
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)
