"""`lie-ssl doctor`: runs each part instead of only checking whether it is installed."""

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
from lie_ssl._text import count
from lie_ssl.extras import EXTRAS, MissingExtraError, command, missing, package_of, require, versions_of


@dataclass(frozen=True)
class Check:
    """One line of the report. The command fails if a `needed` part does not work."""

    name: str
    run: Callable[[], str]
    remedy: str
    needed: bool = False


@dataclass(frozen=True)
class Finding:
    """The result of a check: whether the part works, and details."""

    name: str
    works: bool
    words: str
    remedy: str
    needed: bool


def examine() -> list[Finding]:
    """Runs all checks of `lie-ssl doctor`."""
    return [_examined(check) for check in (*CHECKS, *extra_checks())]


def doctor() -> None:
    """Shows what is installed, what works, and how to install what is missing.

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
    print(f"required parts do not work: {', '.join(broken)}" if broken else "All required parts work.")
    if broken:
        sys.exit(2)


def extra_checks() -> list[Check]:
    """One check for each extra: whether its packages are installed and work."""
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
    except MissingExtraError as error:  # its message says what to type
        return Finding(check.name, False, str(error), "", check.needed)
    except Exception as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Finding(check.name, False, first, check.remedy, check.needed)


def _cores() -> str:
    free = shutil.disk_usage(".").free / 1e9
    return f"{count(os.cpu_count() or 1, 'core')}, {free:.0f} GB of disk space free"


def _torch() -> str:
    import torch

    value = float(torch.linalg.matrix_exp(torch.zeros(2, 2)).sum())
    if value != 2.0:
        raise RuntimeError(f"exp(0) summed to {value} instead of 2")
    return f"{torch.__version__}, {count(torch.get_num_threads(), 'thread')}"


def _bf16() -> str:
    require("training", "vision", "train")
    from lie_ssl.training.bf16 import cpu_has_bf16

    if not cpu_has_bf16():
        raise RuntimeError("this machine does not run the AMX instructions that its processor reports")
    return "for --precision bf16"


def _gpu() -> str:
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("torch can use none")
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))


def _vision() -> str:
    from lie_ssl._torchvision_compat import import_torchvision, is_patched

    import_torchvision()
    return "works after a patch for this build of torch (lie_ssl._torchvision_compat)" if is_patched() else "works"


def _render() -> str:
    return _drawing("raster")


def _blender() -> str:
    return _drawing("blender")


def _drawing(backend: Literal["raster", "blender"]) -> str:
    from lie_ssl.objects.shapes import ball
    from lie_ssl.render import RenderSettings, View, render

    frame = render(ball(1.0).mesh().normalised(), [View()], RenderSettings(size=16), backend=backend)
    if not (drawn := int((frame != frame[0, 0, 0]).any(-1).sum())):
        raise RuntimeError("the picture is empty")
    return f"rendered a ball ({drawn} pixels)"


CHECKS = [
    Check("machine", _cores, ""),
    Check("torch", _torch, "type: pip install torch", needed=True),
    Check("GPU", _gpu, "everything also runs on the CPU"),
    Check("bf16 on the CPU", _bf16, "train in 32 bits, or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"),
]
# Trials of extras whose packages are installed.
TRIALS: dict[str, Callable[[], str]] = {"vision": _vision, "render": _render, "blender": _blender}
