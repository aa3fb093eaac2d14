"""Pretraining: config, loop, checkpoints, logs, and what comes out of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lie_ssl._lazy import lazy_exports
from lie_ssl._torchvision_compat import import_torchvision

import_torchvision()  # before lightning, which imports it

if TYPE_CHECKING:
    from lie_ssl.training.adapting import adapt, adapt_config
    from lie_ssl.training.bank import FeatureBank
    from lie_ssl.training.bank_card import ViewConfig
    from lie_ssl.training.batchnorm import SyncBatchNorm, convert_batchnorm
    from lie_ssl.training.config import LogConfig, OptimConfig, PretrainConfig, load_config
    from lie_ssl.training.export import export_run
    from lie_ssl.training.lars import LARS
    from lie_ssl.training.loading import Loaded, load
    from lie_ssl.training.moving import Found, Pose
    from lie_ssl.training.pretrained import from_pretrained, save_pretrained
    from lie_ssl.training.progress import JobsReporter, NullReporter, ProgressReporter
    from lie_ssl.training.run import pretrain

__all__ = [
    "LARS", "FeatureBank", "Found", "JobsReporter", "Loaded", "LogConfig", "NullReporter", "OptimConfig", "Pose",
    "PretrainConfig", "ProgressReporter", "SyncBatchNorm", "ViewConfig", "adapt", "adapt_config", "convert_batchnorm",
    "export_run", "from_pretrained", "load", "load_config", "pretrain", "save_pretrained",
]  # fmt: skip
# Only `pretrain` needs lightning, so each module is loaded when one of its names is first used.
__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "adapting": ("adapt", "adapt_config"),
        "bank": ("FeatureBank",),
        "bank_card": ("ViewConfig",),
        "batchnorm": ("SyncBatchNorm", "convert_batchnorm"),
        "config": ("LogConfig", "OptimConfig", "PretrainConfig", "load_config"),
        "export": ("export_run",),
        "lars": ("LARS",),
        "loading": ("Loaded", "load"),
        "moving": ("Found", "Pose"),
        "pretrained": ("from_pretrained", "save_pretrained"),
        "progress": ("JobsReporter", "NullReporter", "ProgressReporter"),
        "run": ("pretrain",),
    },
)
