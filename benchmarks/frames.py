"""Reading random frames for a training batch: our data set against torchvision's ImageFolder with PNG files.

Both return the same tensor, (64, 3, size, size) uint8. One thread, CPU time, interleaved rounds, medians; all files are
in the cache of the operating system.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.frames import FrameSet, make_frames
from lie_ssl.frames.export import export_image_folder
from lie_ssl.recipes.data import demo_data
from lie_ssl.render import RenderSettings

BATCH = 64
CASES = {64: RenderSettings(), 224: RenderSettings(size=224, supersample=2)}
Read = Callable[[NDArray[np.int64]], Any]


def run(out: Path, rounds: int = 15) -> list[dict[str, Any]]:
    """Measures 64 and 224 px; writes frames.csv to `out` and returns its rows."""
    import torch

    torch.set_num_threads(1)
    rows = [measure(size, settings, rounds) for size, settings in CASES.items()]
    table = pd.DataFrame(rows)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "frames.csv", index=False)
    print(table.to_string(index=False))
    return rows


def measure(size: int, settings: RenderSettings, rounds: int) -> dict[str, Any]:
    """One row: frames per CPU-second of both readers and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        config = replace(demo_data(), instances=2, step=40.0, render=settings)
        frames = make_frames(config, Path(folder) / "frames", workers=1)
        export_image_folder(frames, Path(folder) / "png")
        ours, theirs, n = readers(frames, Path(folder) / "png")
        random = np.random.default_rng(0)
        times: dict[str, list[float]] = {"ours": [], "theirs": []}
        for _ in range(rounds):
            rows = random.integers(0, n, BATCH)
            for name, read in (("ours", ours), ("theirs", theirs)):
                start = time.process_time()
                for _ in range(4):
                    read(rows)
                times[name].append((time.process_time() - start) / 4 / BATCH)
        own, other = statistics.median(times["ours"]), statistics.median(times["theirs"])
        return {
            "size": size,
            "frames": n,
            "lie_ssl_per_cpu_second": round(1 / own),
            "imagefolder_per_cpu_second": round(1 / other),
            "ratio": round(other / own, 1),
            "bytes_per_frame": frames.card["bytes_per_frame"],
            "png_bytes_per_frame": round(sum(p.stat().st_size for p in Path(folder).rglob("*.png")) / n, 1),
        }


def readers(frames: FrameSet, folder: Path) -> tuple[Read, Read, int]:
    """Two functions from indices of training frames to a batch, checked to return the same pictures."""
    import torch

    from lie_ssl.frames.loader import to_tensor

    import_torchvision()
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    pngs = ImageFolder(str(folder / "train"), transform=v2.PILToTensor())
    numbers = np.array([int(Path(path).stem.split("_")[-1]) for path, _ in pngs.samples])

    def ours(rows: NDArray[np.int64]) -> torch.Tensor:
        return to_tensor(frames.read(numbers[rows]))

    def theirs(rows: NDArray[np.int64]) -> torch.Tensor:
        return torch.stack([pngs[int(i)][0] for i in rows])

    probe = np.arange(0, len(pngs), 7)
    if not torch.equal(ours(probe), theirs(probe)):
        raise RuntimeError("the two readers return different pictures")
    return ours, theirs, len(pngs)
