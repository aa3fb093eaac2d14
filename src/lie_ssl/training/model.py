"""Builds the model of a config, with weights that depend only on the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import torch

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator
from lie_ssl.methods.adapted import AdaptConfig, AdaptedEncoder, Head, feature_count
from lie_ssl.methods.draws import derive_seed
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureExtractor
from lie_ssl.methods.method import Method
from lie_ssl.methods.registry import create_method
from lie_ssl.methods.weights import load_weights
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.storage.limits import check_memory, gigabytes
from lie_ssl.training.config import PretrainConfig, import_paths
from lie_ssl.training.moving import moved_factor, reads_angles

USUAL = 512  # settings up to this size are assumed to fit


def build_model(
    config: PretrainConfig, size: int, channels: int, factors: Sequence[str] = ("pose",),
    extractor: FeatureExtractor | None = None, stored: Mapping[str, slice] | None = None,
) -> PairModel:  # fmt: skip
    """Builds the model for frames of the given size; the same seed gives the same encoder and heads in every arm.

    Args:
        config: Settings of the run.
        size, channels: Those of the frames.
        factors: Factors of variation.
        extractor: The frozen encoder of an adapted one; None to train its head on stored features.
        stored: The parts of the stored features, if there is no extractor.
    """
    for name, found in (("image_size", size), ("channels", channels)):
        if (given := getattr(config.encoder, name)) not in (None, found):
            raise UserError(
                f"encoder.{name} is {given}, but the frames of the data set have {found}; leave it out or make other "
                "frames"
            )
    check_model(config, size, channels, factors)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(config.seed, "weights"))
        if config.adapt is None:
            encoder = create_encoder(config.encoder, size, channels)
        else:
            dim = config.adapt.embedding(len(factors), config.objective.identity)
            identity = config.objective.identity_dims(dim)
            encoder = build_adapted(config.adapt, dim, identity, size, channels, extractor, stored)
        method = create_method(encoder, config.method)
        if config.encoder.parts:
            load_parts(encoder, method, config.encoder)
        return PairModel(method, config.objective, factors)


def set_speeds(operator: LieOperator | None, factors: Sequence[str], reaches: Sequence[float]) -> None:
    """Lets each factor say how fast its planes turn, given its largest move; for operators on unit vectors only."""
    if operator is None or operator.unit_norm is None or len(operator.shares) != len(factors):
        return
    operator.multiply_speeds([
        moved_factor(name).rate(reach) if reads_angles(operator, index) else 1.0
        for index, (name, reach) in enumerate(zip(factors, reaches, strict=True))
    ])  # fmt: skip


def build_adapted(
    config: AdaptConfig, dim: int, identity: int, size: int, channels: int, extractor: FeatureExtractor | None,
    stored: Mapping[str, slice] | None = None,
) -> AdaptedEncoder:  # fmt: skip
    """Builds an adapted encoder with a new head.

    Args:
        config: Settings of the head.
        dim, identity: Size of the embedding, and of its part that says what an object is.
        size, channels: Those of the frames.
        extractor, stored: As in :func:`build_model`.
    """
    slices = stored if extractor is None else extractor.slices
    assert slices is not None
    features = feature_count(slices)
    components = min(features, config.components or features)
    hidden = max(config.hidden, config.for_v().hidden)
    weights = hidden * (features + dim) + features * components + config.linear * components * identity
    check_memory(4 * weights, f"a head of {weights:.3g} weights", "use a smaller --adapt.hidden or --adapt.dim")
    return AdaptedEncoder(Head(slices, dim, identity, config), dim, size, channels, extractor)


def check_model(config: PretrainConfig, size: int, channels: int, factors: Sequence[str]) -> None:
    """Rejects a model whose weights do not fit into memory, before it is built.

    Its size is found by building it without storage; that is done only if some setting is large.
    """
    if config.adapt is not None:
        return  # the head is checked when it is built
    if max(_whole_numbers((config.method, config.objective)), default=0) <= USUAL or import_paths(config):
        return
    encoder = replace(config.encoder, weights=None, layout="auto", allow=(), parts=())
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            method = create_method(create_encoder(encoder, size, channels), config.method)
            model = PairModel(method, config.objective, factors)
    except RuntimeError as error:
        if "overflow" not in str(error):
            raise
        raise UserError(f"this model needs more than {gigabytes(2**63)}; make its parts smaller") from error
    count = sum(p.numel() for p in model.parameters())
    check_memory(4 * count, f"a model of {count:.3g} weights", "make its parts smaller")


def _whole_numbers(value: Any) -> Iterator[int]:
    """All whole numbers in settings, at any depth."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _whole_numbers(each)
    elif is_dataclass(value):
        yield from _whole_numbers(tuple(vars(value).values()))


def load_parts(encoder: Encoder, method: Method, config: EncoderConfig) -> None:
    """Loads the encoder's weight file again, with the requested parts of the method."""
    known = method.parts()
    if wrong := [name for name in config.parts if name not in known]:
        raise UserError(f"encoder.parts has {wrong[0]!r}, but this method has {', '.join(known) or 'none'}")
    if config.weights in (None, "timm"):
        raise UserError("encoder.parts needs a weight file: set encoder.weights to its path")
    wanted = {name: known[name] for name in config.parts}
    encoder.weight_report = load_weights(
        encoder, config.weights, layout=config.layout, allow=config.allow, parts=wanted
    )
