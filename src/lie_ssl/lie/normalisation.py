"""Unit lengths for the planes that a commuting group turns: each speed, each plane or each factor by itself.

Shape letters: B batch, M embedding, G groups of dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from lie_ssl.lie.algebras.base import plane_speeds

Normalise = Literal["speed", "plane", "share"]
SHORTEST = 1e-6  # shorter vectors have no direction worth enlarging


class UnitNorm(nn.Module):
    """Scales groups of dimensions to length 1, each by itself.

    If the moved part is normalised as a whole, an encoder can put all of it into the even speeds, where the task is
    easier, and half turns are lost. With unit length for each speed, every speed counts. The module has no parameters
    and no state, so it can be the last layer of an encoder.

    Args:
        groups: For each dimension of the embedding the number of its group, 0 to G - 1, or None for a dimension that
            stays unchanged.

    Example:
        >>> UnitNorm([None, 0, 0])(torch.tensor([[5.0, 3.0, 4.0]]))
        tensor([[5.0000, 0.6000, 0.8000]])
    """

    members: Tensor

    def __init__(self, groups: Sequence[int | None]) -> None:
        super().__init__()
        count = 1 + max((g for g in groups if g is not None), default=-1)
        members = torch.tensor([[float(g == own) for own in range(count)] for g in groups]).view(len(groups), count)
        self.register_buffer("members", members, persistent=False)  # (M, G)

    def squares(self, z: Tensor) -> Tensor:
        """(B, M) -> the squared length of each group, (B, G)."""
        with torch.autocast(z.device.type, enabled=False):  # a product in half precision would round the lengths
            return z.square() @ self.members.to(z.dtype)

    def forward(self, z: Tensor) -> Tensor:
        """(B, M) -> (B, M); groups shorter than 1e-6 stay unchanged, with finite gradients."""
        x = z.to(torch.promote_types(z.dtype, torch.float32))
        squares = self.squares(x)
        inverse = squares.clamp_min(SHORTEST**2).rsqrt()
        factor = torch.where(squares > SHORTEST**2, inverse, torch.ones_like(inverse))
        members = self.members.to(x.dtype)
        with torch.autocast(z.device.type, enabled=False):
            factors = factor @ members.T + (1 - members.sum(dim=1))
        return (x * factors).to(z.dtype)

    def extra_repr(self) -> str:
        return f"dim={self.members.shape[0]}, groups={self.members.shape[1]}"


def check_normalise(normalise: str | None, algebra: str, centred: bool, frequencies: Sequence[float]) -> None:
    """Rejects settings of an operator with which `normalise` does not work."""
    if normalise is None:
        return
    if normalise not in get_args(Normalise):
        raise ValueError(f"normalise is {normalise!r}, but it must be one of {', '.join(get_args(Normalise))}, or None")
    if algebra != "commuting":
        raise ValueError(f"normalise needs the planes of the commuting algebra, but algebra is {algebra!r}")
    if centred:
        raise ValueError("normalise measures lengths from the origin; leave out centred and standardised")
    if normalise == "speed" and not frequencies:
        raise ValueError("normalise 'speed' needs frequencies; set them, or use normalise 'share' or 'plane'")


def make_unit_norm(
    normalise: Normalise, fixed: int, shares: Sequence[int], frequencies: Sequence[Sequence[float]]
) -> tuple[UnitNorm, list[int]]:
    """Builds the layer for whole embeddings.

    Args:
        normalise: Which planes form a group.
        fixed: Number of leading dimensions that stay unchanged.
        shares: Number of dimensions of each factor, or of all together.
        frequencies: The speeds of each share's planes, in turn; empty if they are random.

    Returns:
        The layer, and the number of groups of each share.
    """
    groups: list[int | None] = [None] * fixed
    counts: list[int] = []
    for share, own in zip(shares, frequencies, strict=True):
        numbers = _plane_groups(normalise, share // 2, own)
        groups += [number + sum(counts) for number in numbers for _ in range(2)]
        groups += [None] * (share % 2)  # an odd last dimension does not move
        counts.append(1 + max(numbers))
    return UnitNorm(groups), counts


def _plane_groups(normalise: Normalise, planes: int, frequencies: Sequence[float]) -> list[int]:
    """The group of each plane: planes of the same speed together, every plane by itself, or all in one."""
    if planes == 0:
        raise ValueError("normalise needs a plane for each factor, but a factor has only one dimension")
    if normalise == "share":
        return [0] * planes
    if normalise == "plane":
        return list(range(planes))
    if not frequencies:
        raise ValueError("normalise 'speed' needs frequencies, which only linear factors have; set sees to 'linear'")
    speeds = plane_speeds(planes, frequencies).tolist()
    numbers = {speed: number for number, speed in enumerate(dict.fromkeys(speeds))}
    return [numbers[speed] for speed in speeds]
