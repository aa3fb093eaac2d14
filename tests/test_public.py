"""What `import lie_ssl` shows."""

from __future__ import annotations

import subprocess
import sys


def test_dir_lists_what_is_public_and_loads_nothing() -> None:
    code = (
        "import sys, lie_ssl\n"
        "assert set(lie_ssl.__all__) <= set(dir(lie_ssl)), dir(lie_ssl)\n"
        "assert '__doc__' in dir(lie_ssl)\n"
        "assert 'torch' not in sys.modules\n"
        "assert all(getattr(lie_ssl, name) is not None for name in lie_ssl.__all__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
