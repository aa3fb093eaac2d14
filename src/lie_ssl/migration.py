"""Converts files of earlier versions to the current format.

Every config and card has a field `format`; files without it have format 1, that of lie_ssl 0.1. All functions work on
plain values (dicts, lists, numbers, strings), so old files can be read without importing the rest of the package.

What changed from format 1 to 2:

- All arms shared one set of objective weights; now every objective has its own name and settings. The arm `base` is
  called `alone`. The name that a user gave to a run, `arm`, became `variant`.
- "None" was written as 0 or as an empty string.
- The optimiser `adam` of classifiers, which was AdamW, is called `adamw`.
- In checkpoints the weights of an objective were stored under `frames_loss` or `lie_loss`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Literal

from lie_ssl.errors import UserError

FORMAT = 2
Kind = Literal["config", "run", "evaluation", "encoder", "saved", "checkpoint"]
Values = dict[str, Any]

RENAMED_ARMS = {"base": "alone"}
RENAMED_OPTIMISERS = {"adam": "adamw"}
RENAMED_CELLS = {"arm": RENAMED_ARMS, "optimiser": RENAMED_OPTIMISERS}  # of tables, by column
RENAMED_CALLBACKS = {"Keeper": "RunCallback"}
RENAMED_MODULES = ("model.frames_loss.", "model.lie_loss.")
# Settings that may be None now, and the values that meant None in format 1.
RUN_NONE: dict[str, Any] = {
    "optim.clip": 0.0, "log.check_every": 0, "log.save_every": 0, "log.wandb": "", "start": "", "method.hidden": 0,
    "encoder.image_size": 0, "encoder.channels": 0, "encoder.patch_size": 0, "encoder.weights": "",
    "objective.invariant_temperature": 0.0,
}  # fmt: skip
OPERATOR_NONE: dict[str, Any] = {"hidden": 0, "max_norm": 0.0, "scale": 0.0, "rank": 0, "block_size": 0}
EVALUATION_NONE: dict[str, Any] = {"limit": 0}
# Objective settings of format 1, with the values at which they have no effect.
OLD_OBJECTIVE: dict[str, Any] = {
    "ssl": 1.0, "frames": 0.0, "lie": 0.0, "euclidean": 0.0, "coordinates": 0.0, "invariant": 0.0, "temperature": 1.0,
    "invariant_temperature": 0.0, "view": "clean", "batch_norm": True, "own_negative": True, "singles": True,
    "relative": False, "by_kind": False, "detach_fixed": False,
    "operator": {
        "generators": [4], "algebra": "general", "action": "exp", "fixed": 0, "sees": ["pair"], "hidden": 0,
        "max_norm": 0.0, "split_factors": False, "frequencies": [], "centred": False, "standardised": [], "scale": 0.0,
        "rank": 0, "block_size": 0,
    },
}  # fmt: skip
COMMON = ("ssl", "view", "singles")
WEIGHTS = ("frames", "lie", "euclidean", "coordinates", "invariant")
OWN_SETTINGS = {
    "alone": COMMON,
    "frames": (*COMMON, "frames", "temperature", "batch_norm"),
    "literal": tuple(name for name in OLD_OBJECTIVE if name != "frames"),
    "lie": tuple(name for name in OLD_OBJECTIVE if name != "frames"),
    "lie_off": tuple(n for n in OLD_OBJECTIVE if n not in ("frames", "lie", "euclidean", "coordinates")),
}
OLD_LIE = ("no_euclidean", "no_fixed")  # ablations of Lie that are other objectives now
SHARE = 5 / 8
# Embedding sizes in the recipes of format 1, which gave the fixed part as a number of dimensions.
DIMENSIONS = {
    "vit_mini": 128, "resnet_mini": 128, "vit_base_patch16_224": 768, "resnet50": 2048, "tf_efficientnet_lite0": 1280,
}  # fmt: skip


def migrate(kind: Kind, values: Mapping[str, Any], where: str) -> Values:
    """Converts the values of a file to the current format; an unknown format is an error.

    Args:
        kind: The kind of file: the config or card of a run, the card of an evaluation, the settings of an exported
            encoder, the config of a saved model, or a checkpoint.
        values: The values as read from the file.
        where: The file, for error messages.

    Returns:
        The values in the current format, without the field `format`.
    """
    found = values.get("format", 1)
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= FORMAT:
        raise UserError(
            f"{where} has format {found!r:.40}, which this lie_ssl cannot read (it reads 1 to {FORMAT}); upgrade "
            "lie_ssl or copy the file again"
        )
    rest = {name: value for name, value in values.items() if name != "format"}
    if found == FORMAT:
        return rest
    try:
        return _STEPS[kind](copy.deepcopy(rest) if kind != "checkpoint" else rest)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{where} is damaged ({type(error).__name__}: {error}); copy or make it again") from error


def legacy_config(values: Mapping[str, Any]) -> Values:
    """The config of a run as format 1 would have written it, to compare with old hashes.

    It is the inverse of :func:`migrate` for every config that format 1 could express.
    """
    out = copy.deepcopy(dict(values))
    name, own = out["objective"].pop("name"), out["objective"]
    for path, before in RUN_NONE.items():
        _replace(out, path, None, before)
    objective = copy.deepcopy(OLD_OBJECTIVE) | own
    if "operator" in own:
        for setting, before in OPERATOR_NONE.items():
            _replace(own["operator"], setting, None, before)
        if isinstance(fixed := own["operator"]["fixed"], float):
            own["operator"]["fixed"] = _fixed(fixed, DIMENSIONS.get(out["encoder"]["name"], 0))
    variant = out.pop("variant", None)
    arm = "lie" if variant in OLD_LIE else {new: old for old, new in RENAMED_ARMS.items()}.get(name, name)
    if variant is not None:
        arm = variant if name == "alone" else f"{arm}_{variant}"
    return out | {"objective": objective, "arm": arm}


def legacy_evaluation(values: Mapping[str, Any]) -> Values:
    """Converts the settings of an evaluation from the current format to format 1."""
    out = _with_optimisers(values, {new: old for old, new in RENAMED_OPTIMISERS.items()})
    for path, before in EVALUATION_NONE.items():
        _replace(out, path, None, before)
    return out


def modern_evaluation(values: Mapping[str, Any]) -> Values:
    """Converts the settings of an evaluation from format 1 to the current format."""
    out = _with_optimisers(values, RENAMED_OPTIMISERS)
    for path, before in EVALUATION_NONE.items():
        _replace(out, path, before, None)
    return out


def _with_optimisers(values: Mapping[str, Any], names: Mapping[str, str]) -> Values:
    """Plain settings with renamed optimisers, also in nested settings."""
    out = {key: _with_optimisers(v, names) if isinstance(v, dict) else copy.deepcopy(v) for key, v in values.items()}
    if isinstance(found := out.get("optimisers"), list):
        out["optimisers"] = [names.get(o, o) if isinstance(o, str) else o for o in found]
    return out


def _config(values: Values) -> Values:
    """A run's config."""
    given = values.get("objective", {})
    if not isinstance(given, dict) or not isinstance(given.get("operator", {}), dict) or "name" in given:
        return {"variant": None, **values}  # written by hand in the current format, or not a config at all
    old = {**OLD_OBJECTIVE, **given, "operator": {**OLD_OBJECTIVE["operator"], **given.get("operator", {})}}
    name = _objective_name(old)
    own = {setting: old[setting] for setting in OWN_SETTINGS[name]}
    # Misspelt settings, and weights that the objective does not have, are kept so that validation reports them.
    own |= {setting: value for setting, value in given.items() if setting not in OLD_OBJECTIVE}
    own |= {setting: old[setting] for setting in WEIGHTS if old[setting] != 0}
    if "operator" in own:
        for setting, before in OPERATOR_NONE.items():
            _replace(own["operator"], setting, before, None)
        dim = DIMENSIONS.get(values.get("encoder", {}).get("name", "vit_mini"), 0)
        if dim and own["operator"]["fixed"] == _fixed(SHARE, dim):
            own["operator"]["fixed"] = SHARE
    arm = str(values.pop("arm", name))
    values["objective"] = {"name": name, **own}
    arm = RENAMED_ARMS.get(arm, arm)
    values["variant"] = None if arm == name else arm.removeprefix(f"{name}_").removeprefix("lie_")
    for path, before in RUN_NONE.items():
        _replace(values, path, before, None)
    return values


