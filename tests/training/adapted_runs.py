"""Adapted encoders of a second or two for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lie_ssl.frames import FrameSet
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.training.adapting import adapt_config
from lie_ssl.training.config import LogConfig, PretrainConfig
from tests.training.tiny_runs import changed

HIDDEN = 32  # width of the head
OWN = "tests.training.adapted_runs:Own"


class Own(nn.Module):
    """A user's own network, whose maps have a name."""

    def __init__(self, channels: int = 3, width: int = 6) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            self.convolution = nn.Conv2d(channels, width, 3, stride=2)

    def forward(self, images: Tensor) -> Tensor:
        found: Tensor = self.convolution(images).relu().mean((2, 3))
        return found


def tiny_adapted(
    frames: FrameSet | Path, banks: Path, objective: str = "lie", method: str = "simclr",
    encoder: EncoderConfig | None = None, **settings: Any,
) -> PretrainConfig:  # fmt: skip
    """Four steps of eight pairs with a small head; settings such as optim__steps=8 change it."""
    config = replace(
        adapt_config(encoder or EncoderConfig("resnet_mini"), objective, method),
        data=str(frames.folder if isinstance(frames, FrameSet) else frames), banks=str(banks),
        log=LogConfig(every=1, check_every=1000, tensorboard=False),
    )  # fmt: skip
    defaults: dict[str, Any] = {"optim__steps": 4, "optim__batch": 8, "adapt__hidden": HIDDEN}
    found: PretrainConfig = changed(config, **(defaults | settings))
    return found


def flags(frames: FrameSet, banks: Path, out: Path, *more: str) -> list[str]:
    """The flags of a tiny run for `lie-ssl adapt ENCODER OBJECTIVE`."""
    return [
        "--data", str(frames.folder), "--out", str(out), "--banks", str(banks), "--optim.batch", "8", "--optim.steps",
        "4", "--adapt.hidden", str(HIDDEN), "--log.every", "1", "--log.no-tensorboard", *more,
    ]  # fmt: skip
