"""Ablations: what a full model loses when one of its parts is taken away.

`ablation.csv` has one row a measurement, `ablation_equivariance.csv` says what each variant's operator does, and
`ablation.json` beside them which config each variant's rows come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.schema import ABLATED, ABLATION, ABLATION_EQUIVARIANCE, read_table
from lie_ssl.protocol.unit import Pace, train_and_evaluate, unit_digests
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.locks import folder_lock
from lie_ssl.storage.tables import write_table
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.progress import ProgressReporter

Change = Callable[[PretrainConfig], PretrainConfig]

FULL = "full"
TABLE, OPERATOR, SOURCES = "ablation.csv", "ablation_equivariance.csv", "ablation.json"
CELL = [key for key in ABLATION.keys if key != ABLATED.name]


@dataclass(frozen=True)
class Variant:
    """One variant with one seed."""

    name: str
    config: PretrainConfig
    digests: tuple[str, str]  # of the run and its evaluation, today's and that of 0.1

    @property
    def key(self) -> str:
        return f"{self.name}/{self.config.seed}"


def ablate(
    full: PretrainConfig, changes: Mapping[str, Change], seeds: Sequence[int], evaluation: EvaluateConfig,
    out: Path, reporter: ProgressReporter,
) -> pd.DataFrame:  # fmt: skip
    """Trains and evaluates the full model and every variant with every seed; gives the table that is written.

    What is done is skipped. A variant that cannot be made or trained is named with its reason, and the rest go on.
    """
    if evaluation.options != (1,):
        raise UserError(f"an ablation is evaluated with Option 1 only, but options are {evaluation.options}")
    variants = list(_variants(full, changes, seeds, evaluation, reporter))
    out.mkdir(parents=True, exist_ok=True)
    with folder_lock(out):
        return _ablate(variants, evaluation, out, reporter)


def _ablate(
    variants: Sequence[Variant], evaluation: EvaluateConfig, out: Path, reporter: ProgressReporter
) -> pd.DataFrame:
    sources = _sources(out, variants)
    accuracy, operator = ([read_table(out / name)] if sources else [] for name in (TABLE, OPERATOR))
    todo = [v for v in variants if v.key not in sources]
    if len(todo) < len(variants):
        reporter.say(f"{len(variants) - len(todo)} of {len(variants)} are done already")
    pace = Pace(len(todo))
    for variant in todo:
        try:
            results = _results(variant, variants, evaluation, out, reporter)
        except (UserError, ValueError) as error:
            if variant.name == FULL:
                raise UserError(f"the full model cannot run, so that nothing can be compared: {error}") from error
            reporter.say(f"{variant.key} cannot run: {error}; {pace.step()}")
            continue
        rows = results.accuracy.assign(ablation=variant.name, drop=0.0)[ABLATION.names]
        accuracy = [with_drops(pd.concat([*accuracy, rows], ignore_index=True))]
        operator = [_operators([*operator, results.equivariance.assign(ablation=variant.name)])]
        write_table(out / TABLE, accuracy[0])
        write_table(out / OPERATOR, operator[0])
        sources[variant.key] = variant.digests[0]
        write_whole(out / SOURCES, [json.dumps(sources, indent=1).encode()])
        reporter.say(f"{variant.key} is done: {pace.step()}")
    return accuracy[0]


def with_drops(table: pd.DataFrame) -> pd.DataFrame:
    """Adds to every row how far it is below the full model in the same cell with the same seed."""
    table = table.drop_duplicates(["ablation", *CELL], keep="last")
    full = table[table["ablation"] == FULL].set_index(CELL)["top1"]
    cells = pd.MultiIndex.from_frame(table[CELL])
    return table.assign(drop=full.reindex(cells).to_numpy() - table["top1"].to_numpy())[ABLATION.names]


def _operators(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """What the operators do, variant by variant; the last row of the same measurement counts."""
    table = pd.concat(tables, ignore_index=True).drop(columns="arm", errors="ignore")
    table = table.drop_duplicates(ABLATION_EQUIVARIANCE.keys, keep="last")
    return table[[*ABLATION_EQUIVARIANCE.keys, *(c for c in table.columns if c not in ABLATION_EQUIVARIANCE.keys)]]


def _variants(
    full: PretrainConfig, changes: Mapping[str, Change], seeds: Sequence[int], evaluation: EvaluateConfig,
    reporter: ProgressReporter,
) -> Iterator[Variant]:  # fmt: skip
    """Seed by seed, the full model first."""
    data = str(FrameSet(full.data).card["card_hash"])
    made: dict[str, PretrainConfig] = {FULL: full}
    for name, change in changes.items():
        try:
            made[name] = change(replace(full, variant=name))
        except UserError as error:
            reporter.say(f"{name} cannot run: {error}")
    for seed in seeds:
        for name, config in made.items():
            seeded = replace(config, seed=seed)
            yield Variant(name, seeded, unit_digests(seeded, evaluation, data))


def _sources(out: Path, variants: Sequence[Variant]) -> dict[str, str]:
    """Which variants the table holds already; refuses a folder with other settings."""
    path = out / SOURCES
    if not path.exists():
        return {}
    for name in (TABLE, OPERATOR):
        if not (out / name).exists():
            raise UserError(f"{out} has no {name}; remove {path}, and what is trained already is only read again")
    try:
        sources: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is damaged; remove it, and what is trained already is only read again") from error
    for variant in variants:
        if sources.get(variant.key, variant.digests[0]) not in variant.digests:
            raise UserError(f"{out} holds another ablation ({variant.key} had other settings); choose another --out")
    return sources


def _results(
    variant: Variant, variants: Sequence[Variant], evaluation: EvaluateConfig, out: Path, reporter: ProgressReporter
) -> Results:
    """Those of the full model where the variant changes nothing, as with the algebra that it has already."""
    full = next(v for v in variants if v.name == FULL and v.config.seed == variant.config.seed)
    if replace(full.config, variant=variant.config.variant) == variant.config:
        variant = full
    run = out / "runs" / f"{variant.name}_{variant.config.seed}"
    reporter.say(f"training and evaluating {run}")
    return train_and_evaluate(variant.config, evaluation, run, reporter)
