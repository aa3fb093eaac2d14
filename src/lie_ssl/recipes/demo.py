"""The demos: a published encoder is adapted, or encoders are trained from scratch, in minutes on a laptop."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.frames import DataConfig
from lie_ssl.methods.extractor import FeatureConfig
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.readout import ReadoutConfig
from lie_ssl.recipes.data import CLASSES, small_data
from lie_ssl.recipes.evaluate import adapt_evaluation
from lie_ssl.recipes.pretrain import short_run
from lie_ssl.render.view import RenderSettings
from lie_ssl.training.adapting import adapt_config, find_encoder
from lie_ssl.training.config import LogConfig

ENCODER = "package:efficientnet_lite0"
ADAPT_ARMS = ("lie", "frames", "frozen")  # the longest first, as two run side by side
METHOD = "mae"
ARMS = ("alone", "frames", "lie")
STEPS = 500


def demo_recipe(encoder: str = ENCODER, weights: str | None = None) -> Recipe:
    """A published encoder as it is, and adapted by Lie and by Frames, on coloured objects of 96 px.

    The 13,824 frames show 12 objects of each of 24 classes, turned in the picture plane and on a turntable.

    Args:
        encoder, weights: The encoder, as for `lie-ssl adapt`.
    """
    data = DataConfig(
        classes=CLASSES, instances=12, poses=("2d", "yaw"), step=15.0, render=RenderSettings(size=96, supersample=2)
    )
    published = find_encoder(encoder, weights).config
    evaluation = replace(adapt_evaluation(), readout=ReadoutConfig(steps=500, whole=1024))
    units = []
    for arm in ADAPT_ARMS:
        config = adapt_config(published, arm)
        if arm == "frozen" and config.adapt is not None:  # early maps make its classifier worse
            config = replace(config, adapt=replace(config.adapt, features=FeatureConfig(depth=1)))
        units.append(Unit(replace(config, log=LogConfig(check_every=config.optim.steps // 2)), evaluation))
    return Recipe("demo", data, tuple(units))


def from_scratch_recipe() -> Recipe:
    """The data set, the encoders and the settings of the recipe `small`, with fewer steps and one seed."""
    evaluation = EvaluateConfig(
        proportions=(0.05, 0.5), probe=ProbeConfig(steps=4000), finetune=FinetuneConfig(steps=0), limit=2000
    )
    units = []
    for arm in ARMS:
        units.append(Unit(replace(short_run(METHOD, arm, STEPS), log=LogConfig(check_every=STEPS)), evaluation))
    return Recipe("demo", small_data(), tuple(units))
