"""bf16 on a CPU whose instructions may be disabled."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lie_ssl.errors import UserError
from lie_ssl.recipes.pretrain import small_run
from lie_ssl.training.bf16 import PRODUCT, REMEDY, cpu_has_bf16, runs_cleanly
from lie_ssl.training.run import choose_device


def test_a_product_without_the_disabled_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, value = REMEDY.partition("=")
    monkeypatch.setenv(name, value)
    assert runs_cleanly(PRODUCT)
    cpu_has_bf16.cache_clear()
    assert cpu_has_bf16()


def test_a_killed_process_does_not_run_cleanly() -> None:
    assert not runs_cleanly("import os, signal; os.kill(os.getpid(), signal.SIGILL)")


def test_a_cpu_without_bf16_is_a_user_error(monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(small_run("mae", "alone"), precision="bf16", device="cpu")
    monkeypatch.setattr("lie_ssl.training.run.cpu_has_bf16", lambda: True)
    assert choose_device(config) == "cpu"
    monkeypatch.setattr("lie_ssl.training.run.cpu_has_bf16", lambda: False)
    with pytest.raises(UserError, match="set --precision 32, or ONEDNN_MAX_CPU_ISA=AVX512_CORE_FP16 in"):
        choose_device(config)
    assert choose_device(replace(config, precision="32")) == "cpu"
