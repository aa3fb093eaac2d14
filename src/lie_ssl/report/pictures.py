"""Frames on which a baseline and another arm disagree, as pictures with what each of them said."""

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
from lie_ssl.report.findings import CHALLENGERS
from lie_ssl.report.gathering import Evaluated
from lie_ssl.report.names import BASE

SIDE = 96  # pixels at least, so that small frames can be seen


@dataclass(frozen=True)
class Picture:
    """A frame as a data address, and its labels."""

    address: str
    pose: str
    true: str
    base: str  # what the baseline said
    other: str


@dataclass(frozen=True)
class Disagreement:
    """Frames that one gets right and the other wrong: how many, and some of them."""

    base: Evaluated
    other: Evaluated
    frames: int  # that both were asked
    gained: int
    lost: int
    gains: tuple[Picture, ...]
    losses: tuple[Picture, ...]


def find_frames(evaluated: Evaluated, data: str = "") -> FrameSet:
    """The data set of an evaluation, at its old place or at `data`; refused if it is not the same one."""
    known = data or (evaluated.card["pretraining"] or {}).get("data", "")
    if not known:
        raise UserError("the card does not say where it is; name it with --data")
    folder = Path(known)
    frames = FrameSet(folder)
    if frames.card["card_hash"] != evaluated.card["data"]["card_hash"]:
        raise UserError(f"{folder} is another data set than that of the evaluation; name it with --data")
    return frames


def pairs(evaluated: Sequence[Evaluated]) -> list[tuple[Evaluated, Evaluated]]:
    """For each method its baseline and the arm of interest, of the same seed if there is one."""
    able = sorted((e for e in evaluated if len(e.predictions)), key=lambda e: (e.arm.order, e.seed))
    found = []
    for method in dict.fromkeys(e.arm.method for e in able):
        own = [e for e in able if e.arm.method == method]
        bases = [e for e in own if e.arm.arm == BASE]
        others = [e for name in CHALLENGERS for e in own if e.arm.arm == name]
        if bases and others:
            same = [(b, o) for b in bases for o in others if b.seed == o.seed and o.arm == others[0].arm]
            found.append((same or [(bases[0], others[0])])[0])
    return found


def disagreement(base: Evaluated, other: Evaluated, frames: FrameSet, most: int = 14) -> Disagreement:
    """Each class once before any comes twice, and of each class unknown instances first."""
    both = base.predictions.merge(other.predictions[["row", "predicted"]], on="row", suffixes=("_base", "_other"))
    index = frames.index.loc[both["row"]]
    both = both.assign(
        unknown=(index["split"] == "test").to_numpy(),
        pose=[f"{kind.upper()} {angle:.0f}°" for kind, angle in zip(index["pose"], index["angle"], strict=True)],
    )
    right_base, right_other = (both[f"predicted_{who}"] == both["class"] for who in ("base", "other"))
    gained, lost = both[right_other & ~right_base], both[right_base & ~right_other]
    return Disagreement(
        base, other, len(both), len(gained), len(lost), _pictures(gained, frames, most), _pictures(lost, frames, most)
    )


def _pictures(table: pd.DataFrame, frames: FrameSet, most: int) -> tuple[Picture, ...]:
    order = table.sample(frac=1, random_state=0).sort_values("unknown", ascending=False, kind="stable")
    order = order.assign(turn=order.groupby("class").cumcount())
    chosen = order.sort_values(["turn", "unknown"], ascending=[True, False], kind="stable").head(most)
    labels = (
        chosen[["pose", "class", "predicted_base", "predicted_other"]].astype(str).itertuples(index=False, name=None)
    )
    pictures = frames.read(chosen["row"].to_numpy(np.int64))
    return tuple(Picture(data_address(p), *words) for p, words in zip(pictures, labels, strict=True))


def data_address(picture: NDArray[np.uint8]) -> str:
    """(H, W, C) -> a PNG as data:image/png;base64,..."""
    image = Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture)
    zoom = -(-SIDE // image.width)
    if zoom > 1:
        image = image.resize((image.width * zoom, image.height * zoom), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
