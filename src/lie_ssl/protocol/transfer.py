"""From renders to photographs: an encoder is finetuned on labelled photographs, and tested on them as they are and
turned by random angles. The operator takes no part in it and is not trained again."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch.nn import functional

from lie_ssl.errors import UserError
from lie_ssl.frames.listing import open_tree
from lie_ssl.frames.loader import to_tensor
from lie_ssl.frames.photoset import Part, PhotoSet, TurnedPhotos
from lie_ssl.methods.draws import derive_seed
from lie_ssl.methods.encoders import Encoder
from lie_ssl.methods.features import to_float
from lie_ssl.migration import legacy_evaluation
from lie_ssl.protocol.context import Say
from lie_ssl.protocol.finetune import Classifier, DivergedError, Pictures, finetune, predict
from lie_ssl.protocol.results import append_table
from lie_ssl.protocol.schema import TRANSFER, read_table
from lie_ssl.protocol.settings import TrainingRows
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.serialization import to_plain
from lie_ssl.storage.hashes import digest
from lie_ssl.training.capacity import encoder_threads
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.loading import load

TABLE = "transfer.csv"
ANGLES = "by content"  # what the angles of rotated photographs follow from; rows with others have other settings
Rows = NDArray[np.int64]


def transfer_run(
    run: Path | str,
    photos: Path | str,
    config: PhotoTransfer,
    out: Path | str,
    say: Say = lambda _: None,
    trust: Collection[str] = (),
) -> pd.DataFrame:
    """Transfers the encoder of a run, adds its rows to transfer.csv in `out`, and gives them.

    Its columns are those of `lie_ssl.protocol.schema.TRANSFER`: `test` is upright or rotated, `rate` the chosen one,
    `settings` a hash of the photographs, the run and the config. A run whose rows are there with the same settings is
    not run again. `trust` names the import paths that the run's config may have; see :func:`lie_ssl.load`.
    """
    encoder, run_config, card = finished_run(run, trust)
    name = Path(photos).resolve().stem
    keys = {"photos": name, "method": run_config.method.name, "arm": run_config.arm, "seed": run_config.seed}
    with open_tree(Path(photos)) as tree:
        source = [card["data"]["card_hash"], tree.stamp()]
    known = settings_hashes(config, run_config.known_digests(), source)
    table = Path(out) / TABLE
    if table.exists():
        old = read_table(table)
        done = old[(old[list(keys)] == pd.Series(keys)).all(axis=1) & old["settings"].isin(known)]
        if len(done):
            say(f"{run} on {name} is done already")
            return done
    pictures = PhotoSet(photos, encoder.image_size, encoder.channels)
    for words in pictures.dropped:
        say(f"left out: {words}")
    with encoder_threads(encoder):
        scores, rate = transfer(encoder, pictures, config, run_config.seed, say)
    tested = len(pictures.rows(tested_part(pictures)))
    rows = [
        {**keys, "test": test, "top1": 100 * score, "rate": rate, "frames": tested, "settings": known[0]}
        for test, score in scores.items()
    ]
    Path(out).mkdir(parents=True, exist_ok=True)
    append_table(table, TRANSFER.frame(rows), TRANSFER.keys)
    return TRANSFER.frame(rows)


def settings_hashes(config: PhotoTransfer, run: tuple[str, str], source: list[str]) -> list[str]:
    """Hashes of the settings, of the run and of the photographs: today's, and the one that rows of lie_ssl 0.1 have."""
    plain = to_plain(config)
    forms = zip((plain, legacy_evaluation(plain)), run, strict=True)
    return [digest([form, own, *source, ANGLES]) for form, own in forms]


def finished_run(run: Path | str, trust: Collection[str] = ()) -> tuple[Encoder, PretrainConfig, dict[str, Any]]:
    """The encoder, config and card of a finished run."""
    loaded = load(run, trust=trust)
    if loaded.config is None or loaded.card is None:
        raise UserError(f"{run} is no run; give the folder that `lie-ssl pretrain` made")
    if not loaded.card["finished"]:
        raise UserError(f"the run {run} is not finished; finish it with its own command first")
    return loaded.encoder, loaded.config, loaded.card


