"""The life of a data set's folder: claimed with a recipe, filled shard by shard, finished with an index and a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames.card import INDEX, versions, write_card
from lie_ssl.frames.index import InstanceRows, build_index, write_index
from lie_ssl.objects.sources.base import Dropped
from lie_ssl.objects.textures import printable
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.hashes import digest, file_hash
from lie_ssl.storage.locks import folder_lock
from lie_ssl.storage.tables import write_table

RECIPE, LEFT_OUT = "recipe.json", "left_out.csv"


def config_hash(config: dict[str, Any]) -> str:
    """Twelve hex digits; equal for equal configs."""
    return digest(config)


def check_folder(folder: Path, config: dict[str, Any]) -> bool:
    """Refuses a folder that holds something else than this config's data set; True if it is finished already."""
    try:
        entries = sorted(p.name for p in folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise UserError(f"cannot use the folder {folder}: {error.strerror}; choose another --out") from error
    mine = config_hash(config)
    for name in (CARD, RECIPE):
        if name in entries:
            found = _hash_in(folder / name)
            if found != mine:
                raise UserError(f"{folder} holds another data set (recipe {found}, not {mine}); choose another --out")
            return name == CARD
    strangers = [name for name in entries if not name.startswith(".")]
    if strangers:
        raise UserError(f"{folder} holds other files ({', '.join(strangers[:3])}); choose an empty folder")
    return False


@contextmanager
def removed_if_empty(folder: Path) -> Iterator[None]:
    """Takes the folder away again where something went wrong before there was a picture in it."""
    try:
        yield
    except BaseException:
        if not any(folder.glob("frames-*.bin")):
            (folder / RECIPE).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
        raise


@contextmanager
def claimed(folder: Path, config: dict[str, Any], recipe: str) -> Iterator[bool]:
    """Holds the folder for this config's data set; gives True if another process has finished it by now.

    Nothing is written before: a config that cannot be made leaves no trace.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}; choose another --out") from error
    with removed_if_empty(folder), folder_lock(folder):
        finished = check_folder(folder, config)
        if not finished:
            text = json.dumps({"recipe": recipe, "config": config, "config_hash": config_hash(config)}, indent=1)
            write_whole(folder / RECIPE, [text.encode()])
        yield finished


def finish(
    folder: Path,
    *,
    recipe: str,
    config: dict[str, Any],
    source: str,
    size: int,
    channels: int,
    factors: Sequence[str],
    rows: Sequence[InstanceRows],
    dropped: Sequence[Dropped],
    hashes: dict[str, str],
    notes: Sequence[str] = (),
) -> None:
    """Writes the index, the list of what was left out (if anything was) and, last of all, the card.

    `hashes` holds every shard's file name and digest; `notes` are sentences for the user.
    """
    write_index(folder / INDEX, build_index(rows))
    _write_left_out(folder / LEFT_OUT, dropped)
    stored = sum(len(r.distinct()) for r in rows)
    bytes_in_all = sum((folder / name).stat().st_size for name in hashes)
    card = {
        "recipe": recipe,
        "config": config,
        "config_hash": config_hash(config),
        "source": source,
        "size": size,
        "channels": channels,
        "factors": list(factors),
        "seeds": {"data": config["seed"]},
        "versions": versions(),
        "counts": {
            "classes": len({r.class_name for r in rows}),
            "instances": len(rows),
            "frames": sum(len(r.poses) for r in rows),
            "distinct_frames": stored,
            **{s: sum(r.split == s for r in rows) for s in ("train", "validation", "test")},
        },
        "bytes_per_frame": round(bytes_in_all / max(1, stored), 1),
        "licences": {k: sum(r.licence == k for r in rows) for k in sorted({r.licence for r in rows})},
        "dropped": [{"key": d.key, "why": d.why} for d in dropped],
        **({"notes": list(notes)} if notes else {}),
        "files": dict(sorted(hashes.items())) | {INDEX: file_hash(folder / INDEX)},
    }
    write_card(folder, card)
    (folder / RECIPE).unlink(missing_ok=True)


def _write_left_out(path: Path, dropped: Sequence[Dropped]) -> None:
    """For people: the card has the same, and nothing reads this file, so that it may be changed or deleted."""
    if dropped:
        rows = [(printable(d.key), printable(d.why)) for d in dropped]
        write_table(path, pd.DataFrame(rows, columns=["key", "why"]))
    else:
        path.unlink(missing_ok=True)  # of an earlier run that was cut short


def _hash_in(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["config_hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unreadable"
