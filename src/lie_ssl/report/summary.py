"""The numbers in tables and figures: means and standard errors over seeds, gaps, accuracy by angle."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lie_ssl.protocol.schema import GAP, GAPS, SELF_OCCLUSION, SELF_OCCLUSION_POSES
from lie_ssl.report.names import ARM_KEYS

MAX_ANGLES = 100  # with more, as for free rotations, angles are binned
STEP = 10.0  # width of a bin in degrees


def over_seeds(table: pd.DataFrame, keys: list[str], value: str) -> pd.DataFrame:
    """Averages a long table over seeds.

    Returns:
        One row for each combination of the keys, with the columns `mean`, `error` (sd / sqrt(n), nan for one seed) and
        `seeds`.
    """
    groups = table.dropna(subset=[value]).groupby(keys, sort=False)[value]
    found: pd.DataFrame = groups.agg(mean="mean", error="sem", seeds="count").reset_index()
    return found


def gaps_of(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Computes gaps for each seed: known instances in typical pose minus every other setting.

    Self-occlusion is unknown_diverse in 2D minus the same in 3D; its `poses` is "2d - 3d".

    Returns:
        A table with the columns of accuracy.csv, but `gap` and `points` instead of `setting` and `top1`.
    """
    keys = [*ARM_KEYS, "phase", "diverse", "seed"]
    wide = accuracy.pivot(index=keys, columns=["poses", "setting"], values="top1")
    parts = {}
    for poses in dict.fromkeys(accuracy["poses"]):
        for gap in GAP.categories:
            if (poses, gap) in wide and (poses, "known_typical") in wide:
                parts[poses, gap] = wide[poses, "known_typical"] - wide[poses, gap]
    if ("2d", "unknown_diverse") in wide and ("3d", "unknown_diverse") in wide:
        parts[SELF_OCCLUSION_POSES, SELF_OCCLUSION] = wide["2d", "unknown_diverse"] - wide["3d", "unknown_diverse"]
    if not parts:
        return pd.DataFrame(columns=GAPS.names)
    tables = [s.rename("points").reset_index().assign(poses=p, gap=g) for (p, g), s in parts.items()]
    joined: pd.DataFrame = pd.concat(tables, ignore_index=True).dropna(subset=["points"])
    return joined


def curve_of(curve: pd.DataFrame) -> pd.DataFrame:
    """Accuracy by angle, with the mean and error over seeds.

    If there are too many angles for a line, they are binned, and weighted by the number of their frames.
    """
    keys = [*ARM_KEYS, "phase", "diverse", "poses", "setting"]
    parts = []
    for _, own in curve.groupby("poses", sort=False):
        if own["angle"].nunique() > MAX_ANGLES:
            steps = (np.floor(own["angle"] / STEP) + 0.5) * STEP
            correct = own.assign(angle=steps, correct=own["top1"] * own["frames"])
            sums = correct.groupby([*keys, "seed", "angle"], sort=False)[["correct", "frames"]].sum().reset_index()
            own = sums.assign(top1=sums["correct"] / sums["frames"])
        parts.append(over_seeds(own, [*keys, "angle"], "top1"))
    return pd.concat(parts, ignore_index=True).sort_values("angle", kind="stable")
