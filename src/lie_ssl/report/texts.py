"""What the page says above its tables and plots."""

from __future__ import annotations

from collections.abc import Iterable

from lie_ssl.protocol.metrics import METRICS

ACCURACY = (
    "Mean over seeds ± standard error (difference and multiple to the baseline of the same method); bold is the best "
    "of a method. Diverse instances are the share of the training instances that the classifier saw in all poses. A "
    "dash was not measured."
)
GAPS = (
    "Points of accuracy that are lost against known instances in typical pose; less is better. Self-occlusion is the "
    "accuracy on unknown instances in 2D minus that in 3D."
)
ANGLES = "Top-1 accuracy by how far the object is turned from its typical pose; brackets are standard errors."
ORBITS = (
    "Points are the true frames of one unknown instance, coloured by angle; lines are the first frame's embedding "
    "under the operator. The solid line takes, for each pose, the t that is inferred from both frames; the dotted one "
    "repeats the first move. Seen are the dimensions that the group moves, in the plane of the two largest principal "
    "components of the true frames."
)
SPECTRUM = "Eigenvalues on the moved dimensions: a rotation has imaginary ones, growth and decay have real ones."
NO_OPERATOR = "None of the runs has an operator, or their cards were not given."


def operator(columns: Iterable[str]) -> str:
    """What the metrics say about themselves, those that have columns in the table."""
    names = list(columns)
    return " ".join(metric.about for metric in METRICS.entries() if metric.about and metric.in_table(names))
