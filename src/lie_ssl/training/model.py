"""The model of a config, with weights that depend on the seed only."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from lie_ssl.errors import UserError
from lie_ssl.methods.draws import number
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.method import Method
from lie_ssl.methods.pair_model import PairModel
from lie_ssl.methods.registry import create_method
from lie_ssl.methods.weights import load_weights
from lie_ssl.training.config import PretrainConfig


def build_model(config: PretrainConfig, size: int, channels: int, factors: Sequence[str] = ("pose",)) -> PairModel:
    """For frames of the given size; the same seed gives the same encoder and heads in every arm."""
    for name, found in (("image_size", size), ("channels", channels)):
        if (given := getattr(config.encoder, name)) not in (0, found):
            raise UserError(
                f"encoder.{name} is {given}, but the frames of the data set have {found}; leave it at 0 or make other "
                "frames"
            )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number(config.seed, "weights"))
        encoder = create_encoder(config.encoder, size, channels)
        method = create_method(encoder, config.method)
        if config.encoder.parts:
            load_parts(encoder, method, config.encoder)
        return PairModel(method, config.objective, factors)


def load_parts(encoder: Encoder, method: Method, config: EncoderConfig) -> None:
    """Loads the encoder's weight file once more, with the wanted parts of the method."""
    known = method.parts()
    if wrong := [name for name in config.parts if name not in known]:
        raise UserError(f"encoder.parts has {wrong[0]!r}, but this method has {', '.join(known) or 'none'}")
    if config.weights in ("", "timm"):
        raise UserError("encoder.parts needs a weight file: set encoder.weights to its path")
    wanted = {name: known[name] for name in config.parts}
    encoder.weight_report = load_weights(
        encoder, config.weights, layout=config.layout, allow=config.allow, parts=wanted
    )
