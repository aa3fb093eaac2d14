"""Removes duplicate models: a copy in both train and test, or under two labels, would invalidate the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from lie_ssl.objects.sources import CatalogueEntry, Dropped


def drop_duplicates(
    entries: Sequence[CatalogueEntry], hashes: Sequence[str]
) -> tuple[list[CatalogueEntry], list[Dropped]]:
    """Removes entries with the same geometry.

    Of copies within one class the first is kept. Copies with different classes are all removed, because their label is
    ambiguous.

    Args:
        entries: The entries to search.
        hashes: `Mesh.geometry_hash` of each entry.

    Returns:
        The remaining entries in the same order, and the removed ones with reasons.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for i, geometry in enumerate(hashes):
        groups[geometry].append(i)
    why: dict[int, str] = {}
    for group in groups.values():
        first = entries[group[0]]
        ambiguous = len({entries[i].class_name for i in group}) > 1
        for i in group:
            other = next((entries[j] for j in group if entries[j].class_name != entries[i].class_name), first)
            if ambiguous:
                why[i] = f"same geometry as {_label(other)}, which has another class, so its label is ambiguous"
            elif i != group[0]:
                why[i] = f"same geometry as {_label(first)}"
    kept = [entry for i, entry in enumerate(entries) if i not in why]
    return kept, [Dropped(entries[i].key or _label(entries[i]), reason) for i, reason in sorted(why.items())]


def _label(entry: CatalogueEntry) -> str:
    return f"{entry.class_name}/{entry.instance}"
