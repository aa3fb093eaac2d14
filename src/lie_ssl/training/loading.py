"""What comes out of a run: its encoder and its operator, ready for use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames.loader import to_tensor
from lie_ssl.frames.pictures import EXTENSIONS, fit_picture, load_picture
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.features import to_float
from lie_ssl.migration import migrate
from lie_ssl.objectives.pair_model import PairModel
from lie_ssl.serialization import from_plain
from lie_ssl.storage.trust import check_trust
from lie_ssl.training.checkpoints import BEST, LAST, last_line, model_state, read_checkpoint
from lie_ssl.training.config import PretrainConfig, load_config
from lie_ssl.training.folder import CONFIG, read_run_card
from lie_ssl.training.model import build_model

Which = Literal["last", "best"]
WEIGHTS = "model.safetensors"  # of a saved model's folder
SIZES = ("image_size", "channels")
SLACK = 0.01  # how far floats may lie outside of 0 to 1, as they do after resampling


@dataclass(frozen=True, eq=False)
class Loaded:
    """A trained encoder in eval mode, with its operator where it has one."""

    encoder: Encoder
    operator: LieOperator | None
    config: PretrainConfig | None = None
    card: dict[str, Any] | None = None
    model: PairModel | None = None
    factors: tuple[str, ...] = ()  # kinds of pose that are columns of delta of their own

    @torch.no_grad()
    def embed(self, images: Any, batch: int = 256) -> Tensor:
        """Pictures -> (N, M). Takes PIL pictures, uint8 arrays (N, H, W, C), (H, W, C) or grey (N, H, W), tensors
        (N, C, H, W) in [0, 1] or uint8, paths of picture files, lists of these, and folders (see
        :func:`picture_files`). Pictures of another size are scaled and fitted whole into the square, with the colour of
        their corner around them; colours become grey (or grey three channels) where the encoder wants it."""
        pictures = as_tensor(images, self.encoder.image_size, self.encoder.channels)
        device = next(self.encoder.parameters()).device
        parts = [self.encoder(to_float(part, device)).cpu() for part in pictures.split(batch)]
        return torch.cat(parts) if parts else torch.zeros(0, self.encoder.dim)

    def save_pretrained(self, folder: Path | str) -> Path:
        """Writes encoder and operator into a folder for `lie_ssl.from_pretrained`."""
        from lie_ssl.training.pretrained import save_pretrained

        return save_pretrained(self, folder)


def load(run: Path | str, which: Which = "last", trust: Collection[str] = ()) -> Loaded:
    """The encoder and the operator of a run's folder or of a saved model's, or the encoder of an exported .safetensors
    file.

    Args:
        run: The folder or the file. Nothing in it is executed.
        which: The last checkpoint of a run, or the one that was best on validation.
        trust: Import paths (`package.module:Class`) that it may name for its encoder or its method. Importing runs
            code: give only names that you know.
    """
    path = Path(run)
    if path.is_file():
        return _load_file(path, trust)
    if not path.exists():
        raise UserError(f"there is no run {path}; make one with `lie-ssl pretrain`")
    if (path / WEIGHTS).exists():
        from lie_ssl.training.pretrained import from_pretrained

        return from_pretrained(path, trust)
    card = read_run_card(path)
    config = load_config(path / CONFIG, trust)
    # The checkpoint holds all weights; the file they first came from need not be here any more.
    encoder = replace(config.encoder, weights=None, layout="auto", allow=(), parts=(), pool=card["pool"])
    model = build_model(replace(config, encoder=encoder), card["size"], card["channels"], card["factors"])
    if which not in ("last", "best"):
        raise UserError(f"there is no checkpoint {which!r}; there are last and best")
    checkpoint = read_checkpoint(path / (LAST if which == "last" else BEST))
    for name, own in (("method", config.method.name), ("arm", config.arm), ("seed", config.seed)):
        if card[name] != own:
            words = f"the card of {path} says that its {name} is {card[name]!r}, its config {own!r}"
            raise UserError(f"{words}; copy the run again")
    if checkpoint["lie_ssl"]["method"] != config.method.name:
        found = checkpoint["lie_ssl"]["method"]
        raise UserError(f"the checkpoint in {path} is of {found}, but its config says {config.method.name}")
    try:
        model.load_state_dict(model_state(checkpoint))
    except RuntimeError as error:
        raise UserError(f"the checkpoint in {path} does not fit its config: {last_line(error)}") from error
    model.eval()
    return Loaded(model.method.encoder, model.operator, config, card, model, tuple(card["factors"]))


def _load_file(path: Path, trust: Collection[str]) -> Loaded:
    from lie_ssl.training.export import read_export

    settings, state = read_export(path)
    encoder = build_encoder(settings, str(path), trust)
    try:
        encoder.load_state_dict(state)
    except RuntimeError as error:
        raise UserError(f"the weights in {path} do not fit its settings: {last_line(error)}") from error
    encoder.eval()
    return Loaded(encoder, None)


def build_encoder(settings: Any, where: str, trust: Collection[str]) -> Encoder:
    """The encoder of a file's own settings, as :func:`lie_ssl.training.export.settings` writes them; random weights."""
    if not isinstance(settings, dict):
        raise UserError(f"{where} has no settings of an encoder; export or save the model again")
    missing = [name for name in ("name", "patch_size", "pool", "options", *SIZES) if name not in settings]
    if missing:
        raise UserError(f"{where} lacks the encoder's {missing[0]}; export or save the model again")
    check_trust(settings["name"], f"{where}: encoder.name", trust)
    settings = migrate("encoder", settings, where)
    names = ("name", "patch_size", "pool", "options", *SIZES)
    config = from_plain(EncoderConfig, {name: settings[name] for name in names}, f"{where}: encoder")
    for name in SIZES:
        if getattr(config, name) is None:
            raise UserError(f"{where}: encoder.{name} is missing; export or save the model again")
    assert config.image_size is not None
    assert config.channels is not None
    return create_encoder(config, config.image_size, config.channels)


