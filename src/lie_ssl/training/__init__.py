"""Pretraining: config, loop, checkpoints, logs, and what comes out of a run."""

from lie_ssl.torchvision_cure import import_torchvision

import_torchvision()  # before lightning, which imports it
