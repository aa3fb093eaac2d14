"""Runs of a few seconds for the tests of training."""

from __future__ import annotations

import csv
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.recipes.pretrain import pretrain_recipe
from lie_ssl.training import checks, coordinates
from lie_ssl.training.config import LogConfig, OptimConfig, PretrainConfig

# One thread, as in the processes that tests start; sums in another order would differ in the last bits.
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
LIE_SSL = [sys.executable, "-m", "lie_ssl"]


def tiny_run(frames: FrameSet | Path, method: str = "mae", arm: str = "lie", **settings: Any) -> PretrainConfig:
    """Four steps of eight pairs with a check at the end; settings such as optim__steps=8 change it.

    Methods that can have one have a residual network: its batch-norm is what several processes must agree on.
    """
    config = replace(
        pretrain_recipe("small", method, arm),
        encoder=EncoderConfig(name="vit_mini" if method == "mae" else "resnet_mini"),
        data=str(frames.folder if isinstance(frames, FrameSet) else frames),
        optim=OptimConfig(steps=4, batch=8),
        log=LogConfig(every=1, check_every=1000, tensorboard=False),
    )
    return changed(config, **settings)


def changed(config: Any, **settings: Any) -> Any:
    """A config with other values; two underscores separate nested names."""
    for name, value in settings.items():
        first, _, rest = name.partition("__")
        config = replace(config, **{first: changed(getattr(config, first), **{rest: value}) if rest else value})
    return config


def few_pairs(patch: pytest.MonkeyPatch) -> None:
    """Makes checks and coordinates cheap for tests of other parts."""
    patch.setattr(checks, "PAIRS", 8)
    patch.setattr(coordinates, "MAX_PAIRS", 64)


class StopError(Exception):
    """Stops a run instead of a signal, so that the process continues."""


class Notes:
    """A reporter that records messages, and can stop the run after a given step."""

    def __init__(self, stop: int = 0) -> None:
        self.stop = stop
        self.messages: list[str] = []
        self.steps: list[int] = []

    def step(self, done: int, total: int, loss: float) -> None:
        self.steps.append(done)
        if done == self.stop:
            raise StopError

    def busy(self, what: str) -> None:
        pass

    def say(self, text: str) -> None:
        self.messages.append(text)

    def part(self, name: str) -> AbstractContextManager[Notes]:
        return nullcontext(self)


def flags(frames: FrameSet, out: Path, *more: str) -> list[str]:
    """The flags of a tiny run for `lie-ssl pretrain METHOD ARM`."""
    return [
        "--data", str(frames.folder), "--out", str(out), "--optim.batch", "8", "--log.every", "1",
        "--log.check-every", "1000", "--log.no-tensorboard", *more,
    ]  # fmt: skip


def checkpoint(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(path, weights_only=True)
    return found


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def differences(a: Any, b: Any, where: str = "") -> list[str]:
    """Where two nested values differ; tensors must be equal bit for bit."""
    if isinstance(a, torch.Tensor):
        return [] if a.dtype == b.dtype and torch.equal(a, b) else [where]
    if isinstance(a, dict):
        if a.keys() != b.keys():
            return [f"{where}: {sorted(map(str, a.keys() ^ b.keys()))}"]
        return [d for key in a for d in differences(a[key], b[key], f"{where}/{key}")]
    if isinstance(a, (list, tuple)):
        if len(a) != len(b):
            return [f"{where}: {len(a)} and {len(b)}"]
        return [d for i, (x, y) in enumerate(zip(a, b, strict=True)) for d in differences(x, y, f"{where}/{i}")]
    return [] if a == b else [f"{where}: {a} and {b}"]
