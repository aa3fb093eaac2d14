"""Transfer to photographs: finetunes an encoder on labelled photographs, and tests it on upright photographs and on
photographs rotated by random angles. The operator is not used."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch.nn import functional

from lie_ssl._text import count
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
from lie_ssl.protocol.results import append_table, load_finished
from lie_ssl.protocol.schema import TRANSFER, read_table
from lie_ssl.protocol.settings import TrainingRows
from lie_ssl.protocol.studies import PhotoTransfer
from lie_ssl.serialization import to_plain
from lie_ssl.storage.hashes import digest
from lie_ssl.training.capacity import encoder_threads

TABLE = "transfer.csv"
ANGLES = "by content"  # part of the settings: angles of rotated photographs depend on their content
Rows = NDArray[np.int64]


def transfer_run(
    run: Path | str,
    photos: Path | str,
    config: PhotoTransfer,
    out: Path | str,
    say: Say = lambda _: None,
    trust: Collection[str] = (),
) -> pd.DataFrame:
    """Transfers the encoder of a run, and adds its rows to transfer.csv.

    If the table already has rows with the same settings, nothing is trained.

    Args:
        run: Folder of the run.
        photos: Folder or zip file of the photographs.
        config: Settings of the transfer.
        out: Folder of the table.
        say: Called with messages for the user.
        trust: Import paths that the run may name. Importing runs code.

    Returns:
        The rows of the run, with the columns of `lie_ssl.protocol.schema.TRANSFER`: `test` is upright or rotated,
        `rate` the chosen learning rate, `settings` a hash of the photographs, the run and the config.
    """
    loaded, run_config, card = load_finished(run, trust=trust)
    name = Path(photos).resolve().stem
    keys = {"photos": name, "method": run_config.subject, "arm": run_config.arm, "seed": run_config.seed}
    with open_tree(Path(photos)) as tree:
        source = [card["data"]["card_hash"], tree.stamp()]
    known = settings_hashes(config, run_config.known_digests(), source)
    table = Path(out) / TABLE
    if table.exists():
        old = read_table(table)
        done = old[(old[list(keys)] == pd.Series(keys)).all(axis=1) & old["settings"].isin(known)]
        if len(done):
            say(f"{run} on {name} is already done")
            return done
    encoder = loaded.encoder
    pictures = PhotoSet(photos, encoder.image_size, encoder.channels)
    for reason in pictures.dropped:
        say(f"left out: {reason}")
    with encoder_threads(encoder):
        scores, rate = transfer(encoder, pictures, config, run_config.seed, say)
    frames = len(pictures.rows(test_part(pictures)))
    rows = [
        {**keys, "test": test, "top1": 100 * score, "rate": rate, "frames": frames, "settings": known[0]}
        for test, score in scores.items()
    ]
    Path(out).mkdir(parents=True, exist_ok=True)
    append_table(table, TRANSFER.frame(rows), TRANSFER.keys)
    return TRANSFER.frame(rows)


def settings_hashes(config: PhotoTransfer, run: tuple[str, str], source: list[str]) -> list[str]:
    """Hashes of the settings, the run and the photographs: the current one, and that of tables of lie_ssl 0.1."""
    plain = to_plain(config)
    forms = zip((plain, legacy_evaluation(plain)), run, strict=True)
    return [digest([form, own, *source, ANGLES]) for form, own in forms]


def check_distinct(runs: Sequence[Path], trust: Collection[str] = ()) -> None:
    """Rejects runs that cannot be loaded or are not finished, and two runs of the same arm with the same seed.

    Call it before the first transfer. Rows of two such runs could not be told apart in the table.
    """
    found: dict[tuple[str, str, int], Path] = {}
    for run in runs:
        config = load_finished(run, trust=trust)[1]
        key = config.subject, config.arm, config.seed
        if key in found:
            both = f"{found[key]} and {run} are both {key[0]} {key[1]} with seed {key[2]}"
            raise UserError(f"{both}; transfer them separately, into different folders")
        found[key] = run


def transfer(
    encoder: Encoder, photos: PhotoSet, config: PhotoTransfer, seed: int = 0, say: Say = lambda _: None
) -> tuple[dict[str, float], float]:
    """Finetunes a copy of the encoder at every rate, chooses one on validation photographs, and tests it.

    Args:
        encoder: The encoder, which is not changed.
        photos: The photographs.
        config: Settings of the transfer.
        seed: Seed of finetuning and of the validation set. The angles of rotated photographs do not depend on it.
        say: Called with messages for the user.

    Returns:
        The accuracies, from 0 to 1, on `upright` and `rotated` photographs, and the chosen rate.
    """
    train, validation = split_photos(photos, config.validation, seed)
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
        photographs = count(len(validation), "validation photograph")
        say(f"rate {rate:g} ({name}): {config.chosen_by} {abs(score):.4g} on {photographs}")
        if score < best_score:
            best, best_score, best_rate = model, score, rate
    if best is None:
        raise UserError("finetuning diverged at every rate; try lower --finetune.rates")
    test = photos.rows(test_part(photos))
    sets: dict[str, Pictures] = {"upright": photos, "rotated": TurnedPhotos(photos)}
    labels = torch.from_numpy(photos.labels[test])
    found = {name: float((predict(best, pictures, test) == labels).double().mean()) for name, pictures in sets.items()}
    return found, best_rate


def test_part(photos: PhotoSet) -> Part:
    """The part to test on: `test`, or `validation` in sets without test labels, such as ImageNet."""
    return "test" if len(photos.rows("test")) else "validation"


def split_photos(photos: PhotoSet, share: float, seed: int) -> tuple[Rows, Rows]:
    """Splits photographs into those for training and those for validation, which choose the rate.

    Sets with a test part keep their own validation part. Otherwise validation photographs are drawn from the training
    part, in which at least one photograph of every class stays.

    Args:
        photos: The photographs.
        share: Share of the training part to draw.
        seed: Seed of the draw.

    Returns:
        The rows for training and for validation.
    """
    train, own = photos.rows("train"), photos.rows("validation")
    if test_part(photos) == "test" and len(own):
        return train, own
    if not len(photos.rows(test_part(photos))):
        raise UserError(f"{photos.path} has no photographs to test on; put them into test/CLASS/ or val/CLASS/")
    if not 0 < share < 1:
        raise UserError(
            f"{photos.path} has no validation part of its own; give a share of the training part, such as "
            "--validation 0.1"
        )
    order = np.random.default_rng([seed, *b"transfer"]).permutation(train)
    wanted = max(1, round(share * len(train)))
    left = np.bincount(photos.labels[train])
    chosen: list[int] = []
    for row in order:
        if len(chosen) == wanted:
            break
        if left[photos.labels[row]] > 1:
            left[photos.labels[row]] -= 1
            chosen.append(row)
    if not chosen:
        raise UserError(
            f"{photos.path} has one training photograph of each class, so none is left to choose the rate; add some "
            "to train/CLASS/"
        )
    return np.setdiff1d(train, chosen), np.sort(np.array(chosen, np.int64))


@torch.no_grad()
def selection_score(model: Classifier, photos: PhotoSet, rows: Rows, by: str) -> float:
    """The loss or the negative accuracy; smaller is better."""
    labels = torch.from_numpy(photos.labels[rows])
    if by == "accuracy":
        return -float((predict(model, photos, rows) == labels).double().mean())
    device, total = next(model.parameters()).device, 0.0
    for i in range(0, len(rows), 256):
        logits = model.eval()(to_float(to_tensor(photos.read(rows[i : i + 256])), device)).cpu()
        total += float(functional.cross_entropy(logits, labels[i : i + 256], reduction="sum"))
    return total / len(rows)
