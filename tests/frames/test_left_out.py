"""Objects left out of a data set are reported with one line per reason and listed in a file."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.commands.make import common_reason, left_out_lines
from lie_ssl.frames import FrameSet, PhotoConfig, import_photographs, make_frames, verify
from tests.conftest import tiny_config


def pyramid(path: Path, size: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"v 0 0 0\nv 1 0 0\nv 0 {size} 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_many_collision_meshes_give_one_line_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "my meshes"
    for i in range(3):
        pyramid(root / "mug" / f"m{i}" / "model.obj", 1.1 + i)
        for k in range(8):
            pyramid(root / "mug" / f"m{i}" / f"model_collision_{k}.obj", 5.0)
        (root / "mug" / f"broken{i}.obj").write_text("v 0 0 0\n")
    (root / "mug" / "=evil.obj").write_text("")
    out = tmp_path / "d"
    flags = ["--source", "folder", "--path", str(root), "--size", "16", "--step", "90", "--workers", "1"]
    main(["data", "make", "small", "--out", str(out), *flags])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out")]
    assert lines == [
        "left out 24: is a collision mesh (first: mug/m0/model_collision_0.obj)",
        "left out 4: cannot be used (it has no faces): export it again or remove it (first: mug/=evil.obj)",
        f"left out 28 in all, listed in {out / 'left_out.csv'}",
    ]
    dropped = json.loads((out / "card.json").read_text())["dropped"]
    assert set(dropped[0]) == {"key", "why"}
    head, *rest = rows(out / "left_out.csv")
    assert head == ["key", "why"]
    assert rest == [[d["key"], d["why"]] for d in dropped]
    assert verify(out) == []
    (out / "left_out.csv").write_text("changed by hand")
    main(["data", "verify", str(out)])
    (out / "left_out.csv").unlink()
    main(["data", "make", "small", "--out", str(out), *flags])  # the folder can still be used
    assert "left out 28 in all\n" in capsys.readouterr().out


def test_names_that_a_spreadsheet_would_execute_are_escaped(tmp_path: Path) -> None:
    root = tmp_path / "p"
    for name in ("=cmd", "cup"):
        (root / name / "a").mkdir(parents=True)
        pixels = np.random.default_rng(len(name)).integers(0, 256, (20, 20, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(root / name / "a" / "0.png")
        (root / name / "a" / "90.png").write_bytes(b"")
    import_photographs(PhotoConfig(path=str(root), size=20), tmp_path / "d")
    assert [row[0] for row in rows(tmp_path / "d" / "left_out.csv")] == ["key", "'=cmd/a/90.png", "cup/a/90.png"]


def test_without_anything_left_out_there_is_no_file(tmp_path: Path, tiny: FrameSet) -> None:
    assert not (tiny.folder / "left_out.csv").exists()
    assert "notes" not in tiny.card
    folder = tmp_path / "d"
    make_frames(tiny_config(), folder, workers=1)
    for name in ("card.json", "index.parquet"):
        assert (folder / name).read_bytes() == (tiny.folder / name).read_bytes()


GROUPS: dict[str, list[tuple[str, str]]] = {
    "another file is used as the mesh of this folder": [
        ("m/b.obj", "a.obj is used as the mesh of this folder"),
        ("m/d.obj", "c d.obj is used as the mesh of this folder"),
    ],
    "another file was taken as the mesh of this folder": [  # as in older cards
        ("m/b.obj", "a.obj was taken as the mesh of this folder"),
        ("m/d.obj", "c d.obj was taken as the mesh of this folder"),
    ],
    "same geometry as another mesh": [("m/b.obj", "same geometry as mug/a"), ("m/c.obj", "same geometry as tea cup/1")],
    "same geometry as another mesh, which has another class, so its label is ambiguous": [
        ("m/b.obj", "same geometry as mug/a, which has another class, so its label is ambiguous"),
        ("m/c.obj", "same geometry as tea cup/1, which has another class, so its label is ambiguous"),
    ],
    "cannot be read as a glb file (ValueError): export it again": [
        ("a/1.glb", "/my data/a/1.glb cannot be read as a glb file (ValueError): export it again."),
        ("b c/2.glb", "/my data/b c/2.glb cannot be read as a glb file (ValueError): export it again."),
    ],
    "cannot be used (it should have N vertices and N faces but ends before)": [
        ("m/5.off", "/my data/m/5.off cannot be used (it should have 5 vertices and 2 faces but ends before)"),
        ("m/6.off", "/my data/m/6.off cannot be used (it should have 62 vertices and 2 faces but ends before)"),
    ],
    "cannot be unpacked (bad): download it again": [
        ("Scopia:bed/a.obj", "Scopia.sh3f:bed/a.obj cannot be unpacked (bad): download it again."),
        ("Scopia:bed/b.obj", "Scopia.sh3f:bed/b.obj cannot be unpacked (bad): download it again."),
    ],
    "cannot read the picture ...: image file is truncated (N bytes)": [
        ("a/b/0.png", "cannot read the picture a/b/0.png: image file is truncated (3 bytes)"),
        ("a/b/1.png", "cannot read the picture a/b/1.png: image file is truncated (17 bytes)"),
    ],
    "N cuts: N of N frames outside the longest shot": [
        ("a part of a.mp4", "2 cuts: 14 of 30 frames outside the longest shot"),
        ("a part of b.mp4", "12 cuts: 4 of 31 frames outside the longest shot"),
    ],
    "ends after N of N seconds; copy it again": [
        ("a.mp4", "a.mp4 ends after 1.5 of 4.0 seconds; copy it again"),
        ("b c.mp4", "b c.mp4 ends after 2.5 of 40.0 seconds; copy it again"),
    ],
    "the class folder has no mesh file": [
        ("a", "the class folder has no mesh file"),
        ("the", "the class folder has no mesh file"),
    ],
    "it is not in this copy of sweethome3d-furniture": [
        ("Scopia:a.obj", "it is not in this copy of sweethome3d-furniture"),
        ("Scopia:b.obj", "it is not in this copy of sweethome3d-furniture"),
    ],
}


@pytest.mark.parametrize(("reason", "cases"), GROUPS.items())
def test_reasons_are_grouped_without_their_names(reason: str, cases: list[tuple[str, str]]) -> None:
    assert {common_reason(key, why, "/my data") for key, why in cases} == {reason}
    dropped = [{"key": key, "why": why} for key, why in cases]
    assert left_out_lines(dropped, "/my data") == [f"left out 2: {reason} (first: {cases[0][0]})"]
    (key, why), *_ = cases
    assert left_out_lines(dropped[:1], "/my data") == [f"left out {key}: {why}"]
