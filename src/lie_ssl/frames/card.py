"""The card of a data set (`card.json`): what is in the folder, how it was made, and the hash of every file.

It is written last, so a folder with a card is complete. It holds nothing that changes from run to run (no times, no
paths), so that two equal data sets have equal cards.
"""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.frames.shards import write_whole

FORMAT = 1
CARD, INDEX = "card.json", "index.parquet"


def versions() -> dict[str, str]:
    """Of everything that could change a pixel or a byte."""
    packages = ("numpy", "numba", "pillow", "pyarrow", "trimesh", "zstandard")
    return {"lie_ssl": lie_ssl.__version__, "python": platform.python_version()} | {
        p: metadata.version(p) for p in packages
    }


def file_hash(path: Path) -> str:
    """SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_card(folder: Path, card: dict[str, Any]) -> None:
    card = card | {"format": FORMAT}
    card["card_hash"] = card_hash(card)
    write_whole(folder / CARD, [json.dumps(card, indent=1, sort_keys=True).encode()])


def card_hash(card: dict[str, Any]) -> str:
    """Of everything in the card but this hash itself."""
    rest = {k: v for k, v in card.items() if k != "card_hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a complete data set; one clear sentence for anything else."""
    path = folder / CARD
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; make a data set with `lie-ssl data make demo --out {folder}`")
    if not path.exists():
        raise UserError(
            f"{folder} has no {CARD}: it is no data set, or it is being made, or making it was cut short; "
            "then run its command again"
        )
    try:
        card: dict[str, Any] = json.loads(path.read_text())
        found = card["format"]
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is damaged; make or copy the data set again") from error
    if found != FORMAT:
        raise UserError(
            f"{path} has format {found}, but lie_ssl {lie_ssl.__version__} reads format {FORMAT}; "
            "make the data set again or install the version that made it"
        )
    return card
