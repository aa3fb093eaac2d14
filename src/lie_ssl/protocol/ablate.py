"""Ablations: how much accuracy a full model loses without one of its parts.

`ablation.csv` has one row per measurement, `ablation_equivariance.csv` has the metrics of each variant's operator, and
`ablation.json` has a hash of the settings of each variant in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from lie_ssl.errors import UserError
from lie_ssl.frames import FrameSet
from lie_ssl.protocol.evaluate import EvaluateConfig, Results
from lie_ssl.protocol.results import read_results
from lie_ssl.protocol.schema import ABLATED, ABLATION, ABLATION_EQUIVARIANCE, read_table
from lie_ssl.protocol.unit import EVALUATION, Eta, run_unit_file, unit_digests, unit_job
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.locks import folder_lock
from lie_ssl.storage.tables import sorted_places, write_table
from lie_ssl.training.capacity import worker_count
from lie_ssl.training.config import PretrainConfig
from lie_ssl.training.jobs import Job, run_jobs
from lie_ssl.training.progress import JobsReporter, ProgressReporter

Change = Callable[[PretrainConfig], PretrainConfig]

FULL = "full"
TABLE, OPERATOR, SOURCES = "ablation.csv", "ablation_equivariance.csv", "ablation.json"
CELL = [key for key in ABLATION.keys if key != ABLATED.name]


@dataclass(frozen=True)
class Variant:
    """One variant with one seed."""

    name: str
    config: PretrainConfig
    digests: tuple[str, str]  # hash of the run and its evaluation: the current one, and that of lie_ssl 0.1

    @property
    def key(self) -> str:
        return f"{self.name}/{self.config.seed}"


def ablate(
    full: PretrainConfig, changes: Mapping[str, Change], seeds: Sequence[int], evaluation: EvaluateConfig,
    out: Path, reporter: JobsReporter, jobs: int | None = 1,
) -> pd.DataFrame:  # fmt: skip
    """Trains and evaluates the full model and every variant with every seed.

    Finished variants are skipped. If a variant cannot be built or trained, the reason is reported and the others
    continue.

    Args:
        full: The config of the full model.
        changes: The variants by name, as functions of the full config.
        seeds: Seeds to train each of them with.
        evaluation: The settings of the protocol, with Option 1 only.
        out: Folder for the runs and tables.
        reporter: Receives the progress.
        jobs: How many to run in parallel; None for one per core, as far as memory allows.

    Returns:
        The table in ablation.csv.
    """
    if evaluation.options != (1,):
        raise UserError(f"options are {evaluation.options}, but an ablation is evaluated with Option 1 only")
    variants = list(_variants(full, changes, seeds, evaluation, reporter))
    out.mkdir(parents=True, exist_ok=True)
    with folder_lock(out):
        return _ablate(variants, evaluation, out, reporter, jobs)


def _ablate(
    variants: Sequence[Variant], evaluation: EvaluateConfig, out: Path, reporter: JobsReporter, jobs: int | None
) -> pd.DataFrame:
    sources = _sources(out, variants)
    accuracy, operator = ([read_table(out / name)] if sources else [] for name in (TABLE, OPERATOR))
    todo = [v for v in variants if v.key not in sources]
    if len(todo) < len(variants):
        reporter.say(f"{len(variants) - len(todo)} of {len(variants)} are already done")
    eta, order = Eta(len(todo)), [v.key for v in variants]
    with closing(_results(todo, variants, evaluation, out, reporter, jobs)) as finished:
        for variant, results in finished:
            if isinstance(results, str):
                if variant.name == FULL:
                    raise UserError(f"the full model failed, so there is nothing to compare with: {results}")
                reporter.say(f"{variant.key} failed: {results}; {eta.step()}")
                continue
            rows = results.accuracy.assign(ablation=variant.name, drop=0.0)[ABLATION.names]
            accuracy = [_ordered(with_drops(pd.concat([*accuracy, rows], ignore_index=True)), order)]
            rows = results.equivariance.assign(ablation=variant.name)
            operator = [_ordered(_joined_operators([*operator, rows]), order)]
            write_table(out / TABLE, accuracy[0])
            write_table(out / OPERATOR, operator[0])
            sources[variant.key] = variant.digests[0]
            write_whole(out / SOURCES, [json.dumps(sources, indent=1).encode()])
            reporter.say(f"{variant.key} is done: {eta.step()}")
    return accuracy[0]


def _ordered(table: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Sorts the rows by the variants' keys, whichever finished first."""
    keys = [f"{name}/{seed}" for name, seed in zip(table["ablation"], table["seed"], strict=True)]
    return table.iloc[sorted_places(keys, order)]


