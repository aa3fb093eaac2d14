"""A trained encoder for other tools: safetensors with a model card, timm's state dict, ONNX."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import timm
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.extras import require
from lie_ssl.lie import OperatorConfig
from lie_ssl.methods.adapted import AdaptedEncoder
from lie_ssl.migration import FORMAT
from lie_ssl.serialization import to_plain
from lie_ssl.storage.cards import parse_json
from lie_ssl.storage.files import write_whole
from lie_ssl.storage.trust import is_import_path
from lie_ssl.training.loading import Loaded, Which, load

Format = Literal["safetensors", "timm", "onnx", "pretrained"]
ENDINGS: dict[str, str] = {"safetensors": ".safetensors", "timm": ".safetensors", "onnx": ".onnx"}
KEY = "lie_ssl_encoder"
CLOSE = 1e-4


def export_run(
    run: Path | str, out: Path | str, to: Format = "safetensors", which: Which = "last", trust: Collection[str] = (),
    encoder: nn.Module | None = None,
) -> Path:  # fmt: skip
    """Writes the encoder of a run, and a card in Markdown beside it.

    Args:
        run: Folder of the run.
        out: The file to write; a folder for `pretrained`.
        to: `safetensors` for `lie_ssl.load`, with all settings of the encoder; `timm` for the backbone's weights under
            timm's names, for `timm.create_model(name, checkpoint_path=...)`; `onnx` for the whole encoder from
            pictures in [0, 1] to embeddings, for any batch size, verified against the original; `pretrained` for a
            folder that also has the operator, for `lie_ssl.from_pretrained`.
        which: The last checkpoint, or the best one on the validation set.
        trust: Import paths that the run may name. Importing runs code.
        encoder: The module that was adapted, if it was given from Python, as in :func:`lie_ssl.load`.

    Returns:
        The path of the file.
    """
    out = Path(out)
    if to not in (*ENDINGS, "pretrained"):
        raise UserError(f"there is no format {to!r}; there are {', '.join((*ENDINGS, 'pretrained'))}")
    if to != "pretrained" and out.suffix != ENDINGS[to]:
        raise UserError(f"{out} must end with {ENDINGS[to]} for the format {to}")
    if to != "pretrained" and out.exists():
        raise UserError(f"{out} already exists; choose another --out")
    loaded = load(run, which, trust, encoder)
    if to == "pretrained":
        return loaded.save_pretrained(out)
    if loaded.config is None:
        raise UserError(f"{run} is an exported encoder, not a run; give the folder of a run")
    if to == "timm" and loaded.config.adapt is not None:
        raise UserError(f"{run} is an encoder with a head, which timm cannot load; use --to safetensors or onnx")
    if to == "timm" and not timm.is_model(name := loaded.config.encoder.name):
        raise UserError(f"{name} is not a timm model; use --to safetensors or onnx")
    card = model_card(loaded, to, out.name)  # before anything is written, as the run's card may be damaged
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.part{out.suffix}")
    try:
        if to == "safetensors":
            stated = {KEY: json.dumps(settings(loaded))}
            write_whole(temporary, [save(contiguous(loaded.encoder.state_dict()), metadata=stated)])
        elif to == "timm":
            write_whole(temporary, [save(contiguous(loaded.encoder.body.state_dict()))])
        else:
            write_onnx(loaded, temporary)
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    write_whole(out.with_name(f"{out.name}.md"), [card.encode()])
    return out


def contiguous(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k: v.contiguous() for k, v in state.items()}


def settings(loaded: Loaded) -> dict[str, Any]:
    """The settings that rebuild the encoder."""
    assert loaded.config is not None
    own = asdict(loaded.config.encoder)
    encoder = loaded.encoder
    body = encoder.frozen if isinstance(encoder, AdaptedEncoder) else encoder
    found = {"format": FORMAT} | {k: own[k] for k in ("name", "patch_size", "options")} | {
        "image_size": encoder.image_size, "channels": encoder.channels,
        "pool": body.pool if body.is_vit else "auto",
    }  # fmt: skip
    if loaded.config.adapt is not None:
        identity = loaded.config.objective.identity_dims(encoder.dim)
        found |= {"adapt": to_plain(loaded.config.adapt), "dim": encoder.dim, "identity": identity}
    if loaded.operator is not None and encoder.output is not None:
        found["output"] = {"operator": to_plain(operator_config(loaded)), "factors": list(loaded.factors)}
    return found


def operator_config(loaded: Loaded) -> OperatorConfig:
    """The operator's settings of a run."""
    assert loaded.config is not None
    found = getattr(loaded.config.objective, "operator", None)
    if not isinstance(found, OperatorConfig):
        raise UserError(f"the objective {loaded.config.arm} has no operator settings; it cannot be saved")
    return found


