"""Reads any picture file as a square array."""

from __future__ import annotations

import io
import warnings

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from lie_ssl.errors import UserError
from lie_ssl.storage.images import open_image

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff", ".gif")
MAX_PIXELS = 100_000_000


def load_picture(data: bytes, name: str, size: int, *, grey: bool = False) -> NDArray[np.uint8]:
    """Decodes a picture file to (size, size, 1 or 3).

    The picture is rotated according to its EXIF data, put on white where transparent, converted from 16 to 8 bits,
    scaled to fit into the square, and padded with the colour of its corner.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sizes are checked below, with our own message
            image: Image.Image = open_image(io.BytesIO(data))
            if image.width * image.height > MAX_PIXELS:
                raise UserError(f"{name} has {image.width} x {image.height} pixels, too many to read; shrink it")
            image.load()
        return fit_picture(image, size, grey=grey)
    except UserError:
        raise
    except Image.DecompressionBombError as error:
        raise UserError(f"{name} has far too many pixels to read; shrink it") from error
    except Exception as error:  # PIL raises many kinds; all mean that the file cannot be read
        reason = str(error) if "BytesIO" not in str(error) else "not a picture"
        raise UserError(f"cannot read the picture {name}: {reason or type(error).__name__}") from error


def fit_picture(image: Image.Image, size: int, *, grey: bool = False) -> NDArray[np.uint8]:
    """Converts a PIL picture to (size, size, 1 or 3), like :func:`load_picture`."""
    return squared(_eight_bits(ImageOps.exif_transpose(image)), size, grey)


def _eight_bits(image: Image.Image) -> Image.Image:
    """RGB with 8 bits per channel, on white where transparent."""
    if image.mode.startswith("I") or image.mode == "F":
        values = np.nan_to_num(np.asarray(image, np.float64))
        top = 65535.0 if values.max() > 255 else 255.0
        if image.mode == "F" and values.max() <= 1:
            top = 1.0
        return Image.fromarray(np.clip(values / top * 255, 0, 255).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")


def squared(image: Image.Image, size: int, grey: bool) -> NDArray[np.uint8]:
    """Scales a picture to fit into a square (size, size, 1 or 3)."""
    corner = image.getpixel((0, 0))
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    if max(image.size) < size:
        image = ImageOps.contain(image, (size, size), Image.Resampling.BICUBIC)
    page = Image.new("RGB", (size, size), corner)
    page.paste(image, ((size - image.width) // 2, (size - image.height) // 2))
    return np.asarray(page.convert("L"))[..., None] if grey else np.asarray(page)
