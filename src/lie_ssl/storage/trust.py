"""Import paths in files. Importing runs code, so a file that somebody sent must not decide what is imported.

A name such as `package.module:Class` may stand for an encoder or a method. Typed on the command line or written in
Python it is the user's own word. Read from a config, a card or the metadata of a model it is not, and is refused before
anything is imported, unless the user trusts that very name for this call.
"""

from __future__ import annotations

from collections.abc import Collection

from lie_ssl.errors import UserError


def is_import_path(name: str) -> bool:
    """Whether a name stands for code outside of the registries."""
    return ":" in name


def check_trust(name: object, where: str, trust: Collection[str] = ()) -> None:
    """Refuses an import path that is not trusted.

    Args:
        name: what the file has for a name; other types are left to the check of the config.
        where: the file and the setting.
        trust: names that the user trusts for this call.
    """
    if isinstance(trust, (str, bool)) or not isinstance(trust, Collection):
        raise UserError(f"trust is {trust!r}, but it takes a list of import paths, such as ['package.module:Class']")
    if isinstance(name, str) and is_import_path(name) and name not in trust:
        raise UserError(
            f"{where} would import and run {name!r}; if you know that code and trust it, give --trust {name!r} "
            "(from Python trust=[...])"
        )
