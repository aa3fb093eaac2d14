"""Evaluates runs and encoders, and writes and reads the folder of an evaluation: its tables and card.json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from lie_ssl._text import count
from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.methods.adapted import AdaptedEncoder
from lie_ssl.methods.encoders import Encoder, EncoderConfig, create_encoder
from lie_ssl.methods.hashing import encoder_hash
from lie_ssl.migration import FORMAT, arm_of, migrate
from lie_ssl.objectives.base import Reader
from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.context import Context
from lie_ssl.protocol.evaluate import EvaluateConfig, Evaluation, Results, Say, Subject
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.metrics import metric_tables
from lie_ssl.protocol.schema import read_table
from lie_ssl.serialization import to_plain
from lie_ssl.storage.cards import CARD, Kinds, check_fields, read_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.limits import check_minimum_memory
from lie_ssl.storage.paths import check_link, check_name
from lie_ssl.storage.tables import write_table
from lie_ssl.storage.trust import is_import_path
from lie_ssl.training.bank import build_extractor
from lie_ssl.training.banked import check_adapted, stored_features
from lie_ssl.training.capacity import encoder_threads
from lie_ssl.training.config import PretrainConfig, subject_name
from lie_ssl.training.coordinates import COORDINATES, read_coordinates
from lie_ssl.training.folder import check_run_card, machine, versions
from lie_ssl.training.loading import Loaded, Which, load
from lie_ssl.training.progress import NullReporter, ProgressReporter

FEATURES = "features"  # folder of cached embeddings
MAIN_TABLES = tuple(each.name for each in fields(Results) if each.name != "others")
OR_NONE = type(None)
CARD_FIELDS: dict[str, Kinds] = {
    "method": str, "arm": str, "seed": int, "config": dict, "which": (str, OR_NONE), "pretraining": (dict, OR_NONE),
    "run": (dict, OR_NONE), "encoder": (dict, OR_NONE), "data": dict, "versions": dict, "machine": dict,
}  # fmt: skip


def evaluate_run(
    run: Path | str, config: EvaluateConfig, out: Path | str, data: Path | str | None = None, which: Which = "last",
    say: Say = lambda _: None, trust: Collection[str] = (),
) -> Results:  # fmt: skip
    """Evaluates a run, and writes the tables and the card. Embeddings are cached in the folder of the run.

    Args:
        run: Folder of the run.
        config: Settings of the protocol.
        out: Folder of the evaluation.
        data: Folder of the data set; None for the run's own.
        which: The last checkpoint, or the best one on the validation set.
        say: Called with messages for the user.
        trust: Import paths that the run may name. Importing runs code.
    """
    run = Path(run)
    loaded, run_config, card = load_finished(run, which, trust)
    frames = FrameSet(run_config.data if data is None else data)
    if run_config.adapt is not None and run_config.unfreeze is None:
        frames = stored_features(check_adapted(loaded.encoder).frozen, run_config, frames, None)
    about = {"which": which, "pretraining": to_plain(run_config), "run": card, "encoder": None}
    return _evaluate(subject_of(run, loaded), frames, config, Path(out), run / FEATURES, about, say)


def evaluate_encoder(
    encoder: Encoder | EncoderConfig | Path | str, data: Path | str, config: EvaluateConfig, out: Path | str,
    method: str | None = None, say: Say = lambda _: None, trust: Collection[str] = (),
) -> Results:  # fmt: skip
    """Evaluates any encoder, and writes the tables and the card. Embeddings are cached in the same folder.

    All training instances count as known, as in the evaluation of a run. In the tables the arm is `alone`.

    Args:
        encoder: A module, a config (for timm models and weight files), or a file made by `lie-ssl export`.
        data: Folder of the data set.
        config: Settings of the protocol; its seed is also that of random weights.
        out: Folder of the evaluation.
        method: Name in the tables; None for the encoder's own name.
        say: Called with messages for the user.
        trust: Import paths that the file may name. Importing runs code.
    """
    frames, about = FrameSet(data), dict[str, Any](which=None, pretraining=None, run=None)
    if isinstance(encoder, EncoderConfig):
        name, about["encoder"] = encoder.name, to_plain(encoder)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            module = create_encoder(encoder, frames.size, frames.channels)
        if module.weight_report is not None:
            say(str(module.weight_report))
    elif isinstance(encoder, Encoder):
        name, module, about["encoder"] = type(encoder.body).__name__, encoder, None
    else:
        name, about["encoder"] = Path(encoder).stem, {"file": Path(encoder).name}
        module = load(encoder, trust=trust).encoder
    subject = Subject(module, name if method is None else method, "alone")
    return _evaluate(subject, frames, config, Path(out), Path(out) / FEATURES, about, say)


def evaluate_frozen(
    run: PretrainConfig, config: EvaluateConfig, out: Path | str, reporter: ProgressReporter | None = None
) -> Results:
    """Evaluates a published encoder by the stored features on which heads are trained, the baseline of these heads.

    Args:
        run: The config of an adapted encoder, with the objective `frozen`.
        config: Settings of the protocol.
        out: Folder of the evaluation.
        reporter: Receives messages and the progress of storing features.
    """
    if run.adapt is None:
        raise UserError(f"the objective {run.arm} needs stored features; use it with `lie-ssl adapt` or its recipes")
    frames, reporter = FrameSet(run.data), reporter or NullReporter()
    extractor = build_extractor(run.encoder, frames, run.adapt.features)
    stored = stored_features(run.encoder, run, frames, reporter)
    module = AdaptedEncoder(nn.Identity(), extractor.dim, frames.size, frames.channels, extractor)
    about = {
        "which": None, "pretraining": None, "run": None, "encoder": to_plain(run.encoder), "adapt": to_plain(run.adapt),
        "config_digest": run.digest(),
    }  # fmt: skip
    subject = Subject(module.eval(), run.subject, run.arm, run.seed)
    return _evaluate(subject, stored, config, Path(out), None, about, reporter.say)


def _evaluate(
    subject: Subject,
    frames: FrameSet,
    config: EvaluateConfig,
    out: Path,
    cache: Path | None,
    about: dict[str, Any],
    say: Say,
) -> Results:
    encoder = subject.encoder
    if (frames.size, frames.channels) != (encoder.image_size, encoder.channels):
        raise UserError(
            f"{frames.folder} has frames of {frames.size} px with {count(frames.channels, 'channel')}, but the encoder "
            f"needs {encoder.image_size} px with {count(encoder.channels, 'channel')}; choose another data set"
        )
    check_out(out)
    check_minimum_memory()
    begin = time.perf_counter()
    with encoder_threads(encoder):
        results = Evaluation(Context(subject, frames, config, Features(encoder, frames, cache), say)).run()
        here = machine("cpu", 1)
    card = {
        "format": FORMAT,
        "kind": "evaluation",
        "method": subject.method, "arm": subject.arm, "seed": subject.seed, "config": to_plain(config), **about,
        "data": {k: frames.card[k] for k in ("card_hash", "config_hash", "recipe", "source", "counts")},
        "encoder_hash": encoder_hash(encoder), "versions": versions(), "machine": here,
        "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip
    write_results(out, results, card)
    return results


def load_finished(
    run: Path | str, which: Which = "last", trust: Collection[str] = ()
) -> tuple[Loaded, PretrainConfig, dict[str, Any]]:
    """Loads a finished run, with its config and card; rejects anything else."""
    loaded = load(run, which, trust)
    if loaded.config is None or loaded.card is None:
        raise UserError(f"{run} is not a run; give the folder that `lie-ssl pretrain` made")
    if not loaded.card["finished"]:
        raise UserError(f"the run {run} is not finished; run its command again to finish it first")
    return loaded, loaded.config, loaded.card


def subject_of(run: Path, loaded: Loaded) -> Subject:
    """The subject of the evaluation of a loaded run."""
    assert loaded.config is not None
    assert loaded.card is not None
    coordinates = read_coordinates(run)[0] if (run / COORDINATES).exists() else None
    objective = None if loaded.model is None else loaded.model.objective
    reader = objective if isinstance(objective, Reader) else None
    return Subject(
        loaded.encoder, loaded.config.subject, loaded.config.arm, loaded.config.seed, loaded.operator, coordinates,
        tuple(loaded.card["classes"]), tuple(loaded.card["factors"]), reader, loaded.config.diverse,
    )  # fmt: skip


def check_out(out: Path) -> None:
    """Rejects a folder that contains anything but an evaluation."""
    if out.is_file():
        raise UserError(f"{out} is a file; choose another --out")
    check_link(out, out.parent)
    others = [p.name for p in out.iterdir() if p.name != FEATURES] if out.is_dir() else []
    if others == [CARD]:  # the tables of a recipe may be stored elsewhere
        read_card(out / CARD)
    elif others and "accuracy.csv" not in others:
        raise UserError(f"{out} contains other files ({', '.join(sorted(others)[:3])}); choose an empty folder")


def write_results(out: Path, results: Results, card: dict[str, Any]) -> None:
    """Writes all tables, and the card last."""
    out.mkdir(parents=True, exist_ok=True)
    for name in MAIN_TABLES:
        write_table(out / f"{name}.csv", getattr(results, name))
    for table in metric_tables():
        if table.name in results.others:
            write_table(out / f"{table.name}.csv", results.others[table.name])
        else:  # one of an earlier evaluation in this folder
            (out / f"{table.name}.csv").unlink(missing_ok=True)
    write_whole(out / CARD, [json.dumps(card, indent=1).encode()])


def append_table(path: Path, table: pd.DataFrame, keys: list[str]) -> None:
    """Adds rows to a CSV file, and replaces those with the same keys."""
    if path.exists():
        old = read_table(path)
        table = pd.concat([old, table], ignore_index=True).drop_duplicates(keys, keep="last")
    write_table(path, table)


def read_card(path: Path) -> dict[str, Any]:
    """Reads and checks the card of an evaluation."""
    remedy = "evaluate again"
    try:
        card = read_json(path, remedy)
    except FileNotFoundError:
        raise UserError(
            f"{path.parent} is not an evaluation, as it has no {path.name}; make one with `lie-ssl evaluate`"
        ) from None
    if card.get("kind") != "evaluation":
        raise UserError(f"{path} is not the card of an evaluation; make one with `lie-ssl evaluate`")
    check_fields(card, CARD_FIELDS, str(path), remedy)
    card = migrate("evaluation", card, str(path))
    check_fields(card["data"], {"card_hash": str}, f"{path}: data", remedy)
    for name in ("method", "arm"):
        check_name(card[name], f"the {name}", f"in {path}")
    if card["which"] not in (None, "last", "best"):
        raise UserError(f"{path} has {card['which']!r:.60} for 'which'; {remedy}")
    if card["run"] is not None or card["pretraining"] is not None:
        _check_run(card, path, remedy)
    return card


def _check_run(card: dict[str, Any], path: Path, remedy: str) -> None:
    """Refuses an evaluation under another name than that of its run, or than what the run's objective is."""
    check_fields(card, {"run": dict, "pretraining": dict}, str(path), remedy)
    check_run_card(card["run"], f"{path}: run", remedy)
    trained = card["pretraining"]
    check_fields(trained, {"method": dict, "objective": dict, "seed": int}, f"{path}: pretraining", remedy)
    check_fields(trained["objective"], {"name": str}, f"{path}: pretraining.objective", remedy)
    arm = arm_of(trained)
    if is_import_path(arm):
        arm = _imported_arm(card["run"]["arm"], arm)
    for name, own in (("method", subject_name(trained)), ("arm", arm), ("seed", trained["seed"])):
        if not card[name] == card["run"][name] == own:
            raise UserError(f"{path} has another {name} than its run ({card[name]!r} and {own!r:.60}); {remedy}")


