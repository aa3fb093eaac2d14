"""Random numbers that belong to a sample, not to a process.

Masks and augmentations of row i of the joined batch do not depend on the number of processes, the device or restarts,
but only on the seed, the number of the batch, the name of the draw and the row.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Draws:
    """The random numbers of rows `start` to `start + count` of a joined batch of `total` rows.

    >>> whole = Draws(seed=0, batch=7, total=4)
    >>> half = Draws(seed=0, batch=7, total=4, start=2, count=2)
    >>> bool((whole.uniform("mask", 9)[2:] == half.uniform("mask", 9)).all())
    True
    """

    seed: int
    batch: int
    total: int
    start: int = 0
    count: int | None = None
    prefix: str = ""

    def named(self, prefix: str) -> Draws:
        """The same rows with other numbers, for example for a second view."""
        return Draws(self.seed, self.batch, self.total, self.start, self.count, f"{self.prefix}{prefix}/")

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.total - self.start if self.count is None else self.count

    def uniform(self, name: str, *shape: int, device: torch.device | str = "cpu") -> Tensor:
        """(rows, *shape), uniform in [0, 1), float32. A name always gives the same numbers."""
        return torch.rand(self.total, *shape, generator=self._generator(name))[self._own].to(device)

    def normal(self, name: str, *shape: int, device: torch.device | str = "cpu") -> Tensor:
        """(rows, *shape), standard normal, float32."""
        return torch.randn(self.total, *shape, generator=self._generator(name))[self._own].to(device)

    @property
    def _own(self) -> slice:
        return slice(self.start, self.start + self.rows)

    def _generator(self, name: str) -> torch.Generator:
        return torch.Generator().manual_seed(derive_seed(self.seed, self.batch, self.prefix + name))


def derive_seed(*parts: int | str) -> int:
    """Derives a seed of 63 bits from numbers and strings."""
    text = "\x1f".join(str(p) for p in parts)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1
