"""The card of a bank of features: what was computed from what. Its hash is the name of the bank's folder."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.augment import AugmentConfig
from lie_ssl.methods.extractor import FeatureExtractor
from lie_ssl.methods.hashing import encoder_hash
from lie_ssl.serialization import check_numbers, first_difference, to_plain
from lie_ssl.storage.cards import CARD, Kinds, check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.hashes import digest

FORMAT = 2
KIND = "bank"
BLOCK = 64  # frames that are computed and stored together
MOST_VIEWS = 64
FIELDS: dict[str, Kinds] = {
    "format": int, "encoder": dict, "layers": list, "grid": int, "channels_per_map": int, "slices": dict, "data": str,
    "frames": int, "size": int, "channels": int, "views": dict, "dim": int, "dtype": str, "block": int, "key": str,
    "finished": bool,
}  # fmt: skip
OUTSIDE = ("kind", "key", "finished")  # fields of a card that are not in its hash


@dataclass(frozen=True)
class ViewConfig:
    """Augmented views of each frame that are banked beside the frame itself."""

    count: int = 0
    """Number of views of each frame."""
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    """Settings of the views."""
    seed: int = 0
    """Seed of the views; that of each view also depends on its frame and number."""

    def __post_init__(self) -> None:
        check_numbers(self, "views")
        if not isinstance(self.count, int) or not 0 <= self.count <= MOST_VIEWS:
            raise UserError(f"views.count is {self.count!r}, but it must be a whole number from 0 to {MOST_VIEWS}")


def describe(extractor: FeatureExtractor, frames: FrameSet, views: ViewConfig) -> dict[str, Any]:
    """Everything on which the features depend, as plain values."""
    return {
        "format": FORMAT,
        **describe_extractor(extractor),
        "data": frames.card["card_hash"],
        "frames": len(frames),
        "size": frames.size,
        "channels": frames.channels,
        "views": to_plain(views) if views.count else {"count": 0},  # without views, their settings do not matter
        "dtype": "float16",
        "block": BLOCK,
    }


def describe_extractor(extractor: FeatureExtractor) -> dict[str, Any]:
    """The part of the description that does not depend on the data."""
    encoder = extractor.encoder
    return {
        "encoder": {"network": type(encoder.body).__name__, "hash": encoder_hash(encoder)},
        "layers": list(extractor.layers),
        "grid": extractor.grid,
        "channels_per_map": extractor.channels,
        "slices": {name: [part.start, part.stop] for name, part in extractor.slices.items()},
        "dim": extractor.dim,
    }


def bank_key(description: dict[str, Any]) -> str:
    """The name of the bank's folder, 12 hex digits."""
    return digest(description)


def write_bank_card(folder: Path, description: dict[str, Any], finished: bool) -> None:
    """Writes the card, atomically."""
    card = {"kind": KIND, **description, "key": bank_key(description), "finished": finished}
    write_whole(folder / CARD, [json.dumps(card, indent=1).encode()])


def read_bank_card(folder: Path) -> dict[str, Any]:
    """Reads and checks the card of a bank, finished or not."""
    path, remedy = folder / CARD, remedy_for(folder)
    try:
        card = read_json(path, remedy)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{folder} is not a bank of features: it has no {CARD}; give another folder") from None
    if card.get("kind") != KIND:
        raise UserError(f"{folder} is not a bank of features; give another folder")
    if card.get("format") != FORMAT:
        raise UserError(f"{path} has format {card.get('format')!r:.20}, but this version reads {FORMAT}; {remedy}")
    check_fields(card, FIELDS, str(path), remedy)
    described = {name: value for name, value in card.items() if name not in OUTSIDE}
    if card["key"] != bank_key(described):
        raise UserError(f"{path} has been changed or is damaged; {remedy}")
    check_fields(card["views"], {"count": int}, f"{path}: views", remedy)
    if card["frames"] < 1 or card["dim"] < 1 or card["views"]["count"] < 0:
        raise UserError(f"{path} has an impossible number of frames, features or views; {remedy}")
    return card


def check_same(folder: Path, card: dict[str, Any], wanted: dict[str, Any], remedy: str) -> None:
    """Rejects a bank whose card differs from what is wanted, in any of the wanted fields."""
    found = {name: card.get(name) for name in wanted}
    # The other fields determine these, and say more.
    if why := first_difference(found, json.loads(json.dumps(wanted)), ignore=("dim", "slices")):
        raise UserError(f"{folder} has the features of another encoder or data set ({why}); {remedy}")


def remedy_for(folder: Path) -> str:
    """What to do about a damaged bank, as the end of a sentence."""
    return f"delete {folder} and run the same command again, which computes the features anew"
