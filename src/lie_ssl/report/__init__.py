"""Results as tables, figures and one HTML page. Figures need matplotlib and the page plotly, the rest neither."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lie_ssl.report.cells import Cell, Row, Table
    from lie_ssl.report.figures import draw_figures
    from lie_ssl.report.formats import to_csv, to_html, to_latex, to_markdown, to_rich, write_tables
    from lie_ssl.report.gathering import ReportData, gather
    from lie_ssl.report.page import write_page
    from lie_ssl.report.tables import all_tables

__all__ = [
    "Cell", "ReportData", "Row", "Table", "all_tables", "draw_figures", "gather", "to_csv", "to_html", "to_latex",
    "to_markdown", "to_rich", "write_page", "write_tables",
]  # fmt: skip
_MODULES = {
    "cells": ("Cell", "Row", "Table"), "figures": ("draw_figures",),
    "formats": ("to_csv", "to_html", "to_latex", "to_markdown", "to_rich", "write_tables"),
    "gathering": ("ReportData", "gather"), "page": ("write_page",), "tables": ("all_tables",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a module when something of it is first asked for."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Also what has not been loaded yet."""
    return sorted({*globals(), *__all__})
