"""Names from files that become paths: none of them may lead out of its folder."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

from lie_ssl.errors import UserError

MAX_BYTES = 250  # of one part of a path; most file systems allow 255
TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # characters that reverse the direction of text


def inside(folder: Path, *names: str) -> Path:
    """The path `folder / names[0] / names[1] / ...`, for names that were read from files.

    Raises:
        UserError: A name is empty, absolute, contains `..`, or has a character that no path should have.

    >>> inside(Path("out"), "train", "car").as_posix()
    'out/train/car'
    """
    path = folder
    for name in names:
        check_name(name, "the name of a file or folder", f"in {folder}")
        parts = name.replace("\\", "/").split("/")
        if any(part in ("", ".", "..") for part in parts) or (len(name) > 1 and name[1] == ":"):
            raise UserError(f"{name!r} would lead out of the folder {folder}; rename it")
        if any(len(part.encode()) > MAX_BYTES for part in parts):
            raise UserError(f"the name {name[:60]!r}... is too long for a file in {folder}; rename it")
        path = path / name
    return path


def check_link(path: Path, folder: Path) -> None:
    """Rejects a symbolic link in `folder` that leads out of it, so that nothing is written elsewhere."""
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"{path} is a link that leads out of {folder}; remove it")


def as_one_part(name: str) -> str:
    """Turns a name (a class, an instance, a method) into one part of a path; slashes become underscores."""
    word = name.replace("/", "_").replace("\\", "_")
    return "_" if word in ("", ".", "..") else word


def shown(text: str) -> str:
    """Escapes characters that control a terminal, except line breaks and tabs.

    >>> shown("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return "".join(c if c in "\n\t" or not has_controls(c) else repr(c)[1:-1] for c in text)


def has_controls(text: str) -> bool:
    """Whether a text has characters that control a terminal, end a line or reverse the direction of text."""
    return any(unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in TURNING for c in text)


def check_name(name: str, what: str, where: str) -> None:
    """Rejects names that cannot be stored as UTF-8 or that contain control characters.

    Args:
        name: A class, an instance or the path of a file.
        what, where: For the message, such as "the class" and "in index.parquet".
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        ascii_only = sys.getfilesystemencoding().lower() not in ("utf-8", "utf8")
        remedy = "set LC_ALL=C.UTF-8" if ascii_only else "rename it"
        raise UserError(f"{what} '{shown}' {where} is not valid UTF-8; {remedy}") from None
    if has_controls(name):
        raise UserError(f"{what} {name!r} {where} contains a control character; rename it")
