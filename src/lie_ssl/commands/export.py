"""`lie-ssl export RUN`: a trained encoder for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from lie_ssl.commands.parsing import Trust
from lie_ssl.training.export import Format, export_run
from lie_ssl.training.loading import Which


def export(
    run: Annotated[Path, tyro.conf.Positional],
    out: Path,
    to: Format = "safetensors",
    which: Which = "last",
    trust: Trust = (),
) -> None:
    """Writes the encoder of a run for other tools, with a card beside it.

    Example: lie-ssl export runs/mae_lie --to onnx --out exported/mae_lie.onnx

    Args:
        run: Folder of the run.
        out: The file to write, ending with .safetensors or .onnx; a folder for pretrained.
        to: safetensors for `lie_ssl.load`; timm for weights under timm's names; onnx (needs the extra `onnx`);
            pretrained for `lie_ssl.from_pretrained`, with the operator.
        which: The last checkpoint, or the best one on the validation set.
        trust: An import path (package.module:Class) that the run may name. Importing runs code.
    """
    print(f"wrote {export_run(run, out, to, which, trust)}")
