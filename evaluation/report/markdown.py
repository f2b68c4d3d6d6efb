"""The report as Markdown (GitHub's), with its charts as pictures beside it.

Names, reasons, queries and identifiers are untrusted text: Markdown and HTML in them is escaped, or
stands in a block that it cannot close.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.metrics.figures import PairedComparison
from evaluation.report.cells import Cell
from evaluation.report.charts import Chart, build_charts, save_chart
from evaluation.report.method import INTERVALS, RULES, Method, build_method
from evaluation.report.sections import Problem, Run, Section, build_sections
from evaluation.report.tables import (
    Table,
    build_accuracy_table,
    build_detail_tables,
    build_outcome_table,
    build_paired_tables,
    build_speed_table,
    list_pairs,
)
from evaluation.runs.records import QuestionRecord

REPORT = "report.md"
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#!])")
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class RetrievalSection:
    """A retrieval run as values.

    ``problems`` are (kind, question, reason); ``facts`` describe the run's environment.
    """

    title: str
    scope: str
    method: str
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    problems: tuple[tuple[str, str, str], ...]
    facts: tuple[tuple[str, str], ...]


def write_report(
    folder: Path,
    runs: Sequence[Run],
    comparisons: Sequence[PairedComparison],
    retrieval: Sequence[RetrievalSection] = (),
) -> Path:
    """Writes ``report.md`` and its pictures into ``folder``; returns the former's path.

    Raises ValueError without a run, OSError.
    """
    text = render_markdown(runs, comparisons, retrieval)
    folder.mkdir(parents=True, exist_ok=True)
    for section in build_sections(runs, comparisons):
        for chart in build_charts(section):
            save_chart(chart, folder / f"{chart.name}.png")
    for found in retrieval:
        for chart in found.charts:
            save_chart(chart, folder / f"{chart.name}.png")
    (folder / REPORT).write_text(text, encoding="utf-8")
    return folder / REPORT


def render_markdown(
    runs: Sequence[Run],
    comparisons: Sequence[PairedComparison],
    retrieval: Sequence[RetrievalSection] = (),
) -> str:
    """Renders the report of these runs, retrieval runs last. Raises ValueError without a run."""
    if not runs and not retrieval:
        raise ValueError("a report needs a run")
    sections = build_sections(runs, comparisons)
    lines = ["# Evaluation", ""]
    for section in sections:
        lines += _render_section(section)
    for found in retrieval:
        lines += (f"## {escape_markdown(found.title)}", "", *_render_retrieval(found))
    if sections:
        lines += _render_method(build_method(sections))
    text = "\n".join(lines) + "\n"
    # A model may write a lone surrogate, which cannot be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")


def escape_markdown(text: str) -> str:
    """``text`` on one line, with special characters escaped.

    >>> print(escape_markdown("a|b <i>_c_"))
    a\\|b \\<i\\>\\_c\\_
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _render_section(section: Section) -> Iterator[str]:
    yield from (f"## {escape_markdown(section.title)}", "")
    for note in section.notes:
        yield from (f"> **Note:** {escape_markdown(note)}", "")
    yield from render_table(build_accuracy_table(section))
    for table in build_paired_tables(section):
        yield from render_table(table)
    if list_pairs(section):
        yield from _render_flips(section)
    yield from render_table(build_outcome_table(section))
    yield from _render_problems(section.problems)
    yield from render_table(build_speed_table(section))
    for table in build_detail_tables(section):
        yield from render_table(table)
    yield from _render_charts(build_charts(section))
    yield from _render_wrong(section)


def _render_charts(charts: Sequence[Chart]) -> Iterator[str]:
    for chart in charts:
        title = escape_markdown(chart.title)
        yield from (f"### {title}", "", f"![{title}]({chart.name}.png)", "")
        yield from (escape_markdown(chart.caption), "")


