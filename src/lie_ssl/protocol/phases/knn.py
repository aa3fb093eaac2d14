"""Nearest neighbours among the supervised training frames; nothing is trained."""

from __future__ import annotations

import numpy as np

from lie_ssl.methods.features import knn_accuracy
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.phases import TableRows, phase
from lie_ssl.protocol.phases._rows import Tested, accuracy_row

PART = 1024  # queries at once: all of them against a bank without a limit would not fit into memory


@phase("knn", title="k nearest neighbours", order=30)
def knn(context: Context) -> TableRows:
    """Instances in all poses and the others are weighted by the number of their frames."""
    for proportion in context.config.proportions:
        rows = context.settings.training(proportion).all
        rows = np.random.default_rng(context.config.seed).permutation(rows)[: context.config.limit]
        bank, labels = context.features(rows), context.labels(rows)
        for setting, poses, test in context.tests(proportion):
            parts = np.array_split(test, -(-len(test) // PART))
            right = [len(p) * knn_accuracy(bank, labels, context.features(p), context.labels(p)) for p in parts]
            yield from accuracy_row(context, Tested("knn", 1, proportion), poses, setting, sum(right) / len(test))
