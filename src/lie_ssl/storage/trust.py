"""Import paths in files. Importing runs code, so a downloaded file must not decide what is imported.

A name such as `package.module:Class` may stand for an encoder or a method. Typed on the command line or written in
Python, it is trusted. Read from a config, a card or the metadata of a model, it is rejected before anything is
imported, unless the user trusts that name for this call.
"""

from __future__ import annotations

from collections.abc import Collection

from lie_ssl.errors import UserError


def is_import_path(name: str) -> bool:
    """Whether a name is an import path rather than a registered name."""
    return ":" in name


def check_trust(name: object, where: str, trust: Collection[str] = (), instead: str = "") -> None:
    """Rejects an import path that is not trusted.

    Args:
        name: The name in the file; other types than strings are left to the validation of the config.
        where: The file and the setting, for the message.
        trust: Names that the user trusts for this call.
        instead: Another remedy from Python, for the message.
    """
    if isinstance(trust, (str, bool)) or not isinstance(trust, Collection):
        raise UserError(f"trust is {trust!r}, but it must be a list of import paths, such as ['package.module:Class']")
    if isinstance(name, str) and is_import_path(name) and name not in trust:
        raise UserError(
            f"{where} would import and run {name!r}; if you trust that code, give --trust {name!r} "
            f"(from Python trust=[...]{instead})"
        )
