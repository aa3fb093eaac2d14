"""The table of accuracies on photographs."""

from __future__ import annotations

import pandas as pd

from lie_ssl.protocol.schema import TEST, TOP1
from lie_ssl.report.cells import Cell
from lie_ssl.report.formats import mean_text
from lie_ssl.report.names import Arm
from lie_ssl.report.summary import over_seeds


def transfer_table(rows: pd.DataFrame) -> str:
    """A table as text: mean and standard error over seeds of every arm, in the columns upright and rotated."""
    means = over_seeds(rows, ["photos", "method", "arm", "test"], "top1")
    means["text"] = [
        mean_text(Cell(m, e, digits=TOP1.digits)) for m, e in zip(means["mean"], means["error"], strict=True)
    ]
    means["encoder"] = [Arm(m, a).name for m, a in zip(means["method"], means["arm"], strict=True)]
    wide = means.pivot_table(index=["photos", "encoder"], columns="test", values="text", aggfunc="first", sort=False)
    return f"top-1 accuracy in per cent on test photographs\n{wide[list(TEST.categories)].to_string()}"
