"""Evaluates published encoders on one data set: how much accuracy each loses on new poses and new instances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import Results, Say, check_labels
from lie_ssl.protocol.results import evaluate_encoder, read_card, read_results
from lie_ssl.protocol.schema import ACCURACY, CURVE, MODELS, TRIALS, read_table
from lie_ssl.protocol.studies import NamedEncoder
from lie_ssl.serialization import to_plain
from lie_ssl.storage.cards import CARD
from lie_ssl.storage.tables import write_table

TABLES = (ACCURACY.name, CURVE.name, TRIALS.name)
LISTED = f"{MODELS.name}.csv"


class Gaps(NamedTuple):
    """Long tables of all encoders that could be evaluated, and a list of all requested ones."""

    accuracy: pd.DataFrame
    curve: pd.DataFrame
    models: pd.DataFrame


def measure_gaps(encoders: Sequence[NamedEncoder], data: Path | str, out: Path | str, say: Say) -> Gaps:
    """Evaluates encoders, and writes joined tables.

    Finished evaluations are not repeated. An encoder whose weights are not available is listed with the reason and how
    to get them, and the others continue. Rows of other encoders in `out` are kept.

    Args:
        encoders: The encoders.
        data: Folder of the data set.
        out: Folder for the tables, with a folder for each encoder.
        say: Called with messages for the user.
    """
    out, rows = Path(out), list[dict[str, Any]]()
    frames = FrameSet(data)
    check_labels(frames)
    check_same_data(out, frames)
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    requested = [e.name for e in encoders]
    if (out / LISTED).exists():
        table = read_table(out / LISTED).astype(object).fillna("")
        kept = table[~table["model"].isin(requested)].to_dict("records")
        rows += [{str(key): value for key, value in row.items()} for row in kept]
    for name, tables in parts.items():
        if (out / f"{name}.csv").exists():
            table = read_table(out / f"{name}.csv")
            tables += [own for model, own in table.groupby("method", sort=False) if model not in requested]
    for each in encoders:
        reason = ""
        try:
            results = _evaluated(each, data, out / each.name, say)
        except UserError as error:
            reason = str(error) if each.how_to_get in str(error) else f"{error}; {each.how_to_get}"
            say(f"{each.name} is left out: {reason}")
        else:
            for name, tables in parts.items():
                tables.append(getattr(results, name))
        rows.append({
            "model": each.name, "encoder": each.encoder.name, "weights": each.encoder.weights or "none",
            "measured": not reason, "words": reason,
        })  # fmt: skip
        _write(out, parts, rows)
    if not parts["accuracy"]:
        raise UserError(f"none of the models could be evaluated; {rows[0]['words']}")
    joined = {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}
    return Gaps(joined["accuracy"], joined["curve"], MODELS.frame(rows))


def check_same_data(out: Path, frames: FrameSet) -> None:
    """Rejects a folder with results on another data set, as tables must not mix the two."""
    for card in sorted(out.glob(f"*/{CARD}")):
        if read_card(card)["data"]["card_hash"] != frames.card["card_hash"]:
            raise UserError(
                f"{card.parent} was evaluated on another data set than {frames.folder}; choose another --out"
            )


def _evaluated(each: NamedEncoder, data: Path | str, folder: Path, say: Say) -> Results:
    try:
        results, card = read_results(folder)
    except UserError:
        pass
    else:
        if card["config"] == to_plain(each.evaluation) and card["encoder"] == to_plain(each.encoder):
            say(f"{each.name} is already done")
            return results
    if not each.encoder.weights:
        raise UserError(f"{each.name} has no weights")
    say(f"{each.name}: {each.encoder.name}, weights {each.encoder.weights}")
    return evaluate_encoder(each.encoder, data, each.evaluation, folder, each.name, say)


def _write(out: Path, parts: dict[str, list[pd.DataFrame]], rows: list[dict[str, Any]]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, tables in parts.items():
        if tables:
            write_table(out / f"{name}.csv", pd.concat(tables, ignore_index=True))
    write_table(out / LISTED, MODELS.frame(rows))
