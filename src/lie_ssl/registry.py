"""Registries: every objective, method, source, factor and metric is registered in the file that defines it.

A registry belongs to a package. It imports the modules of that package on first use, so that a new file needs no line
anywhere else. A user's own code is either registered before the command runs, or named by its import path,
`package.module:Class`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from lie_ssl.errors import UserError
from lie_ssl.serialization import suggestion
from lie_ssl.storage.trust import is_import_path

Value = TypeVar("Value")


@dataclass(frozen=True)
class Entry(Generic[Value]):
    """A registered object with its name and its title in tables.

    `order` is its position in lists, tables and figures; equal orders are sorted by name.
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
        """Registers an entry. A name can be registered only once, except by the same code that is run again, as in a
        notebook."""
        known = self._entries.get(entry.name)
        if known is not None and known != entry and not _is_same_code(known.value, entry.value):
            raise UserError(f"the {self.kind} {entry.name!r} is already registered; choose another name")
        self._entries[entry.name] = entry

    def remove(self, name: str) -> None:
        """Removes an entry; for tests."""
        del self._entries[name]

    def entries(self) -> list[AnyEntry]:
        """All entries, in order."""
        if not self._complete:
            self._complete = True  # set first: the modules may use the registry themselves
            try:
                for module in pkgutil.iter_modules(import_module(self.package).__path__):
                    if not module.name.startswith("_"):
                        import_module(f"{self.package}.{module.name}")
            except BaseException:
                self._complete = False  # the next use reports the error again, rather than missing entries
                raise
        return sorted(self._entries.values(), key=lambda entry: (entry.order, entry.name))

    def names(self) -> list[str]:
        """All names, in order."""
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
        """The title in tables; a name that is not registered is its own title."""
        return self[name].title if name in self else name

    def class_of(self, name: str, base: type[Any]) -> type[Any]:
        """The class of a component, by its registered name or import path.

        Args:
            name: A registered name, or `package.module:Class`.
            base: The class from which it must be derived; the package of the registry exports it.
        """
        found = import_object(name, self.kind) if is_import_path(name) else self[name].value
        if isinstance(found, type) and issubclass(found, base) and hasattr(found, "Config"):
            return found
        kind = f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"
        raise UserError(f"{name!r} is not {kind}; make it a subclass of {self.package}.{base.__name__} with a Config")


def _is_same_code(before: Any, after: Any) -> bool:
    """Whether one class or function was defined twice, such as by a cell of a notebook that is run again."""

    def origin(value: Any) -> tuple[str, str]:
        defined = value if hasattr(value, "__qualname__") else type(value)
        return defined.__module__, defined.__qualname__

    return before is not after and origin(before) == origin(after)


def import_object(path: str, kind: str) -> Any:
    """The object behind an import path, `package.module:Name`. Importing runs code: check trust first."""
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise UserError(f"there is no {kind} {path!r}; an import path is `package.module:Name`")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"the {kind} {path!r} cannot be imported (is its folder on PYTHONPATH?): {error}") from error
