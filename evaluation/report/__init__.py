"""The report of runs, as tables and as Markdown."""

from evaluation.report.markdown import render_markdown as render_markdown
from evaluation.report.sections import Run as Run
