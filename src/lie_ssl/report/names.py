"""What methods, arms, settings and measures are called for readers, and the order in which they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from lie_ssl.methods.registry import METHODS
from lie_ssl.objectives.registry import OBJECTIVES

BASE = "alone"
PHASES = {"linear": "Linear evaluation", "finetune": "Finetuning", "knn": "k nearest neighbours"}
SETTINGS = {
    "known_typical": "known instance in typical pose",
    "known_new": "known instance in new pose",
    "known_new_supervised": "known instance in pose new to the classifier",
    "unknown_typical": "unknown instance in typical pose",
    "unknown_diverse": "unknown instance in diverse pose",
}
PAPER_SETTINGS = ("known_new", "unknown_diverse")
BAR_SETTINGS = ("known_new", "unknown_typical", "unknown_diverse")
SELF_OCCLUSION = "self_occlusion"
SELF_OCCLUSION_POSES = "2d - 3d"  # what stands for its kind of pose
SHORT = {
    "known_new": ("known,", "new pose"),
    "unknown_typical": ("unknown,", "typical pose"),
    "unknown_diverse": ("unknown,", "diverse pose"),
    SELF_OCCLUSION: ("self-", "occlusion"),
}  # under bars, in lines
GAPS = {name: SETTINGS[name] for name in list(SETTINGS)[1:]} | {SELF_OCCLUSION: "self-occlusion"}
MEASURES = {
    "mrr": "MRR",
    "mrr_transfer": "MRR, t of another instance",
    "mrr_identity": "MRR, not moved",
    "hit1": "hit@1",
    "hit5": "hit@5",
    "relative_error": "relative error",
    "pose_r2": "pose R²",
    "pose_degrees": "pose error, degrees",
}


class Arm(NamedTuple):
    """One row of a table: a method, what was learned from pairs, and the option of the supervised phase."""

    method: str
    arm: str
    option: int = 1

    @property
    def name(self) -> str:
        """Such as "MAE Lie"; Option 2 (classifiers see moved neighbours too) is said, Option 1 is not."""
        words = [method_name(self.method), OBJECTIVES.title(self.objective)]
        notes = [self.variant, f"option {self.option}" if self.option != 1 else ""]
        return ", ".join([" ".join(w for w in words if w), *(note for note in notes if note)])

    @property
    def objective(self) -> str:
        """The name of its objective, without that of a variant."""
        return self.arm.partition("-")[0]

    @property
    def variant(self) -> str:
        """The word of a variant, empty for none."""
        return self.arm.partition("-")[2]

    @property
    def order(self) -> tuple[int, str, int, str, str, int]:
        return (*_place(self.method, METHODS), *_place(self.objective, OBJECTIVES), self.variant, self.option)


ARM_KEYS = list(Arm._fields)


def method_name(method: str) -> str:
    return METHODS.title(method)


def phase_name(phase: str) -> str:
    return PHASES.get(phase, phase)


def poses_name(poses: str) -> str:
    return {"2d": "2D poses", "3d": "3D poses", "so3": "free rotations", "time": "moments of a clip"}.get(poses, poses)


def in_order(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The known names in their own order, then the others by the alphabet."""
    places = list(known)
    return sorted(set(names), key=lambda name: _place(name, places))


def arms_of(table: pd.DataFrame, phase: str | None = None) -> list[Arm]:
    """All arms of a long table in the order of the paper. With a phase: the options that it has, and the arms without
    any number in it too, so that what is missing shows."""
    chosen = table if phase is None else table[table["phase"] == phase]
    found = {Arm(str(m), str(a), int(o)) for m, a, o in chosen[ARM_KEYS].drop_duplicates().itertuples(index=False)}
    present = {(arm.method, arm.arm) for arm in found}
    pairs = table[["method", "arm"]].drop_duplicates().itertuples(index=False)
    found |= {Arm(str(m), str(a)) for m, a in pairs if (m, a) not in present}
    return sorted(found, key=lambda arm: arm.order)


def _place(name: str, known: Iterable[str]) -> tuple[int, str]:
    names = list(known)
    return (names.index(name), "") if name in names else (len(names), name)
