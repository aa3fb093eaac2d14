"""The evaluation protocol: settings, phases, metrics, and the schema of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports

if TYPE_CHECKING:
    from lie_ssl.protocol.config import EvaluateConfig
    from lie_ssl.protocol.context import Context, MoveTest, Subject
    from lie_ssl.protocol.evaluate import Evaluation, Results
    from lie_ssl.protocol.finetune import FinetuneConfig
    from lie_ssl.protocol.metrics import METRICS, metric
    from lie_ssl.protocol.phases import PHASES, phase
    from lie_ssl.protocol.probe import ProbeConfig
    from lie_ssl.protocol.results import evaluate_encoder, evaluate_run, read_results
    from lie_ssl.protocol.rows import ClassifierKey, TableRows, classifier_rows
    from lie_ssl.protocol.schema import Column, LongTable, read_table

__all__ = [
    "METRICS", "PHASES", "ClassifierKey", "Column", "Context", "EvaluateConfig", "Evaluation", "FinetuneConfig",
    "LongTable", "MoveTest", "ProbeConfig", "Results", "Subject", "TableRows", "classifier_rows", "evaluate_encoder",
    "evaluate_run", "metric", "phase", "read_results", "read_table",
]  # fmt: skip
__getattr__, __dir__ = lazy_exports(__name__, {
    "config": ("EvaluateConfig",), "context": ("Context", "MoveTest", "Subject"), "evaluate": ("Evaluation", "Results"),
    "finetune": ("FinetuneConfig",), "metrics": ("METRICS", "metric"), "phases": ("PHASES", "phase"),
    "probe": ("ProbeConfig",), "results": ("evaluate_encoder", "evaluate_run", "read_results"),
    "rows": ("ClassifierKey", "TableRows", "classifier_rows"), "schema": ("Column", "LongTable", "read_table"),
})  # fmt: skip