def check_distinct(runs: Sequence[Path], trust: Collection[str] = ()) -> None:
    """Refuses, before the first is transferred, runs that cannot be loaded or are not finished, and two of the same arm
    with the same seed, which would pass for two seeds of one."""
    found: dict[tuple[str, str, int], Path] = {}
    for run in runs:
        config = finished_run(run, trust)[1]
        key = config.method.name, config.arm, config.seed
        if key in found:
            words = f"{found[key]} and {run} are both {key[0]} {key[1]} with seed {key[2]}"
            raise UserError(f"{words}; transfer them one by one, into different folders")
        found[key] = run


def transfer(
    encoder: Encoder, photos: PhotoSet, config: PhotoTransfer, seed: int = 0, say: Say = lambda _: None
) -> tuple[dict[str, float], float]:
    """Finetunes a copy of the encoder at every rate, chooses one on validation photographs, and tests it: shares of
    right answers on `upright` and `rotated` photographs, and the chosen rate. All seeds have the same angles."""
    train, validation = parts_of(photos, config.validation, seed)
    best: Classifier | None = None
    best_score, best_rate = math.inf, math.nan
    for name, rate in config.finetune.trials:
        try:
            rows = TrainingRows(train, train[:0])
            model = finetune(encoder, photos, rows, name, rate, config.finetune, derive_seed(seed, "transfer"))
        except DivergedError as error:
            say(str(error))
            continue
        score = selection_score(model, photos, validation, config.chosen_by)
        say(f"rate {rate:g} ({name}): {config.chosen_by} on {len(validation)} validation photographs {abs(score):.4g}")
        if score < best_score:
            best, best_score, best_rate = model, score, rate
    if best is None:
        raise UserError("finetuning diverged at every rate; try lower --finetune.rates")
    test = photos.rows(tested_part(photos))
    sets: dict[str, Pictures] = {"upright": photos, "rotated": TurnedPhotos(photos)}
    labels = torch.from_numpy(photos.labels[test])
    found = {name: float((predict(best, pictures, test) == labels).double().mean()) for name, pictures in sets.items()}
    return found, best_rate


def tested_part(photos: PhotoSet) -> Part:
    """The part that is tested on: test, or validation in sets that have no other, as ImageNet."""
    return "test" if len(photos.rows("test")) else "validation"


def parts_of(photos: PhotoSet, share: float, seed: int) -> tuple[Rows, Rows]:
    """Rows for training and for choosing the rate: the set's own validation part where it has one beside its test
    part, and otherwise a share of the training part, but for one photograph of every class."""
    train, own = photos.rows("train"), photos.rows("validation")
    if tested_part(photos) == "test" and len(own):
        return train, own
    if not len(photos.rows(tested_part(photos))):
        raise UserError(f"{photos.path} has no photographs to test on; put them into test/CLASS/ or val/CLASS/")
    if not 0 < share < 1:
        raise UserError(f"{photos.path} has no validation part of its own; give a share of the training part, 0.1")
    order = np.random.default_rng([seed, *b"transfer"]).permutation(train)
    count = max(1, round(share * len(train)))
    left = np.bincount(photos.labels[train])
    chosen: list[int] = []
    for row in order:
        if len(chosen) == count:
            break
        if left[photos.labels[row]] > 1:
            left[photos.labels[row]] -= 1
            chosen.append(row)
    if not chosen:
        raise UserError(
            f"{photos.path} has one training photograph of each class, which leaves none to choose the rate by; "
            "add some to train/CLASS/"
        )
    return np.setdiff1d(train, chosen), np.sort(np.array(chosen, np.int64))


@torch.no_grad()
def selection_score(model: Classifier, photos: PhotoSet, rows: Rows, by: str) -> float:
    """The loss, or minus the accuracy: the smaller, the better."""
    labels = torch.from_numpy(photos.labels[rows])
    if by == "accuracy":
        return -float((predict(model, photos, rows) == labels).double().mean())
    device, total = next(model.parameters()).device, 0.0
    for i in range(0, len(rows), 256):
        logits = model.eval()(to_float(to_tensor(photos.read(rows[i : i + 256])), device)).cpu()
        total += float(functional.cross_entropy(logits, labels[i : i + 256], reduction="sum"))
    return total / len(rows)
