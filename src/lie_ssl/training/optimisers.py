"""Optimisers by name, and the optimiser of a run, with a rate and a decay for each group of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch.nn import Parameter

from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.training.config import OptimConfig
from lie_ssl.training.lars import LARS


def make_optimiser(
    name: Literal["adamw", "sgd", "lars"], parameters: Iterable[Parameter] | list[dict[str, Any]], lr: float, *,
    momentum: float = 0.9, beta: float = 0.999, weight_decay: float = 0.0,
) -> torch.optim.Optimizer:  # fmt: skip
    """Builds an optimiser by name, for parameters or groups of them; `beta` is AdamW's second one."""
    if name == "lars":
        return LARS(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)
    return torch.optim.AdamW(parameters, lr=lr, betas=(momentum, beta), weight_decay=weight_decay)


def build_optimiser(model: PairModel, config: OptimConfig) -> torch.optim.Optimizer:
    """Builds AdamW or LARS. Weights decay; biases, norms and the operator do not, as decay would undo its moves."""
    groups: list[dict[str, Any]] = []
    for name, parameters in model.groups().items():
        lr = config.lr * {"operator": config.operator_lr, "stages": config.stage_lr}.get(name, 1.0)
        decay = 0.0 if name == "operator" else config.weight_decay
        wide = [p for p in parameters if p.ndim > 1]
        flat = [p for p in parameters if p.ndim <= 1]
        groups += [
            {"params": part, "lr": lr, "weight_decay": d, "name": name}
            for part, d in ((wide, decay), (flat, 0.0))
            if part
        ]
    return make_optimiser(config.name, groups, config.lr, momentum=config.momentum, beta=config.beta)


def gradient_norms(model: PairModel, limit: float | None) -> dict[str, torch.Tensor]:
    """The gradient norm of each group, which is then clipped to the limit (None for no clipping)."""
    norms = {}
    for name, parameters in model.groups().items():
        norms[name] = torch.nn.utils.clip_grad_norm_(parameters, limit or torch.inf)
    return norms
