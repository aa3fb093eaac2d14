"""The examples run and do what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_operator_on_a_plain_model() -> None:
    path = EXAMPLES / "operator_on_a_plain_model.py"
    spec = importlib.util.spec_from_file_location("example", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main(steps=300) < 0.8  # clearly better than standing still
