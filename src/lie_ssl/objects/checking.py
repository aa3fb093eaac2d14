"""Loads every model of a source once, so that broken files are found before a long rendering starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from lie_ssl.errors import UserError
from lie_ssl.objects.duplicates import drop_duplicates
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.mesh_warnings import catch_mesh_warnings, summarise
from lie_ssl.objects.sources import Catalogue, CatalogueEntry, Dropped


def checked_catalogue(
    entries: Sequence[CatalogueEntry],
    mesh: Callable[[CatalogueEntry], Mesh],
    dropped: Sequence[Dropped],
    *,
    strict: bool,
) -> Catalogue:
    """Builds a catalogue of the entries whose meshes load and are not duplicates.

    Args:
        entries: The candidates.
        mesh: Loads the mesh of an entry. Its warnings become notes of the catalogue.
        dropped: Objects that were left out before; broken files and duplicates are added to them.
        strict: Raise the `UserError` of the first broken file instead of leaving it out.
    """
    good: list[CatalogueEntry] = []
    hashes: list[str] = []
    broken: list[Dropped] = []
    warnings: dict[CatalogueEntry, list[str]] = {}
    for entry in entries:
        try:
            loaded, warnings[entry] = catch_mesh_warnings(partial(mesh, entry))
            hashes.append(loaded.geometry_hash())
        except UserError as error:
            if strict:
                raise
            broken.append(Dropped(entry.key, str(error)))
        else:
            good.append(entry)
    kept, copies = drop_duplicates(good, hashes)
    kept.sort(key=lambda e: (e.class_name, e.instance))
    notes = summarise((entry.key, reason) for entry in kept for reason in warnings[entry])
    return Catalogue(kept, [*dropped, *broken, *copies], notes)
