"""Named grids of runs: every method and arm, with several seeds, each with its evaluation."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.recipes.data import small as small_data
from lie_ssl.recipes.evaluate import small as small_evaluation
from lie_ssl.recipes.pretrain import ARMS, PUBLISHED
from lie_ssl.recipes.pretrain import small as small_run

SEEDS = (0, 1, 2)


def small() -> Recipe:
    """Three methods x five arms x three seeds on a CPU; the first seed of everything comes first."""
    units = tuple(
        Unit(replace(small_run(method, arm), seed=seed), with_option(small_evaluation(method, arm), method, arm))
        for seed in SEEDS for method in PUBLISHED for arm in ARMS
    )  # fmt: skip
    return Recipe("small", small_data(), units)


def with_option(config: EvaluateConfig, method: str, arm: str) -> EvaluateConfig:
    """As the paper reports its models: Option 2 with one neighbour for MAE Lie and VICReg Lie, Option 1 otherwise."""
    if arm == "literal" and method in ("mae", "vicreg"):
        return replace(config, options=(2,), neighbours=1)
    return replace(config, options=(1,))


GRIDS = {"small": small}
