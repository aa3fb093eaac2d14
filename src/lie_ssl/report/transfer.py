"""The table of accuracies on photographs."""

from __future__ import annotations

import pandas as pd

from lie_ssl.protocol.schema import TEST, TOP1, UPRIGHT
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


def upright_table(rows: pd.DataFrame) -> str:
    """A table as text: mean and standard error over seeds of every way to classify rotated photographs."""
    names = ("upright", "rotated", "relative_median", "absolute_median")
    columns = {c.name: c for c in UPRIGHT.columns}
    wide = pd.DataFrame({
        columns[name].title: {
            arm: mean_text(Cell(m, e, digits=columns[name].digits))
            for arm, m, e in over_seeds(rows, ["arm"], name)[["arm", "mean", "error"]].itertuples(index=False)
        }
        for name in names
    }).reindex(rows["arm"].unique())  # fmt: skip
    title = "top-1 accuracy in per cent on test photographs, and the median error of read angles in degrees"
    return f"{title}\n{wide.fillna('').to_string()}"
