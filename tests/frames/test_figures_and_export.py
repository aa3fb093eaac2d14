"""Figures have the right size and content; exports can be read by other libraries."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.export import export_huggingface, export_image_folder
from lie_ssl.frames.figures import draw_figures, grid


def test_figures(tiny: FrameSet, tmp_path: Path) -> None:
    paths = {p.name: p for p in draw_figures(tiny, tmp_path, "mug")}
    side, head = 128, 16  # 16 px enlarged eight times, and a line of text
    assert Image.open(paths["poses_2d.png"]).size == (6 * side, side + head)
    assert Image.open(paths["poses_3d.png"]).size == (6 * side, side + head)
    assert Image.open(paths["classes.png"]).size == (16 * side, 2 * (side + head))
    turning = Image.open(paths["turning.gif"])
    assert turning.n_frames == 12  # type: ignore[attr-defined]


def test_a_grid_shows_the_requested_frames(tiny: FrameSet) -> None:
    page = np.asarray(grid(tiny, [[("a", 3), ("b", 7)]], zoom=1, captions=False))
    assert np.array_equal(page, np.concatenate(list(tiny.read([3, 7])), axis=1))


def test_image_folder_is_read_by_torchvision(tiny: FrameSet, tmp_path: Path) -> None:
    export_image_folder(tiny, tmp_path / "x")
    import_torchvision()
    from torchvision.datasets import ImageFolder

    counts = tiny.index[tiny.index["duplicate_of"].isna()]["split"].value_counts()
    for split in ("train", "validation", "test"):
        folder = ImageFolder(str(tmp_path / "x" / split))
        assert folder.classes == tiny.classes
        assert len(folder) == counts[split]
    path, label = folder.samples[5]
    row = int(Path(path).stem.split("_")[-1])
    assert np.array_equal(np.asarray(Image.open(path)), tiny.read([row])[0])
    assert tiny.labels[row] == label
    table = pd.read_csv(tmp_path / "x" / "test" / "metadata.csv")
    assert len(table) == counts["test"]
    assert all((tmp_path / "x" / "test" / name).is_file() for name in table["file_name"])
    assert {"rotation", "hue", "licence", "angle"} <= set(table.columns)
    with pytest.raises(UserError, match="is not empty"):
        export_image_folder(tiny, tmp_path / "x")


def test_huggingface_parquet_has_pictures_labels_and_features(tiny: FrameSet, tmp_path: Path) -> None:
    export_huggingface(tiny, tmp_path / "x")
    assert {p.name for p in (tmp_path / "x" / "data").iterdir()} == {
        f"{s}-00000-of-00001.parquet" for s in ("train", "validation", "test")
    }
    table = pq.read_table(tmp_path / "x" / "data" / "test-00000-of-00001.parquet")
    own = tiny.index[(tiny.index["split"] == "test") & tiny.index["duplicate_of"].isna()]
    assert table.num_rows == len(own)
    first = table.slice(4, 1).to_pylist()[0]
    picture = np.asarray(Image.open(io.BytesIO(first["image"]["bytes"])))
    assert np.array_equal(picture, tiny.read([own.index[4]])[0])
    assert first["label"] == tiny.labels[own.index[4]]
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["label"]["names"] == tiny.classes
    assert set(features) == set(table.column_names)
    assert {"hue", "light", "scale", "elevation", "licence"} <= set(table.column_names)
    assert "split: train" in (tmp_path / "x" / "README.md").read_text()
