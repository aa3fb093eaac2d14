"""Methods by name. A new one is a file in this package, or a class of your own as `package.module:Class`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig
from lie_ssl.registry import Entry, Registry, import_object
from lie_ssl.serialization import from_plain
from lie_ssl.storage.trust import is_import_path

Kind = TypeVar("Kind", bound=type[Method])
METHODS: Registry[Entry[type[Method]]] = Registry("method", "lie_ssl.methods")


def method(name: str, *, title: str, order: int = 1000) -> Callable[[Kind], Kind]:
    """Registers a self-supervised method under the word of the command line.

    Args:
        name: The word on the command line and in the column `method`.
        title: What tables and figures call it.
        order: Its place in tables.
    """

    def register(kind: Kind) -> Kind:
        METHODS.add(Entry(name, title, kind, order))
        return kind

    return register


def method_type(name: str) -> type[Method]:
    """The class behind a name of the registry or an import path."""
    if not is_import_path(name):
        return METHODS[name].value
    found = import_object(name, "method")
    if not (isinstance(found, type) and issubclass(found, Method) and hasattr(found, "Config")):
        raise UserError(f"{name!r} is no method: it must be a subclass of lie_ssl.methods.Method with a Config")
    return found


def method_config(name: str, values: Mapping[str, Any] | None = None) -> MethodConfig:
    """The settings of a method, from its defaults and the given values."""
    return from_plain(method_type(name).Config, {**(values or {}), "name": name}, "method")


def create_method(encoder: Encoder, config: MethodConfig) -> Method:
    """The method over an encoder."""
    kind = method_type(config.name)
    if not isinstance(config, kind.Config):
        raise UserError(f"the method {config.name!r} takes {kind.Config.__name__}, not {type(config).__name__}")
    method: Method = kind(encoder, config)  # type: ignore[call-arg]
    return method
