"""Finetuning: trains a copy of the encoder together with a classifier."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.finetune import Classifier, DivergedError, finetune, predict
from lie_ssl.protocol.phases import phase
from lie_ssl.protocol.phases.linear import trained_probe
from lie_ssl.protocol.probe import Linear, best_trial
from lie_ssl.protocol.rows import ClassifierKey, TableRows, classifier_rows, trial_row


@phase("finetune", title="Finetuning", order=20, trains_encoder=True)
def finetuning(context: Context) -> TableRows:
    """Tests the best trial on validation instances, for every option and proportion; nothing with 0 steps."""
    if not context.config.finetune.steps:
        return
    for option, proportion in context.combinations():
        key = ClassifierKey("finetune", option, proportion)
        best: Classifier | None = None
        best_score = -1.0
        for name, rate in context.config.finetune.trials:
            context.say(f"finetuning with {100 * proportion:g} % diverse instances, {name}, rate {rate:g}")
            try:
                model = finetune(
                    context.subject.encoder, context.frames, context.settings.training(proportion), name, rate,
                    context.config.finetune, context.config.seed, context.neighbours(option), _start(context, key),
                )  # fmt: skip
            except DivergedError as error:
                context.say(str(error))
                yield from trial_row(context, key, name, rate, math.nan)
                continue
            score = _score(context, model)
            yield from trial_row(context, key, name, rate, score)
            if score > best_score:
                best, best_score = model, score
        if best is None:
            raise UserError(
                f"finetuning with {100 * proportion:g} % diverse instances diverged at every rate; try lower "
                "--finetune.rates"
            )
        yield from classifier_rows(context, key, partial(predict, best, context.frames))


def _start(context: Context, key: ClassifierKey) -> Linear | None:
    """The initial classifier; None for zeros."""
    if context.config.finetune.start == "zero":
        return None
    probe, scores = trained_probe(context, key.option, key.proportion)
    return probe.trial(best_trial(scores))


def _score(context: Context, model: nn.Module) -> float:
    """The mean of the accuracies on the typical and on the other frames of validation instances."""
    return float(np.mean([
        float((predict(model, context.frames, rows) == context.labels(rows)).double().mean())
        for rows in context.settings.validation()
    ]))  # fmt: skip
