"""A new algebra is one file: the algebra below works with the usual command without other changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import lie_ssl
from lie_ssl.cli import main
from lie_ssl.frames import FrameSet
from lie_ssl.lie import ALGEBRAS, Algebra, LieOperator, algebra
from tests.training.tiny_runs import few_pairs, flags


class Scaling(Algebra):
    """L_k is diagonal: every dimension grows or shrinks independently."""

    def __init__(self, dim: int, n_generators: int, scale: float = 1.0) -> None:
        super().__init__(dim, n_generators, scale)
        self.growth = nn.Parameter(torch.randn(n_generators, dim) * 0.1 * scale)

    @property
    def generators(self) -> Tensor:
        return torch.diag_embed(self.growth)

    def action(self, z: Tensor, t: Tensor) -> Tensor:
        return z * torch.exp(t @ self.growth)

    def cost(self, batch: int) -> float:
        return float(batch * self.dim * self.n_generators)


@pytest.fixture
def toy() -> Iterator[None]:
    algebra("toy_scaling", title="toy scalings")(Scaling)
    yield
    del ALGEBRAS["toy_scaling"]


@pytest.mark.usefixtures("toy")
def test_a_toy_algebra_is_trained_by_the_command(
    tiny: FrameSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    few_pairs(monkeypatch)
    run = tmp_path / "run"
    command = ["pretrain", "mae", "literal", *flags(tiny, run, "--optim.steps", "3")]
    main([*command, "--objective.operator.algebra", "toy_scaling"])
    assert json.loads((run / "config.json").read_text())["objective"]["operator"]["algebra"] == "toy_scaling"
    assert json.loads((run / "card.json").read_text())["operator"] == "4 generators, toy scalings"
    main(["export", str(run), "--to", "pretrained", "--out", str(tmp_path / "model")])
    assert "- operator: 4 generators, toy scalings" in (tmp_path / "model" / "README.md").read_text()
    operator = lie_ssl.load(run).operator
    assert isinstance(operator, LieOperator)
    assert isinstance(operator.algebras[0], Scaling)
    z, t = torch.randn(5, operator.dim), torch.randn(5, operator.n_generators)
    expected = torch.stack([torch.linalg.matrix_exp(torch.einsum("k,kij->ij", s, operator.generators)) @ x
                            for s, x in zip(t, z, strict=True)])  # fmt: skip
    torch.testing.assert_close(operator(z, t), expected, rtol=1e-4, atol=1e-4)


def test_a_name_can_only_be_registered_once() -> None:
    with pytest.raises(ValueError, match="the algebra 'skew' is already registered"):
        algebra("skew", title="another")(Scaling)


def test_an_algebra_that_is_not_registered(tiny: FrameSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["pretrain", "mae", "literal", *flags(tiny, tmp_path / "run"), "--objective.operator.algebra", "skwe"])
    assert stop.value.code == 2
    assert "there is no algebra 'skwe'; did you mean 'skew'?" in capsys.readouterr().err