def _render_wrong(section: Section) -> Iterator[str]:
    """The questions that the featured run did not answer right, with gold and chosen query."""
    featured = section.featured
    wrong = [record for record in featured.run.records if record.counts and not record.correct]
    if not wrong:
        return
    yield from (f"### Not right: {escape_markdown(featured.label)}", "")
    yield from ("<details><summary>The questions, each with gold and chosen query</summary>", "")
    for record in wrong:
        named = f"{record.id} ({record.database}), {find_status(record)}: {record.question}"
        yield from (escape_markdown(named), "")
        yield from _fence(record.gold, "sql")
        if record.sql:
            yield from _fence(record.sql, "sql")
    yield from ("</details>", "")


def find_status(record: QuestionRecord) -> str:
    """What became of a question whose answer is not right, in words."""
    if record.outcome != "answered":
        return f"{record.outcome}: {record.reason}" if record.reason else record.outcome
    if any(candidate.correct for candidate in record.candidates):
        return "wrong, a candidate was right"
    return "wrong"


def _render_retrieval(section: RetrievalSection) -> Iterator[str]:
    """The lines of a retrieval run under its title."""
    yield from (escape_markdown(section.scope), "", section.method, "")
    for table in section.tables:
        yield from render_table(table)
    yield from _render_charts(section.charts)
    yield from ("### Failures", "")
    if not section.problems:
        yield from ("Every question is counted.", "")
    for kind, question, reason in section.problems:
        yield f"- {kind}: {escape_markdown(question)}: {escape_markdown(reason)}"
    yield from ("", "### Made with", "")
    yield from _render_facts(section.facts)


def render_table(table: Table) -> Iterator[str]:
    """The lines of a table under its title."""
    yield from (f"### {escape_markdown(table.title)}", "")
    yield from _render_rows(table.columns, table.rows)


def _render_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield _row(escape_markdown(column) for column in columns)
    yield _row([":--", *(["--:"] * (len(columns) - 1))])
    for row in rows:
        yield _row(_render_cell(cell) for cell in row)
    yield ""


def _row(cells: Iterator[str] | Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _render_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    text = f"**{text}**" if cell.best else text
    return f"{text} ({escape_markdown(cell.detail)})" if cell.detail else text


def _render_problems(problems: Sequence[Problem]) -> Iterator[str]:
    yield from ("### Failures", "")
    if not problems:
        yield from ("No gold query failed, no database was missing, no question raised.", "")
        return
    columns = ("kind", "reason", "count", "questions", "runs")
    yield _row(columns)
    yield _row([":--", ":--", "--:", ":--", ":--"])
    for problem in problems:
        named = (problem.kind, problem.reason, str(len(problem.questions)))
        lists = (", ".join(problem.questions), ", ".join(problem.runs))
        yield _row([escape_markdown(text) for text in (*named, *lists)])
    yield ""


def _render_flips(section: Section) -> Iterator[str]:
    yield _row(("runs", "gained", "lost"))
    yield _row([":--"] * 3)
    for pair in list_pairs(section):
        runs = f"{section.label(pair.right)} against {section.label(pair.left)}"
        texts = (runs, ", ".join(pair.gained) or "none", ", ".join(pair.lost) or "none")
        yield _row([escape_markdown(text) for text in texts])
    yield ""


def _render_method(method: Method) -> Iterator[str]:
    yield from ("## How this was measured", "", RULES, "", INTERVALS, "")
    if method.shared:
        yield from ("### Every run", "")
        yield from _render_facts(method.shared)
    for run in method.runs:
        yield from (f"### {escape_markdown(run.title)}", "")
        if run.command:
            yield from ("With the settings below as `quorumsql.yaml`:", "")
            yield from _fence(run.command, "sh")
        yield from _render_facts(run.facts)
        if run.changes:
            yield from (f"Changed settings: {escape_markdown('; '.join(run.changes))}", "")
    yield from ("<details><summary>Settings of the first run, whole</summary>", "")
    yield from _fence(method.settings, "yaml")
    yield from ("</details>", "")


def _render_facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    for key, value in facts:
        yield f"- {key}: {escape_markdown(value)}"
    yield ""


def _fence(text: str, language: str) -> Iterator[str]:
    """A fenced code block that its content cannot close."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    yield from (f"{fence}{language}", text.rstrip("\n"), fence, "")
