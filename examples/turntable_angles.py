"""How far did it turn? Turntable photographs of objects that a model has never seen turning.

    python examples/turntable_angles.py coil20.zip --work runs/turntable --out angles.csv

Adapts EfficientNet-Lite0 to half of the objects and reads the angle between photographs of the others, which training
shows in one pose only. Every split draws other halves. With `--renders FOLDER`, a data set with turntable poses
(`lie-ssl data make small --poses yaw ...`), it also adapts the encoder to renders, and reads all photographed objects.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lie_ssl
from lie_ssl.frames import FrameSet, PhotoConfig, import_photographs
from lie_ssl.training.adapting import adapt_config, find_encoder
from lie_ssl.training.loading import Loaded

ENCODER, FACTOR, SIZE = "package:efficientnet_lite0", "yaw", 96


def adapted(data: Path, out: Path, seed: int, steps: int, encoder: str) -> Loaded:
    """A head on the frozen encoder; batches are small, as a batch should not show an object many times."""
    config = adapt_config(find_encoder(encoder).config, "lie")
    objects = FrameSet(data).index.groupby(["class", "instance"]).ngroups
    config = replace(config, optim=replace(config.optim, steps=steps, batch=min(config.optim.batch, 2 * objects)))
    return lie_ssl.adapt(encoder, data, out=out, config=replace(config, seed=seed))


def measured(model: Loaded, frames: FrameSet, unseen_only: bool, pairs: int, seed: int) -> Iterator[dict[str, Any]]:
    """For each object the errors of read angles, and how well the frame after a given turn is found."""
    random = np.random.default_rng(seed)
    for (name, _), own in frames.index.groupby(["class", "instance"], sort=True):
        if unseen_only and own["diverse_rank"].iloc[0] == 0:
            continue
        z, angles = model.embed(frames.read(own.index.to_numpy())), own["angle"].to_numpy()
        first, second = np.array([random.choice(len(own), 2, replace=False) for _ in range(pairs)]).T
        found = model.pose(z[first], z[second], FACTOR)
        moves = angles[second] - angles[first]
        errors = np.abs(np.mod(found.degrees.numpy() - moves + 180, 360) - 180)
        ranks = [
            1 + model.find(z[[a]], z, float(move), FACTOR, k=len(own)).rows[0].tolist().index(b)
            for a, b, move in zip(first[:50], second[:50], moves[:50], strict=True)
        ]
        yield {
            "object": name, "pairs": pairs, "median": np.median(errors), "mean": errors.mean(),
            "within_30": 100 * (errors <= 30).mean(), "mrr": np.mean(1 / np.array(ranks)),
        }  # fmt: skip


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="folder for data sets and runs")
    parser.add_argument("--out", type=Path, required=True, help="the table")
    parser.add_argument("--renders", type=Path, help="a data set with turntable poses")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of photographs of each object")
    parser.add_argument("--encoder", default=ENCODER)
    given = parser.parse_args(arguments)
    rows = []
    for split in range(given.splits):
        folder = given.work / f"photographs_{split}"
        frames = import_photographs(PhotoConfig(str(given.photos), size=SIZE, seed=split), folder)
        model = adapted(folder, given.work / f"run_{split}", split, given.steps, given.encoder)
        found = measured(model, frames, True, given.pairs, split)
        rows += [{"trained_on": "photographs", "split": split, **row} for row in found]
        if given.renders is not None:
            model = adapted(given.renders, given.work / f"renders_{split}", split, given.steps, given.encoder)
            found = measured(model, frames, False, given.pairs, split)
            rows += [{"trained_on": "renders", "split": split, **row} for row in found]
        pd.DataFrame(rows).round(3).to_csv(given.out, index=False)
    table = pd.DataFrame(rows)
    print(table.groupby("trained_on")[["median", "mean", "within_30", "mrr"]].mean().round(2).to_string())
    return table


if __name__ == "__main__":
    main()
