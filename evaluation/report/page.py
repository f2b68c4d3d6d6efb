"""The report as one self-contained HTML page: plots, tables and every question.

Text of people and models is escaped by the template, or passed as JSON that the page's script
inserts as text. In addition, the page's content security policy allows only the page's own script
and no requests.
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
    """The questions on which two runs differ, with the number of the run to show."""

    title: str
    gained: tuple[tuple[str, int], ...]
    lost: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """Everything that the template shows of a section."""

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
    """Renders the report of these runs, retrieval runs last. Raises ValueError without a run."""
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
    # A model may write a lone surrogate, which cannot be encoded.
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
    # Jinja's own urlencode raises on a lone surrogate.
    environment.filters["quote"] = partial(quote, errors="replace")
    return environment
