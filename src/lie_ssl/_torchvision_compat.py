"""Makes torchvision importable with a build of torch that it was not compiled for.

With a CPU build of torch, the CUDA build of torchvision fails at import with `operator torchvision::nms does not
exist`, and so do timm, torchmetrics and lightning. Here the two missing operators are declared and the import is
repeated. They are never called, and neither is the compiled part of `torchvision.io`, which stays unusable: pictures
are read with PIL. Where torchvision works, this is a plain import.
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
    """Imports torchvision. Call it before importing anything that imports torchvision itself (timm, lightning)."""
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


def is_patched() -> bool:
    """Whether torchvision had to be patched in this process."""
    return _library is not None


def _declare_operators() -> None:
    global _library
    import torch

    _library = torch.library.Library("torchvision", "DEF")
    for schema in _SCHEMAS.values():
        _library.define(schema)
