"""The card of a data set (`card.json`): its contents, how it was made, and the hash of every file.

It is written last, so a folder with a card is complete. It has no times or paths, so equal data sets have equal cards.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from pathlib import Path
from typing import Any

import lie_ssl
from lie_ssl.errors import UserError
from lie_ssl.extras import versions_of
from lie_ssl.storage.cards import CARD, Kinds, check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.paths import check_name

FORMAT = 1
INDEX = "index.parquet"
COUNTS = ("classes", "instances", "frames", "distinct_frames", "train", "validation", "test")
FIELDS: dict[str, Kinds] = {
    "recipe": str, "config_hash": str, "source": str, "size": int, "channels": int, "versions": dict, "counts": dict,
    "bytes_per_frame": (int, float), "licences": dict, "dropped": list, "files": dict, "card_hash": str,
}  # fmt: skip


def versions() -> dict[str, str]:
    """The versions of everything that could change a pixel or a byte."""
    packages = ("numpy", "numba", "pillow", "pyarrow", "trimesh", "zstandard")
    return {"lie_ssl": lie_ssl.__version__, "python": platform.python_version()} | versions_of(packages)


def write_card(folder: Path, card: dict[str, Any]) -> None:
    card = card | {"format": FORMAT}
    card["card_hash"] = card_hash(card)
    write_whole(folder / CARD, [json.dumps(card, indent=1, sort_keys=True).encode()])


def card_hash(card: dict[str, Any]) -> str:
    """The hash of everything in the card except the hash itself."""
    rest = {k: v for k, v in card.items() if k != "card_hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def read_card(folder: Path) -> dict[str, Any]:
    """Reads the card of a complete data set; anything else is a :class:`UserError`."""
    path = folder / CARD
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file, but a data set is a folder; give a folder made by `lie-ssl data`")
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}; make a data set with `lie-ssl data make demo --out {folder}`")
    if not path.exists():
        raise UserError(
            f"{folder} has no {CARD}, so it is not a data set or not finished; run the command again that makes it"
        )
    remedy = "make or copy the data set again"
    card = read_json(path, remedy)
    if card.get("kind") in ("pretraining", "evaluation"):
        raise UserError(f"{folder} is a run or an evaluation, not a data set; give a folder made by `lie-ssl data`")
    if "format" not in card:
        raise UserError(f"{path} is damaged; {remedy}")
    if (found := card["format"]) != FORMAT:
        raise UserError(
            f"{path} has format {found}, but lie_ssl {lie_ssl.__version__} reads format {FORMAT}; "
            "make the data set again or install the version that made it"
        )
    check_fields(card, FIELDS, str(path), remedy)
    check_fields(card["counts"], dict.fromkeys(COUNTS, int), f"{path}: counts", remedy)
    if not (1 <= card["size"] <= 4096 and card["channels"] in (1, 3)):
        raise UserError(f"{path} has an impossible picture size ({card['channels']} x {card['size']} px); {remedy}")
    if not re.fullmatch(r"[0-9a-f]{64}", card["card_hash"]):  # it becomes part of file names
        raise UserError(f"{path} has an invalid hash {card['card_hash']!r:.60}; {remedy}")
    for name in ("recipe", "source"):
        check_name(card[name], f"the {name}", f"in {path}")
    return card
