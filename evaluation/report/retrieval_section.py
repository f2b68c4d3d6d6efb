"""A retrieval run as the report shows it: values only."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.report.chart import Chart
from evaluation.report.tables import Table


@dataclass(frozen=True, slots=True)
class RetrievalSection:
    """``problems`` are (kind, question, reason); ``facts`` describe the run's environment.

    ``charts`` are for the page; Markdown has none.
    """

    title: str
    anchor: str
    scope: str
    method: str
    tables: tuple[Table, ...]
    charts: tuple[Chart, ...]
    problems: tuple[tuple[str, str, str], ...]
    facts: tuple[tuple[str, str], ...]
