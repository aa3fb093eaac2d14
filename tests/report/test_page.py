"""The page is complete, loads nothing, escapes names, and explains missing parts."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.objectives import OBJECTIVES
from lie_ssl.report.gathering import gather
from lie_ssl.report.orbits import eigenvalues, orbit_of
from lie_ssl.report.page import Page, write_page
from lie_ssl.report.pictures import data_uri, disagreement, find_frames, pairs
from lie_ssl.training.loading import load
from tests.report import long_tables

SECTIONS = ("accuracy", "gaps", "angles", "operator", "ablations", "pictures", "orbits", "spectrum", "recipes")


def without_scripts(text: str) -> str:
    return re.sub(r"<script.*?</script>", "", text, flags=re.S)


def plots(text: str) -> dict[str, dict[str, object]]:
    found = re.search(r'<script type="application/json" id="plots">(.*?)</script>', text, flags=re.S)
    assert found is not None
    parsed: dict[str, dict[str, object]] = json.loads(found[1])
    return parsed


def test_the_command_writes_page_tables_and_figures(
    evaluated: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, files = tmp_path / "deep" / "report.html", tmp_path / "files"
    main(["report", *map(str, evaluated), "--out", str(out), "--files", str(files)])
    output = capsys.readouterr().out
    assert "This page compares MAE and MAE Lie on the data set" in output
    assert "Linear evaluation, 2D poses" in output
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert all(f'<section id="{name}">' in text for name in SECTIONS)
    assert {"accuracy-plot", "gap-plot", "angle-plot", "orbit-0", "spectrum-0"} == set(plots(text))
    assert all(f'id="{name}"' in without_scripts(text) for name in plots(text))
    assert text.count("data:image/png;base64,") >= 1
    assert "None of the given folders has a file ablation.csv." in text
    assert (files / "tables" / "accuracy_linear_2d.tex").exists()
    assert (files / "figures" / "bars_linear_2d.svg").exists()
    main(["report", str(files / "rows"), "--out", str(out), "--files", str(tmp_path / "again")])
    for table in (files / "tables").glob("*.csv"):
        assert (tmp_path / "again" / "tables" / table.name).read_text() == table.read_text()


@pytest.fixture(scope="module")
def text(evaluated: list[Path]) -> str:
    return Page(gather(evaluated)).html()


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    assert not re.search(r"<script[^>]+src=", text)
    page = without_scripts(text)
    assert "<link" not in page
    assert "@import" not in page
    assert "url(" not in page
    assert re.findall(r'(?:src|href)="(?!data:image/png;base64,|#)[^"]*', page) == []
    assert "default-src 'none'" in page
    assert text.count("plotly.js v") == 1


def test_tables_need_no_script(text: str) -> None:
    page = without_scripts(text)
    assert page.count("<table>") == page.count("</table>") > 10
    assert page.count("<noscript>") == 5
    assert "MAE Lie</th>" in page


def test_names_are_escaped(evaluated: list[Path], tmp_path: Path) -> None:
    copies = [shutil.copytree(run, tmp_path / f"<i>{run.name}") for run in evaluated]
    for run, label in zip(copies, ("mug", "<b>"), strict=True):
        path = run / "evaluation" / "predictions.csv"
        pd.read_csv(path).assign(**{"class": "<b>", "predicted": label}).to_csv(path, index=False)
        for name in ("accuracy", "curve", "equivariance", "trials"):
            table = pd.read_csv(run / "evaluation" / f"{name}.csv")
            table.assign(method="</script><b>").to_csv(run / "evaluation" / f"{name}.csv", index=False)
        card = json.loads((run / "evaluation" / "card.json").read_text())
        card["method"] = card["run"]["method"] = card["pretraining"]["method"]["name"] = "</script><b>"
        (run / "evaluation" / "card.json").write_text(json.dumps(card))
    text = Page(gather(copies)).html()
    page = without_scripts(text)
    assert "true: <b>&lt;b&gt;</b>" in page
    assert "<b><b>" not in page
    assert "&lt;/script&gt;&lt;b&gt; Lie" in page
    assert text.count("</script>") == 3
    assert any("</script><b>" in view["name"] for view in plots(text)["accuracy-plot"]["views"])  # type: ignore[attr-defined]


def test_missing_parts_are_explained(evaluated: list[Path], tmp_path: Path) -> None:
    base = without_scripts(Page(gather([evaluated[0]])).html())
    assert "This section needs evaluations of a baseline and of another arm" in base
    assert base.count("None of the runs has an operator") == 2
    moved = without_scripts(Page(gather(evaluated), data=str(tmp_path / "away")).html())
    assert "The data set cannot be read" in moved
    assert "No orbit of MAE Lie, seed 0" in moved
    assert 'id="spectrum-0"' in moved
    lone = shutil.copytree(evaluated[1] / "evaluation", tmp_path / "lone")
    page = without_scripts(Page(gather([lone])).html())
    assert page.count("the evaluation is not in the folder of its run") == 2


def test_collected_tables_alone_make_a_page(tmp_path: Path) -> None:
    table = long_tables.accuracy([("mae", "alone", 0.0), ("mae", "lie", 3.0), ("vicreg", "alone", 1.0)])
    table.to_csv(tmp_path / "accuracy.csv", index=False)
    long_tables.ablation().to_csv(tmp_path / "ablation.csv", index=False)
    write_page(gather([tmp_path]), tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "Collected tables have no cards" in text
    assert "MAE Lie, mlp" in text
    views = plots(text)["accuracy-plot"]["views"]
    assert len(views) == 8  # type: ignore[arg-type]
    with pytest.raises(UserError, match="is a folder"):
        write_page(gather([tmp_path]), tmp_path)


def test_disagreements_are_counted_and_shown(evaluated: list[Path], tiny: FrameSet) -> None:
    found = gather(evaluated)
    ((base, other),) = pairs(found.evaluated)
    assert (base.arm.arm, other.arm.arm) == ("alone", "lie")
    shown = disagreement(base, other, find_frames(base), limit=3)
    tables = [e.predictions.set_index("row") for e in (base, other)]
    right = [t["class"] == t["predicted"] for t in tables]
    assert shown.frames == len(tables[0])
    assert shown.gained == int((right[1] & ~right[0]).sum())
    assert shown.lost == int((right[0] & ~right[1]).sum())
    assert len(shown.gains) == min(3, shown.gained)
    assert all(p.true == p.other != p.base for p in shown.gains)
    assert all(p.true == p.base != p.other for p in shown.losses)


def test_pictures_show_the_frames(tiny: FrameSet) -> None:
    picture = tiny.read([5])[0]
    image = Image.open(io.BytesIO(base64.b64decode(data_uri(picture).partition(",")[2])))
    assert image.size == (96, 96)
    grey = Image.open(io.BytesIO(base64.b64decode(data_uri(np.zeros((128, 128, 1), np.uint8)).partition(",")[2])))
    assert (grey.size, grey.mode) == ((128, 128), "L")


def test_every_objective_that_moves_embeddings_has_an_orbit(evaluated: list[Path]) -> None:
    data = gather(evaluated)
    arms = tuple(replace(data.evaluated[1], card=data.evaluated[1].card | {"arm": arm}) for arm in OBJECTIVES)
    shown = Page(replace(data, evaluated=arms))._with_operator()
    assert [each.arm.arm for each in shown] == [
        "literal", "lie", "lie_learned", "rotations", "lie_untold", "lie_off", "matrices", "msp",
    ]  # fmt: skip


def test_the_orbit_starts_at_the_first_frame(evaluated: list[Path], tiny: FrameSet) -> None:
    loaded = load(evaluated[1])
    orbit = orbit_of(loaded, tiny)
    assert loaded.operator is not None
    assert orbit.true.shape == orbit.inferred.shape == orbit.steps.shape == (len(orbit.angles), 2)
    assert orbit.steps[0] == pytest.approx(orbit.true[0], abs=1e-5)
    assert orbit.steps[1] == pytest.approx(orbit.inferred[1], abs=1e-5)
    assert orbit.true.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert orbit.true[:, 0] @ orbit.true[:, 1] == pytest.approx(0, abs=1e-9)  # principal components
    assert 1 >= orbit.shares[0] >= orbit.shares[1] >= 0
    values = np.array(eigenvalues(loaded))
    fixed = loaded.operator.fixed
    generators = loaded.operator.generators[:, fixed:, fixed:].detach().double().numpy()
    assert np.sort_complex(values[0]) == pytest.approx(np.sort_complex(np.linalg.eigvals(generators[0])), abs=1e-6)
    with pytest.raises(UserError, match="no operator"):
        orbit_of(load(evaluated[0]), tiny)


@pytest.mark.parametrize("kind", ["2d", "3d"])
def test_the_orbit_of_a_kind_lies_in_its_own_dimensions(evaluated: list[Path], tiny: FrameSet, kind: str) -> None:
    loaded = load(evaluated[1])
    operator = loaded.operator
    assert operator is not None
    assert loaded.card is not None
    assert loaded.card["factors"] == ["2d", "3d"]
    orbit = orbit_of(loaded, tiny, kind)
    own = tiny.index[(tiny.index["split"] == "test") & tiny.index["duplicate_of"].isna() & (tiny.index["pose"] == kind)]
    name, instance = own[["class", "instance"]].iloc[0]
    own = own[(own["class"] == name) & (own["instance"] == instance)].sort_values("angle")
    first, second = operator.fixed, operator.fixed + operator.shares[0]
    dims = slice(first, second) if kind == "2d" else slice(second, None)
    z = loaded.embed(tiny.read(own.index.to_numpy()))[:, dims].double().numpy()
    assert orbit.angles.tolist() == own["angle"].tolist()
    # The two components explain the stated share of the variance in these dimensions.
    flat = np.linalg.norm(orbit.true - orbit.true.mean(axis=0), axis=1) ** 2
    full = np.linalg.norm(z - z.mean(axis=0), axis=1) ** 2
    assert flat.sum() == pytest.approx(sum(orbit.shares) * full.sum(), rel=1e-5)


def test_a_data_set_of_other_factors_has_no_orbit(evaluated: list[Path], tiny: FrameSet) -> None:
    other = FrameSet(tiny.folder)
    other.__dict__["index"] = tiny.index.assign(hue=np.arange(len(tiny.index)))
    with pytest.raises(UserError, match="varies in other factors"):
        orbit_of(load(evaluated[1]), other)
