"""The likelihood of a clip: frames at equal steps of a move that nobody told, for one factor with one generator.

Frames at equal steps are explained by one number, the t of a step. Three frames or more test it: t from some of them
must predict the others. Meta-Sequential Prediction (MSP, arXiv 2210.05972) learns from three frames in the same way,
with a free linear map for each clip in place of a group that all clips share.

Shape letters: B clips, L frames of a clip, T steps that are tried, S speeds, M dimensions that the group moves.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lie_ssl.lie.algebras.commuting import Commuting
from lie_ssl.lie.operator import LieOperator

POINTS = 16  # steps to try, for each turn of the fastest plane


def steps_to_try(operator: LieOperator, share: int, forward: bool) -> Tensor:
    """(T,) values of t, evenly spaced between 0 and half a turn, or over the whole turn if steps may go either way."""
    speed = float(_speeds(operator, share).abs().max())
    count = max(1, math.ceil(POINTS * max(1.0, speed) / 2))
    half = (torch.arange(count, dtype=torch.float64) + 0.5) * (math.pi / count)
    return half if forward else torch.cat([-half.flip(0), half])


def clip_log_likelihood(operator: LieOperator, share: int, v: Tensor, temperature: float, steps: Tensor) -> Tensor:
    """The log-likelihood of clips, given each of some steps.

    With a step of t, exp((j - i) t L) v_i is where frame j must be. The likelihood of j is a softmax over all frames of
    the clip, by their products with that vector. So a v that is the same in every pose has the likelihood of a
    guess, and so has a group that confuses two of the poses, such as one that turns at even speeds only.

    Args:
        operator: An operator on unit vectors, whose generators are rotations of planes.
        share: The factor.
        v: The factor's share of the normalised embeddings (B, L, M).
        temperature: Divides the products.
        steps: The values of t, (T,).

    Returns:
        The sums over all ordered pairs of two frames, (B, T), in the dtype of v.
    """
    length = v.shape[1]
    products = _products(v, _speeds(operator, share))  # (B, i, k, 2 S)
    lags = torch.arange(length, device=v.device)
    lags = lags - lags[:, None]  # (i, j)
    angles = lags[:, :, None, None] * steps.to(v)[:, None] * torch.unique(_speeds(operator, share)).to(v)
    waves = torch.cat([angles.cos(), angles.sin()], dim=3)  # (i, j, T, 2 S)
    scores = torch.einsum("biks,ijts->bijtk", products, waves) / temperature
    found = scores.log_softmax(dim=4).diagonal(dim1=2, dim2=4)  # (B, i, T, j): of all frames k, the right one
    others = (lags != 0).to(v.dtype)
    return torch.einsum("bitj,ij->bt", found, others)


def clip_loss(operator: LieOperator, share: int, v: Tensor, temperature: float, steps: Tensor) -> Tensor:
    """The negative log-likelihood of clips (B, L, M) -> (B,), in nats per prediction.

    Every step is equally likely beforehand. The sum over them is where t is found: the gradient of a clip comes from
    the steps that explain it best.
    """
    length = v.shape[1]
    found = clip_log_likelihood(operator, share, v, temperature, steps)
    return (math.log(len(steps)) - found.logsumexp(dim=1)) / (length * (length - 1))


def _speeds(operator: LieOperator, share: int) -> Tensor:
    algebra = operator.algebras[share]
    assert isinstance(algebra, Commuting)
    return algebra.speed[0].detach()


def _products(v: Tensor, speeds: Tensor) -> Tensor:
    """(B, L, M) -> (B, L, L, 2 S): real and imaginary parts of conj(v_i) v_k, summed over the planes of each speed."""
    planes = torch.view_as_complex(v[:, :, : 2 * len(speeds)].unflatten(2, (-1, 2)).contiguous())
    groups = [planes[:, :, speeds == speed] for speed in torch.unique(speeds)]
    products = torch.stack([group.conj() @ group.transpose(1, 2) for group in groups], dim=3)
    return torch.cat([products.real, products.imag], dim=3)
