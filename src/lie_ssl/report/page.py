"""One HTML page with everything: opens from disk, needs no network, and its tables need no script."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from html import escape
from pathlib import Path

from plotly.offline import get_plotlyjs

from lie_ssl.errors import UserError
from lie_ssl.objectives.registry import OBJECTIVES
from lie_ssl.report import texts
from lie_ssl.report.cells import Table
from lie_ssl.report.findings import findings
from lie_ssl.report.formats import to_html
from lie_ssl.report.gathering import Evaluated, ReportData
from lie_ssl.report.headline import ablation_operator
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
# The browser itself refuses to fetch anything for the page.
NO_NETWORK = "default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
TITLE = "Known and unknown objects in new poses"


def write_page(report: ReportData, out: Path, data: str = "", trust: Collection[str] = ()) -> None:
    """Writes the page; `data` is the data set's folder if it is not where the runs had it, and `trust` has the import
    paths that the runs' configs may name."""
    if out.is_dir():
        raise UserError(f"{out} is a folder; give --out the name of a file, such as report.html")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, [Page(report, data, trust).html().encode()])


class Page:
    """Sections are made one by one; what cannot be made is replaced by a sentence that says why."""

    def __init__(self, report: ReportData, data: str = "", trust: Collection[str] = ()) -> None:
        self.report, self.data, self.trust = report, data, trust
        self.plots: dict[str, Plot] = {}
        self._kept: dict[Path, Loaded] = {}

    def html(self) -> str:
        sections = {
            "accuracy": ("Accuracy", self._accuracy()),
            "gaps": ("Gaps", self._gaps()),
            "angles": ("Accuracy against angle", self._angles()),
            "operator": ("The operator", self._operator()),
            "ablations": ("Ablations", self._ablations()),
            "pictures": ("Where they disagree", self._pictures()),
            "orbits": ("Orbits", self._orbits()),
            "spectrum": ("Spectrum of the generators", self._spectra()),
            "recipes": ("Recipes and cards", self._recipes()),
        }
        links = "".join(f'<a href="#{name}">{title}</a>' for name, (title, _) in sections.items())
        body = "".join(f'<section id="{n}"><h2>{title}</h2>{text}</section>' for n, (title, text) in sections.items())
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in findings(self.report))
        notes = "".join(f'<p class="note">Note: {escape(note)}</p>' for note in self.report.notes)
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{NO_NETWORK}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{TITLE}</title><style>{own_file('page.css')}</style></head><body><h1>{TITLE}</h1>"
            f'<div class="findings">{said}</div>{notes}<nav>{links}</nav>{body}{self._scripts()}</body></html>\n'
        )

    def _accuracy(self) -> str:
        accuracy = self.report.accuracy
        if accuracy.empty:
            return why("There is no accuracy.csv among what was given.")
        text = paragraph(texts.ACCURACY)
        text += self._plot("accuracy-plot", accuracy_plot(accuracy)) + tables(accuracy_tables(accuracy))
        return text + folded("All settings, typical poses too", tables(settings_tables(accuracy)))

    def _gaps(self) -> str:
        accuracy = self.report.accuracy
        found = [] if accuracy.empty else gap_tables(accuracy)
        if not found:
            return why("Gaps need accuracies of known instances in typical pose, and there are none.")
        text = paragraph(texts.GAPS)
        return text + self._plot("gap-plot", gap_plot(accuracy)) + folded("Tables of the gaps", tables(found))

    def _angles(self) -> str:
        if self.report.curve.empty:
            return why("There is no curve.csv among what was given.")
        text = paragraph(texts.ANGLES)
        return text + self._plot("angle-plot", angle_plot(self.report.curve))

    def _operator(self) -> str:
        if self.report.equivariance.empty:
            return why("There is no equivariance.csv among what was given.")
        text = paragraph(texts.operator(self.report.equivariance.columns))
        return text + tables(equivariance_tables(self.report.equivariance))

    def _ablations(self) -> str:
        if self.report.ablation.empty:
            return why("There is no ablation.csv among what was given.")
        return tables([*ablation_tables(self.report.ablation), *ablation_operator(self.report.ablation_equivariance)])

    def _pictures(self) -> str:
        found = pairs(self.report.evaluated)
        if not found:
            return why("This needs the evaluations of a baseline and of another arm of the same method.")
        parts = []
        for base, other in found:
            try:
                shown = disagreement(base, other, find_frames(base, self.data))
            except (UserError, OSError) as error:
                return why(f"The data set cannot be read: {error}.")
            parts.append(pictures_html(shown))
        return "".join(parts)

    def _orbits(self) -> str:
        text = paragraph(texts.ORBITS)
        parts: list[str] = []
        reasons: list[str] = []
        for each in self._with_operator():
            try:
                orbit = orbit_of(self._loaded(each), find_frames(each, self.data))
                parts.append(self._plot(f"orbit-{len(parts)}", orbit_plot(each.name, orbit)))
            except (UserError, OSError) as error:
                reasons.append(why(f"No orbit of {each.name}: {error}."))
        return (text if parts else "") + "".join([*parts, *reasons]) or why(texts.NO_OPERATOR)

    def _spectra(self) -> str:
        text = paragraph(texts.SPECTRUM)
        parts: list[str] = []
        reasons: list[str] = []
        for each in self._with_operator():
            try:
                plot = spectrum_plot(each.name, eigenvalues(self._loaded(each)))
                parts.append(self._plot(f"spectrum-{len(parts)}", plot))
            except (UserError, OSError) as error:
                reasons.append(why(f"No spectrum of {each.name}: {error}."))
        return (text if parts else "") + "".join([*parts, *reasons]) or why(texts.NO_OPERATOR)

    def _recipes(self) -> str:
        parts = []
        for each in self.report.evaluated:
            card = {k: v for k, v in each.card.items() if k not in ("pretraining", "run")}
            parts.append(f"<h3>{escape(each.name)}</h3>")
            if each.card["run"]:  # an encoder from elsewhere has no run
                parts.append(folded("Recipe of the pretraining (config.json)", printed(each.card["pretraining"])))
                parts.append(folded("Card of the run", printed(each.card["run"])))
            parts.append(folded("Card of the evaluation", printed(card)))
        return "".join(parts) or why("Collected tables have no cards.")

    def _with_operator(self) -> list[Evaluated]:
        """One evaluation, that of the lowest seed, for each arm that may have an operator."""
        found: dict[object, Evaluated] = {}
        for each in sorted(self.report.evaluated, key=lambda e: (e.arm.order, e.seed)):
            if each.arm.objective in OBJECTIVES and OBJECTIVES[each.arm.objective].told == "move":
                found.setdefault(each.arm, each)
        return list(found.values())

    def _loaded(self, each: Evaluated) -> Loaded:
        if each.run is None:
            raise UserError("its run is not beside the evaluation")
        if each.run not in self._kept:
            self._kept[each.run] = load(each.run, each.card["which"], self.trust)
        return self._kept[each.run]

    def _plot(self, name: str, plot: Plot) -> str:
        if not plot.views:
            return ""
        self.plots[name] = plot
        options = "".join(f"<option>{escape(v.name)}</option>" for v in plot.views)
        choice = f'<p><label>Shown: <select id="{name}-view" autocomplete="off">{options}</select></label></p>'
        return (
            f"<h3>{escape(plot.title)}</h3>{choice if len(plot.views) > 1 else ''}"
            f'<div class="plot" id="{name}"><noscript>This plot needs JavaScript; the tables do not.</noscript></div>'
        )

    def _scripts(self) -> str:
        plain = json.dumps({name: plot.plain() for name, plot in self.plots.items()}, allow_nan=False)
        safe = plain.replace("<", "\\u003c")  # nothing in it can end the script
        return (
            f'<script type="application/json" id="plots">{safe}</script><script>{get_plotlyjs()}</script>'
            f"<script>{own_file('page.js')}</script>"
        )


