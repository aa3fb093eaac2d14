"""The operator: inference, fixed part, factors, orbit, state."""

from __future__ import annotations

import io
import math
import subprocess
import sys

import pytest
import torch
from scipy.linalg import expm

from lie_ssl import LieOperator, exp_action
from lie_ssl.lie import Algebra
from lie_ssl.lie.config import Action
from lie_ssl.lie.coordinates import bounded


def pair(m: int = 12, batch: int = 5) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(batch, m).double(), torch.randn(batch, m).double(), torch.rand(batch).double()


@pytest.mark.parametrize("algebra", ["general", "skew", "commuting", "low_rank", "block"])
@pytest.mark.parametrize("fixed", [0, 4, 11])
def test_forward_is_the_exponential_of_generators(algebra: str, fixed: int) -> None:
    operator = LieOperator(12, 3, algebra=algebra, fixed=fixed).double()
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
def test_several_factors_have_separate_generators_and_deltas(split: bool) -> None:
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
    with pytest.raises(ValueError, match=r"\(5,\), but it must be \(B, 3\)"):
        operator.infer(z, z_next, delta[:, 0])


@pytest.mark.parametrize(("sees", "source", "target"), [("pair", 1, 1), ("source", 1, 0), ("delta", 0, 0)])
def test_inference_sees_its_inputs_and_has_no_gradient_to_the_encoder(sees: str, source: int, target: int) -> None:
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


def test_the_state_survives_saving() -> None:
    operator = LieOperator(12, 3, fixed=4).double()
    z, z_next, delta = pair()
    operator(z, operator.infer(z, z_next, delta))
    buffer = io.BytesIO()
    torch.save(operator.state_dict(), buffer)
    buffer.seek(0)
    other = LieOperator(12, 3, fixed=4).double()
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(other(z, other.infer(z, z_next, delta)), operator(z, operator.infer(z, z_next, delta)))


def centred_operator(action: Action = "exp", standardised: bool = False) -> LieOperator:
    """An operator with two factors in six of eight dimensions, and a modified centre and spread."""
    torch.manual_seed(2)
    operator = LieOperator(
        8, (1, 2), fixed=2, split_factors=True, sees="delta", centred=True, standardised=standardised, action=action,
    ).double()  # fmt: skip
    operator.centre.normal_()
    operator.spread.uniform_(0.5, 2) if standardised else None
    return operator


@pytest.mark.parametrize("standardised", [False, True])
def test_a_centred_operator_is_the_exponential_about_its_centre(standardised: bool) -> None:
    operator = centred_operator(standardised=standardised)
    z, z_next, _ = pair(8)
    t = operator.infer(z, z_next, torch.rand(5, 2).double())
    moved = operator(z, t).detach()
    generators = operator.generators.detach()
    for i in range(len(z)):
        matrix = expm(torch.einsum("k,kij->ij", t[i].detach(), generators).numpy())[2:, 2:]
        inside = torch.tensor(matrix) @ ((z[i, 2:] - operator.centre) / operator.spread)
        assert torch.allclose(moved[i, 2:], operator.centre + operator.spread * inside, atol=1e-10)
    assert torch.equal(moved[:, :2], z[:, :2])
    assert torch.allclose(operator.inverse(moved, t), z, atol=1e-9)
    at_centre = torch.cat([z[:1, :2], operator.centre[None]], dim=1)
    assert torch.allclose(operator(at_centre, t[:1]), at_centre)  # the centre does not move
    orbit = operator.orbit(z, t[0].detach(), 3)
    assert torch.allclose(orbit[0], z)
    assert torch.allclose(orbit[2, 0], moved[0])


def test_another_centre_and_spread_can_be_given_and_have_gradients() -> None:
    operator = centred_operator()
    z, _, _ = pair(8)
    t = torch.rand(5, 3).double()
    frame = torch.randn(6).double(), torch.rand(6).double() + 0.5
    kept = operator(z, t, frame)
    operator.centre.copy_(frame[0])
    operator.spread.copy_(frame[1])
    assert torch.allclose(operator(z, t), kept)
    inputs = [x.clone().requires_grad_() for x in (z, t, *frame)]
    assert torch.autograd.gradcheck(lambda a, b, c, s: operator(a, b, (c, s)), inputs)


