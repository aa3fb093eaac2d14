"""Settings of hypothesis, and a small data set for many tests."""

from __future__ import annotations

import os
from pathlib import Path

# On a virtual machine without AMX, bf16 products would kill the test process; see lie_ssl.training.bf16.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

import pytest
from hypothesis import HealthCheck, settings

from lie_ssl.frames import DataConfig, FrameSet, make_frames
from lie_ssl.render import RenderSettings

# By default, an example may take 200 ms, and drawing it has a limit too. No test may depend on how busy the machine is.
settings.register_profile("without_clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("without_clock")


def tiny_config(**changes: object) -> DataConfig:
    """Three classes, eight instances, a pose every 60 degrees, 16 px; made in a fraction of a second."""
    values: dict[str, object] = {
        "classes": ("car", "chair", "mug"),
        "instances": 8,
        "step": 60.0,
        "render": RenderSettings(size=16, supersample=2),
    }
    return DataConfig(**(values | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    folder: Path = tmp_path_factory.mktemp("data") / "tiny"
    return make_frames(tiny_config(), folder, workers=1)