def picture_files(path: Path | str) -> list[Path]:
    """The picture files of a folder and those inside it, sorted by name; or the one file."""
    path = Path(path)
    if path.is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix.lower() in EXTENSIONS and p.is_file())
    if not found:
        raise UserError(f"there is no picture file {path}, and no folder with pictures ({', '.join(EXTENSIONS)})")
    return found


def _square(picture: Image.Image | Path | str, size: int, grey: bool) -> NDArray[np.uint8]:
    if isinstance(picture, Image.Image):
        return fit_picture(picture, size, grey=grey)
    (path,) = picture_files(picture)
    return load_picture(path.read_bytes(), str(path), size, grey=grey)


def _grey(batch: Tensor) -> Tensor:
    """(N, 3, H, W) -> (N, 1, H, W) by brightness, as PIL weights it."""
    weights = torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)
    return (to_float(batch) * weights).sum(dim=1, keepdim=True)


def as_tensor(images: Any, size: int, channels: int) -> Tensor:
    """Pictures of any usual kind -> (N, C, size, size)."""
    if isinstance(images, (str, Path)):
        images = picture_files(images)
    if isinstance(images, np.ndarray) and images.dtype.kind in "UO":  # file names, or pictures of PIL
        images = images.tolist()
    if isinstance(images, Tensor):
        batch = images
        if images.ndim == 3:
            batch = images[None] if images.shape[0] in (1, 3) else images[:, None]
    elif isinstance(images, np.ndarray):
        array = images
        if images.ndim == 3:
            array = images[None] if images.shape[-1] in (1, 3) else images[..., None]
        if array.ndim != 4 or array.dtype != np.uint8:
            raise UserError(f"an array of pictures is uint8 and (N, H, W, C), not {array.dtype} {array.shape}")
        batch = to_tensor(array.copy())
    else:
        pictures: Sequence[Any] = [images] if isinstance(images, Image.Image) else list(images)
        if not pictures:
            return torch.zeros(0, channels, size, size)
        if not all(isinstance(p, (Image.Image, str, Path)) for p in pictures):
            return torch.cat([to_float(as_tensor(p, size, channels)) for p in pictures])
        return to_tensor(np.stack([_square(p, size, grey=channels == 1) for p in pictures]))
    if batch.ndim == 4 and (batch.shape[1], channels) in ((1, 3), (3, 1)):
        batch = batch.expand(-1, 3, -1, -1) if channels == 3 else _grey(batch)
    if batch.ndim != 4 or batch.shape[1] != channels:
        raise UserError(f"the encoder takes pictures of {channels} channels, not a batch of {tuple(batch.shape)}")
    if batch.is_floating_point() and batch.numel() and not (batch.min() >= -SLACK and batch.max() <= 1 + SLACK):
        low, high = float(batch.min()), float(batch.max())
        raise UserError(f"pictures of floats lie in 0 to 1, not in {low:.3g} to {high:.3g}; scale them, or give uint8")
    if batch.shape[2] != batch.shape[3]:
        batch = _padded(batch)
    if batch.shape[2:] != (size, size):
        scaled = torch.nn.functional.interpolate(to_float(batch), (size, size), mode="bicubic", antialias=True)
        batch = scaled.clamp(0, 1)
    return batch


def _padded(batch: Tensor) -> Tensor:
    """(N, C, H, W) -> (N, C, S, S), S the longer side; the rest takes the colour of each picture's corner."""
    height, width = batch.shape[2:]
    side = max(height, width)
    page = batch[:, :, :1, :1].repeat(1, 1, side, side)
    top, left = (side - height) // 2, (side - width) // 2
    page[:, :, top : top + height, left : left + width] = batch
    return page
