"""Valid and invalid input files for commands that must reject the invalid ones."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import save_file

EVIL = "tests.bad_input.evil:run"  # importing it leaves a mark
MARK = Path(__file__).with_name("evil_ran")


class Trap:
    """Leaves a mark when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(MARK),)


@dataclass(frozen=True)
class Workspace:
    """Valid files are shared between cases and read-only; invalid ones are created in `tmp`, a folder per case."""

    tmp: Path
    data: Path  # a data set
    run: Path  # a finished run of MAE Lie on it
    evaluated: Path  # an evaluation of the run
    saved: Path  # a saved model
    exported: Path  # a safetensors file
    adapted: Path  # a finished run of an adapted encoder

    @property
    def out(self) -> Path:
        return self.tmp / "out"

    def file(self, name: str, content: str | bytes = "text") -> Path:
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    # Data sets.

    def copy_of_data(self) -> Path:
        return shutil.copytree(self.data, self.tmp / "data")

    def with_card(self, **changes: Any) -> Path:
        """A copy of the data set with a modified card; None removes a field."""
        folder = self.copy_of_data()
        change_json(folder / "card.json", changes)
        return folder

    def with_index(self, **columns: Callable[[np.ndarray[Any, Any]], Any]) -> Path:
        """A copy of the data set with modified columns of the index."""
        folder = self.copy_of_data()
        frame = pq.read_table(folder / "index.parquet").to_pandas()
        for name, change in columns.items():
            frame[name.rstrip("_")] = change(frame[name.rstrip("_")].to_numpy().copy())
        rotations = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(frame["rotation"].to_list())), 9)
        table = pa.Table.from_pandas(frame.drop(columns="rotation"), preserve_index=False)
        pq.write_table(table.append_column("rotation", rotations), folder / "index.parquet")
        return folder

    def with_damaged_frame(self) -> Path:
        folder = self.copy_of_data()
        path = folder / "frames-00000.bin"
        content = bytearray(path.read_bytes())
        content[-40:] = bytes(40)
        path.write_bytes(content)
        return folder

    def with_pipe(self) -> Path:
        """A data set whose card is a pipe; reading it would block."""
        folder = self.copy_of_data()
        (folder / "card.json").unlink()
        os.mkfifo(folder / "card.json")
        return folder

    def with_link(self, name: str) -> Path:
        """A data set with a link to a folder outside it."""
        folder = self.copy_of_data()
        (self.tmp / "elsewhere").mkdir()
        (folder / name).symlink_to(self.tmp / "elsewhere")
        return folder

    # Photographs.

    def photo(self, name: str, colour: int = 0) -> Path:
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((8, 8, 3), colour, np.uint8)).save(path)
        return path

    def turntable(self) -> Path:
        for angle in (0, 90):
            self.photo(f"photos/mug/red/view_{angle}.png", angle)
        return self.tmp / "photos"

    def zipped(self, *names: str) -> Path:
        picture = self.photo("one.png").read_bytes()
        with zipfile.ZipFile(self.tmp / "photos.zip", "w") as archive:
            for name in names:
                archive.writestr(name, picture)
        return self.tmp / "photos.zip"

    def labelled(self, *names: str) -> Path:
        for name in names:
            self.photo(f"labelled/{name}")
        return self.tmp / "labelled"

    # Runs and models.

    def copy_of_run(self, **changes: Any) -> Path:
        """A copy of the run with a modified config; dots of settings are written as two underscores."""
        folder = shutil.copytree(self.run, self.tmp / "run")
        change_json(folder / "config.json", changes)
        return folder

    def run_with_card(self, **changes: Any) -> Path:
        folder = shutil.copytree(self.run, self.tmp / "run")
        change_json(folder / "card.json", changes)
        return folder

    def run_with_checkpoint(self, content: bytes | None) -> Path:
        """A copy of the run with these bytes as last.ckpt; None for one that would run code when unpickled."""
        folder = shutil.copytree(self.run, self.tmp / "run")
        if content is None:
            torch.save({"lie_ssl": Trap(), "state_dict": {}}, folder / "last.ckpt")
        else:
            (folder / "last.ckpt").write_bytes(content)
        return folder

    def run_with_changed_checkpoint(self, change: Callable[[dict[str, Any]], Any], finished: bool = True) -> Path:
        folder = self.run_with_card(finished=finished)
        checkpoint = torch.load(folder / "last.ckpt", weights_only=True)
        change(checkpoint)
        torch.save(checkpoint, folder / "last.ckpt")
        return folder

    def run_with_link(self, name: str) -> Path:
        folder = shutil.copytree(self.run, self.tmp / "run")
        (self.tmp / "elsewhere").mkdir()
        (folder / name).symlink_to(self.tmp / "elsewhere")
        return folder

    def copy_of_saved(self, **changes: Any) -> Path:
        folder = shutil.copytree(self.saved, self.tmp / "saved")
        change_json(folder / "config.json", changes)
        return folder

    def exported_with(self, **changes: Any) -> Path:
        """The exported encoder with modified settings in its metadata."""
        with safe_open(self.exported, framework="pt") as file:
            settings = json.loads(file.metadata()["lie_ssl_encoder"]) | changes
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a mapping
        path = self.tmp / "model.safetensors"
        save_file(state, path, metadata={"lie_ssl_encoder": json.dumps(settings)})
        return path

    def exported_with_text(self, text: str) -> Path:
        path = self.tmp / "model.safetensors"
        save_file({"a": torch.zeros(1)}, path, metadata={"lie_ssl_encoder": text})
        return path

    def config(self, **changes: Any) -> Path:
        """A config file for `pretrain --config`."""
        path = Path(shutil.copy(self.run / "config.json", self.tmp / "config.json"))
        change_json(path, changes)
        return path

    def evaluation(self, table: str = "accuracy", **columns: Any) -> Path:
        """A copy of the evaluation with columns of a table set to one value."""
        folder = shutil.copytree(self.evaluated, self.tmp / "evaluation")
        frame = pd.read_csv(folder / f"{table}.csv", dtype=object)
        for name, value in columns.items():
            frame[name] = value
        frame.to_csv(folder / f"{table}.csv", index=False)
        return folder

    def evaluation_card(self, **changes: Any) -> Path:
        folder = shutil.copytree(self.evaluated, self.tmp / "evaluation")
        change_json(folder / "card.json", changes)
        return folder


def change_json(path: Path, changes: dict[str, Any]) -> None:
    values = json.loads(path.read_text())
    for name, value in changes.items():
        *parents, last = name.split("__")
        place = values
        for key in parents:
            place = place[key]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    path.write_text(json.dumps(values))
