"""`lie-ssl doctor`: a check that runs each part for real instead of only looking whether it is installed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from lie_ssl import __version__
from lie_ssl.extras import EXTRAS, MissingExtraError, command, missing, package_of, require, versions_of


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
    return [_examined(check) for check in (*CHECKS, *extra_checks())]


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
        words = finding.words if finding.works or not finding.remedy else f"{finding.words}; {finding.remedy}"
        table.add_row(finding.name, "yes" if finding.works else "no", escape(words))
    Console().print(table)
    broken = [f.name for f in findings if f.needed and not f.works]
    print(f"needed but not working: {', '.join(broken)}" if broken else "Everything that is needed works.")
    if broken:
        sys.exit(2)


def extra_checks() -> list[Check]:
    """One for each extra: are its packages there, and does the part that it is for work?"""
    return [
        Check(name, partial(_extra, name), f"for {extra.purpose} type: {command([name])}")
        for name, extra in EXTRAS.items()
    ]


def _extra(name: str) -> str:
    if absent := missing(name):
        raise RuntimeError(f"not installed: {', '.join(map(package_of, absent))}")
    found = ", ".join(f"{p} {v}" for p, v in versions_of(map(package_of, EXTRAS[name].modules)).items())
    return f"{found}; {trial()}" if (trial := TRIALS.get(name)) else found


def _examined(check: Check) -> Finding:
    try:
        return Finding(check.name, True, check.run(), check.remedy, check.needed)
    except MissingExtraError as error:  # which says itself what to type
        return Finding(check.name, False, str(error), "", check.needed)
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
    require("training", "vision", "train")
    from lie_ssl.training.bf16 import cpu_has_bf16

    if not cpu_has_bf16():
        raise RuntimeError("this machine refuses the AMX instructions that its processor names")
    return "for --precision bf16"


def _gpu() -> str:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("none that torch can use")
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _vision() -> str:
    from lie_ssl._torchvision_compat import import_torchvision, is_cured

    import_torchvision()
    return "made to fit this build of torch by lie_ssl._torchvision_compat" if is_cured() else "works"


def _render() -> str:
    return _drawing("raster")


def _blender() -> str:
    return _drawing("blender")


def _drawing(backend: Literal["raster", "blender"]) -> str:
    from lie_ssl.objects.shapes import ball
    from lie_ssl.render import RenderSettings, View, render

    frame = render(ball(1.0).mesh().normalised(), [View()], RenderSettings(size=16), backend=backend)
    if not (drawn := int((frame != frame[0, 0, 0]).any(-1).sum())):
        raise RuntimeError("it drew an empty picture")
    return f"drew a ball ({drawn} pixels)"


CHECKS = [
    Check("machine", _cores, ""),
    Check("torch", _torch, "type: pip install torch", needed=True),
    Check("GPU", _gpu, "everything runs on the CPU as well"),
    Check("bf16 on the CPU", _bf16, "train in 32 bits, or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"),
]
# What is tried of an extra whose packages are there.
TRIALS: dict[str, Callable[[], str]] = {"vision": _vision, "render": _render, "blender": _blender}
