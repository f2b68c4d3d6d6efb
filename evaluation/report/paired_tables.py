"""Tables of paired differences: the vote, each stage, run against run."""

from __future__ import annotations

from evaluation.metrics.figures import PairedComparison
from evaluation.report.cells import Cell, show_difference, show_estimate, show_p_value
from evaluation.report.sections import Section
from evaluation.report.tables import Table

_PAIRED = ("shared", "difference", "gained", "lost", "both right", "neither", "McNemar p")


def build_selection_table(section: Section) -> Table | None:
    """Compares the vote with the better of first sample and majority, for each run with a vote."""
    rows = tuple(
        (
            Cell(system.label),
            show_estimate(system.run.summary.first),
            show_estimate(system.run.summary.majority),
            Cell(found.left),
            *_show_pair(found),
        )
        for system in section.systems
        if (found := system.run.summary.selection) is not None
    )
    columns = ("run", "first sample", "majority", "better of both", *_PAIRED)
    return Table("The vote against first sample and majority", columns, rows) if rows else None


def build_ablation_table(section: Section) -> Table | None:
    """The difference of accuracy with each stage switched off."""
    full, pairs = section.full, section.ablations
    if full is None or not pairs:
        return None
    rows = tuple((Cell(section.label(pair.right)), *_show_pair(pair)) for pair in pairs)
    title = f"Each stage switched off, against {full.label}"
    return Table(title, ("run", *_PAIRED), rows)


def build_comparison_table(section: Section) -> Table | None:
    """The comparisons of runs on shared questions that the ablation table does not show."""
    shown = {(ablation.left, ablation.right) for ablation in section.ablations}
    rows = tuple(
        (
            Cell(f"{section.label(comparison.right)} against {section.label(comparison.left)}"),
            *_show_pair(comparison),
        )
        for comparison in section.comparisons
        if (comparison.left, comparison.right) not in shown
    )
    return Table("Run against run", ("runs", *_PAIRED), rows) if rows else None


def build_paired_tables(section: Section) -> tuple[Table, ...]:
    """All of these tables that there are figures for."""
    tables = (
        build_selection_table(section),
        build_ablation_table(section),
        build_comparison_table(section),
    )
    return tuple(table for table in tables if table is not None)


def list_pairs(section: Section) -> tuple[PairedComparison, ...]:
    """Every pair of runs that a table shows, each once."""
    pairs = {(pair.left, pair.right): pair for pair in (*section.ablations, *section.comparisons)}
    return tuple(pairs.values())


def _show_pair(pair: PairedComparison) -> tuple[Cell, ...]:
    return (
        Cell(f"{pair.shared:,}"),
        show_difference(pair.difference),
        Cell(f"{len(pair.gained):,}"),
        Cell(f"{len(pair.lost):,}"),
        Cell(f"{pair.both:,}"),
        Cell(f"{pair.neither:,}"),
        Cell(show_p_value(pair.p_value)),
    )