@pytest.mark.parametrize("action", ["identity", "mlp"])
def test_other_actions_with_a_centre(action: Action) -> None:
    operator = centred_operator(action)
    z, _, _ = pair(8)
    t = torch.rand(5, 3).double()
    moved = operator(z, t)
    if action == "identity":
        assert torch.equal(moved, z)
    else:
        plain = centred_operator(action)
        plain.centre.zero_()
        shifted = z.clone()
        shifted[:, 2:] -= operator.centre
        assert torch.allclose(moved[:, 2:], plain(shifted, t)[:, 2:] + operator.centre)
    assert operator.generators.dtype == torch.float64  # like its other parameters
    assert not operator.generators.any()


def test_an_operator_without_parameters() -> None:
    operator = LieOperator(4, 1, action="identity", sees="linear")
    assert operator.state_dict() == {}
    assert operator.generators.shape == (1, 4, 4)
    assert operator.to("meta").generators.shape == (1, 4, 4)
    assert LieOperator(4, 2, action="mlp").to("meta").generators.device.type == "meta"


def test_the_running_centre_starts_as_a_mean_and_then_follows() -> None:
    operator = LieOperator(8, 1, fixed=2, centred=True).double()
    assert not operator.centre.any()
    assert (operator.spread == 1).all()
    torch.manual_seed(0)
    centres, spreads = torch.randn(50, 6).double(), torch.rand(50, 6).double()
    for centre, spread in zip(centres, spreads, strict=True):
        operator.update_running_stats(centre, spread)
    assert torch.allclose(operator.centre, centres.mean(dim=0))
    assert torch.allclose(operator.spread, spreads.mean(dim=0))
    before = operator.centre.clone()
    for _ in range(2):
        operator.update_running_stats(torch.ones(6).double(), torch.ones(6).double())
    assert torch.allclose(operator.centre, 1 + (before - 1) * (49 / 50) ** 2)
    assert int(operator.centre_updates) == 52


def test_the_state_of_a_centred_operator_survives_saving() -> None:
    operator = centred_operator()
    operator.update_running_stats(torch.rand(6).double(), torch.ones(6).double())
    buffer = io.BytesIO()
    torch.save(operator.state_dict(), buffer)
    buffer.seek(0)
    state = torch.load(buffer, weights_only=True)
    other = LieOperator(8, (1, 2), fixed=2, split_factors=True, sees="delta", centred=True).double()
    other.load_state_dict(state)
    z, _, _ = pair(8)
    t = torch.rand(5, 3).double()
    assert torch.equal(other(z, t), operator(z, t))
    assert int(other.centre_updates) == 1
    with pytest.raises(RuntimeError, match="centre"):
        LieOperator(8, (1, 2), fixed=2, split_factors=True, sees="delta").load_state_dict(state)


def test_without_a_centre_it_is_exactly_the_plain_action() -> None:
    torch.manual_seed(0)
    operator, z, t = LieOperator(12, 3, fixed=4), torch.randn(5, 12), torch.randn(5, 3)
    assert not any("centre" in name or "spread" in name for name in operator.state_dict())
    operator.eval()
    algebra = operator.algebras[0]
    assert isinstance(algebra, Algebra)
    bare = algebra.action(z[:, 4:], t)
    assert torch.equal(operator(z, t), torch.cat([z[:, :4], bare], dim=1))


