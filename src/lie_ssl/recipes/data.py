"""Named data sets. A recipe is a function that returns a complete config."""

from __future__ import annotations

from lie_ssl.frames.config import DataConfig
from lie_ssl.render.view import RenderSettings


def demo_data() -> DataConfig:
    """All 52 classes in seconds: 5 instances, a pose every 20 degrees, 9,360 frames of 64 px."""
    return DataConfig(instances=5, step=20.0)


# Every second class in alphabetical order, up to `table`.
CLASSES = (
    "airplane", "bed", "bicycle", "boat", "bottle", "bus", "camera", "cap", "chair", "dishwasher", "drill", "faucet",
    "guitar", "jar", "knife", "laptop", "microphone", "motorbike", "piano", "plant pot", "remote control", "skateboard",
    "speaker", "table",
)  # fmt: skip


def small_data() -> DataConfig:
    """24 classes in half a minute: 40 instances, a pose every 12 degrees, 57,600 frames of 32 px in grey clay.

    Without colours, only the shape distinguishes objects, so no comparison of two frames can rely on colour.
    """
    render = RenderSettings(size=32, supersample=3, grey=True, clay=True)
    return DataConfig(classes=CLASSES, instances=40, step=12.0, render=render)


def paper_data() -> DataConfig:
    """The paper's size: 52 classes, 50 instances, 90 + 90 poses, 468,000 frames of 224 px."""
    return DataConfig(instances=50, step=4.0, render=RenderSettings(size=224, supersample=2))


def factors_data() -> DataConfig:
    """Several kinds of move at once: 24 classes, 20 instances, 14,400 frames of 96 px in colour.

    Half of the frames of an instance are turned in the picture plane and half on a turntable, every 24 degrees. In all
    of them the light and the hue vary too.
    """
    ranges = {"light": (-75.0, 75.0), "hue": (-180.0, 180.0)}
    render = RenderSettings(size=96, supersample=2)
    return DataConfig(classes=CLASSES, instances=20, step=24.0, poses=("2d", "yaw"), ranges=ranges, render=render)


DATA_RECIPES = {"demo": demo_data, "small": small_data, "paper": paper_data}
