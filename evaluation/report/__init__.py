"""The report of runs: Markdown, with its charts as pictures beside it."""

from evaluation.report.markdown import render_markdown, write_report
from evaluation.report.sections import Run

__all__ = ["Run", "render_markdown", "write_report"]
