"""Methods by name. A new one is a file in this package, or your own class as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig
from lie_ssl.registry import Entry, Registry
from lie_ssl.serialization import from_plain

Kind = TypeVar("Kind", bound=type[Method])
METHODS: Registry[Entry[type[Method]]] = Registry("method", "lie_ssl.methods")


def method(name: str, *, title: str, order: int = 1000) -> Callable[[Kind], Kind]:
    """Registers a self-supervised method.

    Args:
        name: Its name on the command line and in the column `method`.
        title: Its title in tables and figures.
        order: Its position in tables.
    """

    def register(kind: Kind) -> Kind:
        METHODS.add(Entry(name, title, kind, order))
        return kind

    return register


def method_type(name: str) -> type[Method]:
    """The class of a method, by its registered name or import path."""
    return METHODS.class_of(name, Method)


def method_config(name: str, values: Mapping[str, Any] | None = None) -> MethodConfig:
    """The settings of a method: its defaults with the given values."""
    return from_plain(method_type(name).Config, {**(values or {}), "name": name}, "method")


def create_method(encoder: Encoder, config: MethodConfig) -> Method:
    """Creates a method with an encoder."""
    kind = method_type(config.name)
    if not isinstance(config, kind.Config):
        raise UserError(f"the method {config.name!r} needs {kind.Config.__name__}, not {type(config).__name__}")
    method: Method = kind(encoder, config)  # type: ignore[call-arg]
    return method
