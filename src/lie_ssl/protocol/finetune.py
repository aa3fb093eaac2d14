"""Finetuning: trains an encoder together with a classifier on top of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.frames.loader import to_tensor
from lie_ssl.methods.draws import derive_seed
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.features import to_float
from lie_ssl.protocol.probe import MAX_BATCH, Linear, Neighbours, OptimiserName
from lie_ssl.protocol.settings import TrainingRows
from lie_ssl.serialization import check_numbers
from lie_ssl.storage.limits import check_steps
from lie_ssl.training.optimisers import make_optimiser
from lie_ssl.training.schedule import capped_cosine

Rows = NDArray[np.int64]


class Pictures(Protocol):
    """Labelled pictures to train on: a FrameSet or photographs."""

    @property
    def classes(self) -> list[str]: ...

    @property
    def labels(self) -> Rows: ...

    def read(self, rows: Rows) -> NDArray[np.uint8]: ...


@dataclass(frozen=True)
class FinetuneConfig:
    """Settings of finetuning."""

    steps: int = 200
    """Steps per trial; 0 skips finetuning."""
    batch: int = 64
    """Frames per batch, half of them of instances shown in all poses."""
    rates: tuple[float, ...] = (1e-3, 3e-4)
    """Learning rates to try."""
    optimisers: tuple[OptimiserName, ...] = ("adamw",)
    """Optimisers to try, each with every rate."""
    weight_decay: float = 0.0
    """Weight decay of encoder and classifier."""
    warmup: float = 0.1
    """Share of the steps for the warm-up of the rate."""
    start: Literal["linear", "zero"] = "linear"
    """Initial classifier: that of linear evaluation, or zeros as in the paper."""

    def __post_init__(self) -> None:
        check_steps("finetune.steps", self.steps)
        check_numbers(self, "finetune")
        if self.batch > MAX_BATCH:
            raise UserError(f"finetune.batch is {self.batch:.3g}, but it must be at most {MAX_BATCH:,} frames")
        if self.steps < 0 or self.batch < 4 or self.batch % 2:
            raise UserError(
                f"finetune.steps is {self.steps} and finetune.batch {self.batch}, but steps must be 0 or more, and a "
                "batch must be even and 4 or more"
            )
        if not self.rates or min(self.rates) <= 0 or self.weight_decay < 0 or not 0 <= self.warmup < 1:
            raise UserError("finetuning needs rates above 0, a weight decay of 0 or more and a warm-up in [0, 1)")
        if not self.optimisers:
            raise UserError("finetuning needs an optimiser: give adamw, sgd or both")

    @property
    def trials(self) -> list[tuple[OptimiserName, float]]:
        """(optimiser, rate) of every trial."""
        return [(o, r) for o in self.optimisers for r in self.rates]


class DivergedError(UserError):
    """The loss of a trial is not finite; another learning rate may work."""


class Classifier(nn.Module):
    """An encoder with a batch-norm and a linear layer on top."""

    def __init__(self, encoder: Encoder, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.linear, self.norm = nn.Linear(encoder.dim, classes), nn.BatchNorm1d(encoder.dim, affine=False)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    @torch.no_grad()
    def load_linear(self, start: Linear) -> None:
        """Copies the weights and the statistics of a linear classifier of standardised embeddings."""
        self.norm.load_state_dict(
            {**self.norm.state_dict(), "running_mean": start.mean, "running_var": start.std.square()}
        )
        self.linear.load_state_dict({"weight": start.weight, "bias": start.bias})

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.encoder(images))

    def head(self, z: Tensor) -> Tensor:
        """(B, M) -> (B, classes)."""
        logits: Tensor = self.linear(self.norm(z))
        return logits


def finetune(
    encoder: Encoder, frames: Pictures, rows: TrainingRows, optimiser_name: OptimiserName, rate: float,
    config: FinetuneConfig, seed: int, neighbours: Neighbours | None = None, start: Linear | None = None,
) -> Classifier:  # fmt: skip
    """Trains a copy of the encoder with a classifier on top.

    Args:
        encoder: The encoder, which is not changed.
        frames: The pictures.
        rows: The training set; diverse and typical frames are sampled 1:1.
        optimiser_name: The optimiser.
        rate: The peak learning rate.
        config: The other settings.
        seed: Seed of the batches and of dropout.
        neighbours: Adds moved embeddings to every batch (Option 2).
        start: The initial classifier; None for zeros.

    Returns:
        The trained classifier, in eval mode.
    """
    model = Classifier(copy.deepcopy(encoder), len(frames.classes)).train()
    if start is not None:
        model.load_linear(start)
    device = next(model.parameters()).device
    groups = [g for g in (rows.diverse, rows.typical) if len(g)]
    if not groups:
        raise UserError("there are no frames to train the classifier on; choose a data set with training instances")
    generator = torch.Generator().manual_seed(derive_seed(seed, "finetune"))
    optimiser = make_optimiser(optimiser_name, model.parameters(), rate, weight_decay=config.weight_decay)
    warmup = max(1, round(config.warmup * config.steps))
    for step in range(config.steps):
        torch.manual_seed(derive_seed(seed, "finetune", step))  # for dropout
        for group in optimiser.param_groups:
            group["lr"] = rate * capped_cosine(step, config.steps, warmup)
        chosen = np.concatenate(
            [g[torch.randint(len(g), (config.batch // len(groups),), generator=generator).numpy()] for g in groups]
        )
        labels = torch.from_numpy(frames.labels[chosen]).to(device)
        z = model.encoder(to_float(to_tensor(frames.read(chosen)), device))
        views = [z, *(neighbours(z, generator) if neighbours else [])]
        loss = functional.cross_entropy(model.head(torch.cat(views)), labels.repeat(len(views)))
        if not bool(torch.isfinite(loss)):
            raise DivergedError(f"finetuning at rate {rate:g} diverged at step {step + 1}; leave out that rate")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
    return model.eval()


@torch.no_grad()
def predict(model: nn.Module, frames: Pictures, rows: Rows, batch: int = 256) -> Tensor:
    """(rows,) -> (rows,) indices of the predicted classes, in eval mode."""
    device = next(model.parameters()).device
    model.eval()
    parts = [
        model(to_float(to_tensor(frames.read(rows[i : i + batch])), device)).argmax(dim=1).cpu()
        for i in range(0, len(rows), batch)
    ]
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.int64)
