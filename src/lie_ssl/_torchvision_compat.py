"""Lets torchvision load beside a build of torch that it was not compiled for.

A CPU build of torch next to torchvision's CUDA build stops at import with `operator torchvision::nms does not exist`,
and timm, torchmetrics and lightning stop with it. Two operators are then declared by hand and the import is tried
again. Nothing here needs those operators, nor the compiled part of `torchvision.io`, which stays unusable: pictures are
read with PIL. Where torchvision is sound this is a plain import.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from lie_ssl.extras import require

_SCHEMAS = {
    "nms": "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
_library: Any = None  # the declarations live as long as this object


def import_torchvision() -> ModuleType:
    """The torchvision module. Call it before anything that imports torchvision itself (timm, lightning)."""
    if "torchvision" in sys.modules:
        return sys.modules["torchvision"]
    require("an encoder", "vision")
    try:
        return import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
    for name in [n for n in sys.modules if n == "torchvision" or n.startswith("torchvision.")]:
        del sys.modules[name]
    _declare_operators()
    return import_module("torchvision")


def is_cured() -> bool:
    """Whether the cure was needed in this process."""
    return _library is not None


def _declare_operators() -> None:
    global _library
    import torch

    _library = torch.library.Library("torchvision", "DEF")
    for schema in _SCHEMAS.values():
        _library.define(schema)
