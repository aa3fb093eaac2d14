"""One HTML page with the whole report. It opens from disk without network access; its tables need no scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from html import escape
from pathlib import Path

from plotly.offline import get_plotlyjs

from lie_ssl.errors import UserError
from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.protocol.features import Features
from lie_ssl.protocol.results import FEATURES
from lie_ssl.report import texts
from lie_ssl.report.adapted import adapted_runs, adapted_sentences, adapted_table, explanation
from lie_ssl.report.cells import Table
from lie_ssl.report.findings import findings
from lie_ssl.report.formats import to_html
from lie_ssl.report.gathering import EvaluatedRun, ReportData
from lie_ssl.report.headline import ablation_operator
from lie_ssl.report.moves import UnknownObjects, moves_html
from lie_ssl.report.orbits import eigenvalues, orbit_of
from lie_ssl.report.pictures import Disagreement, Picture, disagreement, find_frames, pairs
from lie_ssl.report.plots import Plot, accuracy_plot, angle_plot, gap_plot, orbit_plot, spectrum_plot
from lie_ssl.report.tables import (
    ablation_tables,
    accuracy_tables,
    equivariance_tables,
    gap_tables,
    settings_tables,
)
from lie_ssl.storage.files import write_whole
from lie_ssl.training.loading import Loaded, load

HERE = Path(__file__).parent
# The browser blocks all network requests of the page.
NO_NETWORK = "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
TITLE = "Known and unknown objects in new poses"


def write_page(report: ReportData, out: Path, data: str | None = None, trust: Collection[str] = ()) -> None:
    """Writes the page.

    Args:
        report: The data of the report.
        out: The file to write.
        data: Folder of the data set, if it is not where the runs had it.
        trust: Import paths that the runs may name. Importing runs code.
    """
    if out.is_dir():
        raise UserError(f"{out} is a folder; give the name of a file to --out, such as report.html")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, [Page(report, data, trust).html().encode()])


class Page:
    """Builds the page section by section; a part that cannot be made is replaced by a sentence that says why."""

    def __init__(self, report: ReportData, data: str | None = None, trust: Collection[str] = ()) -> None:
        self.report, self.data, self.trust = report, data, trust
        # Those with a table to open with.
        self.adapted = [] if report.accuracy.empty or report.equivariance.empty else adapted_runs(report.evaluated)
        self.plots: dict[str, Plot] = {}
        self._models: dict[Path, Loaded] = {}

    def html(self) -> str:
        sections = {
            "accuracy": ("Accuracy", self._accuracy()),
            "gaps": ("Gaps", self._gaps()),
            "angles": ("Accuracy by angle", self._angles()),
            "operator": ("The operator", self._operator()),
            "ablations": ("Ablations", self._ablations()),
            "pictures": ("Disagreements", self._pictures()),
            "orbits": ("Orbits", self._orbits()),
            "spectrum": ("Spectrum of the generators", self._spectra()),
            "recipes": ("Recipes and cards", self._recipes()),
        }
        if self.adapted:  # what they do with moves comes first
            moves = {"moves": ("Moves of unknown objects", self._moves())}
            sections = moves | {"angles": sections.pop("angles")} | sections
        links = "".join(f'<a href="#{name}">{title}</a>' for name, (title, _) in sections.items())
        body = "".join(f'<section id="{n}"><h2>{title}</h2>{text}</section>' for n, (title, text) in sections.items())
        sentences = adapted_sentences(self.report) if self.adapted else findings(self.report)
        opening = f'<div class="findings">{"".join(map(paragraph, sentences))}</div>'
        if self.adapted:
            opening += to_html(adapted_table(self.report)) + placeholder(explanation())
        notes = "".join(f'<p class="note">Note: {escape(note)}</p>' for note in self.report.notes)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{TITLE}</title><style>{asset('page.css')}</style></head><body><h1>{TITLE}</h1>"
            f"{opening}{notes}<nav>{links}</nav>{body}{self._scripts()}</body></html>\n"
        )

    def _moves(self) -> str:
        parts = []
        for each in self.adapted:
            heading = f"<h3>{escape(each.name)}</h3>" if len(self.adapted) > 1 else ""
            try:
                loaded, frames = self._loaded(each), find_frames(each, self.data)
                assert each.run is not None
                features = Features(loaded.encoder, frames, each.run / FEATURES)
                parts.append(heading + moves_html(UnknownObjects(loaded, frames, features)))
            except (UserError, OSError) as error:
                parts.append(placeholder(f"No pictures of {each.name}: {error}."))
        return "".join(parts)

    def _accuracy(self) -> str:
        accuracy = self.report.accuracy
        if accuracy.empty:
            return placeholder(texts.MISSING_TABLE.format("accuracy.csv"))
        text = paragraph(texts.ACCURACY)
        text += self._plot("accuracy-plot", accuracy_plot(accuracy)) + tables(accuracy_tables(accuracy))
        return text + collapsible("All settings, including typical poses", tables(settings_tables(accuracy)))

    def _gaps(self) -> str:
        accuracy = self.report.accuracy
        found = [] if accuracy.empty else gap_tables(accuracy)
        if not found:
            return placeholder("Gaps need accuracies of known instances in typical pose, and there are none.")
        text = paragraph(texts.GAPS)
        return text + self._plot("gap-plot", gap_plot(accuracy)) + collapsible("Tables of the gaps", tables(found))

    def _angles(self) -> str:
        if self.report.curve.empty:
            return placeholder(texts.MISSING_TABLE.format("curve.csv"))
        text = paragraph(texts.ANGLES)
        return text + self._plot("angle-plot", angle_plot(self.report.curve, bool(self.adapted)))

    def _operator(self) -> str:
        if self.report.equivariance.empty:
            return placeholder(texts.MISSING_TABLE.format("equivariance.csv"))
        text = paragraph(texts.operator(self.report.equivariance.columns))
        return text + tables(equivariance_tables(self.report.equivariance))

    def _ablations(self) -> str:
        if self.report.ablation.empty:
            return placeholder(texts.MISSING_TABLE.format("ablation.csv"))
        return tables([*ablation_tables(self.report.ablation), *ablation_operator(self.report.ablation_equivariance)])

    def _pictures(self) -> str:
        found = pairs(self.report.evaluated)
        if not found:
            return placeholder("This section needs evaluations of a baseline and of another arm of the same method.")
        parts = []
        for base, other in found:
            try:
                shown = disagreement(base, other, find_frames(other, self.data))
            except (UserError, OSError) as error:
                return placeholder(f"The data set cannot be read: {error}.")
            parts.append(pictures_html(shown))
        return "".join(parts)

    def _orbits(self) -> str:
        def draw(each: EvaluatedRun) -> Plot:
            return orbit_plot(each.name, orbit_of(self._loaded(each), find_frames(each, self.data)))

        return self._operator_plots("orbit", texts.ORBITS, draw)

    def _spectra(self) -> str:
        def draw(each: EvaluatedRun) -> Plot:
            return spectrum_plot(each.name, eigenvalues(self._loaded(each)))

        return self._operator_plots("spectrum", texts.SPECTRUM, draw)

    def _operator_plots(self, what: str, text: str, draw: Callable[[EvaluatedRun], Plot]) -> str:
        """A plot of each operator; where that fails, the reason."""
        parts: list[str] = []
        reasons: list[str] = []
        for each in self._with_operator():
            try:
                parts.append(self._plot(f"{what}-{len(parts)}", draw(each)))
            except (UserError, OSError) as error:
                reasons.append(placeholder(f"No {what} of {each.name}: {error}."))
        return (paragraph(text) if parts else "") + "".join([*parts, *reasons]) or placeholder(texts.NO_OPERATOR)

    def _recipes(self) -> str:
        parts = []
        for each in self.report.evaluated:
            card = {k: v for k, v in each.card.items() if k not in ("pretraining", "run")}
            parts.append(f"<h3>{escape(each.name)}</h3>")
            if each.card["run"]:  # other encoders have no run
                parts.append(collapsible("Config of the run (config.json)", json_block(each.card["pretraining"])))
                parts.append(collapsible("Card of the run", json_block(each.card["run"])))
            parts.append(collapsible("Card of the evaluation", json_block(card)))
        return "".join(parts) or placeholder("Collected tables have no cards.")

    def _with_operator(self) -> list[EvaluatedRun]:
        """The evaluation with the lowest seed of each arm whose objective moves embeddings."""
        found: dict[object, EvaluatedRun] = {}
        for each in sorted(self.report.evaluated, key=lambda e: (e.arm.order, e.seed)):
            if each.arm.objective in OBJECTIVES and OBJECTIVES[each.arm.objective].value.has_mover:
                found.setdefault(each.arm, each)
        return list(found.values())

    def _loaded(self, each: EvaluatedRun) -> Loaded:
        if each.run is None:
            raise UserError("the evaluation is not in the folder of its run")
        if each.run not in self._models:
            self._models[each.run] = load(each.run, each.card["which"], self.trust)
        return self._models[each.run]

    def _plot(self, name: str, plot: Plot) -> str:
        if not plot.views:
            return ""
        self.plots[name] = plot
        options = "".join(f"<option>{escape(v.name)}</option>" for v in plot.views)
        choice = f'<p><label>Show: <select id="{name}-view" autocomplete="off">{options}</select></label></p>'
        return (
            f"<h3>{escape(plot.title)}</h3>{choice if len(plot.views) > 1 else ''}"
            f'<div class="plot" id="{name}"><noscript>This plot needs JavaScript; the tables do not.</noscript></div>'
        )

    def _scripts(self) -> str:
        plain = json.dumps({name: plot.plain() for name, plot in self.plots.items()}, allow_nan=False)
        safe = plain.replace("<", "\\u003c")  # so that no text in it can end the script
        return (
            f'<script type="application/json" id="plots">{safe}</script><script>{get_plotlyjs()}</script>'
            f"<script>{asset('page.js')}</script>"
        )


def asset(name: str) -> str:
    """The text of a style sheet or script in this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def pictures_html(shown: Disagreement) -> str:
    base, other = shown.base.arm.name, shown.other.arm.name
    seeds = " and ".join(dict.fromkeys(str(e.seed) for e in (shown.other, shown.base)))
    head = f"{other} against {base}, linear classifiers, seed {seeds}"
    text = f"<h3>{escape(head)}</h3>"
    for right, wrong, number, examples in (
        (other, base, shown.gained, shown.gains), (base, other, shown.lost, shown.losses),
    ):  # fmt: skip
        frames = f"{number:,} of {shown.frames:,} frames"
        text += paragraph(f"{right} is right and {wrong} is wrong on {frames}{', for example:' if examples else '.'}")
        text += f'<div class="pictures">{"".join(_picture(p, base, other) for p in examples)}</div>'
    return text


def _picture(picture: Picture, base: str, other: str) -> str:
    lines = [f"true: <b>{escape(picture.true)}</b>, {escape(picture.pose)}"]
    lines += [f"{escape(arm)}: {escape(label)}" for arm, label in ((base, picture.base), (other, picture.other))]
    image = f'<img src="{picture.uri}" alt="{escape(picture.true)}">'
    return f"<figure>{image}<figcaption>{'<br>'.join(lines)}</figcaption></figure>"


def tables(found: Sequence[Table]) -> str:
    return "".join(map(to_html, found))


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def placeholder(text: str) -> str:
    """A sentence instead of a part that cannot be shown."""
    return f'<p class="note">{escape(text)}</p>'


def collapsible(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def json_block(values: object) -> str:
    return f"<pre>{escape(json.dumps(values, indent=1))}</pre>"
