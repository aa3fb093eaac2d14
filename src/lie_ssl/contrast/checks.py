"""Checks of tensor arguments: shape, dtype and device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import torch
from torch import Tensor


def check_embedding(name: str, x: Tensor, dim: int) -> None:
    """Rejects anything but (B, dim) floats."""
    if x.ndim != 2 or x.shape[1] != dim:
        raise ValueError(f"{name} has the shape {tuple(x.shape)}, but it must be (B, {dim})")
    check_float(name, x)


def check_float(name: str, x: Tensor) -> None:
    if not x.is_floating_point():
        raise TypeError(f"{name} is {x.dtype}, but it must hold real floats; convert it to torch.float32")


def check_real(name: str, x: Tensor) -> None:
    if x.is_complex():
        raise TypeError(f"{name} is {x.dtype}, but it must hold real numbers; convert it to torch.float32")


def check_device(name: str, x: Tensor, like: Tensor, whose: str = "z") -> None:
    if x.device != like.device:
        raise ValueError(f"{name} is on {x.device}, but {whose} is on {like.device}; move one of them")


def check_weights(weight: Tensor, given: Mapping[str, Tensor], whose: str) -> None:
    """Rejects tensors that layers with this weight cannot process: on another device, or with another dtype.
    Autocast converts all dtypes but float64."""
    for name, x in given.items():
        check_device(name, x, weight, whose)
    joined = reduce(torch.promote_types, (x.dtype for x in given.values()))
    if joined == weight.dtype:
        return
    if torch.is_autocast_enabled(weight.device.type) and torch.float64 not in (joined, weight.dtype):
        return
    name, dtype = next((n, x.dtype) for n, x in given.items() if x.dtype != weight.dtype)
    raise TypeError(f"{name} is {dtype}, but {whose} is {weight.dtype}; convert {name} to {weight.dtype}")
