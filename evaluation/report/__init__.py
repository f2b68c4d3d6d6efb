"""Runs as something to read: a Markdown report, and one HTML page that needs no other file."""

from evaluation.report.markdown import render_markdown
from evaluation.report.page import render_page
from evaluation.report.run import Run

__all__ = ["Run", "render_markdown", "render_page"]
