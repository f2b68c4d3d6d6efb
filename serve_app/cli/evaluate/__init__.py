"""``quorumsql eval``: runs benchmarks, and turns runs into figures, comparisons and a report."""

from __future__ import annotations

import typer

from serve_app.cli.evaluate import calibrate, engine, pairs, report, retrieval, run

app = typer.Typer(no_args_is_help=True)
app.command("run")(run.run)
app.command("retrieval")(retrieval.retrieval)
app.command("calibrate")(calibrate.calibrate)
app.command("report")(report.report)
app.command("engine")(engine.engine)
app.command("export-pairs")(pairs.export_pairs)
