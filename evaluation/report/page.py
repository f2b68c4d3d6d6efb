"""The report as one HTML page: plots, tables and every question, with no other file or address.

Text of people and models reaches the page escaped by the template, or as JSON that the page's
script puts in as text. Should markup get through all the same, the page's own content policy lets
no script run but the one written here, and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evaluation.metrics.figures import PairedComparison
from evaluation.report.chart import Chart
from evaluation.report.charts import build_charts
from evaluation.report.headline import Headline, build_headline
from evaluation.report.method import INTERVALS, RULES, build_method
from evaluation.report.paired_tables import build_paired_tables, list_pairs
from evaluation.report.questions import STATUSES, build_questions, dump_for_script
from evaluation.report.retrieval_section import RetrievalSection
from evaluation.report.run import Run
from evaluation.report.sections import Section, build_sections
from evaluation.report.tables import (
    Table,
    build_accuracy_table,
    build_detail_tables,
    build_outcome_table,
    build_speed_table,
)


@dataclass(frozen=True, slots=True)
class Flip:
    """The questions that two runs disagree on, with the number of the run to look at."""

    title: str
    gained: tuple[tuple[str, int], ...]
    lost: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section with everything that the template shows of it."""

    section: Section
    headline: Headline
    charts: tuple[Chart, ...]
    accuracy: Table
    paired: tuple[Table, ...]
    flips: tuple[Flip, ...]
    outcomes: Table
    speed: Table
    details: tuple[Table, ...]


def render_page(
    runs: Sequence[Run],
    comparisons: Sequence[PairedComparison],
    retrieval: Sequence[RetrievalSection] = (),
) -> str:
    """The report of these runs, those of retrieval after the others.

    Raises ValueError without a run.
    """
    if not runs and not retrieval:
        raise ValueError("a report needs a run")
    sections = build_sections(runs, comparisons)
    environment = _environment()
    script = environment.get_template("questions.js.j2").render()
    template = environment.get_template("page.html.j2")
    page = template.render(
        views=[_build_view(section) for section in sections],
        retrieval=retrieval,
        method=build_method(sections) if sections else None,
        rules=RULES,
        intervals=INTERVALS,
        statuses=STATUSES,
        difficulties=sorted(
            {record.difficulty for run in runs for record in run.records if record.difficulty}
        ),
        questions=sum(len(run.records) for run in runs),
        dates=_find_dates(runs),
        # Safe: JSON with every < and > escaped, and a file of this package.
        data=Markup(dump_for_script(build_questions(sections))),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    # Half a surrogate pair, which a model may write, is no text that a file can hold.
    return page.encode("utf-8", "replace").decode("utf-8")


def _build_view(section: Section) -> SectionView:
    return SectionView(
        section,
        build_headline(section),
        build_charts(section),
        build_accuracy_table(section),
        build_paired_tables(section),
        tuple(_build_flip(section, pair) for pair in list_pairs(section)),
        build_outcome_table(section),
        build_speed_table(section),
        build_detail_tables(section),
    )


def _build_flip(section: Section, comparison: PairedComparison) -> Flip:
    number = next(run.number for run in section.runs if run.run.name == comparison.right)
    title = f"{section.label(comparison.right)} against {section.label(comparison.left)}"
    return Flip(
        title,
        tuple((question, number) for question in comparison.gained),
        tuple((question, number) for question in comparison.lost),
    )


def _find_dates(runs: Sequence[Run]) -> str:
    """The day or days on which the runs were started."""
    days = sorted({run.manifest.started_at[:10] for run in runs if run.manifest.started_at})
    if not days:
        return ""
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evaluation.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own urlencode raises on half a surrogate pair.
    environment.filters["quote"] = partial(quote, errors="replace")
    return environment
