"""The optimiser of a run: parameters by group, each with its own rate and decay."""

from __future__ import annotations

from typing import Any

import torch

from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.training.config import OptimConfig
from lie_ssl.training.lars import LARS


def build_optimiser(model: PairModel, config: OptimConfig) -> torch.optim.Optimizer:
    """AdamW or LARS. Weights decay; biases, norms and the operator do not: decay would undo its moves."""
    groups: list[dict[str, Any]] = []
    for name, parameters in model.groups().items():
        lr = config.lr * (config.operator_lr if name == "operator" else 1.0)
        decay = 0.0 if name == "operator" else config.weight_decay
        wide = [p for p in parameters if p.ndim > 1]
        flat = [p for p in parameters if p.ndim <= 1]
        groups += [
            {"params": part, "lr": lr, "weight_decay": d, "name": name}
            for part, d in ((wide, decay), (flat, 0.0))
            if part
        ]
    if config.name == "lars":
        return LARS(groups, lr=config.lr, momentum=config.momentum)
    return torch.optim.AdamW(groups, lr=config.lr, betas=(config.momentum, config.beta))


def gradient_norms(model: PairModel, limit: float | None) -> dict[str, torch.Tensor]:
    """The norm of the gradient of each group, which is then clipped to the limit (None: not at all)."""
    norms = {}
    for name, parameters in model.groups().items():
        norms[name] = torch.nn.utils.clip_grad_norm_(parameters, limit or torch.inf)
    return norms
