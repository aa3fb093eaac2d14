"""The text above the tables and plots of the page."""

from __future__ import annotations

from collections.abc import Iterable

from lie_ssl.protocol.metrics import METRICS

ACCURACY = (
    "Mean over seeds ± standard error (difference from and ratio to the baseline of the same method); the best arm "
    "of a method is bold. Columns are the share of training instances that the classifier was shown in all poses. A "
    "dash means not measured."
)
GAPS = (
    "Points of accuracy below that on known instances in typical pose; lower is better. Self-occlusion is the "
    "accuracy on unknown instances in 2D minus that in 3D."
)
ANGLES = "Top-1 accuracy by the angle between the object and its typical pose; error bars are standard errors."
ORBITS = (
    "Points are the true frames of one unknown instance, coloured by angle; lines are the embedding of the first "
    "frame, moved by the operator. The solid line uses, for each pose, the t inferred from both frames; the dotted "
    "line repeats the first move. The plane is that of the first two principal components of the true frames, in the "
    "dimensions that the group moves."
)
SPECTRUM = "Eigenvalues on the moved dimensions: rotations have imaginary eigenvalues, growth and decay real ones."
NO_OPERATOR = "None of the runs has an operator, or there are only collected tables without cards."
MISSING_TABLE = "None of the given folders has a file {}."


def operator(columns: Iterable[str]) -> str:
    """The explanations of the metrics that have columns in a table."""
    names = list(columns)
    return " ".join(metric.about for metric in METRICS.entries() if metric.about and metric.in_table(names))
