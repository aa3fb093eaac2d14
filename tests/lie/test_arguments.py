"""Invalid tensors raise an error with the name of the argument; valid ones are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from lie_ssl import LieLoss, LieOperator, exp_action
from lie_ssl.contrast import FramesLoss

F64, F16, LONG, COMPLEX = torch.float64, torch.float16, torch.int64, torch.complex64
Call = Callable[..., Any]


def x(*shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Tensor:
    return torch.ones(*shape, device=device).to(dtype)


OPERATORS = {
    "pair": LieOperator(8, 2),
    "linear": LieOperator(8, (1, 1), sees="linear", algebra="skew"),
    "commuting": LieOperator(8, 2, algebra="commuting"),
    "mlp": LieOperator(8, 2, action="mlp"),
    "meta": LieOperator(8, 2).to("meta"),
}
PAIR, LINEAR = OPERATORS["pair"], OPERATORS["linear"]
LOSS, BOTH, FRAMES = LieLoss(PAIR), LieLoss(LINEAR), FramesLoss(8)
Z, D = x(3, 8), x(3)
WIDE = r"has the shape \(3, 9\), but it must be \(B, 8\)"
INTEGERS = r"torch\.int64, but it must hold real floats; convert it to torch\.float32"

CASES: list[tuple[Call, tuple[Any, ...], type[Exception], str]] = [
    # Sizes
    (PAIR.infer, (x(3, 9), x(3, 9), D), ValueError, f"^z {WIDE}"),
    (PAIR.infer, (Z, x(3, 9), D), ValueError, f"^z_next {WIDE}"),
    (LINEAR.infer, (x(3, 9), x(3, 9), x(3, 2)), ValueError, f"^z {WIDE}"),
    (PAIR.infer, (x(8), x(8), D), ValueError, r"^z has the shape \(8,\), but it must be \(B, 8\)"),
    (PAIR.infer, (Z, Z, x(4)), ValueError, "z has 3 rows, z_next 3 and delta 4"),
    (PAIR.infer, (Z, x(1, 8), D), ValueError, "z has 3 rows, z_next 1 and delta 3"),
    (PAIR.infer, (Z, Z, x(3, 2)), ValueError, r"delta has the shape \(3, 2\), but it must be \(B, 1\)"),
    (LINEAR.infer, (Z, Z, D), ValueError, r"delta has the shape \(3,\), but it must be \(B, 2\)"),
    (PAIR, (Z, x(3, 3)), ValueError, r"t \(B, 2\), but got \(3, 8\) and \(3, 3\)"),
    (PAIR, (x(8), x(2)), ValueError, r"z \(B, 8\) and t \(B, 2\), but got \(8,\)"),
    (PAIR.inverse, (Z, x(3, 3)), ValueError, r"t \(B, 2\), but got \(3, 8\) and \(3, 3\)"),
    (PAIR.orbit, (x(3, 9), x(2), 4), ValueError, f"^z {WIDE}"),
    (PAIR.orbit, (x(8), x(2), 4), ValueError, r"^z has the shape \(8,\)"),
    (PAIR.orbit, (Z, x(3), 4), ValueError, r"direction has the shape \(3,\), but it must be \(2,\)"),
    (PAIR.orbit, (Z, x(2), x(2, 2)), ValueError, r"steps has the shape \(2, 2\)"),
    (LOSS, (x(3, 9), x(3, 9), D), ValueError, f"^z {WIDE}"),
    (LOSS, (x(8), x(8), x(8)), ValueError, r"^z has the shape \(8,\), but it must be \(B, 8\)"),
    (LOSS, (Z, x(3, 9), D), ValueError, r"z \(3, 8\) and z_next \(3, 9\) must have the same shape"),
    (LOSS, (Z, Z, torch.ones(())), ValueError, r"one delta \(\) for each"),
    (BOTH, (Z, Z, x(3, 3)), ValueError, r"delta has the shape \(3, 3\), but it must be \(B, 2\)"),
    (lambda n: LOSS(Z, Z, D, negatives=n), (x(3, 9),), ValueError, f"^negatives {WIDE}"),
    (FRAMES, (x(3, 9), x(3, 9)), ValueError, f"^z {WIDE}"),
    (FRAMES, (x(8), x(8)), ValueError, r"^z has the shape \(8,\)"),
    (FRAMES, (Z, x(4, 8)), ValueError, r"z \(3, 8\) and z_next \(4, 8\) must have the same shape"),
    (lambda n: FRAMES(Z, Z, negatives=n), (x(8),), ValueError, r"^negatives has the shape \(8,\)"),
    (exp_action, (x(2, 8, 8), x(3, 1), Z), ValueError, r"but got .* t \(3, 1\)"),
    # Dtypes
    (PAIR.infer, (Z.long(), Z, D), TypeError, f"^z is {INTEGERS}"),
    (PAIR.infer, (Z, Z.long(), D), TypeError, f"^z_next is {INTEGERS}"),
    (PAIR.infer, (Z.to(COMPLEX), Z, D), TypeError, r"^z is torch\.complex64"),
    (PAIR.infer, (Z, Z, D.to(COMPLEX)), TypeError, r"^delta is torch\.complex64, but it must hold real numbers"),
    (PAIR.infer, (Z.double(), Z, D), TypeError, r"^z is torch\.float64, but the inference network is torch\.float32; "
     r"convert z to torch\.float32"),
    (PAIR.infer, (Z, Z.double(), D), TypeError, r"^z_next is torch\.float64.* convert z_next to torch\.float32"),
    (PAIR.infer, (Z.half(), Z.half(), D), TypeError, r"^z is torch\.float16.* convert z to torch\.float32"),
    (PAIR, (Z, x(3, 2, dtype=LONG)), TypeError, f"^t is {INTEGERS}"),
    (PAIR.inverse, (Z, x(3, 2).bool()), TypeError, r"^t is torch\.bool"),
    (PAIR.orbit, (Z.long(), x(2), 3), TypeError, f"^z is {INTEGERS}"),
    (PAIR.orbit, (Z, x(2, dtype=COMPLEX), 3), TypeError, r"^direction is torch\.complex64"),
    (OPERATORS["commuting"], (Z.double(), x(3, 2)), TypeError,
     r"^z is torch\.float64, but the operator is torch\.float32"),
    (OPERATORS["mlp"], (Z.half(), x(3, 2)), TypeError, r"^z is torch\.float16, but the operator is torch\.float32"),
    (LOSS, (Z.long(), Z.long(), D), TypeError, f"^z is {INTEGERS}"),
    (LOSS, (Z.to(COMPLEX), Z, D), TypeError, r"^z is torch\.complex64"),
    (LOSS, (Z.half(), Z.half(), D), TypeError, r"^z is torch\.float16, but the projection head is torch\.float32; "
     r"convert z to torch\.float32"),
    (LOSS, (Z, Z.double(), D), TypeError, r"^z_next is torch\.float64"),
    (lambda n: LOSS(Z, Z, D, negatives=n), (Z.double(),), TypeError, r"^negatives is torch\.float64"),
    (FRAMES, (Z.long(), Z.long()), TypeError, f"^z is {INTEGERS}"),
    (FRAMES, (Z.double(), Z.double()), TypeError, r"^z is torch\.float64, but the projection head is torch\.float32"),
    (exp_action, (x(2, 8, 8), x(3, 2, dtype=LONG), Z), TypeError, r"needs floats, but t is torch\.int64"),
    (exp_action, (x(2, 8, 8), x(3, 2), Z.to(COMPLEX)), TypeError, r"needs floats, but z is torch\.complex64"),
    # Devices
    (OPERATORS["meta"].infer, (Z, Z, D), ValueError, "^z is on cpu, but the inference network is on meta; move"),
    (PAIR.infer, (Z, Z, x(3, device="meta")), ValueError, "^delta is on meta, but z is on cpu"),
    (OPERATORS["meta"], (Z, x(3, 2)), ValueError, "^z is on cpu, but the operator is on meta"),
    (PAIR, (Z, x(3, 2, device="meta")), ValueError, "^t is on meta, but z is on cpu"),
    (LOSS, (x(3, 8, device="meta"), Z, D), ValueError, "^z is on meta, but the projection head is on cpu"),
    (BOTH, (Z, Z, x(3, 2, device="meta")), ValueError, "^delta is on meta, but z is on cpu"),
    (FRAMES, (Z, x(3, 8, device="meta")), ValueError, "^z_next is on meta, but the projection head is on cpu"),
    (exp_action, (x(2, 8, 8, device="meta"), x(3, 2), Z), ValueError, "^generators is on meta, but z is on cpu"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "kind", "message"), CASES, ids=[str(i) for i in range(len(CASES))])
def test_invalid_tensors_are_named(
    call: Call, arguments: tuple[Any, ...], kind: type[Exception], message: str
) -> None:  # fmt: skip
    with pytest.raises(kind, match=message) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("algebra", ["general", "skew", "commuting", "low_rank", "block"])
def test_valid_tensors_are_accepted(algebra: Any) -> None:
    """Half precision with float32 if it is converted, integers as pose differences, float64."""
    operator = LieOperator(8, 2, algebra=algebra)
    for z in (Z, Z.half(), Z.bfloat16()):
        assert operator(z, x(3, 2)).dtype == z.dtype
    assert operator.infer(Z, Z, x(3, dtype=LONG)).shape == (3, 2)
    assert operator.infer(Z, Z, x(3, 1, dtype=F64)).dtype == torch.float32
    assert operator.orbit(Z, x(2, dtype=LONG), 3).shape == (3, 3, 8)
    assert operator.orbit(Z, x(3, 2), 3).shape == (3, 3, 8)
    double = LieLoss(LieOperator(8, 2, algebra=algebra)).double()
    torch.manual_seed(0)
    a, b = torch.randn(3, 8), torch.randn(3, 8)
    assert double(a.double(), b.double(), D, negatives=b.double()).total.dtype == F64
    assert LieLoss(operator)(a.bfloat16(), b, D).total.isfinite()  # together they are float32


@pytest.mark.parametrize("sees", ["pair", "delta", "linear"])
def test_autocast_still_works(sees: Any) -> None:
    torch.manual_seed(0)
    z, z_next = torch.randn(4, 8), torch.randn(4, 8)
    loss, frames = LieLoss(LieOperator(8, 1, sees=sees)), FramesLoss(8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for given in ((z, z_next), (z.bfloat16(), z_next.bfloat16())):
            assert loss(*given, x(4)).total.isfinite()
            assert frames(*given).isfinite()
    with pytest.raises(TypeError, match=r"z is torch\.float64"), torch.autocast("cpu", dtype=torch.bfloat16):
        loss(z.double(), z_next.double(), x(4))


def test_no_values_are_read_and_it_can_be_compiled() -> None:
    operator = LieOperator(8, 2, action="mlp")
    compiled = torch.compile(lambda z, d: operator(z, operator.infer(z, z, d)), backend="eager", fullgraph=True)
    assert torch.equal(compiled(Z, D), operator(Z, operator.infer(Z, Z, D)))
    meta = LieLoss(LieOperator(8, 2, action="mlp")).to("meta")  # a device without values
    assert meta(Z.to("meta"), Z.to("meta"), D.to("meta")).total.shape == ()
