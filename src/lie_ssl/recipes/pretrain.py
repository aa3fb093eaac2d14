"""Named pretraining runs. A recipe is a function of method and arm that returns a full config.

Arms: base (X), frames (X Frames), literal (X Lie as the paper writes it: the group acts on all of z), lie (X Lie with
an invariant part and an InfoNCE on it), lie_off (the same without the terms of the operator).
"""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import crop_only, simclr, vicreg
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.methods.method import MethodConfig
from lie_ssl.methods.objective import ARMS, ObjectiveConfig, OperatorConfig
from lie_ssl.methods.registry import method_config
from lie_ssl.methods.simclr import SimCLRConfig
from lie_ssl.methods.vicreg import VICRegConfig
from lie_ssl.serialization import suggestion
from lie_ssl.training.config import OptimConfig, PretrainConfig

PUBLISHED = ("mae", "vicreg", "simclr")


TEMPERATURE = 0.2  # of the InfoNCE between frames, in X Frames and X Lie alike
# The loss of MAE is small beside a contrast between frames: with a weight of 1 its features are lost to finetuning.
SMALL_SSL = {("mae", arm): 20.0 for arm in ARMS if arm != "base"}
# A step of MAE costs least. After 400 steps of VICReg no arm had learned what it could, and the operator least of all.
SMALL_STEPS = {"mae": 1600, "vicreg": 800, "simclr": 400}


def arm_objective(arm: str, dim: int) -> ObjectiveConfig:
    """The weights of an arm for embeddings of the given size."""
    if arm == "base":
        return ObjectiveConfig()
    if arm == "frames":
        return ObjectiveConfig(frames=1.0, temperature=TEMPERATURE)
    if arm == "literal":
        return ObjectiveConfig(lie=1.0, euclidean=1.0, coordinates=1.0)
    lie = ObjectiveConfig(
        euclidean=3.0, invariant=1.0, temperature=TEMPERATURE, relative=True, by_kind=True, detach_fixed=True,
        operator=OperatorConfig(
            generators=(1,), algebra="commuting", sees=("linear",), frequencies=(1.0, 2.0, 3.0, 4.0), centred=True,
            standardised=("2d",),
            split_factors=True, fixed=dim - 3 * dim // 8,
        ),
    )  # fmt: skip
    if arm == "lie":
        return lie
    if arm == "lie_off":
        return replace(lie, euclidean=0.0)
    raise UserError(f"there is no arm {arm!r}{suggestion(arm, list(ARMS))}")


def operator_rate(arm: str) -> float:
    """Of the rate of everything else. Rotations that start with whole speeds are kept there; the paper's generators
    start at random and have to learn."""
    return 1.0 if arm == "literal" else 0.01


def small_run(method: str = "mae", arm: str = "lie") -> PretrainConfig:
    """For a CPU: our own small vision transformer, some minutes a run."""
    # Of the 16 patches of a small picture more must be seen than of the paper's 196.
    settings = method_config(method, {"mask": 0.5} if method == "mae" else None)
    return PretrainConfig(
        method=settings, arm=arm, encoder=EncoderConfig(name="vit_mini"),
        objective=replace(arm_objective(arm, 128), ssl=SMALL_SSL.get((method, arm), 1.0)),
        optim=OptimConfig(steps=SMALL_STEPS.get(method, 400), batch=64, lr=1e-3, operator_lr=operator_rate(arm)),
    )  # fmt: skip


def short_run(method: str, arm: str, steps: int) -> PretrainConfig:
    """The small recipe with fewer steps, in which every method's own loss weighs 1: beside MAE's at 20 the contrast
    between frames needs all of the steps."""
    config = small_run(method, arm)
    return replace(config, objective=replace(config.objective, ssl=1.0), optim=replace(config.optim, steps=steps))


def paper_run(method: str = "mae", arm: str = "literal") -> PretrainConfig:
    """The paper's sizes: ViT-B for MAE, ResNet-50 for VICReg and SimCLR, batches of 64, 100 epochs of 1,924 instances.

    Plain Adam at the middle of the paper's three rates. Both encoders start from published weights; give them with
    encoder.weights.
    """
    steps = 100 * (52 * 37 // 64)
    optim = OptimConfig(steps=steps, batch=64, lr=5e-5, operator_lr=operator_rate(arm), weight_decay=0.0)
    settings: MethodConfig
    if method == "mae":
        encoder, dim = EncoderConfig(name="vit_base_patch16_224"), 768
        settings = MAEConfig(mask=0.75, decoder_dim=512, decoder_depth=8, decoder_heads=16, augment=crop_only())
    elif method == "vicreg":
        encoder, dim = EncoderConfig(name="resnet50"), 2048
        settings = VICRegConfig(expander=(8192, 8192, 8192), augment=vicreg())
    elif method == "simclr":
        encoder, dim = EncoderConfig(name="resnet50"), 2048
        settings = SimCLRConfig(projection=128, hidden=2048, augment=simclr())
    else:
        raise UserError(f"the paper has no method {method!r}{suggestion(method, list(PUBLISHED))}")
    objective = arm_objective(arm, dim)
    if method == "simclr" and arm == "literal":
        objective = replace(objective, ssl=10.0, lie=10.0, euclidean=1.0)
    return PretrainConfig(method=settings, arm=arm, encoder=encoder, objective=objective, optim=optim)


PRETRAIN_RECIPES = {"small": small_run, "paper": paper_run}


def pretrain_recipe(name: str, method: str, arm: str) -> PretrainConfig:
    """A recipe by its name."""
    if name not in PRETRAIN_RECIPES:
        raise UserError(f"there is no recipe {name!r}{suggestion(name, list(PRETRAIN_RECIPES))}")
    return PRETRAIN_RECIPES[name](method, arm)
