"""Three plain sentences at the top of a report: what was compared, where it wins, where it loses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.phases import PHASES
from lie_ssl.protocol.schema import POSES, SETTING, in_order
from lie_ssl.report.gathering import ReportData
from lie_ssl.report.names import ARM_KEYS, BAR_SETTINGS, BASE, Arm, arms_of
from lie_ssl.report.summary import over_seeds

CHALLENGERS = ("lie", "literal", "frames")  # whose gain over the baseline is told: the first of them that is there
CLEAR = 2.0  # standard errors of a difference


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two arms of a method in all settings that both have."""

    base: Arm
    arm: Arm
    cells: pd.DataFrame  # setting, diverse, poses, mean and error of both, difference, clear
    better: tuple[str, ...]  # other arms than the baseline that are above it somewhere, each with how often

    @property
    def won(self) -> pd.DataFrame:
        return self.cells[self.cells["difference"] > 0]

    @property
    def lost(self) -> pd.DataFrame:
        return self.cells[self.cells["difference"] < 0]


def findings(report: ReportData) -> list[str]:
    """Three sentences; what they say follows from the numbers alone."""
    if report.accuracy.empty:
        return ["No accuracies were given.", "Nothing can be said about them.", "The tables show what there is."]
    accuracy = report.accuracy
    phase = in_order(accuracy["phase"], PHASES)[0]
    pairs = compare(accuracy, phase)
    if not pairs:
        return [compared(report), *_alone(accuracy, phase)]
    wins = "; ".join(_wins(pair) for pair in pairs)
    losses = "; ".join(_losses(pair) for pair in pairs)
    return [compared(report), f"{PHASES.title(phase)}: {wins}.", f"{_capital(losses)}; {_certainty(pairs)}."]


def plain_sentences(report: ReportData) -> list[str]:
    """What a comparison of X, X Frames and X Lie has shown, for someone who reads it for the first time: known objects
    in new poses, unknown objects, and what the operator does."""
    accuracy = report.accuracy[report.accuracy["phase"] == "linear"]
    accuracy = accuracy[accuracy["diverse"] == accuracy["diverse"].max()]
    openings = {
        "known_new": "Objects that training showed in one pose only are recognised in new poses",
        "unknown_diverse": "Objects that training never showed are recognised in any pose",
    }
    sentences = []
    for setting, opening in openings.items():
        means = over_seeds(accuracy[accuracy["setting"] == setting], [*ARM_KEYS, "poses"], "top1")
        parts = []
        for arm in reversed(arms_of(accuracy)):
            own = _of(means, arm).set_index("poses")["mean"]
            note = OBJECTIVES[arm.arm].note if arm.arm in OBJECTIVES else ""
            control = f" ({note})" if note else ""
            told = " and ".join(f"{value:.1f} %" for value in own)
            parts.append(f"in {told} of frames by {arm.name}{control}")
        kinds = " and ".join(dict.fromkeys(means["poses"].map(POSES.title_of)))
        sentences.append(f"{opening} ({kinds}): {'; '.join(parts)}.")
    return [*sentences, *_operator_sentence(report.equivariance)]


def _operator_sentence(equivariance: pd.DataFrame) -> list[str]:
    """How well moved embeddings of unknown objects find the true frame, in the first kind of pose."""
    own = equivariance[(equivariance["instances"] == "unknown") & (equivariance["part"] == "moved")]
    own = own.dropna(subset=["mrr"])
    if own.empty:
        return []
    row = own[own["poses"] == own["poses"].min()].mean(numeric_only=True)
    other = f"; {row['mrr_transfer']:.2f} with the coordinates of another object's equal move"
    if row["mrr_transfer"] == row["mrr"]:  # by construction, where t is the angle itself
        other = ""
    return [
        f"Moved by the operator, the embedding of an unknown object finds its own frame in the new pose among "
        f"{row['candidates']:.0f} at first place in {100 * row['hit1']:.0f} % of cases (mean reciprocal rank "
        f"{row['mrr']:.2f}; {row['mrr_identity']:.2f} if it is not moved{other})."
    ]


def compare(accuracy: pd.DataFrame, phase: str) -> list[Comparison]:
    """For each method with a baseline, the arm of interest against it in one phase."""
    own = accuracy[(accuracy["phase"] == phase) & accuracy["setting"].isin(BAR_SETTINGS)]
    # Typical frames are the same for every kind of pose and count once.
    first = POSES.in_order(accuracy["poses"])[0]
    own = own[(own["setting"] != "unknown_typical") | (own["poses"] == first)]
    means = over_seeds(own, [*ARM_KEYS, "setting", "diverse", "poses"], "top1")
    arms = arms_of(own)
    found = []
    for method in dict.fromkeys(arm.method for arm in arms):
        rivals = [arm for arm in arms if arm.method == method]
        chosen = [arm for name in CHALLENGERS for arm in rivals if arm.arm == name]
        base = Arm(method, BASE)
        if base not in rivals or not chosen:
            continue
        cells = _cells(own, means, base, chosen[0])
        better = []
        for rival in rivals:
            against = _cells(own, means, rival, chosen[0])
            if rival != base and (below := int((against["difference"] < 0).sum())):
                better.append(f"below {rival.name} in {below} of {len(against)}")
        if len(cells):
            found.append(Comparison(base, chosen[0], cells, tuple(better)))
    return found


