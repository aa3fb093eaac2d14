"""Views of a batch by the SimCLR recipe: `augment` on the batch against torchvision's transforms (v2) per image.

Both get the same (64, 3, size, size) uint8 and return float32 in [0, 1] of the same shape. torchvision runs once on
uint8 tensors, converted to floats at the end, and once on float tensors; the faster one counts as the peer. One thread,
CPU time, interleaved rounds, medians.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from lie_ssl._torchvision_compat import import_torchvision
from lie_ssl.methods.augment import AugmentConfig, augment, simclr
from lie_ssl.methods.colour import kernel_radius
from lie_ssl.methods.draws import Draws

BATCH = 64
SIZES = (64, 224)
CALLS = {64: 4, 224: 1}  # per round
COLUMNS = "size batch lie_ssl_per_cpu_second uint8_per_cpu_second float_per_cpu_second ratio".split()

View = Callable[[Tensor], Tensor]


def run(out: Path, rounds: int = 5) -> None:
    """Measures 64 and 224 px; prints a table and writes augment.csv to `out`."""
    torch.set_num_threads(1)
    rows = [measure(size, rounds) for size in SIZES]
    out.mkdir(parents=True, exist_ok=True)
    with (out / "augment.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    table = Table("size", "batch", "lie_ssl / s", "torchvision uint8 / s", "torchvision float / s", "our speed-up")
    for row in rows:
        table.add_row(*(str(row[c]) for c in COLUMNS[:-1]), f"{row['ratio']} x")
    Console().print(table)


def measure(size: int, rounds: int) -> dict[str, Any]:
    """One row: images per CPU-second of all three, and our speed relative to the faster peer."""
    images = pictures(size)
    ways = {"lie_ssl": ours(simclr()), **peers(simclr(), size)}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for name, view in ways.items():
        check(name, view(images))
    for _ in range(rounds):
        for name, view in ways.items():
            start = time.process_time()
            for _ in range(CALLS[size]):
                view(images)
            times[name].append((time.process_time() - start) / CALLS[size] / BATCH)
    found = {name: statistics.median(t) for name, t in times.items()}
    ratio = min(found["uint8"], found["float"]) / found["lie_ssl"]
    speeds = {f"{name}_per_cpu_second": round(1 / t) for name, t in found.items()}
    return {"size": size, "batch": BATCH, **speeds, "ratio": round(ratio, 1)}


def pictures(size: int) -> Tensor:
    """(64, 3, size, size) uint8: smooth colours with some noise, always the same."""
    random = torch.Generator().manual_seed(size)
    coarse = torch.rand(BATCH, 3, 8, 8, generator=random)
    smooth = torch.nn.functional.interpolate(coarse, size=(size, size), mode="bicubic")
    noisy = smooth + 0.02 * torch.randn(smooth.shape, generator=random)
    return (noisy.clamp(0, 1) * 255).round().to(torch.uint8)


def ours(config: AugmentConfig) -> View:
    """Our views, with new random draws at each call."""
    number = 0

    def view(images: Tensor) -> Tensor:
        nonlocal number
        number += 1
        return augment(images, Draws(seed=0, batch=number, total=len(images)), config)

    return view


def peers(config: AugmentConfig, size: int) -> dict[str, View]:
    """torchvision's transforms with the same settings."""
    import_torchvision()
    from torchvision.transforms import v2

    jitter = v2.ColorJitter(config.brightness, config.contrast, config.saturation, config.hue)
    transform = v2.Compose(
        [
            v2.RandomResizedCrop(size, scale=config.crop_scale, ratio=config.crop_ratio),
            v2.RandomHorizontalFlip(config.flip),
            v2.RandomApply([jitter], p=config.jitter),
            v2.RandomGrayscale(config.grey),
            v2.RandomApply([v2.GaussianBlur(2 * kernel_radius(size, size) + 1, config.blur_sigma)], p=config.blur),
        ]
    )

    def on_bytes(images: Tensor) -> Tensor:
        return torch.stack([transform(x) for x in images]).float().div_(255)

    def on_floats(images: Tensor) -> Tensor:
        return torch.stack([transform(x) for x in images.float().div_(255)])

    return {"uint8": on_bytes, "float": on_floats}


def check(name: str, views: Tensor) -> None:
    """Raises unless the views are valid pictures; the call also serves as warm-up."""
    if (
        views.shape[:2] != (BATCH, 3)
        or views.dtype != torch.float32
        or not (-1e-3 <= views.min() <= views.max() <= 1.001)
    ):
        raise RuntimeError(f"{name} returns {tuple(views.shape)} {views.dtype}")
