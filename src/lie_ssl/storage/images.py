"""Picture files from untrusted sources: only formats that Pillow decodes by itself.

Pillow detects the format by the content, whatever the file name, and starts Ghostscript for one of them (EPS).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from PIL import EpsImagePlugin, Image

FORMATS = ("PNG", "JPEG", "BMP", "DIB", "WEBP", "PPM", "TIFF", "GIF", "TGA")


def open_image(file: Path | IO[bytes]) -> Image.Image:
    """`PIL.Image.open`, restricted to safe formats."""
    return Image.open(file, formats=FORMATS)


@contextmanager
def without_ghostscript() -> Iterator[None]:
    """Disables Ghostscript, for libraries that open pictures themselves."""
    before = EpsImagePlugin.gs_binary
    EpsImagePlugin.gs_binary = False
    try:
        yield
    finally:
        EpsImagePlugin.gs_binary = before
