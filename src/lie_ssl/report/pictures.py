"""Frames on which a baseline and another arm disagree, as pictures with both predictions."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.schema import POSES
from lie_ssl.report.findings import CHALLENGERS
from lie_ssl.report.gathering import EvaluatedRun
from lie_ssl.report.names import baseline_of

SIDE = 96  # minimum side in pixels; smaller frames are enlarged


@dataclass(frozen=True)
class Picture:
    """A frame as a data URI, with its true class and the predictions of both arms."""

    uri: str
    pose: str
    true: str
    base: str  # prediction of the baseline
    other: str


@dataclass(frozen=True)
class Disagreement:
    """How many frames only one of two arms classifies correctly, and examples of them."""

    base: EvaluatedRun
    other: EvaluatedRun
    frames: int  # number of frames for which both have a prediction
    gained: int  # correct with `other` only
    lost: int  # correct with `base` only
    gains: tuple[Picture, ...]
    losses: tuple[Picture, ...]


def find_frames(evaluated: EvaluatedRun, data: str | None = None) -> FrameSet:
    """Opens the data set of an evaluation, at its old path or at `data`; rejects another data set."""
    known = (evaluated.card["pretraining"] or {}).get("data") if data is None else data
    if not known:
        raise UserError("the card of the evaluation has no path to its data set; give the path with --data")
    folder = Path(known)
    frames = FrameSet(folder)
    if frames.card["card_hash"] != evaluated.card["data"]["card_hash"]:
        raise UserError(f"{folder} is not the data set of the evaluation; give its path with --data")
    return frames


def pairs(evaluated: Sequence[EvaluatedRun]) -> list[tuple[EvaluatedRun, EvaluatedRun]]:
    """For each method its baseline and the first of the CHALLENGERS, with the same seed if possible."""
    usable = sorted((e for e in evaluated if len(e.predictions)), key=lambda e: (e.arm.order, e.seed))
    found = []
    for method in dict.fromkeys(e.arm.method for e in usable):
        own = [e for e in usable if e.arm.method == method]
        bases = [e for e in own if e.arm == baseline_of(method, [each.arm for each in own])]
        others = [e for name in CHALLENGERS for e in own if e.arm.arm == name]
        if bases and others:
            same = [(b, o) for b in bases for o in others if b.seed == o.seed and o.arm == others[0].arm]
            found.append((same or [(bases[0], others[0])])[0])
    return found


def disagreement(base: EvaluatedRun, other: EvaluatedRun, frames: FrameSet, limit: int = 14) -> Disagreement:
    """Compares the predictions of two arms.

    There are at most `limit` examples of gains and of losses, from as many classes as possible, and from unknown
    instances first.
    """
    both = base.predictions.merge(other.predictions[["row", "predicted"]], on="row", suffixes=("_base", "_other"))
    index = frames.index.loc[both["row"]]
    both = both.assign(
        unknown=(index["split"] == "test").to_numpy(),
        pose=[f"{POSES.short_of(kind)} {a:.0f}°" for kind, a in zip(index["pose"], index["angle"], strict=True)],
    )
    base_correct, other_correct = (both[f"predicted_{arm}"] == both["class"] for arm in ("base", "other"))
    gained, lost = both[other_correct & ~base_correct], both[base_correct & ~other_correct]
    return Disagreement(
        base, other, len(both), len(gained), len(lost), _pictures(gained, frames, limit), _pictures(lost, frames, limit)
    )


def _pictures(table: pd.DataFrame, frames: FrameSet, limit: int) -> tuple[Picture, ...]:
    order = table.sample(frac=1, random_state=0).sort_values("unknown", ascending=False, kind="stable")
    order = order.assign(rank=order.groupby("class").cumcount())
    chosen = order.sort_values(["rank", "unknown"], ascending=[True, False], kind="stable").head(limit)
    labels = (
        chosen[["pose", "class", "predicted_base", "predicted_other"]].astype(str).itertuples(index=False, name=None)
    )
    pictures = frames.read(chosen["row"].to_numpy(np.int64))
    return tuple(Picture(data_uri(p), *texts) for p, texts in zip(pictures, labels, strict=True))


def data_uri(picture: NDArray[np.uint8]) -> str:
    """(H, W, C) -> a PNG file as data:image/png;base64,..."""
    image = Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)
    zoom = -(-SIDE // image.width)
    if zoom > 1:
        image = image.resize((image.width * zoom, image.height * zoom), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
