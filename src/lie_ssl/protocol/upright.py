"""Transfer to rotated photographs by adapting: unlabelled rotated photographs train a head, upright ones a classifier.

The table compares, on the same upright and rotated test photographs:

| arm | the classifier |
|---|---|
| frozen | sees the stored features of the encoder; trained on upright photographs |
| frozen_rotated | the same, trained on rotated copies of the labelled photographs too |
| frozen_averaged | that of frozen_rotated; the mean over evenly turned copies of the picture |
| frames | sees the embedding of the control, which is invariant |
| lie | sees u, the invariant part of the embedding |
| lie_upright | sees the stored features; the mean over the turned copies, weighted by how upright v says they are |
| lie_upright_rotated | the same, with the mean of this classifier and that of frozen_rotated |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from lie_ssl.frames import FrameSet
from lie_ssl.frames.listing import open_tree
from lie_ssl.frames.photoset import PhotoSet
from lie_ssl.frames.turned import Turned, TurnedConfig, import_turned
from lie_ssl.objectives.lie import LieConfig
from lie_ssl.protocol.probe import Linear
from lie_ssl.protocol.results import append_table
from lie_ssl.protocol.schema import UPRIGHT
from lie_ssl.protocol.studies import UprightTransfer
from lie_ssl.protocol.transfer import split_photos, test_part
from lie_ssl.protocol.turned_tests import Angles, Rows, Scores, TurnedTests, View
from lie_ssl.serialization import to_plain
from lie_ssl.storage.hashes import digest
from lie_ssl.training.adapting import Published, adapt_config
from lie_ssl.training.banked import BankedFrames, check_adapted, stored_features
from lie_ssl.training.config import PretrainConfig, import_paths
from lie_ssl.training.loading import Loaded, load
from lie_ssl.training.progress import NullReporter, ProgressReporter
from lie_ssl.training.run import pretrain

TABLE = "upright.csv"
DATA, RUNS = "data", "runs"  # folders in that of the table, unless others are given
CHUNK = 4096  # rows at a time
ALL = 180.0  # degrees: pictures in any rotation


def transfer_upright(
    encoder: Published, photos: Path | str, config: UprightTransfer, out: Path | str, *,
    data: Path | str | None = None, runs: Path | str | None = None, reporter: ProgressReporter | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Adapts an encoder to photographs, tests it on upright and rotated ones, and adds the rows to upright.csv.

    Everything is resumed if it was interrupted: the data set, its stored features and the heads.

    Args:
        encoder: The published encoder.
        photos: Folder or zip file of the photographs.
        config: Settings.
        out: Folder of the table.
        data: Folder of the rotated photographs and their stored features; by default `data` in `out`.
        runs: Folder of the heads; by default `runs` in `out`.
        reporter: Receives the progress.

    Returns:
        The rows, with the columns of `lie_ssl.protocol.schema.UPRIGHT`.
    """
    out, reporter = Path(out), reporter or NullReporter()
    frames = turned_frames(photos, config, Path(data or out / DATA), reporter)
    rows: list[dict[str, Any]] = []
    for seed in config.seeds:
        models, bank = {}, None
        for arm in ("lie", "frames"):
            run = head_config(encoder, arm, config, seed, frames)
            folder = pretrain(run, Path(runs or out / RUNS) / f"{arm}_{seed}", reporter, encoder.module)
            models[arm] = load(folder, trust=import_paths(run), encoder=encoder.module)
            bank = bank or stored_features(check_adapted(models[arm].encoder).frozen, run, frames, reporter)
        assert bank is not None
        keys = {
            "photos": Path(photos).resolve().stem, "method": run.subject, "seed": seed,
            "settings": digest([to_plain(config) | {"seeds": []}, frames.card["card_hash"]]),
        }  # fmt: skip
        rows += [{**keys, **row} for row in measure(bank, models, config, seed)]
        out.mkdir(parents=True, exist_ok=True)
        append_table(out / TABLE, UPRIGHT.frame(rows), UPRIGHT.keys)
    return UPRIGHT.frame(rows)


