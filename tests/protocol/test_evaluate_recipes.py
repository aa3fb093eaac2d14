"""The steps, rates and options of the named evaluations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.recipes.evaluate import evaluate_recipe


def test_the_recipes() -> None:
    small = evaluate_recipe("small")
    assert (small.probe.steps, small.finetune.steps, small.limit) == (4000, 400, 2000)
    plain = EvaluateConfig()
    assert replace(small, probe=plain.probe, finetune=plain.finetune, limit=plain.limit) == plain
    mae = evaluate_recipe("paper", "mae", "literal")
    assert (mae.probe.steps, mae.probe.batch, mae.probe.rates) == (20_000, 64, (5e-3, 5e-4, 5e-5))
    assert (mae.finetune.steps, mae.finetune.rates) == (10_000, (5e-3, 5e-4, 5e-5, 5e-6))
    assert mae.probe.optimisers == mae.finetune.optimisers == ("adamw",)
    options = {
        (method, arm): evaluate_recipe("paper", method, arm).options
        for method in ("mae", "vicreg", "simclr")
        for arm in ("alone", "literal", "lie")
    }
    assert [k for k, v in options.items() if v == (2,)] == [("mae", "literal"), ("vicreg", "literal")]
    assert evaluate_recipe("paper", "vicreg").finetune.steps == 0
    gaps = evaluate_recipe("gaps")
    for rates, first in ((gaps.probe.rates, 1e-1), (gaps.finetune.rates, 1e-2)):
        np.testing.assert_allclose(rates, np.logspace(np.log10(first), -6, 7), rtol=1e-5)
    assert len(gaps.probe.trials) == len(gaps.finetune.trials) == 14
    assert gaps.probe.batch == gaps.finetune.batch == 32
    assert evaluate_recipe("gaps", "vicreg").finetune.steps == 0
    assert evaluate_recipe("gaps", "mae").finetune.steps == gaps.finetune.steps > 0
