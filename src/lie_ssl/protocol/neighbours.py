"""Option 2 of the paper: neighbours of an embedding, moved by coordinates t that occurred in pretraining."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from lie_ssl.errors import UserError
from lie_ssl.lie import LieOperator


class NeighbourSampler:
    """Moves embeddings by coordinates t drawn from those of the run.

    Args:
        operator: The operator of the run.
        coordinates: The coordinates (N, D) that the run stored.
        count: Neighbours per embedding, k in the paper.
    """

    def __init__(self, operator: LieOperator, coordinates: Tensor, count: int = 1) -> None:
        if count < 1 or coordinates.ndim != 2 or coordinates.shape[1] != operator.n_generators or not len(coordinates):
            raise UserError(
                f"the count of neighbours is {count} and the coordinates have shape {tuple(coordinates.shape)}, but "
                f"they must be above 0 and (N, {operator.n_generators})"
            )
        # A frozen copy, so that no gradients are computed for the generators.
        self.operator = copy.deepcopy(operator).eval().requires_grad_(False)
        self.coordinates, self.count = coordinates, count

    def __call__(self, z: Tensor, generator: torch.Generator) -> list[Tensor]:
        """(B, M) -> `count` times (B, M), with gradients to z but not to the operator."""
        rows = torch.randint(len(self.coordinates), (self.count, len(z)), generator=generator)
        t = self.coordinates[rows].to(z)
        return [self.operator(z, each) for each in t]
