"""The measurement of encoders: settings, phases, metrics, and one schema of the tables."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lie_ssl.protocol.config import EvaluateConfig
    from lie_ssl.protocol.context import Context, MoveTest, Subject
    from lie_ssl.protocol.evaluate import Evaluation, Results
    from lie_ssl.protocol.finetune import FinetuneConfig
    from lie_ssl.protocol.metrics import METRICS, metric
    from lie_ssl.protocol.phases import PHASES, phase
    from lie_ssl.protocol.probe import ProbeConfig
    from lie_ssl.protocol.results import evaluate_encoder, evaluate_run, read_results
    from lie_ssl.protocol.schema import Column, LongTable, read_table

__all__ = [
    "METRICS", "PHASES", "Column", "Context", "EvaluateConfig", "Evaluation", "FinetuneConfig", "LongTable", "MoveTest",
    "ProbeConfig", "Results", "Subject", "evaluate_encoder", "evaluate_run", "metric", "phase", "read_results",
    "read_table",
]  # fmt: skip
_MODULES = {
    "config": ("EvaluateConfig",), "context": ("Context", "MoveTest", "Subject"), "evaluate": ("Evaluation", "Results"),
    "finetune": ("FinetuneConfig",), "metrics": ("METRICS", "metric"), "phases": ("PHASES", "phase"),
    "probe": ("ProbeConfig",), "results": ("evaluate_encoder", "evaluate_run", "read_results"),
    "schema": ("Column", "LongTable", "read_table"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a module when something of it is first asked for."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Also what has not been loaded yet."""
    return sorted({*globals(), *__all__})
