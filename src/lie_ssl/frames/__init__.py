"""A pose data set on disk: made, imported, read, paired, shown."""

# ruff: noqa: E402
from lie_ssl.extras import require

require("a data set", "data")  # before the modules that import these packages

from lie_ssl.frames.config import DataConfig
from lie_ssl.frames.factors.base import FACTORS, Factor, factor
from lie_ssl.frames.frameset import FrameSet
from lie_ssl.frames.make import make_frames
from lie_ssl.frames.pairs import PairBatch, PairSampler
from lie_ssl.frames.photos import PhotoConfig, import_photographs
from lie_ssl.frames.verify import verify
from lie_ssl.frames.video import VideoConfig, import_video

__all__ = [
    "FACTORS", "DataConfig", "Factor", "FrameSet", "PairBatch", "PairSampler", "PhotoConfig", "VideoConfig", "factor",
    "import_photographs", "import_video", "make_frames", "verify",
]  # fmt: skip
