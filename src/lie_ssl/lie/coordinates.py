"""Infers the coordinates t of the move between two embeddings."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from lie_ssl.contrast.checks import check_device, check_weights

Sees = Literal["pair", "source", "delta", "linear", "align"]
ONE = ("linear", "align")  # they have no network, and one generator


class Coordinates(nn.Module):
    """h: two linear layers with a leaky ReLU between them, from (z, z^g, delta) to t.

    z and z^g are detached, as in the paper. `sees` = "source" leaves out z^g, and "delta" both, so that t cannot encode
    the target. `sees` = "linear" has no network: t = delta, so that the group acts in the same way on every object.
    Nor has "align": the operator itself finds t, by aligning z with z^g.
    """

    def __init__(
        self,
        dim: int,
        n_generators: int,
        *,
        sees: Sees = "pair",
        hidden: int | None = None,
        max_norm: float | None = None,
    ) -> None:
        super().__init__()
        if sees not in get_args(Sees):
            raise ValueError(f"sees is {sees!r}, but it must be one of {', '.join(get_args(Sees))}")
        if max_norm is not None and max_norm <= 0:
            raise ValueError(f"max_norm is {max_norm}, but it must be above 0")
        self.sees, self.max_norm, self.n_generators = sees, max_norm, n_generators
        if sees in ONE:
            return
        inputs = {"pair": 2 * dim, "source": dim, "delta": 0}[sees] + 1
        hidden = hidden or max(dim, 16)
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.LeakyReLU(), nn.Linear(hidden, n_generators))

    def forward(self, z: Tensor, z_next: Tensor, delta: Tensor) -> Tensor:
        """(B, M), (B, M), (B,) -> (B, D), of length at most `max_norm` if that is given."""
        if self.sees == "linear":
            return delta[:, None].to(z.dtype).expand(-1, self.n_generators)
        used = {"z": z, "z_next": z_next} if self.sees == "pair" else {"z": z}
        check_weights(next(self.layers.parameters()), used, "the inference network")
        check_device("delta", delta, z)
        seen = {"pair": [z, z_next], "source": [z], "delta": []}[self.sees]
        inputs = torch.cat([*(x.detach() for x in seen), delta[:, None].to(z.dtype)], dim=1)
        t: Tensor = self.layers(inputs)
        return t if self.max_norm is None else bounded(t, self.max_norm)


def bounded(t: Tensor, max_norm: float) -> Tensor:
    """(B, D) -> the same directions with lengths below `max_norm`; short vectors hardly change."""
    # Smooth at zero: x / sqrt(1 + x^2) has slope one there.
    return t / torch.sqrt(1 + (t / max_norm).square().sum(dim=1, keepdim=True))
