"""Checks the files of a data set against their hashes."""

from __future__ import annotations

from pathlib import Path

from lie_ssl.frames.card import card_hash, read_card
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.hashes import file_hash
from lie_ssl.storage.paths import inside


def verify(folder: Path | str) -> list[str]:
    """Checks every file of a data set against the hashes in its card.

    Args:
        folder: The data set.

    Returns:
        One sentence for each file that has changed, is missing or does not belong there.
    """
    folder = Path(folder)
    card = read_card(folder)
    files: dict[str, str] = card["files"]
    problems = [] if card.get("card_hash") == card_hash(card) else [f"{CARD} has changed"]
    for name, digest in files.items():
        path = inside(folder, name)
        if not path.is_file():
            problems.append(f"{name} is missing")
        elif file_hash(path) != digest:
            problems.append(f"{name} has changed")
    known = {CARD, *files}
    problems += [f"{p.name} does not belong" for p in sorted(folder.glob("frames-*.bin")) if p.name not in known]
    return problems
