"""Layer-wise adaptive rates for training with large batches (You, Gitman, Ginsburg 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import ParamsT

from lie_ssl.errors import UserError


class LARS(Optimizer):
    """Momentum SGD in which the step of every weight tensor is proportional to its norm.

        u = g + weight_decay * w,    v = momentum * v + trust * |w| / |u| * u,    w = w - lr * v

    This is the form used in self-supervised training: the norm in the denominator includes the decay (the paper has
    |g| + weight_decay |w|), and the rate is applied outside the momentum, as in torch's SGD. Parameters of at most one
    dimension (biases, norms) use the plain gradient, with neither decay nor adaptation. Where |w| or |u| is zero, the
    ratio is 1.

    Args:
        params: Parameters or groups; every setting below may differ by group.
        adapt: Whether the weights of a group are adapted; without it they follow SGD with momentum and decay.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float,
        *,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        trust: float = 0.001,
        adapt: bool = True,
    ) -> None:
        defaults = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "trust": trust, "adapt": adapt}
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group after checking its settings."""
        given = self.defaults | param_group
        for name in ("lr", "weight_decay", "trust"):
            if not given[name] >= 0:
                raise UserError(f"LARS was given {name}={given[name]}, but it must be 0 or more")
        if not 0 <= given["momentum"] < 1:
            raise UserError(f"LARS was given momentum={given['momentum']}, but it must be in [0, 1)")
        super().add_param_group(param_group)

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Updates every parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, p.grad, group)
        return loss

    def _move(self, p: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        update = gradient
        if p.ndim > 1:
            update = update.add(p, alpha=group["weight_decay"])
            if group["adapt"]:
                update = update * trust_ratio(p, update, group["trust"])
        state = self.state[p]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(p)
        velocity: Tensor = state["momentum"]
        velocity.mul_(group["momentum"]).add_(update)
        p.add_(velocity, alpha=-group["lr"])


def trust_ratio(weight: Tensor, update: Tensor, trust: float) -> Tensor:
    """trust * |weight| / |update| as a scalar tensor, 1 if either is zero; without waiting for the device."""
    size, length = torch.linalg.vector_norm(weight), torch.linalg.vector_norm(update)
    return torch.where((size > 0) & (length > 0), trust * size / length, torch.ones_like(size))
