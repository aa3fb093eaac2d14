"""Opening every model of a source once, so that nothing breaks in the middle of a long rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from lie_ssl.errors import UserError
from lie_ssl.objects.duplicates import drop_duplicates
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.remarks import catch_mesh_warnings, summarise
from lie_ssl.objects.sources import Catalogue, CatalogueEntry, Dropped


def checked_catalogue(
    entries: Sequence[CatalogueEntry],
    mesh: Callable[[CatalogueEntry], Mesh],
    dropped: Sequence[Dropped],
    *,
    strict: bool,
) -> Catalogue:
    """The entries whose meshes can be loaded and occur once; the rest joins what was `dropped` before.

    What loading warns of becomes notes.
    """
    good: list[CatalogueEntry] = []
    hashes: list[str] = []
    broken: list[Dropped] = []
    remarks: dict[CatalogueEntry, list[str]] = {}
    for entry in entries:
        try:
            loaded, remarks[entry] = catch_mesh_warnings(partial(mesh, entry))
            hashes.append(loaded.geometry_hash())
        except UserError as error:
            if strict:
                raise
            broken.append(Dropped(entry.key, str(error)))
        else:
            good.append(entry)
    kept, copies = drop_duplicates(good, hashes)
    kept.sort(key=lambda e: (e.class_name, e.instance))
    notes = summarise((entry.key, reason) for entry in kept for reason in remarks[entry])
    return Catalogue(kept, [*dropped, *broken, *copies], notes)
