"""Predicts the published features of one frame of a pair from u of the other.

InfoNCE treats all other objects as unrelated, also those of the same class, so u forgets classes. The features of the
published encoder know them. The best prediction from one frame is the mean over the poses of its object, so u learns
what poses have in common and nothing has to be pushed apart.

Shape letters: B pairs, U size of u, T targets.
"""

from __future__ import annotations

from torch import Tensor, nn

from lie_ssl.contrast.gather import JoinedBatch


class FeaturePrediction(nn.Module):
    """A linear map from u to the features of the other frame.

    Args:
        identity: U.
        targets: T.
    """

    def __init__(self, identity: int, targets: int) -> None:
        super().__init__()
        self.linear = nn.Linear(identity, targets)

    def forward(self, u: Tensor, u_next: Tensor, target: Tensor, target_next: Tensor) -> Tensor:
        """(B, U), (B, U), (B, T), (B, T) -> this process's share of the mean squared error, in both directions."""
        joined = JoinedBatch.of(len(u), u.device)
        errors = (self.linear(u) - target_next).square() + (self.linear(u_next) - target).square()
        return joined.mean(errors.mean(dim=1) / 2)