def read_export(path: Path) -> tuple[Any, dict[str, Tensor]]:
    """Reads the settings and weights of an exported safetensors file."""
    try:
        with safe_open(path, framework="pt") as file:
            stated = (file.metadata() or {}).get(KEY)
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a mapping
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path} is not a safetensors file: {error}") from error
    if stated is None:
        raise UserError(f"{path} was not exported by lie_ssl; give it to encoder.weights instead")
    try:
        return parse_json(stated), state
    except ValueError as error:
        raise UserError(f"the settings in {path} are damaged; export the encoder again") from error


def write_onnx(loaded: Loaded, path: Path) -> None:
    """Exports and compares with the original on random pictures; a difference above 1e-4 is an error."""
    require("--to onnx", "onnx")
    import onnxruntime

    encoder = loaded.encoder
    shape = (encoder.channels, encoder.image_size, encoder.image_size)
    pictures = torch.rand(3, *shape, generator=torch.Generator().manual_seed(0))
    with warnings.catch_warnings():  # about shape checks in `forward`, which an export can ignore
        warnings.simplefilter("ignore")
        torch.onnx.export(
            encoder, (pictures[:2],), str(path), input_names=["images"], output_names=["embeddings"], dynamo=False,
            dynamic_axes={"images": {0: "batch"}, "embeddings": {0: "batch"}},
        )  # fmt: skip
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(None, {"images": pictures.numpy()})[0]
    with torch.no_grad():
        wanted = encoder(pictures).numpy()
    worst = float(np.abs(found - wanted).max() / max(1.0, np.abs(wanted).max()))
    if not worst <= CLOSE:
        raise UserError(f"the ONNX model differs from the encoder by {worst:.1e}, more than {CLOSE}; it was deleted")


def timm_arguments(loaded: Loaded) -> str:
    """The arguments with which timm builds the same backbone."""
    assert loaded.config is not None
    config, encoder = loaded.config.encoder, loaded.encoder
    arguments: dict[str, Any] = {"num_classes": 0, "in_chans": encoder.channels}
    if encoder.is_vit:
        arguments |= {"img_size": encoder.image_size, "patch_size": encoder.patch_size}
    if encoder.pool != "own":
        arguments |= {"global_pool": encoder.pool, "fc_norm": False}  # here the norm comes before the pooling
    return ", ".join(f"{name}={value!r}" for name, value in {**arguments, **dict(config.options)}.items())


def model_card(loaded: Loaded, to: str, name: str) -> str:
    """The card of an exported file, in Markdown."""
    assert loaded.config is not None
    assert loaded.card is not None
    config, card, encoder = loaded.config, loaded.card, loaded.encoder
    own = [config.encoder.name] if is_import_path(config.encoder.name) else []
    trust = f", trust={own}" if own else ""
    use = {
        "safetensors": f'lie_ssl.load("{name}"{trust}).embed(images)',
        "timm": f'timm.create_model("{config.encoder.name}", {timm_arguments(loaded)}, checkpoint_path="{name}")',
        "pretrained": f'lie_ssl.from_pretrained("{name}"{trust}).embed(images)',
        "onnx": f'onnxruntime.InferenceSession("{name}").run(None, {{"images": images}})',
    }[to]
    body = encoder.frozen if isinstance(encoder, AdaptedEncoder) else encoder
    mean, std = ([round(v, 4) for v in x.flatten().tolist()] for x in (body.mean, body.std))
    kind = "normalise them yourself" if to == "timm" else "normalised inside"
    what = "An encoder with its Lie operator," if to == "pretrained" and loaded.operator else "An encoder"
    unfrozen = card.get("unfrozen")
    lines = [
        f"# {name}", "",
        f"{what} trained by lie_ssl {card['versions']['lie_ssl']} with {card['method']}, arm {card['arm']}, "
        f"seed {card['seed']}.", "",
        f"- encoder: {config.encoder.name}, embeddings of {encoder.dim}, pooling {body.pool}",
        *([f"- trained with its head: {', '.join(unfrozen)} and what follows"] if unfrozen else []),
        *([f"- operator: {loaded.operator.title}"] if to == "pretrained" and loaded.operator else []),
        f"- pictures: {encoder.channels} x {encoder.image_size} x {encoder.image_size} in [0, 1]; mean {mean}, "
        f"deviation {std} ({kind})",
        f"- data: {card['data']['source']}, recipe {card['data']['recipe']}, card {card['data']['card_hash'][:12]}",
        f"- steps: {config.optim.steps}, batch {config.optim.batch}, learning rate {config.optim.lr}, "
        f"config {card['config_digest']}",
        f"- finished: {'yes' if card['finished'] else 'no'}", "", "    " + use, "",
    ]  # fmt: skip
    return "\n".join(lines)