def _fixed(share: float, dim: int) -> int:
    """The number of dimensions on which the group does not act, from their share."""
    return dim - int((1 - share) * dim)


def arm_of(config: Mapping[str, Any]) -> str:
    """The name of a run in tables, from its config in the current format."""
    name, variant = config["objective"]["name"], config["variant"]
    return str(name) if variant is None else f"{name}-{variant}"


def _objective_name(old: Mapping[str, Any]) -> str:
    """The objective that the weights of format 1 amount to."""
    moves = any(old[term] > 0 for term in ("lie", "euclidean", "coordinates"))
    if not moves and not old["invariant"] > 0:
        return "frames" if old["frames"] > 0 else "alone"
    if not old["operator"]["fixed"]:
        return "literal"
    return "lie" if moves else "lie_off"


def _run(values: Values) -> Values:
    """The card of a run. Its arm follows from the config beside it."""
    values["arm"] = RENAMED_ARMS.get(values["arm"], values["arm"])
    return values


def _evaluation(values: Values) -> Values:
    """The card of an evaluation, with the configs of the evaluation and of the run in it."""
    values["arm"] = RENAMED_ARMS.get(values["arm"], values["arm"])
    values["config"] = modern_evaluation(values["config"])
    if values.get("pretraining") is not None:
        given = values["pretraining"].get("arm")
        values["pretraining"] = _config(values["pretraining"])
        for card in (values, values["run"]):  # names that contradict each other are kept; readers report them
            if card["arm"] in (given, RENAMED_ARMS.get(given)):
                card["arm"] = arm_of(values["pretraining"])
    return values


