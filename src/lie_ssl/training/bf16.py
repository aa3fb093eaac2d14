"""Whether the CPU can train in bf16.

Some virtual machines name the AMX instructions of their processor and then refuse them. Torch multiplies in bf16 with
them, and the first product ends the whole process without a word; so one is tried in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

PRODUCT = "import torch; x = torch.ones(64, 192, dtype=torch.bfloat16); torch.nn.functional.linear(x, x)"
REMEDY = "ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"  # torch's library of products then does without AMX


@cache
def cpu_has_bf16() -> bool:
    """A product in bf16 runs cleanly; tried only where the processor names AMX."""
    processor = Path("/proc/cpuinfo")
    if not processor.exists() or "amx_bf16" not in processor.read_text():
        return True
    return runs_cleanly(PRODUCT)


def runs_cleanly(code: str) -> bool:
    """Python code in a process of its own, with this one's environment."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
