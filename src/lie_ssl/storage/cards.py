"""JSON files that describe other files, checked field by field when they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError

CARD = "card.json"  # in the folder of a data set, a run and an evaluation
Kinds = type | tuple[type, ...]


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Reads the object in a JSON file.

    Args:
        path: The file.
        remedy: What the user can do about a damaged file, as the end of a sentence.

    Raises:
        FileNotFoundError: There is no such file.
        UserError: The file is damaged.
    """
    if path.exists() and not path.is_file():  # a pipe would block, and a device never ends
        raise UserError(f"{path} is not a file; {remedy}")
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is damaged; {remedy}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} is damaged: it is not a JSON object; {remedy}")
    return values


def parse_json(text: str) -> Any:
    """`json.loads`, with a ValueError for values that are nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def check_fields(values: Mapping[str, Any], fields: Mapping[str, Kinds], where: str, remedy: str) -> None:
    """Rejects a card that lacks a field or has one of the wrong type."""
    for name, kinds in fields.items():
        if name not in values:
            raise UserError(f"{where} lacks {name!r}; {remedy}")
        value = values[name]
        wrong_bool = isinstance(value, bool) and bool not in (kinds if isinstance(kinds, tuple) else (kinds,))
        if not isinstance(value, kinds) or wrong_bool:
            raise UserError(f"{where} has {value!r:.60} for {name!r}; {remedy}")