def _encoder(values: Values) -> Values:
    """The settings of an exported encoder."""
    _replace(values, "patch_size", 0, None)
    return values


def _saved(values: Values) -> Values:
    """The config of a saved model."""
    values["encoder"] = _encoder(values["encoder"])
    if values["operator"] is not None:
        for setting, before in OPERATOR_NONE.items():
            _replace(values["operator"], setting, before, None)
    return values


def _checkpoint(values: Values) -> Values:
    """A checkpoint of a run: the objective's weights and the callback were renamed."""

    def renamed(key: str) -> str:
        for old in RENAMED_MODULES:
            if key.startswith(old):
                return f"model.objective.loss.{key.removeprefix(old)}"
        return key

    state = {renamed(key): value for key, value in values["state_dict"].items()}
    callbacks = {RENAMED_CALLBACKS.get(key, key): value for key, value in values.get("callbacks", {}).items()}
    return values | {"state_dict": state} | ({"callbacks": callbacks} if "callbacks" in values else {})


def _replace(values: Values, path: str, before: Any, after: Any) -> None:
    """Replaces one value of a dotted setting, if the setting exists."""
    *parents, name = path.split(".")
    for parent in parents:
        if not isinstance(values := values.get(parent, {}), dict):
            return
    if name in values and type(values[name]) is type(before) and values[name] == before:
        values[name] = after


_STEPS: dict[Kind, Callable[[Values], Values]] = {
    "config": _config, "run": _run, "evaluation": _evaluation, "encoder": _encoder, "saved": _saved,
    "checkpoint": _checkpoint,
}  # fmt: skip
