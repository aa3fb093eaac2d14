"""Pictures of any usual kind as the input of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.frames.loader import to_tensor
from lie_ssl.frames.pictures import EXTENSIONS, fit_picture, load_picture
from lie_ssl.methods.features import to_float

SLACK = 0.01  # how far floats may lie outside [0, 1], as after resampling


def picture_files(path: Path | str) -> list[Path]:
    """The picture files in a folder and its subfolders, sorted by name; for a file, the file itself."""
    path = Path(path)
    if path.is_file():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix.lower() in EXTENSIONS and p.is_file())
    if not found:
        raise UserError(f"{path} is not a picture file or a folder with pictures ({', '.join(EXTENSIONS)})")
    return found


def _square(picture: Image.Image | Path | str, size: int, grey: bool) -> NDArray[np.uint8]:
    if isinstance(picture, Image.Image):
        return fit_picture(picture, size, grey=grey)
    (path,) = picture_files(picture)
    return load_picture(path.read_bytes(), str(path), size, grey=grey)


def _grey(batch: Tensor) -> Tensor:
    """(N, 3, H, W) -> (N, 1, H, W): brightness with PIL's weights."""
    weights = torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)
    return (to_float(batch) * weights).sum(dim=1, keepdim=True)


def as_tensor(images: Any, size: int, channels: int) -> Tensor:
    """Converts pictures of any usual kind to (N, C, size, size)."""
    if isinstance(images, (str, Path)):
        images = picture_files(images)
    if isinstance(images, np.ndarray) and images.dtype.kind in "UO":  # file names or PIL pictures
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
            raise UserError(f"an array of pictures must be uint8 (N, H, W, C), not {array.dtype} {array.shape}")
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
        raise UserError(f"the encoder needs (N, {channels}, H, W), not a batch of shape {tuple(batch.shape)}")
    if batch.is_floating_point() and batch.numel() and not (batch.min() >= -SLACK and batch.max() <= 1 + SLACK):
        low, high = float(batch.min()), float(batch.max())
        raise UserError(f"float pictures must be in [0, 1], not {low:.3g} to {high:.3g}; rescale them or use uint8")
    if batch.shape[2] != batch.shape[3]:
        batch = _padded(batch)
    if batch.shape[2:] != (size, size):
        scaled = torch.nn.functional.interpolate(to_float(batch), (size, size), mode="bicubic", antialias=True)
        batch = scaled.clamp(0, 1)
    return batch


def _padded(batch: Tensor) -> Tensor:
    """(N, C, H, W) -> (N, C, S, S), S the longer side; padded with the colour of each picture's corner."""
    height, width = batch.shape[2:]
    side = max(height, width)
    page = batch[:, :, :1, :1].repeat(1, 1, side, side)
    top, left = (side - height) // 2, (side - width) // 2
    page[:, :, top : top + height, left : left + width] = batch
    return page
