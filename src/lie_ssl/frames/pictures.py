"""Any picture file -> a square array, or one sentence that names the file."""

from __future__ import annotations

import io
import warnings

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from lie_ssl.errors import UserError
from lie_ssl.storage.images import open_image

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff", ".gif")
MOST_PIXELS = 100_000_000


def load_picture(data: bytes, name: str, size: int, *, grey: bool = False) -> NDArray[np.uint8]:
    """The bytes of a picture file -> (size, size, 1 or 3).

    Turned as its EXIF says, transparent parts on white, 16 bits to 8, and fitted whole into the square: what is left
    over takes the colour of the picture's corner.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the sizes are checked below, with a sentence of our own
            image: Image.Image = open_image(io.BytesIO(data))
            if image.width * image.height > MOST_PIXELS:
                raise UserError(f"{name} has {image.width} x {image.height} pixels, too many to read; make it smaller")
            image.load()
        return fit_picture(image, size, grey=grey)
    except UserError:
        raise
    except Image.DecompressionBombError as error:
        raise UserError(f"{name} has far too many pixels to read; make it smaller") from error
    except Exception as error:  # PIL raises many kinds; all mean that the file cannot be read
        reason = str(error) if "BytesIO" not in str(error) else "not a picture"
        raise UserError(f"cannot read the picture {name}: {reason or type(error).__name__}") from error


def fit_picture(image: Image.Image, size: int, *, grey: bool = False) -> NDArray[np.uint8]:
    """A picture of PIL -> (size, size, 1 or 3), as :func:`load_picture` does it."""
    return squared(_eight_bits(ImageOps.exif_transpose(image)), size, grey)


def _eight_bits(image: Image.Image) -> Image.Image:
    """RGB with 8 bits a channel, on white where it was transparent."""
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
    """A picture -> (size, size, 1 or 3), fitted whole into the square."""
    corner = image.getpixel((0, 0))
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    if max(image.size) < size:
        image = ImageOps.contain(image, (size, size), Image.Resampling.BICUBIC)
    page = Image.new("RGB", (size, size), corner)
    page.paste(image, ((size - image.width) // 2, (size - image.height) // 2))
    return np.asarray(page.convert("L"))[..., None] if grey else np.asarray(page)
