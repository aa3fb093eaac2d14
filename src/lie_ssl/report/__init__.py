"""Results as tables, figures and one HTML page. Figures need matplotlib, and the page needs plotly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports

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
__getattr__, __dir__ = lazy_exports(__name__, {
    "cells": ("Cell", "Row", "Table"), "figures": ("draw_figures",),
    "formats": ("to_csv", "to_html", "to_latex", "to_markdown", "to_rich", "write_tables"),
    "gathering": ("ReportData", "gather"), "page": ("write_page",), "tables": ("all_tables",),
})  # fmt: skip
