"""Finetuning: encoder and classifier learn together, in a copy, so that the subject stays as it was."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.finetune import Classifier, DivergedError, finetune, predict
from lie_ssl.protocol.phases import TableRows, phase
from lie_ssl.protocol.phases._rows import Tested, classifier_rows, trial_row
from lie_ssl.protocol.phases.linear import trained_probe
from lie_ssl.protocol.probe import Linear, choose


@phase("finetune", title="Finetuning", order=20, tunes=True)
def finetuning(context: Context) -> TableRows:
    """The best trial on validation instances, for every option and proportion; none with 0 steps."""
    if not context.config.finetune.steps:
        return
    for option, proportion in context.combinations():
        tested = Tested("finetune", option, proportion)
        best: Classifier | None = None
        best_score = -1.0
        for name, rate in context.config.finetune.trials:
            context.say(f"finetuning at {100 * proportion:g} % diverse, {name}, rate {rate:g}")
            try:
                model = finetune(
                    context.subject.encoder, context.frames, context.settings.training(proportion), name, rate,
                    context.config.finetune, context.config.seed, context.neighbours(option), _start(context, tested),
                )  # fmt: skip
            except DivergedError as error:
                context.say(str(error))
                yield from trial_row(context, tested, name, rate, math.nan)
                continue
            score = _score(context, model)
            yield from trial_row(context, tested, name, rate, score)
            if score > best_score:
                best, best_score = model, score
        if best is None:
            raise UserError(
                f"finetuning at {100 * proportion:g} % diverse diverged at every rate; try lower --finetune.rates"
            )
        yield from classifier_rows(context, tested, partial(predict, best, context.frames))


def _start(context: Context, tested: Tested) -> Linear | None:
    """The classifier before the first step."""
    if context.config.finetune.start == "zero":
        return None
    probe, scores = trained_probe(context, tested.option, tested.proportion)
    return probe.trial(choose(scores))


def _score(context: Context, model: nn.Module) -> float:
    """The mean of the accuracies on typical and on other frames of validation instances."""
    return float(np.mean([
        float((predict(model, context.frames, rows) == context.labels(rows)).double().mean())
        for rows in context.settings.validation()
    ]))  # fmt: skip
