"""JSON files that describe other files: read whole, checked field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lie_ssl.errors import UserError

CARD = "card.json"  # in the folder of a data set, a run and an evaluation
Kinds = type | tuple[type, ...]


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """The object in a JSON file; one sentence for a damaged one. A missing file raises FileNotFoundError."""
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device read for ever
        raise UserError(f"{path} is no file; {remedy}")
    try:
        values = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is damaged; {remedy}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} is damaged: it holds no named values; {remedy}")
    return values


def parse_json(text: str) -> Any:
    """`json.loads`, with a ValueError for what is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def check_fields(values: Mapping[str, Any], fields: Mapping[str, Kinds], where: str, remedy: str) -> None:
    """Refuses a card that lacks a field or has one of another type."""
    for name, kinds in fields.items():
        if name not in values:
            raise UserError(f"{where} lacks {name!r}; {remedy}")
        value = values[name]
        wrong_bool = isinstance(value, bool) and bool not in (kinds if isinstance(kinds, tuple) else (kinds,))
        if not isinstance(value, kinds) or wrong_bool:
            raise UserError(f"{where} has {value!r:.60} for {name!r}; {remedy}")