def test_moved_dims_are_the_dimensions_that_a_move_changes() -> None:
    operator = LieOperator(13, (1, 1, 1), fixed=3, split_factors=True)
    assert operator.shares == [6, 2, 2]
    delta = torch.tensor([[0.0, 0.0, -0.5], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert operator.active(delta).tolist() == [[False, False, True], [True, False, False], [False] * 3]
    assert operator.moved_dims(delta).tolist() == [3, 4, 5, 6, 7, 8, 11, 12]
    assert operator.moved_dims(delta[:1]).tolist() == [11, 12]
    assert operator.moved_dims(delta[2:]).tolist() == []
    for plain in (LieOperator(13, (1, 1, 1), fixed=3), LieOperator(13, 1, fixed=3, split_factors=True)):
        zero = torch.zeros(2, len(plain.counts))
        assert plain.active(zero).tolist() == [[True]] * 2
        assert plain.moved_dims(zero).tolist() == list(range(3, 13))


def test_other_dimensions_do_not_change() -> None:
    operator = centred_operator()
    z, z_next, _ = pair(8)
    for f, dims in ((0, slice(2, 6)), (1, slice(6, 8))):
        delta = torch.zeros(5, 2).double()
        delta[:, f] = 1.0
        moved = operator(z, operator.infer(z, z_next, delta))
        gone = (moved - z).abs() > 1e-12
        assert gone[:, dims].all()
        assert int(gone.sum()) == 5 * (dims.stop - dims.start)
        assert list(range(8))[dims] == operator.moved_dims(delta).tolist()


def test_frequencies_are_for_linear_factors() -> None:
    operator = LieOperator(
        9, (1, 1), fixed=1, sees=("linear", "delta"), frequencies=(1, 2), split_factors=True, algebra="commuting"
    )
    assert operator.algebras[0].get_parameter("speed").tolist() == [[1, 2]]
    assert not operator.algebras[0].get_parameter("growth").any()
    assert operator.algebras[1].get_parameter("growth").all()
    z = torch.randn(3, 9)
    turn = torch.tensor([[2 * math.pi, 0.0]]).expand(3, 2)
    assert torch.allclose(operator(z, operator.infer(z, z, turn)), z, atol=1e-5)
    together = LieOperator(8, (1, 1), sees="linear", frequencies=(1,), algebra="skew")
    assert torch.allclose(together.generators[0], together.generators[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fixed": 12}, "at least one must move"),
        ({"n_generators": 0}, "at least one"),
        ({"n_generators": (2, 0)}, "at least one"),
        ({"algebra": "unitary"}, "no algebra 'unitary'"),
        ({"sees": "nothing"}, "sees is 'nothing'"),
        ({"sees": ("pair", "delta")}, "sees has length 2, but the number of factors is 1"),
        ({"n_generators": (1, 1), "sees": ("pair",)}, "sees has length 1, but the number of factors is 2"),
        ({"n_generators": (1, 1), "sees": ("pair", "all")}, "sees is 'all'"),
        (
            {"n_generators": 1, "sees": "linear", "algebra": "block", "frequencies": (1.0,)},
            "'block' has no setting 'frequencies'",
        ),
        (
            {"n_generators": 1, "sees": "linear", "algebra": "low_rank", "frequencies": (1.0,)},
            "'low_rank' has no setting 'frequencies'",
        ),
        ({"n_generators": 2, "sees": "linear"}, "a linear factor must have one generator"),
        ({"rank": 3}, "'general' has no setting 'rank'"),
        ({"standardised": True}, "need a centre"),
        ({"standardised": (True, False), "centred": True}, "standardised has length 2, but the number of shares is 1"),
        ({"max_norm": -1.0}, "max_norm"),
        ({"n_generators": (1, 1, 1), "fixed": 10, "split_factors": True}, "cannot be split"),
    ],
)
def test_invalid_settings_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LieOperator(12, **arguments)  # type: ignore[arg-type]


def test_invalid_shapes_are_named() -> None:
    operator = LieOperator(12, 2)
    with pytest.raises(ValueError, match=r"z \(B, 12\) and t \(B, 2\), but got \(3, 12\) and \(3, 4\)"):
        operator(torch.zeros(3, 12), torch.zeros(3, 4))


def test_lie_needs_only_torch_and_contrast() -> None:
    code = (
        "import sys, lie_ssl\nlie_ssl.LieOperator(4)\n"
        "allowed = ('lie_ssl.lie', 'lie_ssl.contrast', 'lie_ssl.errors')\n"
        "ours = {m for m in sys.modules if m.startswith('lie_ssl.') and not m.startswith(allowed)}\n"
        "heavy = {'numba', 'pandas', 'pyarrow', 'PIL', 'trimesh', 'torchvision'} & set(sys.modules)\n"
        "print(ours | heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