def turned_frames(
    photos: Path | str, config: UprightTransfer, folder: Path, reporter: ProgressReporter
) -> FrameSet:  # fmt: skip
    """The data set of rotated photographs; the split into training and validation does not depend on a seed."""
    with open_tree(Path(photos)) as tree:
        stamp = tree.stamp()
    found = PhotoSet(photos, config.size)
    for reason in found.dropped:
        reporter.say(f"left out: {reason}")
    train, validation = split_photos(found, config.validation, 0)
    parts = {"train": train, "validation": validation, "test": found.rows(test_part(found))}
    settings = TurnedConfig(
        Path(photos).name, size=config.size, copies=config.copies, turns=config.turns, stamp=stamp
    )  # fmt: skip
    return import_turned(found, parts, settings, folder)


def head_config(
    encoder: Published, arm: str, config: UprightTransfer, seed: int, frames: FrameSet
) -> PretrainConfig:  # fmt: skip
    """The run that trains a head on all training photographs."""
    run = adapt_config(encoder.config, arm)
    assert run.adapt is not None
    objective = replace(run.objective, anchor=config.anchor) if isinstance(run.objective, LieConfig) else run.objective
    return replace(
        run, data=str(frames.folder), objective=objective, diverse=1.0, seed=seed,
        adapt=replace(config.adapt, dim=config.adapt.dim or run.adapt.dim),
        optim=replace(config.optim, operator_lr=run.optim.operator_lr),
    )  # fmt: skip


def measure(
    bank: BankedFrames, models: Mapping[str, Loaded], config: UprightTransfer, seed: int
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The rows of one seed."""
    tests = TurnedTests(bank, config.turns, config.probe, seed)
    frozen = frozen_view(bank)
    yield _row("frozen", tests, tests.single(frozen, tests.fit(frozen), tests.test))
    rotated = tests.fit(frozen, ALL, rotated=True)
    yield _row("frozen_rotated", tests, tests.single(frozen, rotated, tests.test))
    rotated = tests.fit(frozen, ALL, rotated=True, by="loss")
    yield _row("frozen_averaged", tests, tests.averaged(frozen, (rotated,), tests.test, tests.even))
    u = head_view(bank, models["frames"])
    yield _row("frames", tests, tests.single(u, tests.fit(u), tests.test))
    z, operator = head_view(bank, models["lie"]), models["lie"].operator
    assert operator is not None

    def identity(rows: Rows) -> Tensor:
        return models["lie"].identity(z(rows))

    relative, absolute = tests.relative(operator, z, tests.test), tests.absolute(operator, z, tests.test)
    yield _row("lie", tests, tests.single(identity, tests.fit(identity), tests.test), relative, absolute)
    # The nearest copy is up to half a step from upright, so labelled photographs that near are shown too.
    near = tests.fit(frozen, 180 / config.turns, by="loss")
    for arm, classifiers in (("lie_upright", (near,)), ("lie_upright_rotated", (near, rotated))):

        def scores(at: Turned, sharpness: float, use: tuple[Linear, ...] = classifiers) -> Scores:
            return tests.averaged(frozen, use, at, tests.weights(operator, z, config.prior, sharpness))

        best = max(config.sharpness, key=lambda sharpness: scores(tests.validation, sharpness).mean)
        agreed = tests.agreed(operator, z, tests.test, best)
        yield _row(arm, tests, scores(tests.test, best), relative, agreed)


def _row(
    arm: str, tests: TurnedTests, scores: Scores, relative: Angles | None = None, absolute: Angles | None = None
) -> dict[str, Any]:
    row: dict[str, Any] = {"arm": arm, "upright": 100 * scores.upright, "rotated": 100 * scores.rotated}
    for name, angles in (("relative", relative), ("absolute", absolute)):
        values = (np.nan,) * 3 if angles is None else (angles.median, angles.mean, 100 * angles.within)
        row |= dict(zip((f"{name}_median", f"{name}_mean", f"{name}_within_30"), values, strict=True))
    return row | {"frames": len(tests.test.upright)}


def frozen_view(bank: BankedFrames) -> View:
    """The stored features of the published encoder."""
    return lambda rows: torch.from_numpy(bank.bank.read(rows)[:, 0].astype(np.float32))


@torch.no_grad()
def head_view(bank: BankedFrames, model: Loaded) -> View:
    """The embeddings z of an adapted encoder; computed once for all rows, as z is small."""
    parts = [
        model.encoder(torch.from_numpy(bank.bank.read(np.arange(i, min(i + CHUNK, len(bank))))[:, 0]).float())
        for i in range(0, len(bank), CHUNK)
    ]
    z = torch.cat(parts)
    return lambda rows: z[torch.from_numpy(rows)]
