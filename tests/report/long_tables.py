"""Long tables with known numbers, as evaluations write them, without any run."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pandas as pd

KEYS = ["method", "arm", "phase", "option", "diverse", "poses", "setting", "seed"]
LEVELS = {
    "known_typical": 90.0,
    "known_new": 50.0,
    "known_new_supervised": 55.0,
    "unknown_typical": 60.0,
    "unknown_diverse": 40.0,
}


def accuracy(
    arms: Iterable[tuple[str, str, float]] = (("mae", "alone", 0.0), ("mae", "lie", 10.0)),
    seeds: Iterable[int] = (0, 1, 2),
    phases: Iterable[str] = ("linear",),
) -> pd.DataFrame:
    """Each arm has a gain over the level of a setting; 3D is 5 points lower, each seed 1 and 50 % 4 points higher."""
    rows = []
    for (method, arm, gain), seed, phase, diverse in product(arms, seeds, phases, (5.0, 50.0)):
        for poses, (setting, level) in product(("2d", "3d"), LEVELS.items()):
            typical = setting.endswith("typical")
            top1 = level + (0 if typical else gain) - (5 if poses == "3d" and not typical else 0) + seed
            rows.append((method, arm, phase, 1, diverse, poses, setting, seed, top1 + (4 if diverse == 50 else 0)))
    return pd.DataFrame(rows, columns=[*KEYS, "top1"])


def curve(table: pd.DataFrame, angles: Iterable[float] = (60.0, 120.0, 180.0, 240.0, 300.0)) -> pd.DataFrame:
    """The same accuracy at every angle."""
    own = table[table["setting"].isin(["known_new", "unknown_diverse"])]
    return pd.concat([own.assign(angle=a, frames=10) for a in angles], ignore_index=True)[
        [*KEYS, "angle", "frames", "top1"]
    ]


def equivariance() -> pd.DataFrame:
    """A baseline without an operator and a Lie arm, two seeds."""
    rows = []
    for seed in (0, 1):
        rows.append(("mae", "alone", "2d", "unknown", "whole", seed, *[None] * 6, 0.5, 40.0))
        for part in ("moved", "whole"):
            rows.append(("mae", "lie", "2d", "unknown", part, seed, 0.8, 0.2, 0.7, 0.6, 0.9, 0.3 + seed, 0.75, 20.0))
    columns = "method arm poses instances part seed mrr mrr_identity mrr_transfer hit1 hit5 relative_error pose_r2"
    return pd.DataFrame(rows, columns=[*columns.split(), "pose_degrees"])


def ablation() -> pd.DataFrame:
    rows = []
    for (name, drop), seed, setting in product((("full", 0.0), ("mlp", 6.0)), (0, 1), ("known_new", "unknown_diverse")):
        rows.append(("mae", name, "linear", 50, "2d", setting, seed, 60.0 - drop, drop))
    return pd.DataFrame(rows, columns="method ablation phase diverse poses setting seed top1 drop".split())
