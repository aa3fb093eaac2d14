"""Data sets and archives that were tampered with, or written by other tools."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.listing import open_tree
from lie_ssl.frames.pairs import Deltas, varied_factors
from lie_ssl.storage import limits
from lie_ssl.training.checks import Checks


def test_an_index_written_by_pandas_gives_the_same_pictures(tiny: FrameSet, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny.folder, tmp_path / "d")
    frame = pq.read_table(folder / "index.parquet").to_pandas()
    frame.index = frame.index[::-1]
    rotations = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(frame["rotation"].to_list())), 9)
    table = pa.Table.from_pandas(frame.drop(columns="rotation"))
    pq.write_table(table.append_column("rotation", rotations), folder / "index.parquet")
    again = FrameSet(folder)
    assert again.index.index.tolist() == list(range(len(tiny)))
    rows = again.index.index[again.index["class"] == "mug"]
    assert np.array_equal(again.read(rows), tiny.read(rows))


def test_a_file_in_a_zip_that_does_not_fit_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "p.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mug/red/a_1.png", bytes(1_000_000))
    monkeypatch.setattr(limits, "available_memory", lambda: 100_000)
    with open_tree(tmp_path / "p.zip") as tree, pytest.raises(UserError, match="GB are free; remove it from the zip"):
        tree.read("mug/red/a_1.png")


def test_a_factor_that_does_not_vary_among_validation_frames(tiny: FrameSet, tmp_path: Path) -> None:
    """The checks of a run use the factors of the whole data set."""
    folder = shutil.copytree(tiny.folder, tmp_path / "d")
    frames = FrameSet(folder)
    training = frames.index.index[frames.index["split"] == "train"]
    frames.index.loc[training[1], "elevation"] = 9.0
    assert varied_factors(frames.index) == ("elevation",)
    checks = Checks(frames, batch=4, diverse=0.5, seed=0, kinds=("2d", "3d"))
    assert checks.pairs is not None
    assert checks.pairs.deltas.factors == Deltas(frames.index, ("2d", "3d")).factors == ("2d", "3d", "elevation")
    assert next(iter(checks.pairs)).delta.shape[1] == 3
