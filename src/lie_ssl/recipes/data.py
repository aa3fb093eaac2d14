"""Named data sets. A recipe is a function that returns a full config."""

from __future__ import annotations

from lie_ssl.frames.config import DataConfig
from lie_ssl.render.view import RenderSettings


def demo() -> DataConfig:
    """All 52 classes in seconds: 5 instances, a pose every 20 degrees, 9,360 frames of 64 px."""
    return DataConfig(instances=5, step=20.0)


def small() -> DataConfig:
    """All 52 classes in minutes: 40 instances, a pose every 8 degrees, 187,200 frames of 64 px."""
    return DataConfig(instances=40, step=8.0)


def paper() -> DataConfig:
    """The paper's size: 52 classes, 50 instances, 90 + 90 poses, 468,000 frames of 224 px."""
    return DataConfig(instances=50, step=4.0, render=RenderSettings(size=224, supersample=2))


DATA_RECIPES = {"demo": demo, "small": small, "paper": paper}
