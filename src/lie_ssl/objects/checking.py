"""Opening every model of a source once, so that nothing breaks in the middle of a long rendering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from lie_ssl.errors import UserError
from lie_ssl.objects.duplicates import drop_duplicates
from lie_ssl.objects.mesh import Mesh
from lie_ssl.objects.remarks import listen, summed_up
from lie_ssl.objects.sources import Catalogue, Dropped, Entry


def checked_catalogue(
    entries: Sequence[Entry], mesh: Callable[[Entry], Mesh], dropped: Sequence[Dropped], *, strict: bool
) -> Catalogue:
    """The entries whose meshes can be loaded and occur once; the rest joins what was `dropped` before.

    What loading warns of becomes notes.
    """
    good: list[Entry] = []
    hashes: list[str] = []
    broken: list[Dropped] = []
    remarks: dict[Entry, list[str]] = {}
    for entry in entries:
        try:
            loaded, remarks[entry] = listen(partial(mesh, entry))
            hashes.append(loaded.geometry_hash())
        except UserError as error:
            if strict:
                raise
            broken.append(Dropped(entry.key, str(error)))
        else:
            good.append(entry)
    kept, copies = drop_duplicates(good, hashes)
    kept.sort(key=lambda e: (e.class_name, e.instance))
    notes = summed_up((entry.key, reason) for entry in kept for reason in remarks[entry])
    return Catalogue(kept, [*dropped, *broken, *copies], notes)
