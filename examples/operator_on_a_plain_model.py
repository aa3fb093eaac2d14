"""The Lie operator on a plain torch model: a small encoder learns how shapes of four points rotate in the plane.

Run it with `python examples/operator_on_a_plain_model.py`. It takes a few seconds on a CPU and only needs torch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lie_ssl import LieLoss, LieOperator
from lie_ssl.lie import diagnose


def pairs(batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns random shapes of four points (B, 8), the same shapes rotated by delta, and delta in radians (B,)."""
    points = torch.randn(batch, 4, 2)
    delta = (torch.rand(batch) - 0.5) * 2
    c, s = torch.cos(delta), torch.sin(delta)
    rotation = torch.stack([torch.stack([c, -s], dim=1), torch.stack([s, c], dim=1)], dim=1)  # (B, 2, 2)
    return points.flatten(1), (points @ rotation.mT).flatten(1), delta


def main(steps: int = 400) -> float:
    """Trains and returns the relative error on new data: 0 is perfect, 1 is no better than leaving z unchanged."""
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 16))
    operator = LieOperator(16, n_generators=2)
    loss = LieLoss(operator, temperature=0.2)
    optimiser = torch.optim.AdamW([*encoder.parameters(), *loss.parameters()], lr=3e-3)
    for step in range(steps):
        x, x_next, delta = pairs(128)
        terms = loss(encoder(x), encoder(x_next), delta)
        optimiser.zero_grad()
        terms.total.backward()
        optimiser.step()
        if step % 100 == 0:
            print(
                f"step {step:3d}: lie {terms.lie:.3f}, euclidean {terms.euclidean:.3f}, |t|^2 {terms.coordinates:.4f}"
            )
    x, x_next, delta = pairs(512)
    with torch.no_grad():
        found = diagnose(operator, encoder(x), encoder(x_next), delta)
    print(found)
    print(
        found.warning() or f"the moved embedding is {1 / found.relative_error:.1f} times closer to its target than z is"
    )
    return found.relative_error


if __name__ == "__main__":
    main()
