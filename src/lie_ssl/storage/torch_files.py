"""Reads files of `torch.save` without running code from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from lie_ssl.errors import UserError


def read_torch(path: Path, remedy: str) -> Any:
    """Reads the tensors and plain values of a file to the CPU.

    torch's own messages recommend disabling its protection, so they are not passed on.

    Args:
        path: The file.
        remedy: What the user can do about an unreadable file, as the end of a sentence.

    Raises:
        FileNotFoundError: There is no such file.
        UserError: It cannot be read, or holds more than tensors and plain values.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except IsADirectoryError:
        raise UserError(f"{path} is a folder, not a weight file; give a file") from None
    except PermissionError:
        raise UserError(f"{path} cannot be read; change its permissions") from None
    except MemoryError:
        raise
    except Exception as error:  # other files fail in many ways
        raise UserError(f"{path} {_reason(str(error))}; {remedy}") from None


def _reason(error: str) -> str:
    if "TorchScript" in error:
        return "is a TorchScript program, and loading it would run code"
    if any(word in error for word in ("GLOBAL", "call reduce", "Can only build", "Can only create new object")):
        return "holds more than tensors and plain values, and loading it would run code"
    return "is damaged or not a PyTorch file"
