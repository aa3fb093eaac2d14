"""Two tiny runs with their evaluations: a baseline and a Lie arm."""

from __future__ import annotations

from pathlib import Path

import pytest

from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.results import evaluate_run
from lie_ssl.training.pretrain import pretrain
from tests.training.tiny_runs import few_pairs, tiny_run


@pytest.fixture(scope="session")
def evaluated(tiny: FrameSet, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("report")
    probe = ProbeConfig(steps=20, rates=(0.01,), optimisers=("adamw",))
    config = EvaluateConfig(
        proportions=(0.25, 0.5), probe=probe, finetune=FinetuneConfig(steps=0), pairs=1
    )  # fmt: skip
    runs = []
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        for arm in ("alone", "lie"):
            runs.append(pretrain(tiny_run(tiny, "mae", arm), folder / arm))
            evaluate_run(runs[-1], config, runs[-1] / "evaluation")
    return runs
