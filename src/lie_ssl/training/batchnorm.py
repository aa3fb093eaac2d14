"""Batch normalisation over the joined batch of all processes, on any device.

torch's own SyncBatchNorm needs CUDA; this one consists of plain operations and one all-reduce, so it also works with
gloo on CPUs. Shape letters: N rows, C channels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist
from torch.nn.modules.batchnorm import _BatchNorm

from lie_ssl.contrast.gather import is_distributed
from lie_ssl.errors import UserError


class _SumOverRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        # Every process used the sum in its own loss, so their gradients are summed.
        return sum_over_ranks(g)


def sum_over_ranks(x: Tensor) -> Tensor:
    """Sums x over all processes; the gradient is the sum of their gradients."""
    total: Tensor = _SumOverRanks.apply(x)  # type: ignore[no-untyped-call]
    return total


class SyncBatchNorm(_BatchNorm):
    """(N, C, ...) -> (N, C, ...), normalised by the mean and variance of the rows of all processes.

    Processes may have different numbers of rows, even none, and all must call it. With gradients averaged over the
    processes, as in DDP, training equals one process on the joined batch. In eval mode and in a single process it is
    torch's BatchNorm, bit for bit.
    """

    def forward(self, x: Tensor) -> Tensor:
        if not (self.training and is_distributed()):
            y: Tensor = super().forward(x)
            return y
        self._check_input_dim(x)
        # Sums in half precision would be too inaccurate.
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        over = [0, *range(2, x.ndim)]
        shape = (1, -1, *(1 for _ in over[1:]))
        rows = x.numel() // self.num_features
        sums = sum_over_ranks(torch.cat([wide.sum(over), wide.new_tensor([rows])]))
        total = sums[-1].detach()
        if rows <= 1 and total <= 1:  # with more rows in this process, do not wait for the device
            raise ValueError(f"batch-norm needs more than {int(total)} values per channel over all processes to train")
        mean = sums[:-1] / total
        centred = wide - mean.view(shape)
        variance = sum_over_ranks(centred.square().sum(over)) / total
        if self.track_running_stats:
            self._track(mean.detach(), variance.detach() * total / (total - 1))
        scale = (variance + self.eps).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight
        y = centred * scale.view(shape)
        if self.bias is not None:
            y = y + self.bias.view(shape)
        return y.to(x.dtype)

    def _track(self, mean: Tensor, variance: Tensor) -> None:
        """Updates the running statistics with those of this batch, (C,) and (C,)."""
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        part = 1 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), part)
        self.running_var.lerp_(variance.to(self.running_var.dtype), part)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2 or input.shape[1] != self.num_features:
            raise ValueError(f"expected (N, {self.num_features}, ...), but got {tuple(input.shape)}")


class SyncBatchNormAct(SyncBatchNorm):
    """SyncBatchNorm with dropout and an activation, for timm's BatchNormAct2d."""

    drop: nn.Module
    act: nn.Module

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.act(self.drop(super().forward(x)))
        return y


def convert_batchnorm(module: nn.Module) -> nn.Module:
    """Converts every batch-norm in a module tree to a batch-norm over all processes, in place.

    Layers only change their class: parameters, buffers, hooks and names stay. A batch-norm of an unknown class is an
    error, because it would silently keep the statistics of its own process.

    Returns:
        The same module.
    """
    found = [(name, layer) for name, layer in module.named_modules() if isinstance(layer, _BatchNorm)]
    classes = [_joined_class(name, layer) for name, layer in found]  # checked for all layers before any is changed
    for (_, layer), joined in zip(found, classes, strict=True):
        layer.__class__ = joined
    return module


def _joined_class(name: str, layer: _BatchNorm) -> type[_BatchNorm]:
    kind = type(layer)
    if isinstance(layer, (SyncBatchNorm, nn.SyncBatchNorm)):
        return kind
    if kind in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d):
        return SyncBatchNorm
    if kind.__name__ == "BatchNormAct2d":  # by name, as timm may not be installed
        return SyncBatchNormAct
    raise UserError(
        f"the layer {name or 'given'} is a {kind.__name__}, a batch-norm that cannot be joined over processes; "
        "use torch's BatchNorm1d, 2d or 3d instead"
    )
