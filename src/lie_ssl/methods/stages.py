"""The stages of an encoder, and which of its weights are trained with the last of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.methods.encoders import Encoder

# Names of the parts that hold the stages, or the blocks of a transformer, in timm, torchvision and transformers.
HOLDERS = ("blocks", "stages", "layers", "layer", "features")
NUMBERED = re.compile(r"([A-Za-z_]+)\d+")  # such as layer3 of a ResNet, or s3 of a RegNet


class LastStages(NamedTuple):
    """The last stages of an encoder."""

    names: tuple[str, ...]
    parameters: list[nn.Parameter]  # theirs, and those of all layers that run after the first of them begins


def find_stages(encoder: Encoder) -> tuple[str, ...]:
    """The names of an encoder's stages, or of the blocks of a transformer, in the order in which they run.

    They are the children of a part that is named like a list of stages (`blocks`, `stages`, `layers` ...), or else the
    parts that have the same name with a number (`layer1`, `layer2` ...). There may be none.
    """
    return _stages(encoder.body, _run_order(encoder))


def last_stages(encoder: Encoder, number: int) -> LastStages:
    """Finds the last stages of an encoder, with all layers that run after them, such as a final norm.

    What runs before them, and weights that belong to no layer, such as position embeddings, are not part of them.

    >>> last_stages(create_encoder(EncoderConfig("resnet_mini"), 64, 3), 2).names                 # doctest: +SKIP
    ('layer3', 'layer4')
    """
    order = _run_order(encoder)
    stages, kind = _stages(encoder.body, order), type(encoder.body).__name__
    if not stages:
        raise UserError(
            f"{kind} has no stages that can be recognised, so --unfreeze cannot tell which are the last; put them into "
            "a list named blocks, stages or layers"
        )
    if not 1 <= number <= len(stages):
        found = f"{count(len(stages), 'stage')} ({stages[0]} to {stages[-1]})"
        raise UserError(f"unfreeze is {number}, but {kind} has {found}; give a number from 1 to {len(stages)}")
    names = stages[-number:]
    begin = order.index(names[0])
    before = {id(p) for name in order[:begin] for p in encoder.body.get_submodule(name).parameters(recurse=False)}
    after = {id(p): p for name in order[begin:] for p in encoder.body.get_submodule(name).parameters()}
    parameters = [p for key, p in after.items() if key not in before and p.is_floating_point()]
    if not parameters:
        raise UserError(f"the last {count(number, 'stage')} of {kind} have no weights to train; give a larger number")
    return LastStages(names, parameters)


def _run_order(encoder: Encoder) -> list[str]:
    """The names of all layers of the body in the order in which they begin, found by a pass of empty pictures."""
    order: list[str] = []

    def hook(name: str) -> Callable[[nn.Module, Any], None]:
        return lambda module, inputs: order.append(name)

    with torch.no_grad(), ExitStack() as stack:
        for name, layer in encoder.body.named_modules():
            if name:
                stack.callback(layer.register_forward_pre_hook(hook(name)).remove)
        encoder(empty_pictures(encoder))
    return order


def empty_pictures(encoder: Encoder) -> Tensor:
    """(2, C, S, S)"""
    return torch.zeros(2, encoder.channels, encoder.image_size, encoder.image_size, device=encoder.mean.device)


def _stages(body: nn.Module, order: list[str]) -> tuple[str, ...]:
    """The largest group of parts with weights that could be stages, among the outermost ones."""
    groups: dict[tuple[int, bool, str], list[str]] = defaultdict(list)  # by depth, whether numbered, and name
    for name in dict.fromkeys(order):
        parent, _, own = name.rpartition(".")
        layer, numbered = body.get_submodule(name), NUMBERED.fullmatch(own)
        if not any(True for _ in layer.parameters()):
            continue
        if parent.rpartition(".")[2] in HOLDERS and parent.count(".") <= 1:
            groups[parent.count("."), False, parent].append(name)
        elif not parent and numbered and any(True for _ in layer.children()):
            groups[0, True, numbered[1]].append(name)
    best = min(((*key[:2], -len(names), names) for key, names in groups.items() if len(names) > 1), default=None)
    return () if best is None else tuple(best[-1])
