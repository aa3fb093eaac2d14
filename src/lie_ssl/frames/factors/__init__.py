"""Factors of variation beside the pose: one file for each, found by its registration.

Example:
    >>> from lie_ssl.frames.factors import FACTORS
    >>> FACTORS.names()
    ['elevation', 'light', 'hue', 'scale']
"""

from lie_ssl.frames.factors.base import (
    FACTORS,
    AngleFactor,
    Factor,
    Range,
    all_factors,
    factor,
    factor_columns,
    get_factor,
    wrapped,
)

__all__ = [
    "FACTORS", "AngleFactor", "Factor", "Range", "all_factors", "factor", "factor_columns", "get_factor", "wrapped",
]  # fmt: skip
