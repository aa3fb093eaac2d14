"""The demo: MAE, MAE Frames and MAE Lie on one small data set, in minutes on a laptop."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.recipes.data import small_data
from lie_ssl.recipes.pretrain import short_run
from lie_ssl.training.config import LogConfig

METHOD = "mae"
ARMS = ("alone", "frames", "lie")
STEPS = 500


def demo_recipe() -> Recipe:
    """The data set, the encoders and the settings of the recipe `small`, with fewer steps and one seed."""
    evaluation = EvaluateConfig(
        proportions=(0.05, 0.5), probe=ProbeConfig(steps=4000), finetune=FinetuneConfig(steps=0), limit=2000
    )
    units = []
    for arm in ARMS:
        units.append(Unit(replace(short_run(METHOD, arm, STEPS), log=LogConfig(check_every=STEPS)), evaluation))
    return Recipe("demo", small_data(), tuple(units))
