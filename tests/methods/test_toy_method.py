"""A new method is one file: the method below works with all commands without other changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest
from torch import Tensor, nn

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.methods import METHODS, Draws, Encoder, Method, MethodConfig, SSLOutput, method
from tests.training.tiny_runs import few_pairs, flags

TITLE = "Toy brightness"


@dataclass(frozen=True)
class ToyConfig(MethodConfig):
    """Predicts the brightness of a frame."""

    name: str = "toy"
    """Name of the method."""


class Toy(Method):
    """A linear layer predicts the mean brightness of a frame from its embedding."""

    Config: ClassVar[type[MethodConfig]] = ToyConfig

    def __init__(self, encoder: Encoder, config: ToyConfig) -> None:
        super().__init__(encoder)
        self.layer = nn.Linear(encoder.dim, 1)

    def forward(self, frames: Sequence[Tensor], draws: Sequence[Draws]) -> list[SSLOutput]:
        outputs = []
        for x in frames:
            z = self.encoder(x)
            loss = (self.layer(z)[:, 0] - x.mean(dim=(1, 2, 3))).square().mean()
            outputs.append(SSLOutput(loss, {"brightness": loss.detach()}, z))
        return outputs


@pytest.fixture
def toy() -> Iterator[None]:
    method("toy", title=TITLE, order=15)(Toy)
    yield
    METHODS.remove("toy")


@pytest.mark.usefixtures("toy")
def test_a_toy_method_works_with_all_commands(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_pairs(monkeypatch)
    run, page = tmp_path / "run", tmp_path / "page.html"
    main(["pretrain", "toy", "frames", *flags(tiny, run, "--optim.steps", "3")])
    assert pd.read_csv(run / "metrics.csv")["brightness"].notna().all()
    quick = ["--probe.steps", "5", "--proportions", "0.5", "--finetune.steps", "0"]
    main(["evaluate", str(run), "--out", str(run / "evaluation"), *quick])
    capsys.readouterr()
    main(["report", str(run), "--out", str(page)])
    assert f"{TITLE} Frames" in capsys.readouterr().out
    assert f"{TITLE} Frames" in page.read_text()
