"""Where objects come from: one file for each source, found by its registration.

Example:
    >>> from lie_ssl.objects.sources import SOURCES
    >>> SOURCES.names()
    ['procedural', 'folder', 'sweethome3d']
"""

from lie_ssl.objects.sources.base import (
    SOURCES,
    Catalogue,
    CatalogueEntry,
    Dropped,
    Source,
    SourceSettings,
    select_classes,
    source,
)

__all__ = ["SOURCES", "Catalogue", "CatalogueEntry", "Dropped", "Source", "SourceSettings", "select_classes", "source"]
