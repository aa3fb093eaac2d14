"""What is done to the pixels of a batch: colours and blur, every picture with a number of its own.

All take float32 pictures in [0, 1], overwrite them and return them, still in [0, 1]: fresh memory for a batch costs
more than the arithmetic. The results are those of torchvision's functions, which take one number for all pictures.

Shape letters: B batch, C channels (1 or 3), H height, W width.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

LUMA = (0.2989, 0.587, 0.114)  # torchvision's weights of red, green and blue in a grey picture


def luma(images: Tensor) -> Tensor:
    """(B, 3, ...) -> (B, 1, ...)."""
    red, green, blue = images.split(1, dim=1)
    mixed: Tensor = (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])
    return mixed


def brightness_(images: Tensor, factor: Tensor) -> Tensor:
    """Multiplies by the factors (B,)."""
    return images.mul_(column(factor)).clamp_(0, 1)


def contrast_(images: Tensor, factor: Tensor) -> Tensor:
    """Scales the distance to the picture's mean grey by the factors (B,)."""
    means = images.mean(dim=(2, 3))
    if images.shape[1] == 3:
        means = luma(means)
    rest = (1 - factor)[:, None] * means
    return images.mul_(column(factor)).add_(rest[:, :, None, None]).clamp_(0, 1)


def saturation_(images: Tensor, factor: Tensor) -> Tensor:
    """Scales the distance of every pixel to its own grey by the factors (B,). Three channels."""
    rest = luma(images).mul_(column(1 - factor))
    return images.mul_(column(factor)).add_(rest).clamp_(0, 1)


def hue_(images: Tensor, turn: Tensor) -> Tensor:
    """Turns the hues by (B,), from -0.5 to 0.5, where 1 is the whole circle. Three channels.

    The hexagon of the HSV colours in sixths of the circle: red at 0, green at 2, blue at -2. A channel has the largest
    of the three values within one sixth of its own colour, and falls to the smallest over the next. The angle is read
    off red and the signs, as `torch.where` would take longer than all the rest.
    """
    red, green, blue = images.split(1, dim=1)
    high = torch.maximum(torch.maximum(red, green), blue)
    low = torch.minimum(torch.minimum(red, green), blue)
    chroma = high - low
    side = green - blue
    # From red, where it is the middle value, the distance is 2 - (red - low) / chroma; where it is the largest or the
    # smallest one, the middle value corrects that down or up.
    correction = torch.copysign(chroma - side.abs(), (high + low).sub_(red, alpha=2))
    # A grey pixel has no angle: it comes out as 2, and its chroma is 0.
    distance = correction.add_(low).sub_(red).div_(chroma.clamp_min(1e-12)).add_(2)
    angle = torch.copysign(distance, side)
    for channel, own in ((red, 0), (green, 2), (blue, -2)):
        torch.add(angle, 6 * column(turn) - own, out=channel)
    images.abs_().sub_(3).abs_().sub_(3).abs_()  # from -8 to 8 to the way round the circle, 0 to 3
    return images.sub_(1).clamp_(0, 1).mul_(chroma).neg_().add_(high)


def grey_(images: Tensor) -> Tensor:
    """Makes the three channels alike."""
    return images.copy_(luma(images).expand_as(images))


def solarise_(images: Tensor) -> Tensor:
    """Inverts all that is one half or brighter, which is to take the darker of a pixel and its inverse."""
    return torch.minimum(images, 1 - images, out=images)


def blur_(images: Tensor, sigma: Tensor) -> Tensor:
    """Gaussian of widths (B,), in pixels and on the host; edges are mirrored.

    The kernel is a tenth of the shorter side wide, as SimCLR has it, or ends at four sigma, where nothing is left. A
    picture's taps beyond its own four sigma are exactly 0, so that its neighbours in the batch do not matter.
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
    """Of the widest kernel for pictures of this size: 11 at 224 px, 3 at 64 px."""
    return max(min(height, width) // 20, 1)


def _along_(images: Tensor, dim: int, weights: list[Tensor]) -> Tensor:
    """A symmetric kernel along rows (3) or columns (2).

    Sums of shifted views: in the cache this is faster than a grouped convolution, which first rearranges the pictures.
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
