"""Reports of runs: a Markdown report, and one self-contained HTML page."""

from evaluation.report.markdown import render_markdown
from evaluation.report.page import render_page
from evaluation.report.run import Run

__all__ = ["Run", "render_markdown", "render_page"]
