"""Features of a frozen encoder: its pooled output and averaged maps of middle layers, in one forward pass.

The pooled output says what is in a picture; a middle layer still knows where it is and how it is turned.

Shape letters: B batch, C channels of a layer, S image size, h and w of a map, N patches, G cells, M embedding,
K features.
"""

from __future__ import annotations

import difflib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.layouts import HALF
from lie_ssl.serialization import added_field, check_numbers

POOLED = "pooled"  # name of the part that is the encoder's output
MOST_CELLS = 64  # of a side
GRID, CHANNELS = 4, 128  # default cells per side, and most channels of a map
# Stages after which maps are taken, for families that are recognised by the names of their parts: ResNet, ConvNeXt,
# EfficientNet and MobileNet. Vision transformers, whose `blocks` give tokens, have their own rule.
STAGES = (("layer2", "layer3"), ("stages.2",), ("blocks.2", "blocks.3", "blocks.4"))


@dataclass(frozen=True)
class FeatureConfig:
    """Which features of an encoder are taken."""

    layers: tuple[str, ...] | None = None
    """Middle layers, by their names in the network; None for the default of the encoder's family, () for none."""
    depth: int | None = added_field(None)
    """How many of the default layers, counted from the last one; None for all."""
    grid: int | None = None
    """Cells per side to which the map of a layer is averaged; None for 4."""
    channels: int = added_field(CHANNELS)
    """Most channels of a map: those of wider layers are mixed to that number, by fixed random directions."""

    def __post_init__(self) -> None:
        check_numbers(self, "features")
        if self.grid is not None and (not isinstance(self.grid, int) or not 1 <= self.grid <= MOST_CELLS):
            raise UserError(f"features.grid is {self.grid!r}, but it must be a whole number from 1 to {MOST_CELLS}")
        for name in ("channels", "depth"):
            if (value := getattr(self, name)) is not None and (not isinstance(value, int) or value < 1):
                raise UserError(f"features.{name} is {value!r}, but it must be a whole number, 1 or more")
        if self.layers is not None and self.depth is not None:
            raise UserError("features.depth counts the default layers; leave it out, or leave out features.layers")
        layers: Any = self.layers
        if layers is None:
            return
        if isinstance(layers, str) or not isinstance(layers, Sequence) or not all(isinstance(n, str) for n in layers):
            raise UserError(f"features.layers is {layers!r}, but it must be a list of names, or None")
        if len(set(layers)) < len(layers) or POOLED in layers:
            raise UserError(f"features.layers is {layers!r}, but no name may be there twice, nor {POOLED!r}")
        object.__setattr__(self, "layers", tuple(layers))


