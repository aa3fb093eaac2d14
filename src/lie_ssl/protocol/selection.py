"""Which run is the best one: by validation instances alone, never by test instances."""

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
LIMIT = 4000  # validation frames in other than the typical pose, at most


def validation_accuracy(run: Path, config: ProbeConfig, trust: Collection[str] = ()) -> float:
    """Per cent, of the best linear classifier on a finished run; kept in the run, as it takes its time.

    Half of the instances are diverse, as in pretraining. It is the mean of the accuracies on the validation instances'
    typical frames and on their other frames.
    """
    loaded = load(run, trust=trust)
    assert loaded.config is not None
    frames = FrameSet(loaded.config.data)
    key = {"run": loaded.config.digest(), "data": frames.card["card_hash"], "probe": to_plain(config)}
    kept = _kept(run)
    if kept.get("key") == key:
        return float(kept["accuracy"])
    settings = Settings(frames.index, limit=LIMIT)
    features = Features(loaded.encoder, frames)
    rows = settings.training(SSL_PROPORTION)
    groups = [(features(r), torch.from_numpy(frames.labels[r])) for r in (rows.varying, rows.typical)]
    probe = Probe(config, loaded.encoder.dim, len(frames.classes)).fit(groups[0], groups[1], seed=0)
    scores = [probe.accuracy(features(r), torch.from_numpy(frames.labels[r])) for r in settings.validation()]
    accuracy = 100 * float(torch.stack(scores).mean(dim=0).max())
    write_whole(run / VALIDATION, [json.dumps({"key": key, "accuracy": accuracy}, indent=1).encode()])
    return accuracy


def _kept(run: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads((run / VALIDATION).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # a lost or damaged number is only computed again
        return {}
    return kept if isinstance(kept, dict) else {}


def lie_ratio(run: Path) -> float:
    """L_lie on validation pairs at the last check over that at the first; nan for a run that has no two of them."""
    path = run / CHECKS
    rows = read_rows(path) if path.exists() else []
    values = [float(r["validation_lie"]) for r in rows if r.get("validation_lie")]
    return values[-1] / values[0] if len(values) > 1 and values[0] > 0 else math.nan


def choose_trial(table: pd.DataFrame, ratio: float) -> tuple[str, str]:
    """The best trial of a sweep's table, and a sentence on how it was chosen; `ratio` 0 filters nothing.

    The first one is taken among equals.
    """
    finished = table[table["status"] == "finished"]
    if finished.empty:
        raise UserError("no trial has finished, so that there is none to choose; see the column status of the table")
    passed = finished[finished["passed"].astype(bool)]
    note = "by the combined validation accuracy"
    if ratio and passed.empty:
        note += f" alone, for in no trial L_lie on validation pairs fell to {ratio:g} of its first value or below"
    elif ratio:
        note += f" among the {len(passed)} of {len(finished)} whose L_lie fell to {ratio:g} of its first value or below"
    pool = finished if passed.empty else passed
    return str(pool["trial"].iloc[int(pool["validation"].to_numpy().argmax())]), note
