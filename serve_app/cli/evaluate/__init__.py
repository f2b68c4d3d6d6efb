"""``quorumsql eval``: runs benchmarks, and turns runs into figures, comparisons and a report."""

from __future__ import annotations

import typer

from serve_app.cli.evaluate import calibrate, measure, pairs, retrieval, show, sizing

app = typer.Typer(no_args_is_help=True)
app.command("run")(measure.run)
app.command("retrieval")(retrieval.retrieval)
app.command("calibrate")(calibrate.calibrate)
app.command("report")(show.report)
app.command("compare")(show.compare)
app.command("sizing")(sizing.sizing)
app.command("export-pairs")(pairs.export_pairs)
app.command("list")(show.list_runs)
