"""Files of `torch.save`, read without running what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from lie_ssl.errors import UserError


def read_torch(path: Path, remedy: str) -> Any:
    """The tensors and plain values of a file, on the CPU.

    torch's own messages advise to switch its protection off, so none of them is passed on.

    Args:
        path: the file.
        remedy: what the user can do, as the end of a sentence.

    Raises:
        FileNotFoundError: there is none.
        UserError: it cannot be read, or holds more than tensors and plain values.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except IsADirectoryError:
        raise UserError(f"{path} is a folder, not a file of weights") from None
    except PermissionError:
        raise UserError(f"{path} may not be read; change its permissions") from None
    except MemoryError:
        raise
    except Exception as error:  # what is no file of torch fails in many ways
        raise UserError(f"{path} {_reason(str(error))}; {remedy}") from None


def _reason(error: str) -> str:
    if "TorchScript" in error:
        return "is a TorchScript program, and loading it would run code"
    if any(word in error for word in ("GLOBAL", "call reduce", "Can only build", "Can only create new object")):
        return "holds more than tensors and plain values, and loading it would run code"
    return "is damaged, or no file of PyTorch"