def _imported_arm(arm: str, path: str) -> str:
    """The arm in a card, if an objective with this import path and variant can have it; otherwise the path itself.

    Only the objective's own code knows its name, and reading a card must not import it. But the name of another
    registered objective would be wrong.
    """
    (name, _, variant), (path_name, _, own_variant) = arm.partition("-"), path.partition("-")
    module, _, attribute = path_name.partition(":")
    known = name not in OBJECTIVES or OBJECTIVES[name].value is getattr(sys.modules.get(module), attribute, None)
    return arm if known and variant == own_variant else path


def _check_names(table: pd.DataFrame, card: dict[str, Any], path: Path) -> None:
    """Rejects rows whose method, arm or seed is not that of the card."""
    for name in ("method", "arm", "seed"):
        others = [value for value in table[name].unique() if value != card[name]] if name in table else []
        if others:
            raise UserError(
                f"{path} has rows with the {name} {others[0]!r}, but its card has {card[name]!r}; evaluate again"
            )


def read_results(folder: Path) -> tuple[Results, dict[str, Any]]:
    """Reads the tables and the card of an evaluation."""
    card = read_card(folder / CARD)
    tables, others = {}, {}
    for name in MAIN_TABLES:
        tables[name] = read_table(folder / f"{name}.csv")
        _check_names(tables[name], card, folder / f"{name}.csv")
    for table in metric_tables():
        path = folder / f"{table.name}.csv"
        if path.exists():
            others[table.name] = table.check(read_table(path), folder)
            _check_names(others[table.name], card, path)
    return Results(**tables, others=others), card
