"""Random views of a batch of pictures: crop, flip, colour jitter, grey, blur, solarisation.

All random numbers come from a `Draws`, so a picture's view depends only on its row. They are drawn on the CPU and moved
to the pictures' device together; every operation then works on all its rows at once.

Shape letters: B batch, C channels (1 or 3), H height, W width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.methods import colour
from lie_ssl.methods.draws import Draws
from lie_ssl.serialization import check_numbers

RANGES = ("crop_scale", "crop_ratio", "blur_sigma")
PROBABILITIES = ("flip", "jitter", "grey", "blur", "solarise")
COLOURS = ("brightness", "contrast", "saturation", "hue")
TRIES = 10
# Values processed at a time on a CPU, so that they stay in its cache.
PIECE = 1 << 19


@dataclass(frozen=True)
class AugmentConfig:
    """Settings of random views. The defaults are SimCLR's with half the colour strength and milder crops."""

    crop_scale: tuple[float, float] = (0.2, 1.0)
    """Range of the crop's share of the area; 1 to 1 for no crop."""
    crop_ratio: tuple[float, float] = (3 / 4, 4 / 3)
    """Range of the crop's aspect ratio, width over height."""
    flip: float = 0.5
    """Probability of a horizontal flip."""
    jitter: float = 0.8
    """Probability of colour jitter: the next four changes, in random order."""
    brightness: float = 0.4
    """Strength of brightness jitter; factors are drawn from 1 - strength (at least 0) to 1 + strength."""
    contrast: float = 0.4
    """Strength of contrast jitter, as for brightness."""
    saturation: float = 0.4
    """Strength of saturation jitter, as for brightness; grey pictures do not change."""
    hue: float = 0.1
    """Strength of hue jitter, at most 0.5; shifts are drawn from -strength to strength, where 1 is the whole circle.
    Grey pictures do not change."""
    grey: float = 0.2
    """Probability of conversion to grey."""
    blur: float = 0.5
    """Probability of Gaussian blur."""
    blur_sigma: tuple[float, float] = (0.1, 2.0)
    """Range of the blur's standard deviation, in pixels."""
    solarise: float = 0.0
    """Probability of solarisation: values of one half and more are inverted."""

    def __post_init__(self) -> None:
        check_numbers(self, "method.augment")
        for name in RANGES:
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
                raise UserError(f"{name} is {value!r}, but it must be two numbers")
            object.__setattr__(self, name, tuple(value))
            low, high = value
            if not (math.isfinite(high) and 0 < low <= high):
                raise UserError(f"{name} is {low} to {high}, but both must be above 0, the lower one first")
        if self.crop_scale[1] > 1:
            raise UserError(f"crop_scale goes to {self.crop_scale[1]}, but it must be at most 1, the whole picture")
        for name in PROBABILITIES:
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} is {getattr(self, name)}, but it must be a probability, 0 to 1")
        for name in COLOURS:
            if not 0 <= getattr(self, name) < math.inf:
                raise UserError(f"{name} is {getattr(self, name)}, but it must be 0 or more")
        if self.hue > 0.5:
            raise UserError(f"hue is {self.hue}, but it must be at most 0.5, half the circle in each direction")


def simclr(strength: float = 1.0) -> AugmentConfig:
    """As in SimCLR, appendix A: strength 1 for ImageNet; the paper uses 0.5 and no blur for CIFAR-10."""
    s = 0.8 * strength
    return AugmentConfig(crop_scale=(0.08, 1.0), brightness=s, contrast=s, saturation=s, hue=s / 4)


def vicreg() -> AugmentConfig:
    """As in VICReg, appendix C.1, the same for both views."""
    return AugmentConfig(crop_scale=(0.08, 1.0), saturation=0.2, solarise=0.1)


def crop_only() -> AugmentConfig:
    """As in MAE: crops of at least a fifth of the area, and flips."""
    return AugmentConfig(jitter=0.0, grey=0.0, blur=0.0)


def none() -> AugmentConfig:
    """No augmentation."""
    return AugmentConfig(crop_scale=(1.0, 1.0), flip=0.0, jitter=0.0, grey=0.0, blur=0.0)


