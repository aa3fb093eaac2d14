"""A tiny encoder and pictures for methods with two views, and a training step in one or two processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lie_ssl.methods.draws import Draws
from lie_ssl.methods.method import Method
from lie_ssl.training.batchnorm import convert_batchnorm
from tests.gloo import run_in_processes

ROWS = 8
CUTS = (4, 3, 1)  # rows in the first of two processes: half, fewer, and one

Step = tuple[Tensor, Tensor]  # loss and gradient


class SmallEncoder(nn.Module):
    """(B, 3, 8, 8) -> (B, 6): the part of an encoder that a method needs, without timm for a fast start."""

    dim = 6

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(192, 6), nn.BatchNorm1d(6))

    def forward(self, images: Tensor) -> Tensor:
        z: Tensor = self.layers(images.to(self.layers[1].weight.dtype))  # type: ignore[arg-type]
        return z


def small_encoder() -> Any:
    return SmallEncoder()


def pictures(seed: int = 0) -> Tensor:
    return torch.rand(ROWS, 3, 8, 8, generator=torch.Generator().manual_seed(seed))


def step(method: Method, rank: int, world: int, cut: int) -> Step:
    """Loss of two frames and the gradient, both averaged over the processes as DistributedDataParallel does.

    The first of two processes has `cut` rows, the second the others.
    """
    convert_batchnorm(method)
    start, stop = ((0, ROWS), (0, cut), (cut, ROWS))[0 if world == 1 else rank + 1]
    frames = [pictures()[start:stop], pictures(1)[start:stop]]
    draws = Draws(0, 3, ROWS, start, stop - start)
    outputs = method(frames, [draws.named("first"), draws.named("second")])
    loss = outputs[0].loss + 0.5 * outputs[1].loss
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for p in method.parameters() if p.grad is not None])
    result = torch.cat([loss.detach()[None], gradient])
    if world > 1:
        torch.distributed.all_reduce(result)
    return result[0] / world, result[1:] / world


def check_two_processes(steps: Callable[[int, int], list[Step]], folder: Path) -> None:
    """Checks that two processes give the loss and the gradient of one, for any split of the rows."""
    (loss, gradient), *_ = steps(0, 1)
    assert gradient.abs().max() > 0
    for found in run_in_processes(steps, 2, folder):
        for joined_loss, joined_gradient in found:
            assert joined_loss.item() == pytest.approx(loss.item(), rel=1e-5)  # the terms are computed in float32
            torch.testing.assert_close(joined_gradient, gradient, rtol=1e-4, atol=1e-5)
