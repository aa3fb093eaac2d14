"""Selects the best of several runs by validation instances only, never by test instances."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.probe import Probe, ProbeConfig
from lie_ssl.protocol.settings import SSL_PROPORTION, Settings
from lie_ssl.serialization import to_plain
from lie_ssl.storage.files import write_whole
from lie_ssl.training.loading import load
from lie_ssl.training.log import CHECKS, read_rows

VALIDATION = "validation.json"
LIMIT = 4000  # maximum number of validation frames in other poses than the typical one


def validation_accuracy(run: Path, config: ProbeConfig, trust: Collection[str] = ()) -> float:
    """The validation accuracy in per cent of the best linear classifier on a finished run, cached in its folder.

    It is the mean of the accuracies on the typical and on the other frames of the validation instances. Half of the
    training instances are diverse, as in pretraining.

    Args:
        run: Folder of the run.
        config: Settings of the classifiers.
        trust: Import paths that the run may name. Importing runs code.
    """
    loaded = load(run, trust=trust)
    assert loaded.config is not None
    frames = FrameSet(loaded.config.data)
    key = {"run": loaded.config.digest(), "data": frames.card["card_hash"], "probe": to_plain(config)}
    cached = _cached(run)
    if cached.get("key") == key:
        return float(cached["accuracy"])
    settings = Settings(frames.index, limit=LIMIT)
    features = Features(loaded.encoder, frames)
    rows = settings.training(SSL_PROPORTION)
    groups = [(features(r), torch.from_numpy(frames.labels[r])) for r in (rows.diverse, rows.typical)]
    probe = Probe(config, loaded.encoder.dim, len(frames.classes)).fit(groups[0], groups[1], seed=0)
    scores = [probe.accuracy(features(r), torch.from_numpy(frames.labels[r])) for r in settings.validation()]
    accuracy = 100 * float(torch.stack(scores).mean(dim=0).max())
    write_whole(run / VALIDATION, [json.dumps({"key": key, "accuracy": accuracy}, indent=1).encode()])
    return accuracy


def _cached(run: Path) -> dict[str, Any]:
    try:
        cached: dict[str, Any] = json.loads((run / VALIDATION).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # if the file is missing or damaged, compute it again
        return {}
    return cached if isinstance(cached, dict) else {}


def lie_ratio(run: Path) -> float:
    """L_lie on validation pairs at the last check, divided by that at the first; nan for fewer than two checks."""
    path = run / CHECKS
    rows = read_rows(path) if path.exists() else []
    values = [float(r["validation_lie"]) for r in rows if r.get("validation_lie")]
    return values[-1] / values[0] if len(values) > 1 and values[0] > 0 else math.nan


def choose_trial(table: pd.DataFrame, ratio: float | None) -> tuple[str, str]:
    """Chooses the best trial of a sweep; the first one in case of a tie.

    Args:
        table: The table of the sweep.
        ratio: The filter on L_lie; None for no filter.

    Returns:
        The name of the trial, and how it was chosen, in words.
    """
    finished = table[table["status"] == "finished"]
    if finished.empty:
        raise UserError("no trial has finished; see the reasons in the column status of the table")
    passed = finished[finished["passed"].astype(bool)]
    note = "by validation accuracy"
    if ratio is not None and passed.empty:
        note += f" alone, because no trial reduced L_lie on validation pairs to {ratio:g} of its first value or less"
    elif ratio is not None:
        note += (
            f", among the {len(passed)} of {len(finished)} that reduced L_lie to {ratio:g} of its first value or less"
        )
    pool = finished if passed.empty else passed
    return str(pool["trial"].iloc[int(pool["validation"].to_numpy().argmax())]), note
