"""The patch makes a torchvision that does not match torch importable, and does not change a compatible one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(code: str, extra_path: Path | None = None) -> str:
    prefix = f"import sys; sys.path.insert(0, {str(extra_path)!r})\n" if extra_path else ""
    done = subprocess.run([sys.executable, "-c", prefix + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torchvision_is_usable() -> None:
    code = """
from lie_ssl._torchvision_compat import import_torchvision
tv = import_torchvision()
import torch
from torchvision.transforms import v2
print(tuple(v2.Resize(8)(torch.zeros(3, 16, 16)).shape), tv is import_torchvision())
print(tuple(tv.models.resnet18().eval()(torch.zeros(1, 3, 32, 32)).shape))
"""
    assert run(code).split("\n")[:2] == ["(3, 8, 8) True", "(1, 1000)"]


def test_a_compatible_torchvision_is_not_changed(tmp_path: Path) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("imports = globals().get('imports', 0) + 1\n__version__ = 'sound'\n")
    code = """
from lie_ssl._torchvision_compat import import_torchvision, is_patched
tv = import_torchvision()
print(tv.__version__, tv.imports, is_patched(), 'torch' in sys.modules)
"""
    assert run(code, tmp_path).strip() == "sound 1 False False"


def test_a_mismatched_torchvision_is_patched(tmp_path: Path) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    # The same failure as the real one: the operator is looked up when half of the package is already imported.
    (package / "part.py").write_text("")
    (package / "__init__.py").write_text(
        "from torchvision import part\nimport torch\n"
        "torch.library.register_fake('torchvision::nms')(lambda a, b, c: a)\n"
    )
    code = """
from lie_ssl._torchvision_compat import import_torchvision, is_patched
import_torchvision()
print(is_patched())
"""
    assert run(code, tmp_path).strip() == "True"


def test_other_errors_are_not_hidden(tmp_path: Path) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('something else')\n")
    code = """
from lie_ssl._torchvision_compat import import_torchvision
try:
    import_torchvision()
except RuntimeError as error:
    print(error)
"""
    assert run(code, tmp_path).strip() == "something else"