def _cells(accuracy: pd.DataFrame, means: pd.DataFrame, base: Arm, arm: Arm) -> pd.DataFrame:
    keys = ["setting", "diverse", "poses"]
    cells = _of(means, base).merge(_of(means, arm), on=keys, suffixes=("_base", ""))
    cells["difference"] = cells["mean"] - cells["mean_base"]
    pairs = _of(accuracy, base).merge(_of(accuracy, arm), on=[*keys, "seed"], suffixes=("_base", ""))
    paired = over_seeds(pairs.assign(points=pairs["top1"] - pairs["top1_base"]), keys, "points")
    error = cells[keys].merge(paired, on=keys, how="left")["error"]  # of the difference, seed by seed
    cells["clear"] = cells["difference"].abs() > CLEAR * error  # never with one seed, whose error is not a number
    return cells


def compared(report: ReportData) -> str:
    """The first sentence."""
    accuracy = report.accuracy
    counts = accuracy.groupby(["method", "arm"])["seed"].nunique()
    arms = dict.fromkeys((a.method, a.arm) for a in arms_of(accuracy))
    same = counts.nunique() == 1 and len(arms) > 1
    names = [Arm(*a).name + ("" if same else f" ({_seeds(int(counts.loc[a]))})") for a in arms]
    where = ""
    if report.evaluated:
        data = report.evaluated[0].card["data"]
        numbers = data["counts"]
        where = f" on the data set {data['recipe']} ({numbers['classes']:,} classes, {numbers['frames']:,} frames)"
    if len(names) == 1:
        return f"This page shows {names[0]}{where}."
    each = f" with {_seeds(int(counts.iloc[0]))} each" if same else ""
    return f"This page compares {_listed(names)}{where}{each}."


def _wins(pair: Comparison) -> str:
    total, won = len(pair.cells), pair.won
    text = f"{pair.arm.name} is above {pair.base.name} in {len(won)} of {total} settings"
    if won.empty:
        return text
    clear = int(won["clear"].sum())
    text += f", in {clear} of them by more than two standard errors" if pair.cells["error"].notna().any() else ""
    return f"{text}, most for {_place(won.sort_values('difference').iloc[-1])}"


def _losses(pair: Comparison) -> str:
    total, lost = len(pair.cells), pair.lost
    text = f"{pair.arm.name} is below {pair.base.name} in {len(lost) or 'none'} of {total}"
    if len(lost):
        text += f", most for {_place(lost.sort_values('difference').iloc[0])}"
    return ", ".join([text, *pair.better])


def _certainty(pairs: list[Comparison]) -> str:
    seeds = min(int(min(p.cells["seeds"].min(), p.cells["seeds_base"].min())) for p in pairs)
    if seeds == 1:
        return "where there is one seed only, no standard error is known, and small differences may be chance"
    few = "; standard errors from so few seeds are rough themselves" if seeds < 5 else ""
    return f"means are over {seeds} seeds or more, and differences within two standard errors may be chance{few}"


def _alone(accuracy: pd.DataFrame, phase: str) -> list[str]:
    """Without a baseline there are only levels to tell."""
    own = accuracy[(accuracy["phase"] == phase) & accuracy["setting"].isin(BAR_SETTINGS)]
    means = over_seeds(own, [*ARM_KEYS, "setting", "diverse", "poses"], "top1")
    if means.empty:
        return ["The settings of the paper were not measured.", "Nothing can be said about gains."]
    order = means.sort_values("mean", kind="stable")
    told = [f"{Arm(*row[ARM_KEYS]).name} for {_where(row)}: {row['mean']:.1f} %" for _, row in order.iterrows()]
    return [
        f"{PHASES.title(phase)}: highest is {told[-1]}, lowest {told[0]}.",
        "No method has both a baseline and an arm that learns from pairs here, so nothing can be said about gains.",
    ]


def _of(means: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    chosen = (means["method"] == arm.method) & (means["arm"] == arm.arm) & (means["option"] == arm.option)
    return means[chosen].drop(columns=ARM_KEYS)


def _where(row: pd.Series) -> str:
    kind = "" if row["setting"] == "unknown_typical" else f"{POSES.title_of(row['poses'])}, "
    noun, rest = SETTING.title_of(row["setting"]).split(" in ", 1)
    return f"{noun}s in {rest}s ({kind}{row['diverse']:g} % diverse)"


def _place(row: pd.Series) -> str:
    errors = [f" ± {row[e]:.1f}" if not math.isnan(row[e]) else "" for e in ("error", "error_base")]
    return f"{_where(row)}: {row['mean']:.1f}{errors[0]} against {row['mean_base']:.1f}{errors[1]} %"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
