"""A source defined only in this file works everywhere: in frames, the card and a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import pytest

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import DataConfig, FrameSet
from lie_ssl.objects import SOURCES, Catalogue, CatalogueEntry, Mesh, Source, source
from lie_ssl.objects.shapes import box
from lie_ssl.objects.sources import SourceSettings, select_classes
from tests.refusals import refusal


@dataclass(frozen=True)
class Boxes(Source):
    """Boxes of two kinds."""

    count: int

    add_instances: ClassVar[str] = "ask for more boxes"

    @classmethod
    def from_config(cls, config: SourceSettings) -> Self:
        if config.instances > 20:
            raise UserError(f"instances is {config.instances}, but there are 20 boxes")
        return cls(config.instances)

    @property
    def name(self) -> str:
        return "boxes"

    def catalogue(self, *, strict: bool = False, classes: tuple[str, ...] = ()) -> Catalogue:
        entries = [CatalogueEntry(c, str(i), "CC0-1.0") for c in ("cube", "plank") for i in range(self.count)]
        return Catalogue(select_classes(entries, classes))

    def mesh(self, entry: CatalogueEntry) -> Mesh:
        size = 1 + int(entry.instance) / 9
        return box(size, 1, 1 if entry.class_name == "cube" else 4).mesh().normalised()


@pytest.fixture(autouse=True)
def _boxes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(Path(__file__).parents[2])  # so that worker processes find this file
    source("boxes", title="Boxes of two kinds")(Boxes)
    yield
    SOURCES.remove("boxes")


def make(out: Path, *more: str) -> FrameSet:
    """Makes a data set; the procedural classes of the recipe do not apply to another source."""
    few = ["--instances", "8", "--step", "90", "--size", "16"]
    main(["data", "make", "small", "--source", "boxes", "--out", str(out), *few, *more])
    return FrameSet(out)


def test_it_works_with_all_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.training.tiny_runs import few_pairs, flags  # imports torch, which worker processes do not need

    frames = make(tmp_path / "d", "--workers", "1")
    assert frames.classes == ["cube", "plank"]
    assert frames.card["source"] == frames.card["config"]["source"] == "boxes"
    assert frames.card["licences"] == {"CC0-1.0": 16}
    assert len(np.unique(frames.read([0, 8 * 8]), axis=0)) == 2
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "200")
    main(["data", "show", str(frames.folder)])
    assert "boxes (Boxes of two kinds)" in capsys.readouterr().out
    few_pairs(monkeypatch)
    main(["pretrain", "mae", "lie", *flags(frames, tmp_path / "run", "--optim.steps", "2", "--optim.batch", "4")])
    card = json.loads((tmp_path / "run" / "card.json").read_text())
    assert card["data"]["source"] == "boxes"
    assert card["classes"] == ["cube", "plank"]
    assert card["finished"]


def test_workers_that_never_registered_it_give_the_same_bytes(tmp_path: Path) -> None:
    alone, many = make(tmp_path / "one", "--workers", "1"), make(tmp_path / "two", "--workers", "2")
    assert alone.card == many.card  # includes the hash of every file


def test_the_help_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "make", "small", "--help"])
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "boxes (Boxes of two kinds)" in words
    assert "procedural (the built-in classes" in words


def test_its_settings_are_validated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "d")]
    output = refusal(capsys, "data", "make", "small", "--source", "boxes", "--instances", "21", *out)
    assert "there are 20 boxes" in output
    assert "did you mean 'boxes'?" in refusal(capsys, "data", "make", "small", "--source", "boxse", *out)
    with pytest.raises(UserError, match="there is no source 'boxs'; did you mean 'boxes'"):
        DataConfig(source="boxs", instances=2)
    assert not (tmp_path / "d").exists()


def test_settings_without_effect_and_the_remedy_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path / "d", "--workers", "1", "--instances", "3", "--path", "somewhere")
    printed = capsys.readouterr()
    assert printed.err.strip() == "note: --path has no effect on the source boxes"
    assert "or ask for more boxes" in printed.out
