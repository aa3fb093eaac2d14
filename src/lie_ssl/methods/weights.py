"""Loads pretrained weights into an encoder, key by key, with a report; nothing is left out silently.

Everything is compared before anything is changed, so a file that does not fit leaves the model unchanged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from lie_ssl.errors import UserError
from lie_ssl.methods.layouts import AUTO, LAYOUTS, LIE_SSL, Normalisation, Parts
from lie_ssl.methods.packaged import packaged_weights
from lie_ssl.storage.cards import parse_json
from lie_ssl.storage.torch_files import read_torch

if TYPE_CHECKING:
    from lie_ssl.methods.encoders import Encoder

PACKAGE = "package:"
WRAPPERS = ("model", "state_dict")
CLIP_NOTE = "OpenAI's CLIP weights need QuickGELU: use a model with clip_quickgelu in its name"
MEND = "if you trust it, load it with the code that it comes from and save only its state_dict()"
SHOWN = 3  # keys listed in a message


@dataclass(frozen=True)
class WeightFile:
    """A weight file that was read and translated, but not loaded."""

    path: Path
    layout: str
    parts: Parts
    normalisation: Normalisation | None  # None for the model's own
    pool: str


@dataclass(frozen=True)
class PartReport:
    """How the weights of one part fit. Keys are the model's, without the name of the part."""

    matched: tuple[str, ...] = ()
    resampled: tuple[str, ...] = ()  # position embeddings resampled to another grid
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    mismatched: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = ()  # key, shape in file, shape in model


@dataclass(frozen=True)
class WeightReport:
    """What happened to every weight of a file."""

    source: str
    layout: str
    parts: Mapping[str, PartReport]
    left_out: Mapping[str, int]  # parts that were not requested, and their number of keys
    note: str = ""

    def __str__(self) -> str:
        lines = [f"weights of {self.source}, layout {self.layout}"]
        for name, part in self.parts.items():
            lines.append(f"  {name}: {len(part.matched)} keys loaded")
            for what in ("resampled", "missing", "unexpected"):
                if keys := getattr(part, what):
                    lines.append(f"    {len(keys)} {what}: {_some(keys)}")
            if part.mismatched:
                shapes = [f"{key} {in_file} for {in_model}" for key, in_file, in_model in part.mismatched]
                lines.append(f"    {len(shapes)} of another shape, not loaded: {_some(shapes)}")
        lines += [f"  {name}: {count} keys left out" for name, count in self.left_out.items()]
        return "\n".join(lines + ([f"  note: {self.note}"] if self.note else []))


def load_weights(
    encoder: Encoder,
    path: str | Path,
    *,
    layout: str = AUTO,
    allow: Sequence[str] = (),
    parts: Mapping[str, nn.Module] | None = None,
) -> WeightReport:
    """Loads a weight file into an encoder, and other parts of it into the given modules.

    Args:
        encoder: The encoder to change.
        path: A .safetensors or PyTorch file, or "package:NAME".
        layout: Naming scheme of the keys; "auto" detects it.
        allow: Prefixes of keys that may be missing, unexpected or of another shape. For other parts than the encoder,
            they begin with the name of the part ("decoder.pos_embed"). Position embeddings of another grid are
            resampled if they are allowed.
        parts: Modules for the file's `decoder`, `projector`, `head` or others; other parts are left out.

    Returns:
        A report on all weights of the file.
    """
    return apply_weights(encoder, read_weights(weight_path(path), layout), allow=allow, parts=parts)


def weight_path(weights: str | Path) -> Path:
    """The file of a path or of "package:NAME"."""
    if isinstance(weights, str) and weights.startswith(PACKAGE):
        return packaged_weights(weights.removeprefix(PACKAGE))
    try:
        return Path(weights).expanduser()
    except RuntimeError as error:
        raise UserError(f"there is no weight file {weights}: {error}") from error


