"""File handling for all packages: atomic writes, locks, hashes, cards, tables, safe names, and memory limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports

if TYPE_CHECKING:
    from lie_ssl.storage.cards import CARD, check_fields, parse_json, read_json
    from lie_ssl.storage.files import write_whole
    from lie_ssl.storage.hashes import digest, file_hash
    from lie_ssl.storage.images import open_image
    from lie_ssl.storage.limits import available_memory, check_memory
    from lie_ssl.storage.locks import blocking_lock, folder_lock, try_lock
    from lie_ssl.storage.paths import as_one_part, check_link, check_name, inside, shown
    from lie_ssl.storage.tables import read_table, write_table
    from lie_ssl.storage.torch_files import read_torch
    from lie_ssl.storage.trust import check_trust, is_import_path

__all__ = [
    "CARD", "as_one_part", "available_memory", "blocking_lock", "check_fields", "check_link", "check_memory",
    "check_name", "check_trust", "digest", "file_hash", "folder_lock", "inside", "is_import_path", "open_image",
    "parse_json", "read_json", "read_table", "read_torch", "shown", "try_lock", "write_table", "write_whole",
]  # fmt: skip
__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "cards": ("CARD", "check_fields", "parse_json", "read_json"),
        "files": ("write_whole",),
        "hashes": ("digest", "file_hash"),
        "images": ("open_image",),
        "limits": ("available_memory", "check_memory"),
        "locks": ("blocking_lock", "folder_lock", "try_lock"),
        "paths": ("as_one_part", "check_link", "check_name", "inside", "shown"),
        "tables": ("read_table", "write_table"),
        "torch_files": ("read_torch",),
        "trust": ("check_trust", "is_import_path"),
    },
)
