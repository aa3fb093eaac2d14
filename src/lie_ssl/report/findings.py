"""Three plain sentences at the top of a report: what is compared, where it wins, where it loses."""

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

CHALLENGERS = ("lie", "literal", "frames")  # the first of these arms that was evaluated is compared with the baseline
CLEAR = 2.0  # standard errors from which a difference counts as clear


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two arms of a method in all settings in which both were evaluated."""

    base: Arm
    arm: Arm
    cells: pd.DataFrame  # setting, diverse, poses, mean and error of both, difference, clear
    better: tuple[str, ...]  # in words: other arms that are better than `arm`, and in how many settings

    @property
    def won(self) -> pd.DataFrame:
        return self.cells[self.cells["difference"] > 0]

    @property
    def lost(self) -> pd.DataFrame:
        return self.cells[self.cells["difference"] < 0]


def findings(report: ReportData) -> list[str]:
    """Three sentences about the results, derived from the numbers only."""
    if report.accuracy.empty:
        return ["There are no accuracies.", "Nothing can be compared.", "The tables show all results."]
    accuracy = report.accuracy
    phase = in_order(accuracy["phase"], PHASES)[0]
    pairs = compare(accuracy, phase)
    if not pairs:
        return [_subject(report), *_without_baseline(accuracy, phase)]
    wins = "; ".join(_wins(pair) for pair in pairs)
    losses = "; ".join(_losses(pair) for pair in pairs)
    return [_subject(report), f"{PHASES.title(phase)}: {wins}.", f"{_capitalised(losses)}; {_certainty(pairs)}."]


def plain_sentences(report: ReportData) -> list[str]:
    """Describes a comparison of X, X Frames and X Lie for new readers.

    There is a sentence on known objects in new poses, one on unknown objects, and one on the operator.
    """
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
            own = _rows_of(means, arm).set_index("poses")["mean"]
            note = OBJECTIVES[arm.arm].note if arm.arm in OBJECTIVES else ""
            control = f" ({note})" if note else ""
            values = " and ".join(f"{value:.1f} %" for value in own)
            parts.append(f"in {values} of frames by {arm.name}{control}")
        kinds = " and ".join(dict.fromkeys(means["poses"].map(POSES.title_of)))
        sentences.append(f"{opening} ({kinds}): {'; '.join(parts)}.")
    return [*sentences, *_operator_sentence(report.equivariance)]


def _operator_sentence(equivariance: pd.DataFrame) -> list[str]:
    """Describes retrieval with moved embeddings of unknown objects, in the first kind of pose."""
    own = equivariance[(equivariance["instances"] == "unknown") & (equivariance["part"] == "moved")]
    own = own.dropna(subset=["mrr"])
    if own.empty:
        return []
    row = own[own["poses"] == own["poses"].min()].mean(numeric_only=True)
    other = f"; {row['mrr_transfer']:.2f} with the coordinates of the same move of another object"
    if row["mrr_transfer"] == row["mrr"]:  # by construction, if t is the angle itself
        other = ""
    return [
        f"Moved by the operator, the embedding of an unknown object is nearest to the true frame, among "
        f"{row['candidates']:.0f} frames of the object, in {100 * row['hit1']:.0f} % of cases (mean reciprocal rank "
        f"{row['mrr']:.2f}; {row['mrr_identity']:.2f} if it is not moved{other})."
    ]


def compare(accuracy: pd.DataFrame, phase: str) -> list[Comparison]:
    """For each method with a baseline, compares the first of the CHALLENGERS with it in one phase."""
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
    cells = _rows_of(means, base).merge(_rows_of(means, arm), on=keys, suffixes=("_base", ""))
    cells["difference"] = cells["mean"] - cells["mean_base"]
    pairs = _rows_of(accuracy, base).merge(_rows_of(accuracy, arm), on=[*keys, "seed"], suffixes=("_base", ""))
    paired = over_seeds(pairs.assign(points=pairs["top1"] - pairs["top1_base"]), keys, "points")
    error = cells[keys].merge(paired, on=keys, how="left")["error"]  # of the difference, paired by seed
    cells["clear"] = cells["difference"].abs() > CLEAR * error  # never for one seed, as the error is nan
    return cells


def _subject(report: ReportData) -> str:
    """The first sentence: the arms, the data set and the seeds."""
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
    return f"{text}, most of all for {_cell_text(won.sort_values('difference').iloc[-1])}"


def _losses(pair: Comparison) -> str:
    total, lost = len(pair.cells), pair.lost
    text = f"{pair.arm.name} is below {pair.base.name} in {len(lost) or 'none'} of {total}"
    if len(lost):
        text += f", most of all for {_cell_text(lost.sort_values('difference').iloc[0])}"
    return ", ".join([text, *pair.better])


def _certainty(pairs: list[Comparison]) -> str:
    seeds = min(int(min(p.cells["seeds"].min(), p.cells["seeds_base"].min())) for p in pairs)
    if seeds == 1:
        return "with a single seed there is no standard error, and small differences may be chance"
    few = "; standard errors of so few seeds are themselves rough" if seeds < 5 else ""
    return f"means are over {seeds} seeds or more, and differences within two standard errors may be chance{few}"


def _without_baseline(accuracy: pd.DataFrame, phase: str) -> list[str]:
    """The second and third sentence without a comparison: the highest and lowest accuracies."""
    own = accuracy[(accuracy["phase"] == phase) & accuracy["setting"].isin(BAR_SETTINGS)]
    means = over_seeds(own, [*ARM_KEYS, "setting", "diverse", "poses"], "top1")
    if means.empty:
        return ["The settings of the paper were not measured.", "Nothing can be compared."]
    order = means.sort_values("mean", kind="stable")
    texts = [f"{Arm(*row[ARM_KEYS]).name} for {_where(row)}: {row['mean']:.1f} %" for _, row in order.iterrows()]
    return [
        f"{PHASES.title(phase)}: the highest accuracy is that of {texts[-1]}, the lowest that of {texts[0]}.",
        "No method has both a baseline and an arm that learns from pairs here, so gains are unknown.",
    ]


def _rows_of(means: pd.DataFrame, arm: Arm) -> pd.DataFrame:
    chosen = (means["method"] == arm.method) & (means["arm"] == arm.arm) & (means["option"] == arm.option)
    return means[chosen].drop(columns=ARM_KEYS)


def _where(row: pd.Series) -> str:
    kind = "" if row["setting"] == "unknown_typical" else f"{POSES.title_of(row['poses'])}, "
    noun, rest = SETTING.title_of(row["setting"]).split(" in ", 1)
    return f"{noun}s in {rest}s ({kind}{row['diverse']:g} % diverse)"


def _cell_text(row: pd.Series) -> str:
    errors = [f" ± {row[e]:.1f}" if not math.isnan(row[e]) else "" for e in ("error", "error_base")]
    return f"{_where(row)}: {row['mean']:.1f}{errors[0]} against {row['mean_base']:.1f}{errors[1]} %"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
