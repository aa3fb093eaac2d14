"""Sources of objects: one registered class per file.

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
