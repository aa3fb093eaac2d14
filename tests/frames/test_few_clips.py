"""Data sets with too few clips or objects for an evaluation report it, and suggest flags that work."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lie_ssl.cli import main
from lie_ssl.commands.make import enough_shares
from lie_ssl.frames import FrameSet
from lie_ssl.frames.splits import assign

av = pytest.importorskip("av")


def clip(path: Path, seed: int) -> None:
    """A moving bright square, eight frames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.height = stream.width = 32
        stream.pix_fmt = "yuv420p"
        for i in range(8):
            frame = np.zeros((32, 32, 3), np.uint8)
            frame[4 + seed : 20 + seed, 2 * i : 2 * i + 12] = 255
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())


def imported(root: Path, out: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    """The note of an import."""
    main(["data", "import", str(root), "--out", str(out), "--size", "16", *flags])
    return "\n".join(line for line in capsys.readouterr().out.splitlines() if line.startswith("note: "))


def test_suggested_flags_work_with_three_clips_per_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(3):
        clip(tmp_path / "v" / "cup" / f"{i}.mp4", i)
        clip(tmp_path / "v" / "toy" / f"{i}.mp4", i + 4)
    note = imported(tmp_path / "v", tmp_path / "d", capsys, "--video")
    assert note == (
        "note: with 3 clips per class there is no validation and no test split, so the data set can be used for "
        "pretraining but not for evaluation; import it into another folder with --validation 0.34 --test 0.34, or add "
        "clips"
    )
    flags = re.findall(r"--\w+ [\d.]+", note)
    assert imported(tmp_path / "v", tmp_path / "e", capsys, "--video", *" ".join(flags).split()) == ""
    index = FrameSet(tmp_path / "e").index
    counts = index.groupby(["class", "split"])["instance"].nunique()
    assert counts.tolist() == [1] * 6


def test_two_clips_per_class_are_too_few_for_any_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(2):
        clip(tmp_path / "v" / "cup" / f"{i}.mp4", i)
    clip(tmp_path / "v" / "toy" / "0.mp4", 5)
    note = imported(tmp_path / "v", tmp_path / "d", capsys, "--video")
    assert note.startswith("note: with 1 to 2 clips per class there is no validation and no test split, so ")
    assert note.endswith("; at least 3 clips per class are needed")


@pytest.mark.parametrize("count", [2, 12])
def test_clips_without_classes(tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(count):
        clip(tmp_path / "v" / f"{i}.mp4", i)
    assert imported(tmp_path / "v", tmp_path / "d", capsys, "--video") == (
        "note: the clips have no classes, so the data set can be used for pretraining but not for evaluation; "
        "sort them into folders by class"
    )


def test_messages_about_photographs_say_objects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("cup", "toy"):
        for i in range(4):
            (tmp_path / "p" / name / str(i)).mkdir(parents=True)
            for angle in (0, 90):
                values = np.random.default_rng(100 * len(name) + 10 * i + angle).integers(0, 256, (16, 16, 3))
                Image.fromarray(values.astype(np.uint8)).save(tmp_path / "p" / name / str(i) / f"{angle}.png")
    note = imported(tmp_path / "p", tmp_path / "d", capsys)
    assert "with 4 objects per class there is no validation split, so" in note  # 15 % of four is one
    assert "--validation 0.25 --test 0.25, or add objects" in note


def test_one_object_per_class_is_enough_for_photographs_but_not_for_rendered_objects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--classes", "mug", "car", "--instances", "1", "--size", "16", "--step", "90", "--workers", "1"]
    main(["data", "make", "demo", "--out", str(tmp_path / "d"), *flags])
    out = capsys.readouterr().out
    assert "note: with 1 object per class there is no validation and no test split" in out
    assert "at least 3 objects per class are needed" in out
    for name in ("cup", "toy"):
        (tmp_path / "p" / name / "a").mkdir(parents=True)
        for angle in (0, 90):
            Image.new("RGB", (16, 16), (angle, len(name), 99)).save(tmp_path / "p" / name / "a" / f"{angle}.png")
    assert "every class has one instance" in imported(tmp_path / "p", tmp_path / "e", capsys)


@pytest.mark.parametrize("given", [(0.10, 0.15), (0.0, 0.0), (0.0, 0.9), (0.0, 0.15), (0.5, 0.0)])
def test_the_suggested_shares_fill_every_split_of_every_class(given: tuple[float, float]) -> None:
    for sizes in [[n] for n in range(3, 120)] + [[3, 4], [3, 50], [4, 7, 99], [3, 3, 1000]]:
        shares = enough_shares(sizes, *given)
        assert shares is not None
        validation, test = shares
        assert validation + test < 1
        for size in sizes:
            for name in ("mug", "car"):
                splits = assign([str(i) for i in range(size)], name, validation=validation, test=test, seed=3)
                assert {split for split, _ in splits.values()} == {"train", "validation", "test"}
    assert enough_shares([50], 0.0, 0.15) == (0.02, 0.15)  # shares that are large enough do not change


@pytest.mark.parametrize("sizes", [[1], [2], [2, 40]])
def test_fewer_than_three_cannot_be_split(sizes: list[int]) -> None:
    assert enough_shares(sizes, 0.10, 0.15) is None
