"""The size of an encoder, which determines the memory of a run and the useful number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder

LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d)


class EncoderSize(NamedTuple):
    """The size of an encoder: its weights, and the rest for a forward pass of one picture."""

    weights: int
    products: int  # multiplications
    layers: int  # with multiplications
    outputs: int  # outputs of all modules, needed by a backward pass

    def layer_products(self, pictures: int) -> float:
        """Multiplications of an average layer on a batch, the work that threads would share."""
        return pictures * self.products / max(1, self.layers)


@torch.no_grad()
def size_of(encoder: Encoder) -> EncoderSize:
    """Measures an encoder with one empty picture."""
    device = next(encoder.parameters()).device
    picture = torch.zeros(1, encoder.channels, encoder.image_size, encoder.image_size, device=device)
    training = encoder.training
    encoder.eval()
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        outputs = stack.enter_context(_counted_outputs(encoder))
        # The counter does not know the CPU's fused attention, but the products of the plain one.
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        counter = stack.enter_context(FlopCounterMode(display=False))
        encoder(picture)
    encoder.train(training)
    weights = sum(p.numel() for p in encoder.parameters())
    layers = sum(isinstance(module, LAYERS) for module in encoder.modules())
    return EncoderSize(weights, counter.get_total_flops() // 2, layers, sum(outputs))


def expected_size(config: EncoderConfig, image_size: int, channels: int) -> EncoderSize:
    """The size of the encoder of a config, built without memory for its weights.

    Raises whatever the encoder raises: user code may not work without memory.
    """
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        return size_of(create_encoder(replace(config, weights=None, parts=()), image_size, channels))


@contextmanager
def _counted_outputs(encoder: nn.Module) -> Iterator[list[int]]:
    """Collects the sizes of the outputs of all leaf modules."""
    counts: list[int] = []

    def note(module: nn.Module, inputs: Any, output: Any) -> None:
        counts.append(output.numel() if isinstance(output, Tensor) else 0)

    hooks = [module.register_forward_hook(note) for module in encoder.modules() if not list(module.children())]
    try:
        yield counts
    finally:
        for hook in hooks:
            hook.remove()
