"""Files of torch are read without running code, and rejected with our own messages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from lie_ssl.errors import UserError
from lie_ssl.storage.torch_files import read_torch


class Trap:
    """Creates a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_tensors_are_read(tmp_path: Path) -> None:
    torch.save({"w": torch.ones(3), "step": 4}, tmp_path / "a.pt")
    assert read_torch(tmp_path / "a.pt", "copy it again")["step"] == 4


@pytest.mark.parametrize("zipped", [True, False])
def test_code_is_not_run(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    torch.save({"w": Trap(tmp_path / "ran")}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(UserError, match=r"would run code; copy it again$") as caught:
        read_torch(path, "copy it again")
    assert not (tmp_path / "ran").exists()
    assert "weights_only" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04" + b"\0" * 99, bytes(range(256))])
def test_a_damaged_file_is_a_user_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.pt is damaged or not a PyTorch file; copy it again$") as caught:
        read_torch(path, "copy it again")
    assert "\n" not in str(caught.value)
