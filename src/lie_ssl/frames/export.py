"""A data set in the layouts of others: ImageFolder trees and Hugging Face parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames.factors.base import factor_columns
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import as_one_part, inside
from lie_ssl.storage.tables import table_bytes

ROWS_PER_FILE = 5000
Progress = Callable[[int, int], None]
_FEATURES = {
    "image": {"_type": "Image"},
    "label": {"_type": "ClassLabel"},
    "instance": {"dtype": "string", "_type": "Value"},
    "pose": {"dtype": "string", "_type": "Value"},
    "angle": {"dtype": "float64", "_type": "Value"},
    "rotation": {"feature": {"dtype": "float32", "_type": "Value"}, "length": 9, "_type": "Sequence"},
    "diverse_rank": {"dtype": "int32", "_type": "Value"},
    "licence": {"dtype": "string", "_type": "Value"},
}
_KEPT = ("instance", "pose", "angle", "licence")


def export_image_folder(frames: FrameSet, out: Path, progress: Progress = lambda done, total: None) -> None:
    """`split/class/instance_pose_angle.png`, as torchvision's ImageFolder reads it; frames that look alike once.

    `split/metadata.csv` keeps what the names do not tell.
    """
    index = _distinct(frames)
    _check_words(index["class"])
    paths = [inside(out, f["split"], as_one_part(f["class"]), _name(row, f)) for row, f in index.iterrows()]
    _empty_folder(out)
    for done, (row, path) in enumerate(zip(index.index.to_list(), paths, strict=True)):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [_png(frames.read([row])[0])], durable=False)
        progress(done + 1, len(index))
    for split, own in index.groupby("split"):
        names = [f"{as_one_part(frame['class'])}/{_name(row, frame)}" for row, frame in own.iterrows()]
        table = own[["class", *_KEPT, *factor_columns(own.columns)]].assign(file_name=names)
        table["rotation"] = [" ".join(f"{x:.7g}" for x in r) for r in own["rotation"]]
        write_whole(inside(out, str(split), "metadata.csv"), [table_bytes(table)])


def export_huggingface(frames: FrameSet, out: Path, progress: Progress = lambda done, total: None) -> None:
    """`data/SPLIT-00000-of-0000N.parquet` with an image column, as `datasets.load_dataset(folder)` reads it."""
    index = _distinct(frames)
    _empty_folder(out)
    (out / "data").mkdir(parents=True)
    done = 0
    for split, own in index.groupby("split"):
        pieces = list(_pieces(own))
        for number, piece in enumerate(pieces):
            sink = pa.BufferOutputStream()
            pq.write_table(_table(frames, piece), sink)
            name = f"{split}-{number:05d}-of-{len(pieces):05d}.parquet"
            write_whole(inside(out / "data", name), [sink.getvalue().to_pybytes()])
            done += len(piece)
            progress(done, len(index))
    write_whole(out / "README.md", [_dataset_card(frames).encode()])


def _name(row: Any, frame: Any) -> str:
    return f"{as_one_part(frame['instance'])}_{frame['pose']}_{frame['angle']:07.3f}_{row}.png"


def _check_words(classes: Iterable[str]) -> None:
    """Refuses classes that would share a folder, and so become one."""
    words: dict[str, str] = {}
    for name in sorted(set(classes)):
        if (other := words.setdefault(as_one_part(name), name)) != name:
            raise UserError(
                f"the classes {other!r} and {name!r} would share the folder {as_one_part(name)}; rename one"
            )


def _table(frames: FrameSet, rows: pd.DataFrame) -> pa.Table:
    pictures = [{"bytes": _png(frames.read([row])[0]), "path": None} for row in rows.index]
    labels = frames.labels[rows.index.to_numpy()]
    image = pa.array(pictures, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    rotation = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(rows["rotation"].to_list())), 9)
    columns = {"image": image, "label": pa.array(labels, pa.int64())}
    factors = factor_columns(rows.columns)
    columns |= {c: pa.array(rows[c].to_list()) for c in (*_KEPT, *factors)}
    columns |= {"rotation": rotation, "diverse_rank": pa.array(rows["diverse_rank"].to_list(), pa.int32())}
    features = _FEATURES | {"label": {"names": frames.classes, "_type": "ClassLabel"}}
    features |= {f: {"dtype": "float64", "_type": "Value"} for f in factors}
    return pa.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def _dataset_card(frames: FrameSet) -> str:
    """The front matter tells the hub which files are which split; the text says what the data are."""
    splits = sorted(frames.index["split"].unique())
    files = "\n".join(f"  - split: {s}\n    path: data/{s}-*.parquet" for s in splits)
    licences = ", ".join(frames.card["licences"])
    counts = frames.card["counts"]
    return (
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}\n---\n"
        f"{counts['instances']:,} objects of {counts['classes']} classes in many poses, "
        f"{counts['distinct_frames']:,} pictures of {frames.size} px. Licences: {licences}.\n"
    )


def _distinct(frames: FrameSet) -> pd.DataFrame:
    return frames.index[frames.index["duplicate_of"].isna()]


def _pieces(rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, len(rows), ROWS_PER_FILE):
        yield rows.iloc[start : start + ROWS_PER_FILE]


def _png(picture: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture).save(buffer, "png", compress_level=1)
    return buffer.getvalue()


def _empty_folder(out: Path) -> None:
    if out.exists() and any(out.iterdir()):
        raise UserError(f"{out} is not empty; choose another folder for the export")
    out.mkdir(parents=True, exist_ok=True)
