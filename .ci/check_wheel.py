"""A smoke test of an installed wheel, in an environment without any extra.

Usage: PYTHON .ci/check_wheel.py WHEEL
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Folders of the repository, and where they are in the wheel.
FOLDERS = {ROOT / "src" / "lie_ssl": "lie_ssl", ROOT / "benchmarks": "lie_ssl/benchmarks"}
CODE = """
import torch
from lie_ssl import LieLoss, LieOperator, exp_action
operator = LieOperator(12, 2)
z = torch.randn(8, 12, requires_grad=True)
LieLoss(operator)(z, torch.randn(8, 12), torch.rand(8)).total.backward()
assert z.grad is not None and exp_action(operator.generators, torch.rand(8, 2), z).shape == z.shape
"""


def check_content(wheel: Path) -> None:
    """The code, its data files and the benchmarks are in the wheel, and no tests or results."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        f"{place}/{path.relative_to(folder).as_posix()}"
        for folder, place in FOLDERS.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if names != wanted or "lie_ssl/py.typed" not in names:
        sys.exit(f"{wheel.name} lacks {sorted(wanted - names)[:5]} and has {sorted(names - wanted)[:5]}")


def check(words: list[str], code: int = 0, said: str = "") -> None:
    """Runs a command in a folder that has nothing to do with the repository."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != code or said not in done.stdout + done.stderr:
        sys.exit(f"{' '.join(words)} gave {done.returncode}:\n{done.stdout}{done.stderr}")


def main() -> None:
    check_content(Path(sys.argv[1]))
    lie_ssl = str(Path(sys.executable).with_name("lie-ssl"))
    check([sys.executable, "-c", CODE])
    check([lie_ssl, "--version"], said="lie-ssl ")
    check([lie_ssl, "--help"], said="data make demo")
    check([lie_ssl, "bench", "action", "--help"], said="--rounds")
    check([lie_ssl, "doctor"], said="All required parts work.")
    check([lie_ssl, "pretrain", "mae", "lie"], code=2, said="pip install 'lie_ssl[vision,data,train]'")
    load = "from lie_ssl.commands.bench import load; load('action')"
    check([sys.executable, "-c", load])
    print(f"{Path(sys.argv[1]).name} works in a bare environment")


if __name__ == "__main__":
    main()