def read_weights(path: Path, layout: str = AUTO) -> WeightFile:
    """Reads a file and translates its keys."""
    if layout not in (AUTO, *LAYOUTS):
        raise UserError(f"layout is {layout!r}, but it must be one of {', '.join((AUTO, *LAYOUTS))}")
    if not path.is_file():
        raise UserError(f"there is no weight file {path}; check the path")
    content, stated = _read_safetensors(path) if path.suffix == ".safetensors" else (_read_pickle(path), None)
    wrapper = next((name for name in WRAPPERS if isinstance(content.get(name), Mapping)), "")
    inner = content[wrapper] if wrapper else content
    state = {str(key): value for key, value in inner.items() if isinstance(value, Tensor)}
    if not state:
        raise UserError(f"{path} has no weights; give a state dict, plain or under {' or '.join(WRAPPERS)}")
    if layout == AUTO:
        found = (name for name, known in LAYOUTS.items() if known.recognises(set(state), wrapper))
        layout = LIE_SSL if stated else next(found)
    known = LAYOUTS[layout]
    file = WeightFile(path, layout, known.translate(state), known.normalisation, known.pool)
    if layout == LIE_SSL and stated:
        file = replace(file, **_stated(stated, path))
    return file


def _stated(values: Any, path: Path) -> dict[str, Any]:
    """Normalisation and pooling from the metadata of a file of :func:`save_weights`."""
    try:
        mean, std = (tuple(float(value) for value in values[name]) for name in ("mean", "std"))
        pool = values["pool"]
        good = len(mean) == len(std) > 0 and all(map(math.isfinite, (*mean, *std))) and min(std) > 0
    except (KeyError, TypeError, ValueError):
        good = False
    if not good or pool not in ("own", "avg", "token"):
        raise UserError(f"the settings in {path} are damaged; save the weights again")
    return {"normalisation": (mean, std), "pool": pool}


def save_weights(encoder: Encoder, path: str | Path) -> None:
    """Writes the encoder's body as .safetensors, with the settings that `create_encoder` needs for the same output."""
    from safetensors.torch import save_file

    stated = {"mean": encoder.mean.flatten().tolist(), "std": encoder.std.flatten().tolist(), "pool": encoder.pool}
    state = {key: value.contiguous() for key, value in encoder.body.state_dict().items()}
    save_file(state, Path(path), metadata={LIE_SSL: json.dumps(stated)})


def apply_weights(
    encoder: Encoder, file: WeightFile, *, allow: Sequence[str] = (), parts: Mapping[str, nn.Module] | None = None
) -> WeightReport:
    """Loads weights that were read; see `load_weights`."""
    targets = {"encoder": encoder.body, **(parts or {})}
    given = _head_apart(file.parts, encoder.body)
    if absent := [name for name in targets if name not in given and not _covered(f"{name}.", allow)]:
        raise UserError(f"{file.path} (layout {file.layout}) has no {absent[0]}, only {', '.join(given)}")
    if file.layout == "efficientnet_lite":
        _check_padding(encoder.body, file)
    grid = encoder.grid if encoder.is_vit else None
    reports, states = {}, {}
    for name, module in targets.items():
        prefix = "" if name == "encoder" else f"{name}."
        reports[name], states[name] = _compare(given.get(name, {}), module.state_dict(), prefix, allow, grid)
        _refuse_misfits(reports[name], prefix, allow, file)
    for name, module in targets.items():
        module.load_state_dict(states[name])
    left_out = {name: len(state) for name, state in given.items() if name not in targets}
    quick = any(type(module).__name__ == "QuickGELU" for module in encoder.body.modules())
    note = CLIP_NOTE if file.layout.startswith("clip_") and not quick else ""
    # Only the file's name: reports go into cards, which are shared, and should not reveal folders.
    return WeightReport(file.path.name, file.layout, reports, left_out, note)


def full_report(encoder: Encoder, source: str) -> WeightReport:
    """The report for weights that timm loaded itself."""
    return WeightReport(source, "timm", {"encoder": PartReport(matched=tuple(encoder.body.state_dict()))}, {})


