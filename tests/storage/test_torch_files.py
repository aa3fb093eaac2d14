"""Files of torch are read without running them, and refused in our own words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.storage.torch_files import read_torch


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_tensors_are_read(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(3), "step": 4}, tmp_path / "a.pt")
    assert read_torch(tmp_path / "a.pt", "mend it")["step"] == 4


@pytest.mark.parametrize("zipped", [True, False])
def test_code_is_not_run(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    torch.save({"w": Trap(tmp_path / "ran")}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(UserError, match=r"would run code; mend it$") as refusal:
        read_torch(path, "mend it")
    assert not (tmp_path / "ran").exists()
    assert "weights_only" not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"words", b"PK\x03\x04" + b"\0" * 99, bytes(range(256))])
def test_damage_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.pt is damaged or not a PyTorch file; mend it$") as refusal:
        read_torch(path, "mend it")
    assert "\n" not in str(refusal.value)
