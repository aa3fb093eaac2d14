"""An objective in a user's own module, named by its import path, in every command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.objectives import OBJECTIVES
from lie_ssl.protocol.results import read_card
from tests.training.tiny_runs import ENVIRONMENT, LIE_SSL, few_pairs, flags

MODULE = "users_own_objective"
NAME = f"{MODULE}:Cosine"
OWN = """
from dataclasses import dataclass
from torch.nn.functional import cosine_similarity
from lie_ssl.objectives import ObjectiveConfig, PairObjective, Terms, objective

@dataclass(frozen=True)
class CosineConfig(ObjectiveConfig):
    name: str = "cosine"

@objective("cosine", title="Own cosine")
class Cosine(PairObjective):
    Config = CosineConfig

    def forward(self, pairs):
        loss = 1 - cosine_similarity(pairs.z, pairs.z_next).sum() / max(1, len(pairs.z))
        return Terms(loss, {"cosine": loss})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    (folder / f"{MODULE}.py").write_text(OWN)
    return folder


@pytest.fixture(scope="module")
def run(folder: Path, tiny: FrameSet) -> Path:
    """A run that was trained and evaluated in this process, which has the module imported and registered."""
    run = folder / "run"
    with pytest.MonkeyPatch.context() as patch:
        few_pairs(patch)
        patch.syspath_prepend(str(folder))
        main(["pretrain", "mae", NAME, *flags(tiny, run, "--optim.steps", "3")])
        quick = ["--probe.steps", "5", "--proportions", "0.5", "--finetune.steps", "0"]
        main(["evaluate", str(run), "--out", str(run / "evaluation"), "--trust", NAME, *quick])
    return run


def test_the_arm_is_the_registered_name(run: Path) -> None:
    assert set(pd.read_csv(run / "evaluation" / "accuracy.csv")["arm"]) == {"cosine"}


def test_it_is_reported_in_the_process_that_imported_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert MODULE in sys.modules
    assert "cosine" in OBJECTIVES
    main(["report", str(run), "--out", str(tmp_path / "page.html")])
    assert "MAE Own cosine" in capsys.readouterr().out


@pytest.mark.parametrize(("trust", "title"), [([], "MAE cosine"), (["--trust", NAME], "MAE Own cosine")])
def test_its_title_is_shown_only_where_it_is_trusted(
    trust: list[str], title: str, run: Path, folder: Path, tmp_path: Path
) -> None:
    command = [*LIE_SSL, "report", str(run), "--out", str(tmp_path / "page.html"), *trust]
    environment = ENVIRONMENT | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert title in done.stdout
    assert title in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("arm", ["lie", "frames", "cosine-other"])
def test_a_card_cannot_give_it_another_arm(arm: str, run: Path, tmp_path: Path) -> None:
    card = json.loads((run / "evaluation" / "card.json").read_text())
    card["arm"] = card["run"]["arm"] = arm
    (tmp_path / "card.json").write_text(json.dumps(card))
    with pytest.raises(UserError, match="has another arm than its run"):
        read_card(tmp_path / "card.json")