class FeatureExtractor(nn.Module):
    """Pictures (B, C, S, S) in [0, 1] -> features (B, K) float32.

    >>> encoder = create_encoder(EncoderConfig("tf_efficientnet_lite0"), 96, 3)              # doctest: +SKIP
    >>> FeatureExtractor(encoder, FeatureConfig(layers=("blocks.4",))).slices                 # doctest: +SKIP
    {'pooled': slice(0, 1280), 'blocks.4': slice(1280, 3072)}

    Args:
        encoder: The encoder; it is set to eval mode.
        config: Which features are taken.

    Attributes:
        dim: K.
        layers: Names of the middle layers.
        slices: Which features are the pooled output, and which come from each layer.
        note: A sentence for the user if there is something to know; else empty.
    """

    def __init__(self, encoder: Encoder, config: FeatureConfig | None = None) -> None:
        super().__init__()
        config = config or FeatureConfig()
        self.encoder, self.note = encoder, ""
        self.eval()
        maps = find_maps(encoder)
        if config.layers is None:
            self.layers = default_layers(maps, config.grid or GRID)[-(config.depth or 0) :]
            if not self.layers:
                self.note = f"{type(encoder.body).__name__} gives no map, so only its pooled output is used"
        else:
            for name in config.layers:
                _check_layer(name, encoder.body, maps)
            self.layers = config.layers
        self.grid, self.channels = config.grid or GRID, config.channels
        self.averages = nn.ModuleList(GridAverage(maps[name], self.grid, self.channels) for name in self.layers)
        sizes = [encoder.dim, *(average.dim for average in self._averages)]
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        names = (POOLED, *self.layers)
        self.slices = {n: slice(end - size, end) for n, size, end in zip(names, sizes, ends, strict=True)}
        self.dim = ends[-1]

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, S, S) in [0, 1] -> (B, K)."""
        found: dict[str, Tensor] = {}
        with recorded(self.encoder.body, self.layers, found.__setitem__):
            parts = [self.encoder(images)]
        parts += [average(found[name]) for name, average in zip(self.layers, self._averages, strict=True)]
        return torch.cat(parts, dim=1).float()

    @property
    def _averages(self) -> list[GridAverage]:
        return [average for average in self.averages if isinstance(average, GridAverage)]


class Map(NamedTuple):
    """What a layer gives: (B, C, h, w), (B, h, w, C), or (B, prefix + h w, C)."""

    channels: int
    rows: int
    columns: int
    channels_last: bool
    prefix: int = 0


class GridAverage(nn.Module):
    """Averages the output of a layer to cells -> (B, C G), like adaptive pooling; small maps keep their own cells.

    A product with fixed weights, because ONNX has no adaptive pooling of, for example, 6 x 6 to 4 x 4 cells.

    Args:
        layer: What the layer gives.
        grid: Cells per side.
        channels: The most channels: more are projected to as many random orthogonal directions. Where something is
            then costs few numbers in wide layers too, and distances are kept approximately.
    """

    weights: Tensor
    mixing: Tensor

    def __init__(self, layer: Map, grid: int, channels: int) -> None:
        super().__init__()
        self.layer, self.mixes = layer, layer.channels > channels
        rows, columns = (cell_weights(size, min(grid, size)) for size in (layer.rows, layer.columns))
        self.register_buffer("weights", torch.kron(rows, columns).T.contiguous(), persistent=False)  # (h w, G)
        self.dim = min(layer.channels, channels) * self.weights.shape[1]
        if self.mixes:
            self.register_buffer("mixing", random_directions(layer.channels, channels), persistent=False)

    def forward(self, output: Tensor) -> Tensor:
        if output.ndim == 3:
            places = output[:, self.layer.prefix :].transpose(1, 2)
        else:
            places = output.flatten(1, 2).transpose(1, 2) if self.layer.channels_last else output.flatten(2)
        cells = places @ self.weights
        return (self.mixing @ cells if self.mixes else cells).flatten(1)


def random_directions(channels: int, count: int) -> Tensor:
    """(count, channels): orthogonal rows, the same on every machine up to rounding, which keep squared lengths on
    average."""
    draws = np.random.default_rng(0).standard_normal((channels, count))
    orthogonal, triangle = np.linalg.qr(draws)
    orthogonal *= np.sign(np.diag(triangle)) * math.sqrt(channels / count)  # unique
    return torch.from_numpy(orthogonal.T.copy()).float()


def cell_weights(size: int, cells: int) -> Tensor:
    """(cells, size): the average of positions i size / cells to (i + 1) size / cells, both rounded outwards."""
    weights = torch.zeros(cells, size)
    for i in range(cells):
        start, end = i * size // cells, -(-(i + 1) * size // cells)
        weights[i, start:end] = 1 / (end - start)
    return weights


def find_maps(encoder: Encoder) -> dict[str, Map]:
    """All layers that give a map or tokens, in the order in which they finish, found by a pass of empty pictures."""
    body, found = encoder.body, dict[str, Map]()

    def note(name: str, output: Any) -> None:
        found.pop(name, None)  # a layer that runs twice counts the last time
        if isinstance(output, Tensor) and (layer := _as_map(output, body)) is not None:
            found[name] = layer

    size = (2, encoder.channels, encoder.image_size, encoder.image_size)
    names = [name for name, _ in body.named_modules() if name]
    with torch.no_grad(), recorded(body, names, note):
        encoder(torch.zeros(size, device=encoder.mean.device))
    return found


def default_layers(maps: dict[str, Map], grid: int) -> tuple[str, ...]:
    """The middle layers of the encoder's family; else the last one with enough cells; none if there is none."""
    blocks = [name for name, layer in maps.items() if name.startswith("blocks.") and name.count(".") == 1]
    if blocks and maps[blocks[0]].channels_last:  # a transformer
        return (blocks[round(len(blocks) * 2 / 3) - 1],)
    known = [names for names in STAGES if all(name in maps for name in names)]
    # Attention gives (B, heads, N, d), which looks like a map, but is seldom square.
    others = [name for name, layer in maps.items() if layer.rows == layer.columns >= grid]
    return known[0] if known else tuple(others[-1:])


@contextmanager
def recorded(body: nn.Module, names: Sequence[str], note: Callable[[str, Any], Any]) -> Iterator[None]:
    """Calls `note` with the name and the output of each of these layers when it has run in this thread.

    Hooks that stay would refer to this module even in its copies.
    """
    here = threading.get_ident()

    def hook(name: str) -> Callable[[nn.Module, Any, Any], None]:
        def on_output(module: nn.Module, inputs: Any, output: Any) -> None:
            if threading.get_ident() == here:
                note(name, output)

        return on_output

    with ExitStack() as stack:
        for name in names:
            stack.callback(body.get_submodule(name).register_forward_hook(hook(name)).remove)
        yield


def as_encoder(module: nn.Module, image_size: int, channels: int) -> Encoder:
    """Makes an encoder of any module; pictures are normalised as a timm model expects, others with 0.5 and 0.5."""
    if isinstance(module, Encoder):
        return module
    known = getattr(module, "pretrained_cfg", None) or {}
    normalisation = (tuple(known["mean"]), tuple(known["std"])) if "mean" in known else HALF
    return Encoder(module, image_size, channels, normalisation)


def _as_map(output: Tensor, body: nn.Module) -> Map | None:
    if output.ndim == 4:
        # timm's windowed transformers have the channels at the end.
        last = str(getattr(body, "output_fmt", "NCHW")).endswith("NHWC")
        channels, rows, columns = (output.shape[i] for i in ((3, 1, 2) if last else (1, 2, 3)))
        return Map(channels, rows, columns, last)
    if output.ndim != 3:
        return None
    known = getattr(body, "num_prefix_tokens", None)  # the class token and registers
    for prefix in (0, 1) if known is None else (known,):
        side = math.isqrt(max(output.shape[1] - prefix, 0))
        if side and side**2 == output.shape[1] - prefix:
            return Map(output.shape[2], side, side, True, prefix)
    return None


def _check_layer(name: str, body: nn.Module, maps: dict[str, Map]) -> None:
    if name in maps:
        return
    kind, there = type(body).__name__, name in dict(body.named_modules())
    wrong = f"the layer {name!r} of {kind} gives no map or tokens" if there else f"{kind} has no layer {name!r}"
    near = difflib.get_close_matches(name, list(maps), n=3, cutoff=0.0)
    remedy = f"layers that give one are, for example, {', '.join(near)}" if near else "leave features.layers empty"
    raise UserError(f"{wrong}; {remedy}")
