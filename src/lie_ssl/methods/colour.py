"""Colour changes and blur of a batch, with a different strength for every picture.

All functions overwrite float32 pictures in [0, 1] and return them, still in [0, 1]: new memory for a batch costs more
than the arithmetic. The results equal those of torchvision's functions, which have one strength for all pictures.

Shape letters: B batch, C channels (1 or 3), H height, W width.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

LUMA = (0.2989, 0.587, 0.114)  # torchvision's weights of red, green and blue in a grey picture


def luma(images: Tensor) -> Tensor:
    """Luminance: (B, 3, ...) -> (B, 1, ...)."""
    red, green, blue = images.split(1, dim=1)
    mixed: Tensor = (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])
    return mixed


def brightness_(images: Tensor, factor: Tensor) -> Tensor:
    """Multiplies by the factors (B,)."""
    return images.mul_(column(factor)).clamp_(0, 1)


def contrast_(images: Tensor, factor: Tensor) -> Tensor:
    """Scales the difference from the picture's mean grey by the factors (B,)."""
    means = images.mean(dim=(2, 3))
    if images.shape[1] == 3:
        means = luma(means)
    rest = (1 - factor)[:, None] * means
    return images.mul_(column(factor)).add_(rest[:, :, None, None]).clamp_(0, 1)


def saturation_(images: Tensor, factor: Tensor) -> Tensor:
    """Scales the difference of every pixel from its own grey by the factors (B,). Three channels."""
    rest = luma(images).mul_(column(1 - factor))
    return images.mul_(column(factor)).add_(rest).clamp_(0, 1)


def hue_(images: Tensor, turn: Tensor) -> Tensor:
    """Shifts the hues by (B,), from -0.5 to 0.5, where 1 is the whole circle. Three channels.

    Hues of HSV are measured in sixths of the circle: red at 0, green at 2, blue at -2. A channel has the largest value
    within one sixth of its own colour, and falls to the smallest over the next sixth. The angle is computed from red
    and signs, as `torch.where` would take longer than everything else.
    """
    red, green, blue = images.split(1, dim=1)
    high = torch.maximum(torch.maximum(red, green), blue)
    low = torch.minimum(torch.minimum(red, green), blue)
    chroma = high - low
    side = green - blue
    # If red is the middle value, its distance is 2 - (red - low) / chroma; if it is the largest or the smallest, the
    # middle value corrects that down or up.
    correction = torch.copysign(chroma - side.abs(), (high + low).sub_(red, alpha=2))
    # A grey pixel has no angle: the result is 2, and its chroma is 0.
    distance = correction.add_(low).sub_(red).div_(chroma.clamp_min(1e-12)).add_(2)
    angle = torch.copysign(distance, side)
    for channel, own in ((red, 0), (green, 2), (blue, -2)):
        torch.add(angle, 6 * column(turn) - own, out=channel)
    images.abs_().sub_(3).abs_().sub_(3).abs_()  # from -8 to 8 to the distance around the circle, 0 to 3
    return images.sub_(1).clamp_(0, 1).mul_(chroma).neg_().add_(high)


def grey_(images: Tensor) -> Tensor:
    """Makes the three channels equal."""
    return images.copy_(luma(images).expand_as(images))


def solarise_(images: Tensor) -> Tensor:
    """Inverts values of one half and more, which is the minimum of a value and its inverse."""
    return torch.minimum(images, 1 - images, out=images)


def blur_(images: Tensor, sigma: Tensor) -> Tensor:
    """Gaussian blur with standard deviations (B,) in pixels, on the CPU; edges are reflected.

    The kernel's width is a tenth of the shorter side, as in SimCLR, but at most four sigma. Weights beyond a picture's
    own four sigma are exactly 0, so the result does not depend on other pictures in the batch.
    """
    reach = (4 * sigma + 0.5).floor().clamp(1, kernel_radius(*images.shape[2:]))
    radius = int(reach.max())
    steps = torch.arange(radius + 1)
    taps = torch.exp(-0.5 * (steps / sigma[:, None]).square()) * (steps <= reach[:, None])
    taps /= 2 * taps.sum(dim=1, keepdim=True) - taps[:, :1]
    weights = [column(w) for w in taps.to(images.device).unbind(dim=1)]
    _along_(images, 3, weights)
    return _along_(images, 2, weights).clamp_(0, 1)


def kernel_radius(height: int, width: int) -> int:
    """The radius of the widest kernel for pictures of this size: 11 at 224 px, 3 at 64 px."""
    return max(min(height, width) // 20, 1)


def _along_(images: Tensor, dim: int, weights: list[Tensor]) -> Tensor:
    """Applies a symmetric kernel along rows (3) or columns (2).

    It sums shifted views: within the cache, this is faster than a grouped convolution, which rearranges the pictures.
    """
    radius, size = len(weights) - 1, images.shape[dim]
    margin = (radius, radius, 0, 0) if dim == 3 else (0, 0, radius, radius)
    padded = functional.pad(images, margin, mode="reflect")
    images.mul_(weights[0])
    both = torch.empty_like(images)  # the same memory for all taps
    for k in range(1, radius + 1):
        torch.add(padded.narrow(dim, radius - k, size), padded.narrow(dim, radius + k, size), out=both)
        images.addcmul_(both, weights[k])
    return images


def column(values: Tensor) -> Tensor:
    """(B,) -> (B, 1, 1, 1)."""
    return values[:, None, None, None]
