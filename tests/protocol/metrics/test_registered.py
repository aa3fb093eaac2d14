"""Every registered metric and phase fills the columns that it declares."""

from __future__ import annotations

import pytest
import torch

from lie_ssl.frames import FrameSet
from lie_ssl.frames.kinds import AXES
from lie_ssl.lie import LieOperator
from lie_ssl.methods.encoders import EncoderConfig, create_encoder
from lie_ssl.protocol.config import EvaluateConfig
from lie_ssl.protocol.context import Context, Subject
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.finetune import FinetuneConfig
from lie_ssl.protocol.metrics import METRICS
from lie_ssl.protocol.phases import PHASES, ordered_phases
from lie_ssl.protocol.probe import ProbeConfig
from lie_ssl.protocol.readout import ReadoutConfig

CONFIG = EvaluateConfig(
    proportions=(0.5,), probe=ProbeConfig(steps=2, batch=8), finetune=FinetuneConfig(steps=1, batch=4, rates=(1e-3,)),
    pairs=1, limit=10, readout=ReadoutConfig(steps=1, batch=8, hidden=8, components=8),
)  # fmt: skip


class NoMove:
    """Predicts that nothing moved."""

    def read(self, z: torch.Tensor, z_next: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(z), 1)


@pytest.fixture(scope="module")
def context(tiny: FrameSet) -> Context:
    torch.manual_seed(0)
    encoder = create_encoder(EncoderConfig(name="resnet_mini"), 16, 3)
    operator = LieOperator(128, 1, algebra="commuting", sees="linear")
    subject = Subject(encoder, "resnet", "lie", operator=operator, reader=NoMove())
    return Context(subject, tiny, CONFIG, Features(encoder, tiny))


@pytest.mark.parametrize(("name", "prefix"), [("rotations", "rotation"), ("symmetry", "symmetric")])
def test_free_rotations_are_measured_for_their_own_operator(
    tiny: FrameSet, context: Context, name: str, prefix: str
) -> None:
    metric = METRICS[name]
    test = next(t[-1] for t in context.move_tests() if t[-1].instances == "unknown")
    assert metric.value(context, test) == {}  # this operator has one angle
    encoder = context.subject.encoder
    operator = LieOperator(128, (1, 1, 1), algebra="rotations", sees="linear", fixed=80)
    subject = Subject(encoder, "resnet", "rotations", operator=operator, factors=AXES)
    found = metric.value(Context(subject, tiny, CONFIG, Features(encoder, tiny)), test)
    assert set(found) == {column.name for column in metric.columns}
    assert all(0 <= found[f"{prefix}_{column}"] <= 180 for column in ("median", "mean"))


@pytest.mark.parametrize("name", [name for name in METRICS.names() if name not in ("rotations", "symmetry")])
def test_a_metric_fills_exactly_its_columns(context: Context, name: str) -> None:
    entry = METRICS[name]
    for tests in context.move_tests():
        assert [test.part for test in tests] == ["moved", "whole"]
        for test in tests if entry.by_part else tests[-1:]:
            assert set(entry.value(context, test)) == {column.name for column in entry.columns}
    assert entry.shown or entry.table is not None
    assert all(column.kind is float and not column.key for column in entry.columns)


@pytest.mark.parametrize("name", PHASES.names())
def test_a_phase_fills_complete_rows(context: Context, name: str) -> None:
    found = set()
    for table, row in PHASES[name].value(context):
        found.add(table.name)
        assert set(row) == set(table.names)
        assert row.get("phase", name) == name
    assert "accuracy" in found


def test_the_order_in_reports_and_files() -> None:
    assert METRICS.names()[:2] == ["retrieval", "pose"]  # new metrics come last
    shown = [column.name for column in METRICS["retrieval"].shown]
    assert shown == ["mrr", "mrr_transfer", "mrr_identity", "hit1", "hit5", "relative_error"]
    assert PHASES.names()[:3] == ["linear", "finetune", "knn"]
    run = [entry.name for entry in ordered_phases() if entry.name in ("linear", "knn", "finetune")]
    assert run == ["linear", "knn", "finetune"]
