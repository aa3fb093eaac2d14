"""Loads the encoder and the operator of a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.frames.turned import FLAT, in_circle, turned, turned_copies
from lie_ssl.lie import LieOperator, OperatorConfig
from lie_ssl.methods.adapted import AdaptConfig, AdaptedEncoder
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.extractor import FeatureExtractor, as_encoder
from lie_ssl.methods.features import to_float
from lie_ssl.migration import migrate
from lie_ssl.objectives.base import as_user_errors
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.serialization import from_plain
from lie_ssl.storage.cards import check_fields
from lie_ssl.storage.trust import check_trust
from lie_ssl.training.banked import frozen_state, read_frozen
from lie_ssl.training.checkpoints import BEST, LAST, last_line, model_state, read_checkpoint
from lie_ssl.training.config import INSTEAD, PretrainConfig, load_config
from lie_ssl.training.folder import CONFIG, read_run_card
from lie_ssl.training.model import build_adapted, build_model
from lie_ssl.training.moving import (
    Found,
    Move,
    Pose,
    Rotation,
    check_reaches,
    check_rotational,
    factor_index,
    find,
    moved_factor,
    named_move,
    read_angle,
    read_pose,
    read_rotation,
    rotate,
    turn,
)
from lie_ssl.training.pictures import as_tensor
from lie_ssl.training.upright import Upright, angle_posterior, best_angle

Which = Literal["last", "best"]
WEIGHTS = "model.safetensors"  # of a saved model's folder
SIZES = ("image_size", "channels")


@dataclass(frozen=True, eq=False)
class Loaded:
    """A trained encoder in eval mode, with its operator if it has one."""

    encoder: Encoder
    operator: LieOperator | None
    config: PretrainConfig | None = None
    card: dict[str, Any] | None = None
    model: PairModel | None = None
    factors: tuple[str, ...] = ()  # kinds of pose that have their own columns of delta
    settings: EncoderConfig | None = None  # of the (frozen) encoder, if it comes from a file and not from a run
    reaches: tuple[float, ...] = ()  # the largest move of each factor in the training data; empty for half a turn each
    folder: Path | None = None  # of the run

    @torch.no_grad()
    def embed(self, images: Any, batch: int = 256) -> Tensor:
        """Computes embeddings.

        Pictures of another size are scaled to fit into the square and padded with the colour of their corner. Colours
        are converted to grey, or grey to three channels, as the encoder needs.

        Args:
            images: PIL pictures, uint8 arrays (N, H, W, C), (H, W, C) or grey (N, H, W), tensors (N, C, H, W) in
                [0, 1] or uint8, paths of picture files, lists of these, or folders.
            batch: Batch size.

        Returns:
            The embeddings (N, M).
        """
        pictures = as_tensor(images, self.encoder.image_size, self.encoder.channels)
        device = next(self.encoder.parameters()).device
        parts = [self.encoder(to_float(part, device)).cpu() for part in pictures.split(batch)]
        return torch.cat(parts) if parts else torch.zeros(0, self.encoder.dim)

    def identity(self, z: Tensor) -> Tensor:
        """The part u of embeddings (N, M) that says what an object is, whatever its pose; all of z without an
        operator."""
        return z if self.operator is None or not self.operator.fixed else z[:, : self.operator.fixed]

    def pose(self, first: Any, second: Any, factor: str | None = None) -> Pose:
        """Reads how far objects turned, or how another factor changed.

        Args:
            first, second: Pictures of the same objects, of any kind that :meth:`embed` takes, or embeddings (N, M).
            factor: The kind of pose or factor of variation (see `factors`); not needed if there is only one.

        Example:
            >>> model.pose("mug_a.png", "mug_b.png").degrees                   # doctest: +SKIP
            tensor([84.1])
            >>> model.pose("mug_a.png", "mug_b.png", factor="scale").value     # doctest: +SKIP
            tensor([0.7])
        """
        index = factor_index(self.operator, self.factors, factor)
        assert self.operator is not None
        z, z_next = self._embeddings(first), self._embeddings(second)
        if len(z) != len(z_next):
            raise UserError(f"there are {len(z)} first and {len(z_next)} second pictures; give as many of both")
        reach = self.reaches[index] if self.reaches else math.pi
        return read_pose(self.operator, z, z_next, index, moved_factor(self.factors[index]), reach)

    def angle(self, pictures: Any, factor: str | None = None) -> Pose:
        """Reads how far single pictures are turned from the typical pose, such as upright.

        The model must have been trained with `--objective.anchor`. If `second_error` is close to `error`, the second
        angle is nearly as likely.

        Args:
            pictures: Pictures of any kind that :meth:`embed` takes, or embeddings (N, M).
            factor: The kind of pose; not needed if there is only one.

        Example:
            >>> model.angle("tilted.jpg").degrees                              # doctest: +SKIP
            tensor([-37.5])
        """
        index = factor_index(self.operator, self.factors, factor)
        assert self.operator is not None
        return read_angle(self.operator, self._embeddings(pictures), index, moved_factor(self.factors[index]))

    def upright(self, pictures: Any, turns: int = 8, sharpness: float = 2.0) -> Upright:
        """Turns rotated pictures upright, by the angle on which several turned copies of each agree best.

        Args:
            pictures: Pictures of any kind that :meth:`embed` takes.
            turns: Number of copies; each is embedded.
            sharpness: See :func:`lie_ssl.training.upright.angle_posterior`.
        """
        index = factor_index(self.operator, self.factors, FLAT)
        assert self.operator is not None
        given = as_tensor(pictures, self.encoder.image_size, self.encoder.channels)
        shown = (given * 255).round().byte() if given.is_floating_point() else given
        arrays = shown.permute(0, 2, 3, 1).numpy()
        copies = turned_copies(arrays, turns)
        z = self.embed(copies.reshape(-1, *copies.shape[2:])).unflatten(0, (len(copies), turns))
        read_angle(self.operator, z[:, 0], index, moved_factor(FLAT))  # checks the operator
        degrees, probability = best_angle(angle_posterior(self.operator, z, index, sharpness=sharpness), turns)
        back = [in_circle(turned(p, -float(a))) for p, a in zip(arrays, degrees, strict=True)]
        return Upright(np.stack(back), degrees, probability)

    def turn(
        self, z: Any, degrees: Move | None = None, factor: str | None = None, *, value: Move | None = None
    ) -> Tensor:
        """The embeddings of turned objects, or of objects that another factor changed.

        Args:
            z: Embeddings (N, M), or pictures.
            degrees: How far; one angle, or one for each.
            factor: As in :meth:`pose`.
            value: The move in the unit of the factor, instead of degrees: for scale, the ratio of sizes.
        """
        index = factor_index(self.operator, self.factors, factor)
        assert self.operator is not None
        moved = moved_factor(self.factors[index])
        move, name = named_move(moved, degrees, value)
        return turn(self.operator, self._embeddings(z), move, index, moved, name)

    def rotation(self, first: Any, second: Any) -> Rotation:
        """Reads how objects turned in space, with a model of the objective `rotations`.

        Args:
            first, second: As in :meth:`pose`.

        Example:
            >>> model.rotation("camera_a.png", "camera_b.png").degrees          # doctest: +SKIP
            tensor([[12.0, -84.1, 3.3]])
        """
        operator = check_rotational(self.operator)
        z, z_next = self._embeddings(first), self._embeddings(second)
        if len(z) != len(z_next):
            raise UserError(f"there are {len(z)} first and {len(z_next)} second pictures; give as many of both")
        return read_rotation(operator, z, z_next)

    def rotate(self, z: Any, rotation: Sequence[float] | Tensor) -> Tensor:
        """The embeddings of objects turned in space, with a model of the objective `rotations`.

        Args:
            z: Embeddings (N, M), or pictures.
            rotation: Rotation vectors in camera axes, in degrees: (3,), or (N, 3).
        """
        return rotate(check_rotational(self.operator), self._embeddings(z), rotation)

    def find(
        self, query: Any, gallery: Any, degrees: Move | None = None, factor: str | None = None, k: int = 10, *,
        value: Move | None = None,
    ) -> Found:  # fmt: skip
        """Finds the pictures that show an object turned by an angle, or changed in another factor.

        Args:
            query: Pictures or embeddings of the object.
            gallery: Pictures or embeddings to search.
            degrees: How far the object shall have turned; by default not at all.
            factor: As in :meth:`pose`.
            k: How many pictures to return.
            value: As in :meth:`turn`.
        """
        index = factor_index(self.operator, self.factors, factor)
        assert self.operator is not None
        queries = self._embeddings(query)
        if degrees is not None or value is not None:
            queries = self.turn(queries, degrees, factor, value=value)
        return find(self.operator, queries, self._embeddings(gallery), index, k)

    def _embeddings(self, given: Any) -> Tensor:
        """Embeddings (N, M) as they are; pictures are embedded."""
        if isinstance(given, Tensor) and given.ndim == 2 and given.is_floating_point():
            if given.shape[1] != self.encoder.dim:
                raise UserError(f"embeddings must have {self.encoder.dim} dimensions, not {given.shape[1]}")
            return given
        return self.embed(given)

    def save_pretrained(self, folder: Path | str) -> Path:
        """Writes the encoder and the operator to a folder for `lie_ssl.from_pretrained`."""
        from lie_ssl.training.pretrained import save_pretrained

        return save_pretrained(self, folder)


def load(
    run: Path | str, which: Which = "last", trust: Collection[str] = (), encoder: nn.Module | None = None
) -> Loaded:
    """Loads the encoder and the operator of a run or of a saved model, or the encoder of an exported file.

    Args:
        run: The folder of a run or of a saved model, or an exported .safetensors file. Nothing in it is executed.
        which: The last checkpoint of a run, or the best one on the validation set.
        trust: Import paths (`package.module:Class`) that it may name for its encoder or its method. Importing runs
            code: give only names that you trust.
        encoder: The module that was adapted, if it was given from Python; its weights are replaced by those there, and
            it is frozen.

    Example:
        >>> model = lie_ssl.load("runs/mae_lie")                # doctest: +SKIP
        >>> z = model.embed("photos")                           # doctest: +SKIP
    """
    path = Path(run)
    if path.is_file():
        return _load_file(path, trust, encoder)
    if not path.exists():
        raise UserError(f"there is no run {path}; make one with `lie-ssl pretrain`")
    if (path / WEIGHTS).exists():
        from lie_ssl.training.pretrained import from_pretrained

        return from_pretrained(path, trust, encoder)
    card = read_run_card(path)
    config = load_config(path / CONFIG, trust, builds=encoder is None)
    # The run holds all weights; the file from which they started may be gone.
    settings = replace(config.encoder, weights=None, layout="auto", allow=(), parts=(), pool=card["pool"])
    extractor = None if config.adapt is None else read_frozen(path, encoder or settings, config.adapt, card)
    model = build_model(
        replace(config, encoder=settings), card["size"], card["channels"], card["factors"], extractor
    )  # fmt: skip
    if which not in ("last", "best"):
        raise UserError(f"there is no checkpoint {which!r}; there are last and best")
    checkpoint = read_checkpoint(path / (LAST if which == "last" else BEST))
    for name, own in (("method", config.subject), ("arm", config.arm), ("seed", config.seed)):
        if card[name] != own:
            words = f"the card of {path} has {name} {card[name]!r}, but its config {own!r}"
            raise UserError(f"{words}; copy the run again")
    if checkpoint["lie_ssl"]["method"] != config.method.name:
        found = checkpoint["lie_ssl"]["method"]
        raise UserError(f"the checkpoint in {path} is from {found}, but its config has {config.method.name}")
    try:
        model.load_state_dict(frozen_state(extractor) | model_state(checkpoint))  # may have trained stages
    except RuntimeError as error:
        raise UserError(f"the checkpoint in {path} does not fit its config: {last_line(error)}") from error
    model.eval()
    reaches = check_reaches(card.get("reaches"), card["factors"], f"the card of {path}", "copy the run again")
    return Loaded(
        model.method.encoder, model.operator, config, card, model, tuple(card["factors"]), reaches=reaches, folder=path
    )  # fmt: skip


def _load_file(path: Path, trust: Collection[str], module: nn.Module | None) -> Loaded:
    from lie_ssl.training.export import read_export

    settings, state = read_export(path)
    encoder = build_encoder(settings, str(path), trust, module)
    try:
        encoder.load_state_dict(state)
    except RuntimeError as error:
        raise UserError(f"the weights in {path} do not fit its settings: {last_line(error)}") from error
    encoder.eval()
    return Loaded(encoder, None, settings=encoder_config(migrate("encoder", settings, str(path))))


def build_encoder(settings: Any, where: str, trust: Collection[str], module: nn.Module | None = None) -> Encoder:
    """Builds the encoder from a file's settings (:func:`lie_ssl.training.export.settings`), with random weights; or
    from a module, if the user gives one."""
    if not isinstance(settings, dict):
        raise UserError(f"{where} has no encoder settings; export or save the model again")
    missing = [name for name in ("name", "patch_size", "pool", "options", *SIZES) if name not in settings]
    if missing:
        raise UserError(f"{where} lacks the encoder's {missing[0]}; export or save the model again")
    if module is None:
        check_trust(settings["name"], f"{where}: encoder.name", trust, INSTEAD if "adapt" in settings else "")
    settings = migrate("encoder", settings, where)
    config = encoder_config(settings, f"{where}: encoder")
    for name in SIZES:
        if getattr(config, name) is None:
            raise UserError(f"{where}: encoder.{name} is missing; export or save the model again")
    assert config.image_size is not None
    assert config.channels is not None
    sizes = config.image_size, config.channels
    encoder = create_encoder(config, *sizes) if module is None else as_encoder(module, *sizes)
    if "adapt" in settings:
        encoder = _with_head(encoder, settings, where)
    if "output" in settings:
        encoder.output = _output(encoder.dim, settings["output"], f"{where}: output")
    return encoder


def encoder_config(settings: Mapping[str, Any], where: str = "encoder") -> EncoderConfig:
    """The config of the encoder in a file's settings; for an adapted encoder, that of the frozen one."""
    names = ("name", "patch_size", "pool", "options", *SIZES)
    return from_plain(EncoderConfig, {name: settings[name] for name in names if name in settings}, where)


def _with_head(encoder: Encoder, settings: Mapping[str, Any], where: str) -> AdaptedEncoder:
    """Adds a head with random weights to a frozen encoder."""
    config = from_plain(AdaptConfig, settings["adapt"], f"{where}: adapt")
    dim = settings.get("dim")
    if not isinstance(dim, int) or dim < 1:
        raise UserError(f"{where} lacks the size of the embedding; export or save the model again")
    identity = settings.get("identity")
    if not isinstance(identity, int) or not 0 <= identity <= dim:
        raise UserError(f"{where} lacks the size of the identity part; export or save the model again")
    extractor = FeatureExtractor(encoder, config.features)
    return build_adapted(config, dim, identity, encoder.image_size, encoder.channels, extractor)


def _output(dim: int, settings: Any, where: str) -> nn.Module | None:
    """The last layer of an encoder, which its operator defines."""
    check_fields(settings, {"operator": dict, "factors": list}, where, "export or save the model again")
    config = from_plain(OperatorConfig, settings["operator"], f"{where}.operator")
    with as_user_errors(f"{where}: "):
        return config.build(dim, settings["factors"]).normalisation()
