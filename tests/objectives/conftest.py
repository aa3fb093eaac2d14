"""A data set with clips."""

from __future__ import annotations

from pathlib import Path

import pytest

from lie_ssl.frames import FrameSet
from lie_ssl.frames.make import make_frames
from tests.conftest import tiny_config


@pytest.fixture(scope="session")
def turned(tmp_path_factory: pytest.TempPathFactory) -> FrameSet:
    folder: Path = tmp_path_factory.mktemp("data") / "turned"
    return make_frames(tiny_config(step=30.0, poses=("2d", "yaw")), folder, workers=1)
