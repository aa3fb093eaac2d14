"""Named grids of runs: every method and arm, with several seeds, each with its evaluation.

The grids of the paper's size take the middle of its learning rates and weights of 1 (SimCLR Lie: the paper's own best,
10, 10 and 1). Its whole sweeps over rates and weights have the same names in :mod:`lie_ssl.recipes.sweeps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.recipes.data import paper as paper_data
from lie_ssl.recipes.data import small as small_data
from lie_ssl.recipes.evaluate import paper as paper_evaluation
from lie_ssl.recipes.evaluate import small as small_evaluation
from lie_ssl.recipes.pretrain import ARMS, PUBLISHED
from lie_ssl.recipes.pretrain import paper as paper_run
from lie_ssl.recipes.pretrain import small as small_run

SEEDS = (0, 1, 2)


def small() -> Recipe:
    """Three methods x five arms x three seeds on a CPU; the first seed of everything comes first."""
    units = tuple(
        Unit(replace(small_run(method, arm), seed=seed), with_option(small_evaluation(method, arm), method, arm))
        for seed in SEEDS for method in PUBLISHED for arm in ARMS
    )  # fmt: skip
    return Recipe("small", small_data(), units)


def paper(method: str) -> Recipe:
    """One method x five arms x three seeds at the paper's size; `lie-ssl sweep paper/METHOD` has its other rates.

    The encoders start from published weights: :func:`from_weights` sets them.
    """
    units = tuple(
        Unit(replace(paper_run(method, arm), seed=seed), paper_evaluation(method, arm))
        for seed in SEEDS for arm in ARMS
    )  # fmt: skip
    return Recipe(f"paper/{method}", paper_data(), units)


def from_weights(recipe: Recipe, weights: str) -> Recipe:
    """All units with encoders that start from a file of weights, or from what else `encoder.weights` takes."""

    def started(unit: Unit) -> Unit:
        encoder = replace(unit.pretraining.encoder, weights=weights)
        return replace(unit, pretraining=replace(unit.pretraining, encoder=encoder))

    return replace(recipe, units=tuple(started(unit) for unit in recipe.units))


def with_option(config: EvaluateConfig, method: str, arm: str) -> EvaluateConfig:
    """As the paper reports its models: Option 2 with one neighbour for MAE Lie and VICReg Lie, Option 1 otherwise."""
    if arm == "literal" and method in ("mae", "vicreg"):
        return replace(config, options=(2,), neighbours=1)
    return replace(config, options=(1,))


PAPER: dict[str, Callable[[], Recipe]] = {f"paper/{method}": partial(paper, method) for method in PUBLISHED}
GRIDS: dict[str, Callable[[], Recipe]] = {"small": small, **PAPER}