def _read_safetensors(path: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            names: list[str] = file.keys()
            stated = parse_json((file.metadata() or {}).get(LIE_SSL, "null"))
            return {name: file.get_tensor(name) for name in names}, stated
    except (SafetensorError, ValueError) as error:
        raise UserError(f"{path} is not a readable safetensors file: {error}") from error


def _read_pickle(path: Path) -> dict[str, Any]:
    content = read_torch(path, MEND)
    if not isinstance(content, dict):
        raise UserError(f"{path} holds a {type(content).__name__}, but a weight file must hold a dict of tensors")
    return content


def _head_apart(parts: Parts, body: nn.Module) -> Parts:
    """Moves the classifier out of the encoder's weights, as encoders are built without it; the model has its name."""
    names = (getattr(body, "pretrained_cfg", None) or {}).get("classifier") or ()
    prefixes = tuple(f"{name}." for name in ((names,) if isinstance(names, str) else names))
    own = body.state_dict()
    encoder = parts.get("encoder", {})
    head = {key for key in encoder if key.startswith(prefixes) and key not in own}
    if not head:
        return parts
    moved = {key.removeprefix(next(p for p in prefixes if key.startswith(p))): encoder[key] for key in head}
    kept = {key: value for key, value in encoder.items() if key not in head}
    return {**parts, "encoder": kept, "head": {**parts.get("head", {}), **moved}}


def _check_padding(body: nn.Module, file: WeightFile) -> None:
    from timm.layers.conv2d_same import Conv2dSame

    if not isinstance(getattr(body, "conv_stem", None), Conv2dSame):
        raise UserError(
            f"{file.path} was trained with TensorFlow's padding; use the encoder tf_efficientnet_lite0, 1 or 2"
        )


def _compare(
    given: Mapping[str, Tensor], own: dict[str, Tensor], prefix: str, allow: Sequence[str], grid: tuple[int, int] | None
) -> tuple[PartReport, dict[str, Tensor]]:
    """Compares keys and shapes; returns a report and the complete new state of the module."""
    state, matched, resampled, mismatched = dict(own), [], [], []
    for key in given.keys() & own.keys():
        value = given[key]
        if value.shape == own[key].shape:
            matched.append(key)
        elif key == "pos_embed" and grid and _covered(prefix + key, allow) and _resizable(value, own[key], grid):
            value = _resized(value, own[key], grid)
            resampled.append(key)
        else:
            mismatched.append((key, tuple(value.shape), tuple(own[key].shape)))
            continue
        state[key] = value
    # Batch norms in old files do not count their batches; the count is not used here.
    missing = [key for key in own if key not in given and not key.endswith("num_batches_tracked")]
    unexpected = [key for key in given if key not in own]
    report = PartReport(
        matched=tuple(sorted(matched)),
        resampled=tuple(resampled),
        missing=tuple(missing),
        unexpected=tuple(unexpected),
        mismatched=tuple(sorted(mismatched)),
    )
    return report, state


def _resizable(value: Tensor, own: Tensor, grid: tuple[int, int]) -> bool:
    """Whether position embeddings (1, tokens, M) differ only in the size of a square grid, with equal prefix tokens."""
    leading = own.shape[1] - grid[0] * grid[1]
    patches = value.shape[1] - leading if value.ndim == own.ndim == 3 else -1
    return patches > 0 and math.isqrt(patches) ** 2 == patches and value.shape[2] == own.shape[2]


def _resized(value: Tensor, own: Tensor, grid: tuple[int, int]) -> Tensor:
    from timm.layers.pos_embed import resample_abs_pos_embed

    leading = own.shape[1] - grid[0] * grid[1]
    resampled: Tensor = resample_abs_pos_embed(value, new_size=list(grid), num_prefix_tokens=leading)
    return resampled


def _refuse_misfits(report: PartReport, prefix: str, allow: Sequence[str], file: WeightFile) -> None:
    kinds = {
        "missing in it": [(key, key) for key in report.missing],
        "not in the model": [(key, key) for key in report.unexpected],
        "of another shape": [(key, f"{key} {in_file} for {in_model}") for key, in_file, in_model in report.mismatched],
    }
    complaints, first = [], ""
    for what, entries in kinds.items():
        wrong = [(prefix + key, prefix + text) for key, text in entries if not _covered(prefix + key, allow)]
        if wrong:
            first = first or wrong[0][0]
            complaints.append(f"{len(wrong)} keys are {what} ({_some([text for _, text in wrong])})")
    if complaints:
        raise UserError(
            f"{file.path} (layout {file.layout}) does not fit the model: {'; '.join(complaints)}; use the model that "
            f"it was made for, or allow them by prefix, such as --encoder.allow {first}"
        )


def _covered(key: str, allow: Sequence[str]) -> bool:
    return any(key.startswith(prefix) for prefix in allow)


def _some(keys: Sequence[str]) -> str:
    return ", ".join(keys[:SHOWN]) + (", ..." if len(keys) > SHOWN else "")
