"""Grids of adapted encoders: published encoders, frozen and with heads trained by several objectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lie_ssl.frames.config import DataConfig
from lie_ssl.methods.adapted import IDENTITY
from lie_ssl.methods.extractor import FeatureConfig
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.grid import Recipe, Unit
from lie_ssl.protocol.readout import ReadoutConfig
from lie_ssl.recipes.data import CLASSES, factors_data
from lie_ssl.recipes.evaluate import ANGLE_METRICS, adapt_evaluation
from lie_ssl.render.view import RenderSettings
from lie_ssl.training.adapting import adapt_config, find_encoder
from lie_ssl.training.config import PretrainConfig

ENCODERS = ("efficientnet_lite0", "imgsim", "mobilenet_v2")  # packages with weights
SEEDS = (0, 1, 2, 3, 4)
MAIN = ("frames", "lie")
OTHERS = ("lie_learned", "inverse", "lie_off", "literal", "alone")
ASYMMETRIC = (
    "airplane", "bed", "bicycle", "boat", "bus", "camera", "cap", "car", "chair", "drill", "faucet", "guitar", "laptop",
    "motorbike", "piano", "sofa",
)  # fmt: skip
SYMMETRIC = ("bathtub", "bottle", "bowl", "can", "clock", "jar", "rocket", "table")  # most objects look alike turned
OBJECTS = (2, 5, 10, 20, 50)  # per class, in all poses
TRAINING_OBJECTS = 51  # per class, of the 68 of the curve
POSES = (2, 5, 10, 20, 30)  # of an object and a kind of pose


def adapt_data(classes: Sequence[str] = CLASSES, instances: int = 20) -> DataConfig:
    """Objects in colour, 96 px, in 2D, 3D and turntable poses; 90 frames of each."""
    render = RenderSettings(size=96, supersample=2)
    return DataConfig(
        classes=tuple(classes), instances=instances, step=12.0, poses=("2d", "3d", "yaw"), render=render
    )  # fmt: skip


def heads(encoders: Sequence[str], arms: Sequence[str]) -> list[PretrainConfig]:
    """Each encoder without a head, then with heads: all arms of the first seed come first.

    EfficientNet and MobileNet are also evaluated without the maps of their early layers, with which a linear
    classifier recognised fewer validation objects.
    """
    found = {name: find_encoder(f"package:{name}").config for name in encoders}
    runs = [adapt_config(encoder, "frozen") for encoder in found.values()]
    runs += [
        _head(replace(run, variant="last_layer"), features=FeatureConfig(layers=("blocks.4",)))
        for run, name in zip(runs, found, strict=True) if name != "imgsim"
    ]  # fmt: skip
    return runs + [replace(adapt_config(e, arm), seed=seed) for seed in SEEDS for e in found.values() for arm in arms]


def recipe(name: str, data: DataConfig, runs: Sequence[PretrainConfig]) -> Recipe:
    """A grid in which all runs have the evaluation of adapted encoders.

    Beside the grid `adapt`, only the first seed trains networks that read angles, which take as long as all else.
    """
    return Recipe(
        name, data,
        tuple(
            Unit(run, adapt_evaluation() if name == "adapt" or run.seed == SEEDS[0] else quick_evaluation())
            for run in runs
        ),
    )  # fmt: skip


def adapt_recipe() -> Recipe:
    """Three published encoders, frozen and adapted by Frames and Lie with five seeds; the first one by all objectives.

    24 classes of 20 objects; minutes per unit on a CPU.
    """
    first = find_encoder(f"package:{ENCODERS[0]}").config
    angle = _objective(
        replace(adapt_config(first, "inverse"), variant="angle_alone"), contrast=0.0, move=1.0, predict=0.0
    )
    runs = heads(ENCODERS, MAIN) + [replace(adapt_config(first, arm), seed=seed) for seed in SEEDS for arm in OTHERS]
    runs += [replace(angle, seed=seed) for seed in SEEDS]
    return recipe("adapt", adapt_data(), runs)


def classes_recipe() -> Recipe:
    """EfficientNet-Lite0 on all 52 classes."""
    return recipe("adapt/classes", adapt_data(()), heads(ENCODERS[:1], MAIN))


def objects_recipe() -> Recipe:
    """EfficientNet-Lite0 on twice as many objects of 24 classes."""
    return recipe("adapt/objects", adapt_data(instances=40), heads(ENCODERS[:1], MAIN))


def furniture_recipe() -> Recipe:
    """EfficientNet-Lite0 on the furniture of Sweet Home 3D."""
    data = replace(adapt_data(()), source="sweethome3d")
    return recipe("adapt/furniture", data, heads(ENCODERS[:1], MAIN))


def factors_recipe() -> Recipe:
    """Several kinds of move at once: pose, light and hue; EfficientNet-Lite0 adapted by Lie, also with learned speeds.

    The head sees two early maps as well, with which hue was read better on validation objects.
    """
    layers, runs = ("blocks.0", "blocks.1", "blocks.4"), []
    for seed in SEEDS:
        for arm in ("lie", "lie_learned"):
            config = adapt_config(find_encoder(f"package:{ENCODERS[0]}").config, arm)
            config = _head(config, features=FeatureConfig(layers=layers))
            runs.append(replace(config, seed=seed))
    return recipe("adapt/factors", factors_data(), runs)


def untold_recipe() -> Recipe:
    """EfficientNet-Lite0 adapted by Lie untold, not told how far its clips turn; the data of `adapt/classes`."""
    config = adapt_config(find_encoder(f"package:{ENCODERS[0]}").config, "lie_untold")
    return recipe("adapt/untold", adapt_data(()), [replace(config, seed=seed) for seed in SEEDS])


def rotations_recipe() -> Recipe:
    """EfficientNet-Lite0 adapted to free rotations; 16 classes without symmetry, 160 objects of each."""
    return _free_rotations("adapt/rotations", ASYMMETRIC, 160, steps=2400)


def symmetric_recipe() -> Recipe:
    """The same on 8 classes with symmetries, 80 objects of each, in half the steps.

    The error counts modulo the symmetry.
    """
    return _free_rotations("adapt/symmetric", SYMMETRIC, 80, steps=1200)


def _free_rotations(name: str, classes: Sequence[str], instances: int, steps: int) -> Recipe:
    """The head sees an early map too, in 6 x 6 cells: what is in front is told by details."""
    data = replace(adapt_data(classes, instances), poses=("so3",), rotations=20)
    config = adapt_config(find_encoder(f"package:{ENCODERS[0]}").config, "rotations")
    config = replace(config, diverse=1.0, optim=replace(config.optim, steps=steps))
    features = FeatureConfig(layers=("blocks.2", "blocks.4"), grid=6)
    head = {"components": 512, "hidden": 512, "moved_hidden": None, "dropout": 0.2, "moved_dropout": None}
    config = _head(config, features=features, linear=False, identity=128, maps=False, **head)
    evaluation = replace(adapt_evaluation(), metrics=("rotations", "symmetry"), readout=ReadoutConfig())
    return Recipe(name, data, tuple(Unit(replace(config, seed=seed), evaluation) for seed in SEEDS))


def _operator(config: PretrainConfig, **values: Any) -> PretrainConfig:
    assert isinstance(config.objective, LieConfig)
    return _objective(config, operator=replace(config.objective.operator, **values))


def _objective(config: PretrainConfig, **values: Any) -> PretrainConfig:
    return replace(config, objective=replace(config.objective, **values))


def _head(config: PretrainConfig, **values: Any) -> PretrainConfig:
    assert config.adapt is not None
    return replace(config, adapt=replace(config.adapt, **values))


VARIANTS: dict[str, Callable[[PretrainConfig], PretrainConfig]] = {
    # The terms of the loss.
    "no_moves": lambda c: _objective(c, moves=0.0),
    "no_euclidean": lambda c: _objective(c, euclidean=0.0),
    "no_invariant": lambda c: _objective(c, invariant=0.0),
    "no_prediction": lambda c: _objective(c, predict=0.0),
    "singles": lambda c: _objective(c, singles=True),
    # The operator.
    "speed_1": lambda c: _operator(c, frequencies=(1.0,)),
    "speeds_1_2": lambda c: _operator(c, frequencies=(1.0, 2.0)),
    "speeds_1_to_8": lambda c: _operator(c, frequencies=tuple(map(float, range(1, 9)))),
    "unit_speeds": lambda c: _objective(_operator(c, normalise="speed"), moves=0.0, euclidean=3.0),
    # The split: three factors share what u leaves of z.
    "u_128": lambda c: _operator(c, fixed=128),
    "u_1024": lambda c: _operator(c, fixed=1024),
    "v_24": lambda c: _head(c, dim=IDENTITY + 72),
    "v_96": lambda c: _head(c, dim=IDENTITY + 288),
    # The features and the head.
    "pooled": lambda c: _head(c, features=FeatureConfig(layers=())),
    "one_layer": lambda c: _head(c, features=FeatureConfig(layers=("blocks.4",))),
    "cells_2": lambda c: _head(c, features=FeatureConfig(grid=2)),
    "v_sees_all": lambda c: _head(c, maps=False),
    "components_512": lambda c: _head(c, components=512),
    "no_linear": lambda c: _head(c, linear=False),
    "u_hidden_512": lambda c: _head(c, hidden=512),
    "v_hidden_256": lambda c: _head(c, moved_hidden=256),
    "v_hidden_1024": lambda c: _head(c, moved_hidden=1024),
    "no_dropout": lambda c: _head(c, dropout=0.0),
    "v_dropout": lambda c: _head(c, moved_dropout=0.2),
}


def ablations_recipe() -> Recipe:
    """Lie on EfficientNet-Lite0 with one part removed or changed, on the data of `adapt`."""
    config = adapt_config(find_encoder(f"package:{ENCODERS[0]}").config, "lie")
    runs = [replace(change(config), variant=name) for name, change in VARIANTS.items()]
    units = [Unit(replace(run, seed=seed), quick_evaluation()) for seed in SEEDS for run in [config, *runs]]
    return Recipe("adapt/ablations", adapt_data(), tuple(units))


def curve_recipe() -> Recipe:
    """Lie and Frames on EfficientNet-Lite0 with 2 to 50 objects per class in all poses, and the others in one."""
    data = replace(adapt_data(instances=68), poses=("2d", "yaw"), step=24.0)
    encoder, units = find_encoder(f"package:{ENCODERS[0]}").config, []
    for seed in SEEDS:
        for count in OBJECTS:
            runs = [adapt_config(encoder, arm) for arm in MAIN]
            diverse = count / TRAINING_OBJECTS
            runs = [replace(run, diverse=diverse, variant=f"objects_{count}", seed=seed) for run in runs]
            units += [Unit(run, quick_evaluation()) for run in runs]
    return Recipe("adapt/curve", data, tuple(units))


def poses_recipe() -> Recipe:
    """Lie and Frames on EfficientNet-Lite0 with 2 to 30 poses of each kind and object, on the data of `adapt`."""
    encoder = find_encoder(f"package:{ENCODERS[0]}").config
    units = [
        Unit(replace(adapt_config(encoder, arm), poses=count, variant=f"poses_{count}", seed=seed), quick_evaluation())
        for seed in SEEDS for count in POSES for arm in MAIN
    ]  # fmt: skip
    return Recipe("adapt/poses", adapt_data(), tuple(units))


def quick_evaluation() -> EvaluateConfig:
    """Without the network that reads angles."""
    return replace(adapt_evaluation(), readout=None, metrics=tuple(m for m in ANGLE_METRICS if m != "readout"))


ADAPT_GRIDS = {
    "adapt": adapt_recipe, "adapt/classes": classes_recipe, "adapt/objects": objects_recipe,
    "adapt/furniture": furniture_recipe, "adapt/ablations": ablations_recipe, "adapt/curve": curve_recipe,
    "adapt/poses": poses_recipe,
    "adapt/factors": factors_recipe, "adapt/rotations": rotations_recipe, "adapt/symmetric": symmetric_recipe,
    "adapt/untold": untold_recipe,
}  # fmt: skip
