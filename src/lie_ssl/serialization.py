"""Configs as plain data and back: what is read from a file is checked against the dataclass, key by key."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lie_ssl.errors import UserError

Config = TypeVar("Config")
MOST = 2**53  # above it floats no longer tell whole numbers apart


def to_plain(config: Any) -> dict[str, Any]:
    """A dataclass -> lists, numbers and words, as JSON has them."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return plain


def from_plain(kind: type[Config], values: Mapping[str, Any], where: str = "config") -> Config:
    """The dataclass with the given values; a misspelt key or a value of a wrong type is named in one sentence."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} is {values!r}, but it takes named values")
    hints = get_type_hints(kind)
    names = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for key in values:
        if key not in names:
            raise UserError(f"{where} has no setting {key!r}{suggestion(key, names)}")
    found = {key: _value(hints[key], value, f"{where}.{key}") for key, value in values.items()}
    try:
        return kind(**found)
    except ValueError as error:  # of components that know nothing of users, such as the Lie operator
        raise UserError(f"{where}: {error}") from error
    except TypeError as error:
        missing = [f.name for f in dataclasses.fields(kind) if f.name not in found and _required(f)]  # type: ignore[arg-type]
        raise UserError(f"{where} lacks {', '.join(missing) or error}") from error


def check_numbers(config: Any, where: str = "") -> None:
    """Refuses nan, inf and numbers that no computer counts to, in any setting of a dataclass.

    Every config calls it when it is made, so that it holds for flags, files and Python alike.
    """
    for field in dataclasses.fields(config):
        name = f"{where}.{field.name}" if where else field.name
        value = getattr(config, field.name)
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, float) and not math.isfinite(each):
                raise UserError(f"{name} is {each}, but it must be a finite number")
            if isinstance(each, int) and abs(each) > MOST:
                raise UserError(f"{name} is {each:.3g}, but whole numbers here go to {MOST:.3g}")


def suggestion(word: str, known: list[str]) -> str:
    """`; did you mean ...?` for a word that is close to a known one, or the known ones where they are few."""
    near = difflib.get_close_matches(word, known, 1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are {', '.join(known)}" if len(known) <= 30 else ""


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _value(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if dataclasses.is_dataclass(hint):
        return value if isinstance(value, hint) else from_plain(hint, value, where)  # type: ignore[arg-type]
    if origin is Literal:
        if value not in get_args(hint):
            raise UserError(f"{where} is {value!r}, but it can be {', '.join(str(a) for a in get_args(hint))}")
        return value
    if origin in (Union, types.UnionType):
        return _first_that_fits(get_args(hint), value, where)
    if origin is tuple:
        return _tuple(get_args(hint), value, where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and (not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool)):
        raise UserError(f"{where} is {value!r}, but it must be of type {hint.__name__}")
    return value


def _first_that_fits(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    for hint in hints:
        if hint is type(None):
            if value is None:
                return None
            continue
        try:
            return _value(hint, value, where)
        except UserError:
            continue
    names = " or ".join("nothing" if h is type(None) else getattr(h, "__name__", str(h)) for h in hints)
    raise UserError(f"{where} is {value!r}, but it must be {names}")


def _tuple(hints: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple)):
        raise UserError(f"{where} is {value!r}, but it takes several values")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(value) != len(hints):
        raise UserError(f"{where} has {len(value)} values, but it takes {len(hints)}")
    return tuple(_value(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(zip(hints, value, strict=True)))
