"""`lie-ssl doctor`: a check that runs each part for real instead of only looking whether it is installed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from lie_ssl import __version__


@dataclass(frozen=True)
class Check:
    """One line of the report. `needed` parts make the command fail when they do not work."""

    name: str
    run: Callable[[], str]
    remedy: str
    needed: bool = False


@dataclass(frozen=True)
class Finding:
    """What a check gave: `works`, and a few words."""

    name: str
    works: bool
    words: str
    remedy: str
    needed: bool


def examine() -> list[Finding]:
    """Runs all checks; the Python call behind `lie-ssl doctor`."""
    return [_examined(check) for check in CHECKS]


def doctor() -> None:
    """Says what is installed, what works, and what to type for what is missing.

    Example: lie-ssl doctor
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    findings = examine()
    table = Table(title=f"lie_ssl {__version__}, Python {platform.python_version()}, {platform.system()}")
    for column in ("part", "works", "what was found"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        words = finding.words if finding.works else f"{finding.words}; {finding.remedy}"
        table.add_row(finding.name, "yes" if finding.works else "no", escape(words))
    Console().print(table)
    broken = [f.name for f in findings if f.needed and not f.works]
    print(f"needed but not working: {', '.join(broken)}" if broken else "Everything that is needed works.")
    if broken:
        sys.exit(2)


def _examined(check: Check) -> Finding:
    try:
        return Finding(check.name, True, check.run(), check.remedy, check.needed)
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Finding(check.name, False, first, check.remedy, check.needed)


def _cores() -> str:
    free = shutil.disk_usage(".").free / 1e9
    return f"{os.cpu_count()} cores, {free:.0f} GB free here"


def _torch() -> str:
    import torch

    value = float(torch.linalg.matrix_exp(torch.zeros(2, 2)).sum())
    if value != 2.0:
        raise RuntimeError(f"exp(0) summed to {value} in place of 2")
    return f"{torch.__version__}, {torch.get_num_threads()} threads"


def _bf16() -> str:
    from lie_ssl.training.bf16 import cpu_has_bf16

    if not cpu_has_bf16():
        raise RuntimeError("this machine refuses the AMX instructions that its processor names")
    return "for --precision bf16"


def _torchvision() -> str:
    from lie_ssl._torchvision_compat import import_torchvision, is_cured

    version = import_torchvision().__version__
    return f"{version}, made to fit this build of torch by lie_ssl._torchvision_compat" if is_cured() else version


def _numba() -> str:
    from lie_ssl.objects.shapes import ball
    from lie_ssl.render import View, render

    frame = render(ball(1.0).mesh().normalised(), [View()])
    return f"{metadata.version('numba')}, drew a ball ({int((frame < 255).any(-1).sum())} pixels)"


def _gpu() -> str:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("none that torch can use")
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _blender() -> str:
    _installed("bpy")()
    from lie_ssl.objects.shapes import ball
    from lie_ssl.render import RenderSettings, View, render

    frame = render(ball(1.0).mesh().normalised(), [View()], RenderSettings(size=16), backend="blender")
    if not (frame != frame[0, 0, 0]).any():
        raise RuntimeError("it drew an empty picture")
    return f"bpy {metadata.version('bpy')}, drew a ball"


def _installed(*packages: str) -> Callable[[], str]:
    def run() -> str:
        try:
            return ", ".join(f"{p} {metadata.version(p)}" for p in packages)
        except metadata.PackageNotFoundError as error:
            raise RuntimeError("not installed") from error

    return run


CHECKS = [
    Check("machine", _cores, ""),
    Check("torch", _torch, "type: pip install torch", needed=True),
    Check("torchvision", _torchvision, "type: pip install torchvision", needed=True),
    Check("numba rasteriser", _numba, "type: pip install numba", needed=True),
    Check("bf16 on the CPU", _bf16, "train in 32 bits, or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"),
    Check("GPU", _gpu, "everything runs on the CPU as well"),
    Check("Blender", _blender, "for photoreal pictures type: pip install -e '.[blender]'"),
    Check("Ray", _installed("ray"), "for clusters type: pip install -e '.[cluster]'"),
    Check("video", _installed("av"), "to learn from video type: pip install -e '.[video]'"),
    Check("explorer", _installed("gradio", "plotly"), "for the web page type: pip install -e '.[explore]'"),
    Check("wandb", _installed("wandb"), "to log to Weights & Biases type: pip install -e '.[wandb]'"),
]
