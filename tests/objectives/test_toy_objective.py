"""A new objective is one file: the objective below works with all commands without other changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd
import pytest

from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.objectives import OBJECTIVES, ObjectiveConfig, PairObjective, Pairs, Terms, objective
from lie_ssl.recipes.pretrain import PRETRAIN_RECIPES, pretrain_recipe
from tests.training.tiny_runs import few_pairs, flags

TITLE = "Toy distance"


@dataclass(frozen=True)
class ToyConfig(ObjectiveConfig):
    """The distance between the two frames."""

    name: str = "toy"
    """Name of the objective."""
    ssl: float = 3.0
    """Weight of the self-supervised loss of both frames."""
    weight: float = 0.5
    """Weight of the distance."""


class Toy(PairObjective):
    """Pulls the two frames of a pair together."""

    Config: ClassVar[type[ObjectiveConfig]] = ToyConfig
    config: ToyConfig

    def __init__(self, config: ToyConfig, dim: int, factors: Sequence[str]) -> None:
        super().__init__(config, dim, factors)

    def forward(self, pairs: Pairs) -> Terms:
        distance = (pairs.z - pairs.z_next).square().sum() / max(1, len(pairs.z))
        return Terms(self.config.weight * distance, {"distance": distance})


@pytest.fixture
def toy() -> Iterator[None]:
    objective("toy", title=TITLE, told="nothing", order=25)(Toy)
    yield
    OBJECTIVES.remove("toy")


@pytest.mark.usefixtures("toy")
def test_a_toy_objective_works_with_all_commands(
    tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_pairs(monkeypatch)
    run, page, files = tmp_path / "run", tmp_path / "page.html", tmp_path / "files"
    main(["pretrain", "mae", "toy", *flags(tiny, run, "--optim.steps", "3"), "--objective.weight", "0.25"])
    log = pd.read_csv(run / "metrics.csv")
    assert log["distance"].notna().all()
    assert "validation_distance" in pd.read_csv(run / "checks.csv")
    quick = ["--probe.steps", "5", "--proportions", "0.5", "--finetune.steps", "0"]
    main(["evaluate", str(run), "--out", str(run / "evaluation"), *quick])
    assert set(pd.read_csv(run / "evaluation" / "accuracy.csv")["arm"]) == {"toy"}
    capsys.readouterr()
    main(["report", str(run), "--out", str(page), "--files", str(files)])
    assert f"MAE {TITLE}" in capsys.readouterr().out
    assert f"MAE {TITLE}" in page.read_text()
    assert any(f"MAE {TITLE}" in table.read_text() for table in files.rglob("*.md"))


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("recipe", PRETRAIN_RECIPES)
def test_recipes_keep_the_defaults_of_a_toy_objective(recipe: str) -> None:
    assert pretrain_recipe(recipe, "mae", "toy").objective == ToyConfig()


def test_without_its_registration_it_is_unknown(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["pretrain", "mae", "toy", *flags(tiny, tmp_path / "run")])
    assert stop.value.code == 2


@pytest.mark.usefixtures("toy")
def test_a_toy_objective_adapts_an_encoder(tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_pairs(monkeypatch)
    run, page = tmp_path / "run", tmp_path / "page.html"
    where = ["--data", str(tiny.folder), "--out", str(run), "--banks", str(tmp_path / "banks")]
    main(["adapt", "resnet_mini", "toy", *where, "--optim.steps", "3", "--optim.batch", "8"])
    quick = ["--probe.steps", "2", "--readout.steps", "2", "--limit", "20", "--pairs", "2"]
    main(["evaluate", str(run), *quick])
    main(["report", str(run), "--out", str(page)])
    assert f"resnet_mini {TITLE}" in page.read_text()