def own_file(name: str) -> str:
    """A style sheet or script of ours."""
    return (HERE / name).read_text(encoding="utf-8")


def pictures_html(shown: Disagreement) -> str:
    base, other = shown.base.arm.name, shown.other.arm.name
    seeds = " and ".join(dict.fromkeys(str(e.seed) for e in (shown.other, shown.base)))
    head = f"{other} against {base}, linear classifiers, seed {seeds}"
    text = f"<h3>{escape(head)}</h3>"
    for right, wrong, count, some in (
        (other, base, shown.gained, shown.gains), (base, other, shown.lost, shown.losses),
    ):  # fmt: skip
        text += paragraph(f"{right} is right and {wrong} wrong on {count:,} of {shown.frames:,} frames; some of them:")
        text += f'<div class="pictures">{"".join(_picture(p, base, other) for p in some)}</div>'
    return text


def _picture(picture: Picture, base: str, other: str) -> str:
    words = [f"true: <b>{escape(picture.true)}</b>, {escape(picture.pose)}"]
    words += [f"{escape(who)}: {escape(said)}" for who, said in ((base, picture.base), (other, picture.other))]
    image = f'<img src="{picture.address}" alt="{escape(picture.true)}">'
    return f"<figure>{image}<figcaption>{'<br>'.join(words)}</figcaption></figure>"


def tables(found: Sequence[Table]) -> str:
    return "".join(map(to_html, found))


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def why(text: str) -> str:
    """A sentence in place of something that cannot be shown."""
    return f'<p class="why">{escape(text)}</p>'


def folded(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def printed(values: object) -> str:
    return f"<pre>{escape(json.dumps(values, indent=1))}</pre>"
