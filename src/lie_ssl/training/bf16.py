"""Whether the CPU can train in bf16.

Some virtual machines report AMX instructions but do not run them. Torch uses them for products in bf16, and the first
product kills the process without a message; so one is tried in a separate process.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

PRODUCT = "import torch; x = torch.ones(64, 192, dtype=torch.bfloat16); torch.nn.functional.linear(x, x)"
REMEDY = "ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16"  # makes oneDNN work without AMX


@cache
def cpu_has_bf16() -> bool:
    """Whether a product in bf16 works; it is tried only if the processor reports AMX."""
    processor = Path("/proc/cpuinfo")
    if not processor.exists() or "amx_bf16" not in processor.read_text():
        return True
    return runs_cleanly(PRODUCT)


def runs_cleanly(code: str) -> bool:
    """Whether Python code runs without an error in a separate process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
