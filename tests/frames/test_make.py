"""Making a data set always gives the same bytes, and nothing is lost or overwritten."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet, make_frames, verify
from lie_ssl.objects.shapes import make_instance
from lie_ssl.render import View, render
from lie_ssl.storage.locks import folder_lock
from tests.conftest import tiny_config


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_index_and_card(tiny: FrameSet) -> None:
    index = pd.read_parquet(tiny.folder / "index.parquet")
    assert {
        "class", "instance", "pose", "angle", "rotation", "split", "diverse_rank", "licence", "duplicate_of",
        "elevation", "light", "hue", "scale",
    } <= set(index.columns)  # fmt: skip
    assert len(index) == 3 * 8 * 12
    assert set(index["pose"]) == {"2d", "3d"}
    assert index["duplicate_of"].notna().sum() == 3 * 8 * 2
    twins = index[index["duplicate_of"].notna()]
    first = index.loc[twins["duplicate_of"].astype(int)]
    assert (first["angle"].to_numpy() == 0).all()
    assert (first["instance"].to_numpy() == twins["instance"].to_numpy()).all()
    assert (first["class"].to_numpy() == twins["class"].to_numpy()).all()
    card = json.loads((tiny.folder / "card.json").read_text())
    assert card["counts"] == {
        "classes": 3, "instances": 24, "frames": 288, "distinct_frames": 240, "train": 18, "validation": 3, "test": 3,
    }  # fmt: skip
    assert set(card["files"]) == {p.name for p in tiny.folder.iterdir()} - {"card.json"}
    assert card["licences"] == {"MIT": 24}


def test_stored_pictures_are_the_rendered_ones(tiny: FrameSet) -> None:
    for row in np.random.default_rng(0).choice(len(tiny), 12, replace=False):
        frame = tiny.index.loc[row]
        mesh, _ = make_instance(frame["class"], int(frame["instance"]))
        view = View(np.array(frame["rotation"], np.float64).reshape(3, 3))
        expected = render(mesh, [view], tiny_config().render)[0]
        # The index stores rotations as float32, so edges may move slightly.
        assert (np.abs(tiny.read([row])[0].astype(int) - expected) > 2).mean() < 0.01


def test_duplicates_have_the_picture_of_the_original(tiny: FrameSet) -> None:
    twins = tiny.index[tiny.index["duplicate_of"].notna()]
    assert np.array_equal(tiny.read(twins.index), tiny.read(twins["duplicate_of"].astype(int)))


def test_reading_beyond_the_end_is_a_user_error(tiny: FrameSet) -> None:
    with pytest.raises(UserError, match="has 288 frames"):
        tiny.read([288])
    assert tiny.read([]).shape == (0, 16, 16, 3)


def test_many_processes_give_the_same_bytes(tiny: FrameSet, tmp_path: Path) -> None:
    make_frames(tiny_config(), tmp_path / "two", workers=2)
    assert content(tmp_path / "two") == content(tiny.folder)


def test_killed_and_resumed_gives_the_same_bytes(tmp_path: Path) -> None:
    """A real kill -9 in the middle, twice, then a third run that finishes."""
    flags = ["--classes", "car", "mug", "tower", "--instances", "30", "--step", "20", "--size", "48", "--workers", "2"]
    command = [sys.executable, "-m", "lie_ssl", "data", "make", "demo", *flags, "--out"]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    cut_short = 0
    for shards in (10, 45):
        process = subprocess.Popen([*command, str(broken)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while len(list(broken.glob("frames-*.bin"))) < shards and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        cut_short += not (broken / "card.json").exists()
        with pytest.raises(UserError, match="not finished"):
            FrameSet(broken)
    assert cut_short == 2
    done = subprocess.run([*command, str(broken)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert content(broken) == content(whole)


def test_an_orphaned_worker_stops() -> None:
    """The workers of a killed process do not run forever."""
    code = (
        "import multiprocessing, os, time\nfrom lie_ssl.frames.jobs import _begin_worker\n"
        "def work(pid):\n    _begin_worker(None)\n    print(os.getpid(), flush=True)\n    time.sleep(600)\n"
        "if __name__ == '__main__':\n    p = multiprocessing.get_context('fork').Process(target=work, args=(0,))\n"
        "    p.start()\n    p.join()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and Path(f"/proc/{worker}").exists() and _runs(worker):
        time.sleep(0.05)
    assert not _runs(worker)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def test_making_it_again_changes_nothing(tiny: FrameSet) -> None:
    before = {p: p.stat().st_mtime_ns for p in tiny.folder.iterdir()}
    make_frames(tiny_config(), tiny.folder)
    assert {p: p.stat().st_mtime_ns for p in tiny.folder.iterdir()} == before


def test_another_data_set_is_not_overwritten(tiny: FrameSet, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"another data set \(seed is 0 there and 1 here\)"):
        make_frames(tiny_config(seed=1), tiny.folder)
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(UserError, match=r"thesis\.tex"):
        make_frames(tiny_config(), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("")
    with pytest.raises(UserError, match="cannot use the folder"):
        make_frames(tiny_config(), tmp_path / "d")


def test_two_processes_cannot_use_the_same_folder(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    with folder_lock(folder):
        code = (
            "from tests.conftest import tiny_config\nfrom lie_ssl.frames import make_frames\n"
            f"make_frames(tiny_config(), {str(folder)!r}, workers=1)"
        )
        root = Path(__file__).parents[2]
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert "another process is writing" in done.stderr
    assert not list(folder.glob("frames-*"))
    make_frames(tiny_config(), folder, workers=1)
    assert verify(folder) == []


def test_a_card_with_another_format(tiny: FrameSet, tmp_path: Path) -> None:
    shutil.copytree(tiny.folder, tmp_path / "d")
    card = json.loads((tmp_path / "d" / "card.json").read_text())
    (tmp_path / "d" / "card.json").write_text(json.dumps(card | {"format": 99}))
    with pytest.raises(UserError, match="has format 99"):
        FrameSet(tmp_path / "d")
    (tmp_path / "d" / "card.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        FrameSet(tmp_path / "d")
    with pytest.raises(UserError, match="there is no folder"):
        FrameSet(tmp_path / "nothing")


def test_verify_finds_any_change(tiny: FrameSet, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    shutil.copytree(tiny.folder, folder)
    assert verify(folder) == []
    (folder / "frames-00099.bin").write_bytes(b"x")
    (folder / "frames-00002.bin").unlink()
    index = bytearray((folder / "index.parquet").read_bytes())
    index[len(index) // 2] ^= 1
    (folder / "index.parquet").write_bytes(index)
    assert sorted(verify(folder)) == [
        "frames-00002.bin is missing", "frames-00099.bin does not belong", "index.parquet has changed",
    ]  # fmt: skip


def test_too_little_space_is_reported_before_rendering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(UserError, match="GB free"):
        make_frames(tiny_config(), tmp_path / "d", workers=1)
    assert not list((tmp_path / "d").glob("frames-*"))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_a_user_error_and_leaves_no_incomplete_files(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a real file system of 256 kB, without the check for free space."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a tmpfs needs root")
    try:
        monkeypatch.setattr("lie_ssl.frames.make._check_disk", lambda *a: None)
        with pytest.raises(UserError, match=r"cannot write .*[Nn]o space"):
            make_frames(tiny_config(step=10.0, instances=30), disk / "d", workers=workers)
        assert not list((disk / "d").glob(".*.part"))
        assert not (disk / "d" / "card.json").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_one_instance_and_one_pose(tmp_path: Path) -> None:
    frames = make_frames(tiny_config(instances=1, step=360.0), tmp_path / "d", workers=1)
    assert len(frames) == 3 * 2
    assert set(frames.index["split"]) == {"train"}


def test_classes_are_sorted_and_unique(tmp_path: Path) -> None:
    frames = make_frames(tiny_config(classes=("mug", "car", "mug"), instances=2), tmp_path / "d", workers=1)
    assert frames.classes == ["car", "mug"]
    assert frames.index["instance"].nunique() == 2


def test_grey_frames(tmp_path: Path) -> None:
    from dataclasses import replace

    config = tiny_config(instances=1)
    frames = make_frames(replace(config, render=replace(config.render, grey=True)), tmp_path / "d", workers=1)
    assert frames.read([0, 1]).shape == (2, 16, 16, 1)


def test_rows_can_be_a_mask(tiny: FrameSet) -> None:
    mask = tiny.index["class"] == "mug"
    assert np.array_equal(tiny.read(mask), tiny.read(tiny.index.index[mask]))
    for bad in ([1.5], 5, np.array([True, False])):
        with pytest.raises(UserError, match="row numbers"):
            tiny.read(bad)  # type: ignore[arg-type]


def test_a_changed_card_is_found(tiny: FrameSet, tmp_path: Path) -> None:
    shutil.copytree(tiny.folder, tmp_path / "d")
    path = tmp_path / "d" / "card.json"
    path.write_text(path.read_text().replace('"MIT"', '"GPL"'))
    assert verify(tmp_path / "d") == ["card.json has changed"]
