"""k nearest neighbours among the supervised training frames, without training."""

from __future__ import annotations

import numpy as np

from lie_ssl.methods.features import knn_accuracy
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.phases import phase
from lie_ssl.protocol.rows import ClassifierKey, TableRows, accuracy_row

CHUNK = 1024  # queries at once; all of them against all training frames would not fit into memory


@phase("knn", title="k nearest neighbours", order=30)
def knn(context: Context) -> TableRows:
    """Tests k-NN for every proportion. Unlike in other phases, diverse and typical frames are not balanced."""
    for proportion in context.config.proportions:
        rows = context.settings.training(proportion).all
        rows = np.random.default_rng(context.config.seed).permutation(rows)[: context.config.limit]
        bank, labels = context.recognised(rows), context.labels(rows)
        for setting, poses, test in context.tests(proportion):
            parts = np.array_split(test, -(-len(test) // CHUNK))
            correct = [len(p) * knn_accuracy(bank, labels, context.recognised(p), context.labels(p)) for p in parts]
            key = ClassifierKey("knn", 1, proportion)
            yield from accuracy_row(context, key, poses, setting, sum(correct) / len(test))
