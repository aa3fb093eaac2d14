"""Accuracies on photographs as a table to read."""

from __future__ import annotations

import pandas as pd

from lie_ssl.report.names import Arm
from lie_ssl.report.summary import over_seeds


def transfer_table(rows: pd.DataFrame) -> str:
    """Mean and standard error over the seeds of every arm, in the columns upright and rotated."""
    means = over_seeds(rows, ["photos", "method", "arm", "test"], "top1")
    means["words"] = [
        f"{m:.1f}" + (f" ± {e:.1f}" if e == e else "") for m, e in zip(means["mean"], means["error"], strict=True)
    ]
    means["encoder"] = [Arm(m, a).name for m, a in zip(means["method"], means["arm"], strict=True)]
    wide = means.pivot_table(index=["photos", "encoder"], columns="test", values="words", aggfunc="first", sort=False)
    return f"top-1 in per cent on test photographs\n{wide[['upright', 'rotated']].to_string()}"
