"""Pretraining: config, loop, checkpoints, logs, and what comes out of a run."""

from lie_ssl._torchvision_compat import import_torchvision

import_torchvision()  # before lightning, which imports it
