"""Option 2 of the paper: neighbours of an embedding, moved by coordinates that the self-supervised phase has seen."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator


class NeighbourSampler:
    """Moves every embedding by t drawn from those of the run.

    Args:
        operator: of the run.
        coordinates: (N, D), as the run has stored them.
        count: neighbours of an embedding, k in the paper.
    """

    def __init__(self, operator: LieOperator, coordinates: Tensor, count: int = 1) -> None:
        if count < 1 or coordinates.ndim != 2 or coordinates.shape[1] != operator.n_generators or not len(coordinates):
            raise UserError(
                f"neighbours need a count above 0 and coordinates (N, {operator.n_generators}), not {count} and "
                f"{tuple(coordinates.shape)}"
            )
        # A copy that learns nothing: no gradients are computed for its generators, and the given one stays as it is.
        self.operator = copy.deepcopy(operator).eval().requires_grad_(False)
        self.coordinates, self.count = coordinates, count

    def __call__(self, z: Tensor, generator: torch.Generator) -> list[Tensor]:
        """(B, M) -> `count` times (B, M). Gradients reach z, for finetuning; the operator stays as it is."""
        rows = torch.randint(len(self.coordinates), (self.count, len(z)), generator=generator)
        t = self.coordinates[rows].to(z)
        return [self.operator(z, each) for each in t]
