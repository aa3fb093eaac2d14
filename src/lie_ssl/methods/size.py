"""How large an encoder is: what decides how much memory a run takes, and how many threads are worth it."""

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
    """Of one picture in a forward pass, but for the weights."""

    weights: int
    products: int  # multiplications
    layers: int  # among which they are shared
    outputs: int  # numbers that the modules give, which a backward pass needs

    def layer_products(self, pictures: int) -> float:
        """Multiplications of a mean layer on a batch: the pieces of work that threads could share."""
        return pictures * self.products / max(1, self.layers)


@torch.no_grad()
def size_of(encoder: Encoder) -> EncoderSize:
    """Measures an encoder by showing it one empty picture."""
    device = next(encoder.parameters()).device
    picture = torch.zeros(1, encoder.channels, encoder.image_size, encoder.image_size, device=device)
    training = encoder.training
    encoder.eval()
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=[]))
        outputs = stack.enter_context(_counted_outputs(encoder))
        # The counter does not know the CPU's own attention; the plain one consists of products that it knows.
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        counter = stack.enter_context(FlopCounterMode(display=False))
        encoder(picture)
    encoder.train(training)
    weights = sum(p.numel() for p in encoder.parameters())
    layers = sum(isinstance(module, LAYERS) for module in encoder.modules())
    return EncoderSize(weights, counter.get_total_flops() // 2, layers, sum(outputs))


def expected_size(config: EncoderConfig, image_size: int, channels: int) -> EncoderSize:
    """The size of an encoder that is not there yet; it is built without memory for its weights.

    Raises whatever the encoder raises: code of a user's own need not work without memory.
    """
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        return size_of(create_encoder(replace(config, weights=None, parts=()), image_size, channels))


@contextmanager
def _counted_outputs(encoder: nn.Module) -> Iterator[list[int]]:
    """Collects how many numbers each innermost module gives."""
    counts: list[int] = []

    def note(module: nn.Module, inputs: Any, output: Any) -> None:
        counts.append(output.numel() if isinstance(output, Tensor) else 0)

    hooks = [module.register_forward_hook(note) for module in encoder.modules() if not list(module.children())]
    try:
        yield counts
    finally:
        for hook in hooks:
            hook.remove()