@torch.no_grad()
def augment(images: Tensor, draws: Draws, config: AugmentConfig) -> Tensor:
    """Draws a random view of each picture.

    Args:
        images: (B, C, H, W), float32 in [0, 1] or uint8; bytes are divided by 255.
        draws: Random numbers, with a row for each picture.
        config: Settings of the views.

    Returns:
        (B, C, H, W) float32, in new memory.
    """
    if images.ndim != 4 or images.shape[1] not in (1, 3) or images.dtype not in (torch.float32, torch.uint8):
        kind = f"{tuple(images.shape)} {images.dtype}"
        raise ValueError(f"images are {kind}, but they must be (B, 1 or 3, H, W), float32 or uint8")
    if draws.rows != len(images):
        raise ValueError(f"there are {len(images)} pictures, but draws for {draws.rows}")
    plan = draw_plan(draws, config, *images.shape[1:])
    size = max(PIECE // math.prod(images.shape[1:]) if images.device.type == "cpu" else len(images), 1)
    result = torch.empty(images.shape, device=images.device)
    space = torch.empty(2, *result[:size].shape, device=images.device)
    for start in range(0, len(images), size):
        rows = slice(start, start + size)
        apply_plan(images[rows], Plan(*(x[rows] for x in plan)), result[rows], space)
    return result


class Plan(NamedTuple):
    """The operations on each picture, on the CPU."""

    box: Tensor  # (B, 4): top, left, height, width in pixels
    flipped: Tensor  # (B,) bool
    factors: Tensor  # (B, 4): of COLOURS
    sigma: Tensor  # (B,)
    who: Tensor  # (B, 19) bool: COLOURS at the first place, at the second, third and fourth; grey, blur, solarise


def draw_plan(draws: Draws, config: AugmentConfig, channels: int, height: int, width: int) -> Plan:
    """Draws the numbers of all rows. Those of an operation do not depend on the other operations."""
    chosen = {n: draws.uniform(n) < getattr(config, n) for n in PROBABILITIES}
    amounts = torch.tensor([getattr(config, n) for n in COLOURS])
    middles = torch.tensor([1.0, 1.0, 1.0, 0.0])
    least = torch.maximum(middles - amounts, middles - 1)  # a factor is at least 0
    factors = least + draws.uniform("factors", len(COLOURS)) * (middles + amounts - least)
    in_colour = torch.tensor([True, True, channels == 3, channels == 3])
    order = draws.uniform("order", len(COLOURS)).argsort(dim=1)
    places = (order[:, :, None] == torch.arange(len(COLOURS))) & chosen["jitter"][:, None, None]
    places &= in_colour & (amounts > 0)
    last = [chosen["grey"] & (channels == 3), chosen["blur"], chosen["solarise"]]
    sigma = between(config.blur_sigma, draws.uniform("sigma"))
    who = torch.cat([places.flatten(1), torch.stack(last, dim=1)], dim=1)
    return Plan(draw_boxes(draws, config, height, width), chosen["flip"], factors, sigma, who)


def draw_boxes(draws: Draws, config: AugmentConfig, height: int, width: int) -> Tensor:
    """Draws crops (B, 4): top, left, height, width in pixels.

    As usual, the area and the logarithm of the aspect ratio are uniform, and boxes that do not fit are drawn again. If
    none fits after ten tries, it is the largest central crop with an allowed ratio.
    """
    if config.crop_scale == (1.0, 1.0):
        return torch.tensor([0.0, 0.0, height, width]).repeat(draws.rows, 1)
    u = draws.uniform("crop", TRIES, 2)
    area = height * width * between(config.crop_scale, u[..., 0])
    low, high = config.crop_ratio
    ratio = between((math.log(low), math.log(high)), u[..., 1]).exp()
    sides = torch.stack([(area / ratio).sqrt(), (area * ratio).sqrt()], dim=-1).round()  # (B, TRIES, 2)
    room = torch.tensor([height, width])
    fits = ((sides >= 1) & (sides <= room)).all(dim=-1)
    first = fits.int().argmax(dim=1)
    sides = sides[torch.arange(draws.rows), first]
    start = ((room - sides + 1) * draws.uniform("place", 2)).floor()
    largest = torch.tensor([min(height, round(width / low)), min(width, round(height * high))])
    middle = torch.cat([(room - largest).div(2).round(), largest])
    return torch.where(fits.any(dim=1)[:, None], torch.cat([start, sides], dim=1), middle)


def between(ends: tuple[float, float], u: Tensor) -> Tensor:
    """Maps numbers in [0, 1) to a range."""
    return ends[0] + u * (ends[1] - ends[0])


def apply_plan(images: Tensor, plan: Plan, result: Tensor, space: Tensor) -> None:
    """Applies a plan: (B, C, H, W) -> result (B, C, H, W). `space` as in `resized_crop`.

    The rows, the numbers and the blur kernels are moved to the pictures' device, each in one copy.
    """
    groups = plan.who.T.nonzero()[:, 1].to(images.device).split(plan.who.sum(dim=0).tolist())
    numbers = torch.cat([plan.box, plan.flipped[:, None], plan.factors], dim=1).to(images.device)
    if not images.is_floating_point():
        images = images.float().div_(255)
    resized_crop(images, numbers[:, :4], numbers[:, 4] > 0, result, space)
    changes = [getattr(colour, f"{n}_") for n in COLOURS]
    for i, rows in enumerate(groups[:16]):
        change_(result, rows, changes[i % 4], numbers[:, 5 + i % 4])
    grey, blur, solarise = groups[16:]
    change_(result, grey, colour.grey_)
    change_(result, blur, lambda x: colour.blur_(x, plan.sigma[plan.who[:, 17]]))
    change_(result, solarise, colour.solarise_)


def change_(images: Tensor, rows: Tensor, operation: Callable[..., Tensor], *numbers: Tensor) -> None:
    """Applies an operation to some rows; numbers are (B,)."""
    if len(rows) == len(images):
        operation(images, *numbers)
    elif len(rows):
        chosen = operation(*(x.index_select(0, rows) for x in (images, *numbers)))
        images.index_copy_(0, rows, chosen)


def resized_crop(images: Tensor, box: Tensor, flipped: Tensor, result: Tensor, space: Tensor) -> None:
    """Resizes boxes (B, 4) of the pictures to result (B, C, H, W), flipped horizontally where `flipped` (B,) is true.

    Bilinear, first rows, then columns. A crop is never larger than the picture, so no antialiasing is needed. A crop of
    the whole picture is exact. `space` (2, B or more, C, H, W) is overwritten.
    """
    b, c, height, width = images.shape
    top, left, tall, wide = box[:, :, None].unbind(dim=1)  # (B, 1) each
    above, below, share = neighbours(torch.arange(height, device=images.device), top, tall, height)
    planes = torch.arange(b * c, device=images.device).view(b, c, 1) * height
    lines = images.reshape(b * c * height, width)
    rows, other = space[0, :b], space[1, :b]
    for i, into in ((above, rows), (below, other)):
        torch.index_select(lines, 0, (planes + i[:, None]).flatten(), out=into.view(lines.shape))
    rows.lerp_(other, share[:, None, :, None])
    column = torch.arange(width, device=images.device)
    column = torch.where(flipped[:, None], width - 1 - column, column)
    before, after, share = neighbours(column, left, wide, width)
    for i, into in ((before, result), (after, other)):
        torch.gather(rows, 3, i[:, None, None].expand(b, c, height, width), out=into)
    result.lerp_(other, share[:, None, None])


def neighbours(place: Tensor, start: Tensor, length: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """The two source pixels of each pixel `place` (B or 1, size) of a resized box, and the weight of the second."""
    position = torch.minimum(((place + 0.5) * (length / size) - 0.5).clamp_min(0), length - 1)
    low = position.floor()
    high = torch.minimum(low + 1, length - 1)
    return (start + low).long(), (start + high).long(), position - low
