"""Measures the time, operations and memory of a training step."""

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
    """The cost of one step with the batch of one GPU."""

    seconds: float
    flops: int
    resident: int | None  # peak resident memory of this process in bytes; None if the system does not report it
    gpu: int | None  # bytes of weights, gradients, optimiser state and activations; None if nothing is trained


def measure(step: Callable[[], nn.Module], steps: int, states: int) -> Cost:
    """Measures a step: calls it once to count its operations, and then `steps` times.

    The time is the median. With one thread it is CPU time, so that other programs do not affect it.

    Args:
        step: Runs one step and returns the trained model.
        steps: Calls to measure.
        states: Numbers that the optimiser stores per weight; 0 if nothing is trained.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    # The counter does not support the CPU's fused attention, but the matrix products of the plain one.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        step()
    reset_peak_memory()
    seconds: list[float] = []
    for _ in range(steps):
        saved: dict[int, int] = {}  # bytes by address, as tensors may share memory

        def record(tensor: Tensor, saved: dict[int, int] = saved) -> Tensor:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        with saved_tensors_hooks(record, lambda tensor: tensor):
            begin = clock()
            model = step()
            seconds.append(clock() - begin)
    gpu = training_bytes(model, saved, states) if states else None
    return Cost(statistics.median(seconds), counter.get_total_flops(), peak_memory(), gpu)


def training_bytes(model: nn.Module, saved: dict[int, int], states: int) -> int:
    """Bytes of the weights, gradients, optimiser state and tensors saved for the backward pass (bytes by address)."""
    weights = [*model.parameters(), *model.buffers()]
    own = {w.untyped_storage().data_ptr() for w in weights}
    gradients = sum(p.grad.nbytes for p in model.parameters() if p.grad is not None)
    state = states * sum(p.nbytes for p in trained(model))
    activations = sum(size for address, size in saved.items() if address not in own)
    return sum(w.nbytes for w in weights) + gradients + state + activations


def reset_peak_memory() -> None:
    """Resets the peak resident memory of this process, if the system supports it."""
    if RESET.exists():
        RESET.write_text("5")


def peak_memory() -> int | None:
    """The peak resident memory of this process in bytes; None if the system does not report it."""
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)