def with_drops(table: pd.DataFrame) -> pd.DataFrame:
    """Adds the column `drop`: how far a row is below that of the full model with the same settings and seed."""
    table = table.drop_duplicates(["ablation", *CELL], keep="last")
    full = table[table["ablation"] == FULL].set_index(CELL)["top1"]
    cells = pd.MultiIndex.from_frame(table[CELL])
    return table.assign(drop=full.reindex(cells).to_numpy() - table["top1"].to_numpy())[ABLATION.names]


def _joined_operators(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Joins the tables of the operators' metrics; of several rows with the same keys the last one is kept."""
    table = pd.concat(tables, ignore_index=True).drop(columns="arm", errors="ignore")
    table = table.drop_duplicates(ABLATION_EQUIVARIANCE.keys, keep="last")
    return table[[*ABLATION_EQUIVARIANCE.keys, *(c for c in table.columns if c not in ABLATION_EQUIVARIANCE.keys)]]


def _variants(
    full: PretrainConfig, changes: Mapping[str, Change], seeds: Sequence[int], evaluation: EvaluateConfig,
    reporter: ProgressReporter,
) -> Iterator[Variant]:  # fmt: skip
    """Yields all variants, seed by seed, the full model first."""
    data = str(FrameSet(full.data).card["card_hash"])
    configs: dict[str, PretrainConfig] = {FULL: full}
    for name, change in changes.items():
        try:
            configs[name] = change(replace(full, variant=name))
        except UserError as error:
            reporter.say(f"{name} is left out: {error}")
    for seed in seeds:
        for name, config in configs.items():
            seeded = replace(config, seed=seed)
            yield Variant(name, seeded, unit_digests(seeded, evaluation, data))


def _sources(out: Path, variants: Sequence[Variant]) -> dict[str, str]:
    """Reads which variants are in the tables, with their hashes; rejects a folder with other settings."""
    path = out / SOURCES
    if not path.exists():
        return {}
    for name in (TABLE, OPERATOR):
        if not (out / name).exists():
            raise UserError(f"{out} has no {name}; remove {path} and run the command again to rebuild the tables")
    try:
        sources: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is damaged; remove it and run the command again to rebuild the tables") from error
    for variant in variants:
        if sources.get(variant.key, variant.digests[0]) not in variant.digests:
            raise UserError(f"{out} contains another ablation ({variant.key} had other settings); choose another --out")
    return sources


def _results(
    todo: Sequence[Variant], variants: Sequence[Variant], evaluation: EvaluateConfig, out: Path,
    reporter: JobsReporter, jobs: int | None,
) -> Generator[tuple[Variant, Results | str]]:  # fmt: skip
    """Yields variants as they finish, each with its results, or with the reason for its failure.

    A variant that changes nothing, such as the algebra that the model has anyway, gets the results of the full model.
    """
    runs: dict[str, Variant] = {}
    sharing: dict[str, list[Variant]] = {}
    for variant in todo:
        full = next(v for v in variants if v.name == FULL and v.config.seed == variant.config.seed)
        trained = full if replace(full.config, variant=variant.config.variant) == variant.config else variant
        runs[trained.key] = trained
        sharing.setdefault(trained.key, []).append(variant)
    folders = {key: out / "runs" / f"{v.name}_{v.config.seed}" for key, v in runs.items()}

    def started() -> Iterator[Job]:
        for key, trained in runs.items():
            reporter.say(f"training and evaluating {folders[key]}")
            yield unit_job(key, trained.config, evaluation, folders[key], out)

    workers = worker_count(jobs, [trained.config for trained in runs.values()])
    with closing(run_jobs(started(), run_unit_file, workers, reporter)) as outcomes:
        for outcome in outcomes:
            key = outcome.job.name
            results: Results | str = outcome.error or read_results(folders[key] / EVALUATION)[0]
            yield from ((variant, results) for variant in sharing[key])
