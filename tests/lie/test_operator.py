"""The operator: inference, fixed part, factors, orbit, state."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
import torch

from lie_ssl import LieOperator, exp_action
from lie_ssl.lie.coordinates import bounded


def pair(m: int = 12, batch: int = 5) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(batch, m).double(), torch.randn(batch, m).double(), torch.rand(batch).double()


@pytest.mark.parametrize("algebra", ["general", "skew", "commuting", "low_rank", "block"])
@pytest.mark.parametrize("fixed", [0, 4, 11])
def test_forward_is_the_exponential_of_generators(algebra: str, fixed: int) -> None:
    operator = LieOperator(12, 3, algebra=algebra, fixed=fixed).double()  # type: ignore[arg-type]
    z, z_next, delta = pair()
    t = operator.infer(z, z_next, delta)
    assert t.shape == (5, 3)
    moved = operator(z, t)
    assert torch.allclose(moved, exp_action(operator.generators, t, z), atol=1e-10)
    assert torch.equal(moved[:, :fixed], z[:, :fixed])
    assert not operator.generators[:, :fixed].any()
    assert not operator.generators[:, :, :fixed].any()
    assert torch.allclose(operator.inverse(moved, t), z, atol=1e-8)


@pytest.mark.parametrize("split", [False, True])
def test_several_factors_have_generators_and_deltas_of_their_own(split: bool) -> None:
    operator = LieOperator(14, (2, 1, 3), fixed=3, split_factors=split).double()
    z, z_next, _ = pair(14)
    delta = torch.rand(5, 3).double()
    t = operator.infer(z, z_next, delta)
    assert t.shape == (5, 6)
    moved = operator(z, t)
    assert torch.allclose(moved, exp_action(operator.generators, t, z), atol=1e-10)
    changed = delta.clone()
    changed[:, 1] += 1
    difference = operator.infer(z, z_next, changed) - t
    assert difference[:, 2].abs().min() > 0
    assert not difference[:, [0, 1, 3, 4, 5]].any()
    if split:
        one_by_one = z
        for k in ([0, 1], [2], [3, 4, 5]):
            only = torch.zeros_like(t)
            only[:, k] = t[:, k]
            one_by_one = operator(one_by_one, only)
        assert torch.allclose(one_by_one, moved)  # the groups commute
    with pytest.raises(ValueError, match=r"\(5,\), but there are 3 factors"):
        operator.infer(z, z_next, delta[:, 0])


@pytest.mark.parametrize(("sees", "source", "target"), [("pair", 1, 1), ("source", 1, 0), ("delta", 0, 0)])
def test_inference_sees_what_it_should_and_gives_no_gradient_to_the_encoder(
    sees: str, source: int, target: int
) -> None:
    operator = LieOperator(12, 2, sees=sees).double()  # type: ignore[arg-type]
    z, z_next, delta = pair()
    z.requires_grad_()
    t = operator.infer(z, z_next, delta)
    assert bool((operator.infer(z + 1, z_next, delta) != t).any()) == bool(source)
    assert bool((operator.infer(z, z_next + 1, delta) != t).any()) == bool(target)
    assert bool((operator.infer(z, z_next, delta + 1) != t).any())
    assert t.requires_grad
    assert torch.autograd.grad(t.sum(), z, allow_unused=True)[0] is None


def test_coordinates_can_be_bounded() -> None:
    t = torch.randn(50, 3).double() * torch.logspace(-4, 4, 50)[:, None].double()
    short = bounded(t, 2.0)
    assert float(short.norm(dim=1).max()) <= 2.0
    assert torch.allclose(short[:5], t[:5], rtol=1e-5)
    operator = LieOperator(12, 2, max_norm=0.1).double()
    z, z_next, delta = pair()
    assert float(operator.infer(1e4 * z, z_next, delta).norm(dim=1).max()) <= 0.1


def test_orbit() -> None:
    operator = LieOperator(12, 2).double()
    z, _, _ = pair()
    direction = torch.tensor([0.3, -1.0]).double()
    orbit = operator.orbit(z, direction, 5)
    assert orbit.shape == (5, 5, 12)
    assert torch.allclose(orbit[0], z)
    assert torch.allclose(orbit[4], operator(z, direction.expand(5, 2)))
    assert torch.allclose(operator(orbit[1], 0.25 * direction.expand(5, 2)), orbit[2])
    assert operator.orbit(z, direction, torch.tensor([-1.0, 2.0])).shape == (2, 5, 12)


def test_state_survives_saving() -> None:
    operator = LieOperator(12, 3, fixed=4).double()
    z, z_next, delta = pair()
    operator(z, operator.infer(z, z_next, delta))
    buffer = io.BytesIO()
    torch.save(operator.state_dict(), buffer)
    buffer.seek(0)
    other = LieOperator(12, 3, fixed=4).double()
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(other(z, other.infer(z, z_next, delta)), operator(z, operator.infer(z, z_next, delta)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"fixed": 12}, "at least one must move"),
        ({"n_generators": 0}, "at least one"),
        ({"n_generators": (2, 0)}, "at least one"),
        ({"algebra": "unitary"}, "no algebra 'unitary'"),
        ({"sees": "nothing"}, "sees is 'nothing'"),
        ({"max_norm": -1.0}, "max_norm"),
        ({"n_generators": (1, 1, 1), "fixed": 10, "split_factors": True}, "cannot be split"),
    ],
)
def test_wrong_settings_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        LieOperator(12, **arguments)  # type: ignore[arg-type]


def test_wrong_shapes_are_named() -> None:
    operator = LieOperator(12, 2)
    with pytest.raises(ValueError, match=r"z \(B, 12\) and t \(B, 2\), but got \(3, 12\) and \(3, 4\)"):
        operator(torch.zeros(3, 12), torch.zeros(3, 4))


def test_the_mathematics_needs_torch_and_nothing_else_of_ours() -> None:
    code = (
        "import sys, lie_ssl\nlie_ssl.LieOperator(4)\n"
        "ours = {m for m in sys.modules if m.startswith('lie_ssl.') and not m.startswith('lie_ssl.lie')}\n"
        "heavy = {'numba', 'pandas', 'pyarrow', 'PIL', 'trimesh', 'torchvision'} & set(sys.modules)\n"
        "print(ours | heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
