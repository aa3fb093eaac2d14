"""Named pretraining runs. A recipe is a function of method and objective that returns a complete config."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.errors import UserError
from lie_ssl.methods.augment import crop_only, simclr, vicreg
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.mae import MAEConfig
from lie_ssl.methods.method import MethodConfig
from lie_ssl.methods.registry import method_config
from lie_ssl.methods.simclr import SimCLRConfig
from lie_ssl.methods.vicreg import VICRegConfig
from lie_ssl.objectives.registry import objective_config
from lie_ssl.serialization import suggestion
from lie_ssl.training.config import OptimConfig, PretrainConfig

PUBLISHED = ("mae", "vicreg", "simclr")
ARMS = ("alone", "frames", "literal", "lie", "lie_off")  # the objectives that all studies compare
# MAE's loss is small compared with InfoNCE between frames: at a weight of 1, finetuning gains nothing from it.
SMALL_SSL = {("mae", arm): 20.0 for arm in ARMS if arm != "alone"}
# A step of MAE is the cheapest. After 400 steps of VICReg, no arm had converged, least of all the operator.
SMALL_STEPS = {"mae": 1600, "vicreg": 800, "simclr": 400}


def operator_rate(arm: str) -> float:
    """The operator's learning rate relative to the common one. Rotations that start at integer speeds stay there; the
    paper's generators start at random and have to be learned."""
    return 1.0 if arm == "literal" else 0.01


def small_run(method: str = "mae", arm: str = "lie") -> PretrainConfig:
    """For a CPU: a small vision transformer, a few minutes per run."""
    # With 16 patches, a larger share must stay visible than with the paper's 196.
    settings = method_config(method, {"mask": 0.5} if method == "mae" else None)
    return PretrainConfig(
        method=settings, encoder=EncoderConfig(name="vit_mini"),
        objective=objective_config(arm, {"ssl": SMALL_SSL[method, arm]} if (method, arm) in SMALL_SSL else None),
        optim=OptimConfig(steps=SMALL_STEPS.get(method, 400), batch=64, lr=1e-3, operator_lr=operator_rate(arm)),
    )  # fmt: skip


def short_run(method: str, arm: str, steps: int) -> PretrainConfig:
    """The small recipe with fewer steps and a weight of 1 for the method's own loss: with 20 for MAE, the contrast
    between frames needs all steps."""
    config = small_run(method, arm)
    return replace(config, objective=replace(config.objective, ssl=1.0), optim=replace(config.optim, steps=steps))


def paper_run(method: str = "mae", arm: str = "literal") -> PretrainConfig:
    """The paper's sizes: ViT-B for MAE, ResNet-50 for VICReg and SimCLR, batches of 64, 100 epochs of 1,924 instances.

    Plain Adam at the middle one of the paper's three rates. Both encoders start from published weights; set
    encoder.weights.
    """
    steps = 100 * (52 * 37 // 64)
    optim = OptimConfig(steps=steps, batch=64, lr=5e-5, operator_lr=operator_rate(arm), weight_decay=0.0)
    settings: MethodConfig
    if method == "mae":
        encoder = EncoderConfig(name="vit_base_patch16_224")
        settings = MAEConfig(mask=0.75, decoder_dim=512, decoder_depth=8, decoder_heads=16, augment=crop_only())
    elif method == "vicreg":
        encoder = EncoderConfig(name="resnet50")
        settings = VICRegConfig(expander=(8192, 8192, 8192), augment=vicreg())
    elif method == "simclr":
        encoder = EncoderConfig(name="resnet50")
        settings = SimCLRConfig(projection=128, hidden=2048, augment=simclr())
    else:
        raise UserError(f"the paper has no method {method!r}{suggestion(method, list(PUBLISHED))}")
    weights = {"ssl": 10.0, "lie": 10.0, "euclidean": 1.0} if (method, arm) == ("simclr", "literal") else None
    objective = objective_config(arm, weights)
    return PretrainConfig(method=settings, encoder=encoder, objective=objective, optim=optim)


PRETRAIN_RECIPES = {"small": small_run, "paper": paper_run}


def pretrain_recipe(name: str, method: str, arm: str) -> PretrainConfig:
    """A recipe by its name."""
    if name not in PRETRAIN_RECIPES:
        raise UserError(f"there is no recipe {name!r}{suggestion(name, list(PRETRAIN_RECIPES))}")
    return PRETRAIN_RECIPES[name](method, arm)
