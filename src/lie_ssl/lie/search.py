"""Finds the lowest minima of a curve: local minima on a grid, then Newton's method within their cells.

Shape letters: B batch, K candidates, T points of the grid.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lie_ssl.lie.curves import Curve
from lie_ssl.lie.norms import LARGEST_NORM, NormError

POINTS = 16  # of the grid, for each turn of the fastest plane
CANDIDATES = 4  # local minima of the grid that are refined
NEWTON_STEPS = 16  # at most; four to eight are usual


@torch.no_grad()
def lowest_minima(curve: Curve, limit: float) -> tuple[Tensor, Tensor]:
    """Searches a curve from -limit to limit.

    Returns:
        The two lowest local minima, the lower one first, (B, 2), and whether they exist, (B, 2). The first always does.
    """
    bound = curve.speed * limit
    if not bound <= LARGEST_NORM:
        raise NormError(bound)
    circle = curve.closes(2 * limit)
    cells = 2 * math.ceil(POINTS / 2 * max(1.0, bound / math.pi))
    step = 2 * limit / cells
    grid = step * torch.arange(-cells // 2, cells // 2 + (not circle), dtype=torch.float64, device=curve.device)
    places, found, start = _grid_minima(curve.grid(grid), circle)
    middle = grid[places]
    low, high = middle - step, middle + step
    if not circle:
        low, high = low.clamp_min(-limit), high.clamp_max(limit)
    t = _newton(curve, middle + step * start, low, high, found)
    distance = curve.at(t).distance.masked_fill(~found, torch.inf)
    order = distance.argsort(dim=1)[:, :2]
    t, found = t.gather(1, order), found.gather(1, order)
    return (torch.remainder(t + limit, 2 * limit) - limit if circle else t), found


def _grid_minima(values: Tensor, circle: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Finds the lowest local minima of the grid.

    Args:
        values: (B, T).
        circle: Whether the first point follows the last one.

    Returns:
        The points (B, K), whether they are minima, and the offsets of the parabolas' minima through them and their
        neighbours, as parts of a cell.
    """
    around = torch.cat([values[:, -1:], values, values[:, :1]], dim=1)
    if not circle:
        around[:, [0, -1]] = torch.inf
    left, right = around[:, :-2], around[:, 2:]
    minimum = (values < left) & (values <= right)
    # A constant row has its minimum anywhere; we say at 0.
    flat = values.amax(dim=1) <= values.amin(dim=1)
    minimum[flat] = False
    minimum[flat, values.shape[1] // 2] = True
    bend = left - 2 * values + right
    offset = torch.where(bend > 0, (left - right) / (2 * bend), 0).nan_to_num(0, 0, 0)
    depth = values - bend.nan_to_num(0, 0, 0) * offset.square() / 2
    most = int(minimum.sum(dim=1).max()) if len(values) else 0
    depth, places = depth.masked_fill(~minimum, torch.inf).topk(min(CANDIDATES, max(2, most)), largest=False)
    return places, depth.isfinite(), offset.gather(1, places)


def _newton(curve: Curve, t: Tensor, low: Tensor, high: Tensor, found: Tensor) -> Tensor:
    """Newton's method from t (B, K), where found; a step that would leave (low, high) halves the interval instead."""
    for _ in range(NEWTON_STEPS):
        _, slope, curvature, _ = curve.at(t)
        low, high = torch.where(slope < 0, t, low), torch.where(slope > 0, t, high)
        to = t - slope / curvature
        to = torch.where((curvature > 0) & (to >= low) & (to <= high), to, (low + high) / 2)
        to = torch.where(found & (slope != 0), to, t)
        # Convergence is quadratic: after a step this small, rounding errors are all that is left.
        done = bool(((to - t).abs() <= torch.finfo(slope.dtype).eps ** 0.5 / 8).all())
        t = to
        if done:
            break
    return t
