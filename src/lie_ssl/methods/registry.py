"""Methods by name. A new one is a file with a :class:`Method`, and a line here; or `package.module:Class` anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.method import Method, MethodConfig
from lie_ssl.serialization import from_plain, suggestion

METHODS = {
    "mae": "lie_ssl.methods.mae:MAE",
    "vicreg": "lie_ssl.methods.vicreg:VICReg",
    "simclr": "lie_ssl.methods.simclr:SimCLR",
}


def method_type(name: str) -> type[Method]:
    """The class behind a name of the registry or an import path."""
    path = METHODS.get(name, name)
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise UserError(f"there is no method {name!r}{suggestion(name, list(METHODS))}")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"the method {name!r} cannot be imported (is its folder on PYTHONPATH?): {error}") from error
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
