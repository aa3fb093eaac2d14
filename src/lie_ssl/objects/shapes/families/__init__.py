"""The procedural classes, grouped by kind. Each module registers its classes; nothing is exported."""

__all__: list[str] = []
