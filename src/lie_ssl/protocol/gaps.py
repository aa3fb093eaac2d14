"""Published encoders on one data set, one after the other: how much each loses on new poses and new instances."""

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
    """Long tables over all encoders that could be measured, and a row for each that was asked for."""

    accuracy: pd.DataFrame
    curve: pd.DataFrame
    models: pd.DataFrame  # as the schema has them


def measure_gaps(encoders: Sequence[NamedEncoder], data: Path | str, out: Path | str, say: Say) -> Gaps:
    """Evaluates what is left to evaluate into folders of `out`, and writes the joined tables there.

    An encoder whose weights cannot be had is listed with the reason and with how to get it; the others go on. What
    `out` holds of other encoders stays in the tables.
    """
    out, rows = Path(out), list[dict[str, Any]]()
    frames = FrameSet(data)
    check_labels(frames)
    check_same_data(out, frames)
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    asked = [e.name for e in encoders]
    if (out / LISTED).exists():
        table = read_table(out / LISTED).fillna("")
        kept = table[~table["model"].isin(asked)].to_dict("records")
        rows += [{str(key): value for key, value in row.items()} for row in kept]
    for name, tables in parts.items():
        if (out / f"{name}.csv").exists():
            table = read_table(out / f"{name}.csv")
            tables += [own for model, own in table.groupby("method", sort=False) if model not in asked]
    for each in encoders:
        words = ""
        try:
            results = _measured(each, data, out / each.name, say)
        except UserError as error:
            words = str(error) if each.how in str(error) else f"{error}; {each.how}"
            say(f"{each.name} is left out: {words}")
        else:
            for name, tables in parts.items():
                tables.append(getattr(results, name))
        rows.append({
            "model": each.name, "encoder": each.encoder.name, "weights": each.encoder.weights or "none",
            "measured": not words, "words": words,
        })  # fmt: skip
        _write(out, parts, rows)
    if not parts["accuracy"]:
        raise UserError(f"none of the models could be measured; {rows[0]['words']}")
    joined = {name: pd.concat(tables, ignore_index=True) for name, tables in parts.items()}
    return Gaps(joined["accuracy"], joined["curve"], MODELS.frame(rows))


def check_same_data(out: Path, frames: FrameSet) -> None:
    """Refuses a folder with results on another data set, which would stand beside these."""
    for card in sorted(out.glob(f"*/{CARD}")):
        if read_card(card)["data"]["card_hash"] != frames.card["card_hash"]:
            raise UserError(
                f"{card.parent} was measured on another data set than {frames.folder}; choose another --out"
            )


def _measured(each: NamedEncoder, data: Path | str, folder: Path, say: Say) -> Results:
    try:
        results, card = read_results(folder)
    except UserError:
        pass
    else:
        if card["config"] == to_plain(each.evaluation) and card["encoder"] == to_plain(each.encoder):
            say(f"{each.name} is done already")
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
