"""Configs to plain data and back: values from a file are checked against the dataclass, key by key."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import types
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from lie_ssl._text import count
from lie_ssl.errors import UserError

Config = TypeVar("Config")
MAX_INTEGER = 2**53  # above it, floats cannot represent every whole number
OMIT_DEFAULT = "omit_default"


def added_field(default: Any) -> Any:
    """A dataclass field that an earlier version did not have.

    Plain data leave it out while it has its default, so the hashes of earlier configs do not change.

    Args:
        default: The immutable value with which everything is as it was without the field.
    """
    return dataclasses.field(default=default, metadata={OMIT_DEFAULT: True})


def to_plain(config: Any) -> dict[str, Any]:
    """Converts a dataclass to dicts, lists, numbers and strings, as in JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(_plain(config)))
    return plain


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {f.name: (getattr(value, f.name), f) for f in dataclasses.fields(value)}
        return {k: _plain(v) for k, (v, f) in own.items() if not (OMIT_DEFAULT in f.metadata and v == f.default)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (tuple, list)) else value


def from_plain(kind: type[Config], values: Mapping[str, Any], where: str = "config") -> Config:
    """Builds a dataclass from plain values; the error names a misspelt key or a value of the wrong type."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} is {values!r}, but it must be a mapping of settings")
    hints = get_type_hints(kind)
    names = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for key in values:
        if key not in names:
            raise UserError(f"{where} has no setting {key!r}{suggestion(key, names)}")
    found = {key: _value(hints[key], value, f"{where}.{key}") for key, value in values.items()}
    try:
        return kind(**found)
    except ValueError as error:  # from components that do not know UserError, such as the Lie operator
        raise UserError(f"{where}: {error}") from error
    except TypeError as error:
        missing = [f.name for f in dataclasses.fields(kind) if f.name not in found and _required(f)]  # type: ignore[arg-type]
        raise UserError(f"{where} lacks {', '.join(missing) or error}") from error


def check_numbers(config: Any, where: str = "") -> None:
    """Rejects nan, inf and huge integers in any setting of a dataclass.

    Every config calls it in `__post_init__`, so it applies to flags, files and Python calls alike.
    """
    for field in dataclasses.fields(config):
        name = f"{where}.{field.name}" if where else field.name
        value = getattr(config, field.name)
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, float) and not math.isfinite(each):
                raise UserError(f"{name} is {each}, but it must be a finite number")
            if isinstance(each, int) and abs(each) > MAX_INTEGER:
                raise UserError(f"{name} is {each:.3g}, but whole numbers must be at most {MAX_INTEGER:.3g}")


def first_difference(there: Mapping[str, Any], here: Mapping[str, Any], ignore: Collection[str] = ()) -> str | None:
    """The first setting in which two plain configs differ, for a message; None if there is none.

    >>> first_difference({"optim": {"lr": 0.1}, "seed": 0}, {"optim": {"lr": 0.2}, "seed": 1})
    'optim.lr is 0.1 there and 0.2 here'

    Args:
        there, here: Nested settings, as :func:`to_plain` gives them.
        ignore: Names of top-level settings that may differ.
    """
    first, second = _flat(there), _flat(here)
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name) and name.split(".")[0] not in ignore:
            return f"{name} is {first.get(name)!s:.80} there and {second.get(name)!s:.80} here"
    return None


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in values.items():
        out |= _flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return out


def suggestion(word: str, known: list[str]) -> str:
    """`; did you mean ...?` for a word that is close to a known one; otherwise the known words if they are few."""
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
            raise UserError(f"{where} is {value!r}, but it must be one of {', '.join(str(a) for a in get_args(hint))}")
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
        raise UserError(f"{where} is {value!r}, but it must be a list")
    if len(hints) == 2 and hints[1] is Ellipsis:
        hints = (hints[0],) * len(value)
    if len(value) != len(hints):
        raise UserError(f"{where} has {count(len(value), 'value')}, but it needs {len(hints)}")
    return tuple(_value(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(zip(hints, value, strict=True)))
