"""Linear evaluation: linear classifiers on the embeddings of the frozen encoder."""

from __future__ import annotations

import torch
from torch import Tensor

from lie_ssl.protocol.context import Context, Rows
from lie_ssl.protocol.phases import phase
from lie_ssl.protocol.probe import Probe, best_trial
from lie_ssl.protocol.rows import ClassifierKey, TableRows, classifier_rows, trial_row


@phase("linear", title="Linear evaluation", order=10)
def linear(context: Context) -> TableRows:
    """Tests the best trial on validation instances, for every option and proportion."""
    for option, proportion in context.combinations():
        probe, scores = trained_probe(context, option, proportion)
        best, key = best_trial(scores), ClassifierKey("linear", option, proportion)
        for (name, rate), score in zip(context.config.probe.trials, scores.tolist(), strict=True):
            yield from trial_row(context, key, name, rate, score)

        def predict(rows: Rows, probe: Probe = probe, best: int = best) -> Tensor:
            return probe.predict(context.recognised(rows), best)

        keep = option == 1 and proportion == max(context.config.proportions)
        yield from classifier_rows(context, key, predict, keep)


def trained_probe(context: Context, option: int, proportion: float) -> tuple[Probe, Tensor]:
    """Trains all trials of linear evaluation, once per evaluation.

    Returns:
        The classifiers, and their accuracies (G,) on validation instances.
    """
    if (option, proportion) not in context.probes:
        context.probes[option, proportion] = _fitted(context, option, proportion)
    return context.probes[option, proportion]


def _fitted(context: Context, option: int, proportion: float) -> tuple[Probe, Tensor]:
    config, features, labels = context.config, context.recognised, context.labels
    rows = context.settings.training(proportion)
    probe = Probe(config.probe, context.recognised_dim, len(context.frames.classes))
    groups = [(features(r), labels(r)) for r in (rows.diverse, rows.typical)]
    probe.fit(groups[0], groups[1], config.seed, context.neighbours(option))
    scores = torch.stack([probe.accuracy(features(r), labels(r)) for r in context.settings.validation()])
    return probe, scores.mean(dim=0)
