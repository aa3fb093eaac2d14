"""Registries: every objective, method, source, factor and metric is registered in the file that defines it.

A registry belongs to a package. It imports the modules of that package when it is first asked for a name, so that a new
file needs no line anywhere else. Code of the user's own is either registered before the command runs, or named by its
import path, `package.module:Class`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.serialization import suggestion

Value = TypeVar("Value")


@dataclass(frozen=True)
class Entry(Generic[Value]):
    """What is registered under a name, and what readers of tables call it.

    `order` decides where it stands in lists, tables and figures; equal orders are sorted by name.
    """

    name: str
    title: str
    value: Value
    order: int = 1000


AnyEntry = TypeVar("AnyEntry", bound=Entry[Any])


class Registry(Generic[AnyEntry]):
    """Entries by name.

    Args:
        kind: What the entries are called in messages, such as "objective".
        package: The package whose modules register entries when they are imported.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self._entries: dict[str, AnyEntry] = {}
        self._complete = False

    def add(self, entry: AnyEntry) -> None:
        """Registers an entry. A name can be registered once."""
        if (known := self._entries.get(entry.name)) is not None and known != entry:
            raise UserError(f"the {self.kind} {entry.name!r} is registered already; choose another name")
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Forgets an entry, as tests do with theirs."""
        del self._entries[name]

    def entries(self) -> list[AnyEntry]:
        """All entries in their order."""
        if not self._complete:
            self._complete = True  # set first: the modules may ask for names themselves
            for module in pkgutil.iter_modules(import_module(self.package).__path__):
                if not module.name.startswith("_"):
                    import_module(f"{self.package}.{module.name}")
        return sorted(self._entries.values(), key=lambda entry: (entry.order, entry.name))

    def names(self) -> list[str]:
        """All names in their order."""
        return [entry.name for entry in self.entries()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __getitem__(self, name: str) -> AnyEntry:
        names = self.names()
        if name not in names:
            raise UserError(f"there is no {self.kind} {name!r}{suggestion(name, names)}")
        return self._entries[name]

    def title(self, name: str) -> str:
        """What tables call it; a name that is not registered stands for itself."""
        return self[name].title if name in self else name


def import_object(path: str, kind: str) -> Any:
    """The object behind an import path, `package.module:Name`. Importing runs code: check trust first."""
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise UserError(f"there is no {kind} {path!r}; an import path is `package.module:Name`")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"the {kind} {path!r} cannot be imported (is its folder on PYTHONPATH?): {error}") from error
