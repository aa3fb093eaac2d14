"""The likelihood of clips: an independent reference, its best step, and what it penalises."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from lie_ssl.lie import LieOperator
from lie_ssl.lie.clips import clip_log_likelihood, clip_loss, steps_to_try

TAU = 0.1


def make_operator(frequencies: tuple[float, ...] = (1, 1, 2, 3), dim: int = 12) -> LieOperator:
    return LieOperator(
        dim, 1, algebra="commuting", sees="align", frequencies=frequencies, normalise="share", fixed=2
    )  # fmt: skip


def make_clips(operator: LieOperator, steps: Tensor, length: int, noise: float = 0.0) -> Tensor:
    """(B,) steps -> (B, L, M) clips of random objects that turn by them, all dimensions."""
    torch.manual_seed(0)
    z = operator.normalise(torch.randn(len(steps), operator.dim))
    frames = [operator(z, (k * steps)[:, None]) for k in range(length)]
    clips = torch.stack(frames, dim=1)
    return operator.normalise((clips + noise * torch.randn_like(clips)).flatten(0, 1)).view_as(clips)


def test_the_likelihood_equals_a_plain_computation() -> None:
    operator = make_operator()
    clips = make_clips(operator, torch.tensor([0.4, 2.0]), 4, noise=0.2)
    steps = torch.tensor([-1.0, 0.3, 2.5])
    found = clip_log_likelihood(operator, 0, clips[:, :, 2:], TAU, steps)
    expected = torch.zeros(2, 3)
    for b in range(2):
        for s, step in enumerate(steps):
            for i in range(4):
                for j in range(4):
                    moved = operator(clips[b, i : i + 1], ((j - i) * step)[None, None])[0, 2:]
                    scores = clips[b, :, 2:] @ moved / TAU
                    expected[b, s] += 0 if i == j else scores.log_softmax(dim=0)[j].detach()
    torch.testing.assert_close(found.detach(), expected, rtol=1e-4, atol=1e-4)
    loss = -(expected.logsumexp(dim=1) - math.log(3)) / 12
    torch.testing.assert_close(clip_loss(operator, 0, clips[:, :, 2:], TAU, steps).detach(), loss, rtol=1e-4, atol=1e-4)


def test_the_best_step_is_the_true_one() -> None:
    operator = make_operator()
    true = torch.linspace(0.2, 3.0, 9)
    steps = steps_to_try(operator, 0, forward=True)
    found = clip_log_likelihood(operator, 0, make_clips(operator, true, 5)[:, :, 2:], TAU, steps)
    assert (steps[found.argmax(dim=1)] - true).abs().max() <= 2 * math.pi / len(steps)


def test_steps_to_try() -> None:
    operator = make_operator()
    forward, either = (steps_to_try(operator, 0, forward=f) for f in (True, False))
    assert len(forward) == 24  # 16 for each turn of the fastest plane, which turns three times
    assert forward.min() > 0
    assert forward.max() < math.pi
    torch.testing.assert_close(either, torch.cat([-forward.flip(0), forward]))


@pytest.mark.parametrize("length", [3, 6])
def test_invariance_has_the_likelihood_of_a_guess(length: int) -> None:
    operator = make_operator()
    v = torch.nn.functional.normalize(torch.randn(4, 1, 10), dim=2).expand(-1, length, -1)
    loss = clip_loss(operator, 0, v, TAU, steps_to_try(operator, 0, forward=True))
    assert (loss >= math.log(length) - 1e-4).all()


def test_even_speeds_alone_confuse_half_turns() -> None:
    """Four frames at steps of 90 degrees: at even speeds, the first and the third are the same."""
    steps = torch.full((3,), math.pi / 2)
    losses = []
    for frequencies in ((1.0, 2.0), (2.0, 2.0)):
        operator = make_operator(frequencies)
        clips = make_clips(operator, steps, 4)[:, :, 2:]
        losses.append(clip_loss(operator, 0, clips, TAU, steps_to_try(operator, 0, forward=True)))
    assert (losses[0] < 0.4).all()
    assert (losses[1] > math.log(2) - 0.01).all()


def test_gradients_are_exact_and_finite() -> None:
    operator = make_operator().double()
    clips = make_clips(operator.float(), torch.tensor([0.4, 2.0]), 3, noise=0.3)[:, :, 2:].double().requires_grad_()
    steps = torch.tensor([0.3, 1.0, 2.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda v: clip_loss(operator, 0, v, 0.5, steps), clips)


def test_the_operator_infers_t_by_alignment() -> None:
    operator = make_operator()
    z = torch.randn(6, 12)
    t = torch.linspace(-3, 3, 6)[:, None]
    moved = operator(operator.normalise(z), t)
    told = torch.full((6,), 9.0)
    torch.testing.assert_close(operator.infer(z, moved, told), t, atol=1e-4, rtol=0)  # whatever it is told
    with pytest.raises(ValueError, match="a linear factor must have one generator, as an aligned one"):
        LieOperator(12, 2, algebra="commuting", sees="align")
