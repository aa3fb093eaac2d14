"""The functions behind `lie-ssl COMMAND`, one module per command. Internal: nothing is exported."""

__all__: list[str] = []
