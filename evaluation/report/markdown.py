"""The report as Markdown (GitHub's).

Names, reasons, queries and identifiers are untrusted text: Markdown and HTML in them is escaped, or
stands in a block that it cannot close.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import yaml

from evaluation.metrics.figures import PairedComparison
from evaluation.metrics.verdicts import find_verdict
from evaluation.report.sections import ReportSection, Run, build_sections, list_changes
from evaluation.report.tables import ReportTable, build_tables
from evaluation.runs.manifest import RunManifest

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#!])")
_FENCE = re.compile(r"`{3,}")
_METHOD = (
    "An answer is right when its rows are those of the gold query as a multiset, under some "
    "permutation of columns, floats rounded to four places, and in order only where the gold "
    "orders its outermost query.",
    "In brackets: 95 % percentile bootstrap intervals over questions, or Wilson's if every "
    "question has the same outcome. Questions whose gold query fails count in no figure and are "
    "listed in their section. P-values are McNemar's exact test on the questions that two runs "
    "share, not corrected for multiple comparisons.",
)


def render_markdown(runs: Sequence[Run], comparisons: Sequence[PairedComparison]) -> str:
    """Renders the report of at least one run."""
    sections = build_sections(runs, comparisons)
    lines = ["# Evaluation", ""]
    for section in sections:
        lines += _render_section(section)
    lines += _render_method(sections)
    text = "\n".join(lines) + "\n"
    # A model may write a lone surrogate, which cannot be encoded.
    return text.encode("utf-8", "replace").decode("utf-8")


def escape_markdown(text: str) -> str:
    """``text`` on one line, with special characters escaped.

    >>> print(escape_markdown("a|b <i>_c_"))
    a\\|b \\<i\\>\\_c\\_
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def render_table(table: ReportTable) -> Iterator[str]:
    """The lines of a table under its title."""
    yield from (f"### {escape_markdown(table.title)}", "")
    yield _render_row(table.columns)
    yield f"| {' | '.join([':--', *(['--:'] * (len(table.columns) - 1))])} |"
    yield from (_render_row(row) for row in table.rows)
    yield ""


def render_failures(failures: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """The lines of a list of failures: kind, question and reason of each."""
    lines = [f"- {kind}: {escape_markdown(f'{name}: {why}')}" for kind, name, why in failures]
    yield from ("### Failures", "", *(lines or ["Every question is counted."]), "")


def _render_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escape_markdown, cells))} |"


def _render_section(section: ReportSection) -> Iterator[str]:
    yield from (f"## {escape_markdown(section.title)}", "")
    for note in section.notes:
        yield from (f"> **Note:** {escape_markdown(note)}", "")
    for table in build_tables(section):
        yield from render_table(table)
    yield from render_failures(
        (f"{kind}, {escape_markdown(run.label)}", question, reason)
        for run in section.runs
        for kind, found in (
            ("not counted", run.summary.gold_failed),
            ("error", run.summary.errors),
        )
        for question, reason in found
    )
    for run in section.runs:
        yield from _render_wrong(run)


def _render_wrong(run: Run) -> Iterator[str]:
    """The questions that were not answered right, with gold and chosen query."""
    wrong = [record for record in run.records if record.counts and not record.correct]
    if not wrong:
        return
    yield from (f"### Not right: {escape_markdown(run.label)}", "")
    yield from ("<details><summary>The questions, each with gold and chosen query</summary>", "")
    for record in wrong:
        told = ": ".join(filter(None, find_verdict(record, run.manifest.dialect)))
        named = f"{record.id} ({record.database}), {record.outcome}, {told}: {record.question}"
        yield from (escape_markdown(named), "")
        yield from _fence(record.gold, "sql")
        if record.sql:
            yield from _fence(record.sql, "sql")
    yield from ("</details>", "")


def _render_method(sections: Sequence[ReportSection]) -> Iterator[str]:
    """How the figures were made: the settings once, those of other runs as differences."""
    yield "## How this was measured"
    yield from (line for text in _METHOD for line in ("", text))
    yield ""
    base = sections[0].runs[0].manifest.configuration
    for section in sections:
        for run in section.runs:
            yield from (f"### {escape_markdown(f'{section.title}: {run.label}')}", "")
            changes = list_changes(base, run.manifest.configuration)
            changed = [("changed settings", "; ".join(changes))] if changes else []
            for key, value in (*_list_facts(run.manifest), *changed):
                yield f"- {key}: {escape_markdown(value)}"
            yield ""
    yield from ("<details><summary>Settings of the first run, whole</summary>", "")
    yield from _fence(yaml.safe_dump(base, sort_keys=False, allow_unicode=True, width=100), "yaml")
    yield from ("</details>", "")


def _list_facts(manifest: RunManifest) -> Iterator[tuple[str, str]]:
    drawn = f", drawn with seed {manifest.sample_seed}" if manifest.sample else ""
    yield "questions", f"{len(manifest.question_ids):,}{drawn}"
    yield "questions file", f"{manifest.benchmark_path}, SHA-256 {manifest.benchmark_sha256}"
    yield "dialect", manifest.dialect
    yield "evidence", "given" if manifest.evidence else "not given"
    model = manifest.configuration.get("model", {})
    yield "model", str(model.get("name", "unknown"))
    yield "sampling", f"K={manifest.k}, seed {manifest.seed}"
    if manifest.samples:
        yield "samples", f"kept in {manifest.samples}; samples read from it took no time"
    yield "questions in flight", str(manifest.concurrency)
    yield "revision", manifest.revision or "unknown"
    yield "machine", _join(manifest.machine)
    yield "versions", _join(manifest.versions)
    yield "started", manifest.started_at or "unknown"
    yield "took", f"{manifest.seconds / 60:,.1f} min"


def _join(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _fence(text: str, language: str) -> Iterator[str]:
    """A fenced code block that its content cannot close."""
    longest = max((len(found) for found in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    yield from (f"{fence}{language}", text.rstrip("\n"), fence, "")
