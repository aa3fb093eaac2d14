"""Picture files of any sender: only formats that Pillow decodes by itself.

Pillow finds out the format by the content, whatever the name says, and starts Ghostscript for one of them (EPS).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from PIL import EpsImagePlugin, Image

FORMATS = ("PNG", "JPEG", "BMP", "DIB", "WEBP", "PPM", "TIFF", "GIF", "TGA")


def open_image(file: Path | IO[bytes]) -> Image.Image:
    """`PIL.Image.open` for these formats only."""
    return Image.open(file, formats=FORMATS)


@contextmanager
def without_ghostscript() -> Iterator[None]:
    """For libraries that open pictures themselves."""
    before = EpsImagePlugin.gs_binary
    EpsImagePlugin.gs_binary = False
    try:
        yield
    finally:
        EpsImagePlugin.gs_binary = before
