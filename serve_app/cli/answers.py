"""Prints answers: the rows, and why a candidate won."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from nl2sql.results.json_values import round_shown
from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    InterpretationResponse,
    QueryResponse,
)
from quorumsql.contract.trace import TraceResponse
from serve_app.cli.output import build_json, print_table, say
from serve_app.cli.safe_text import make_safe
from serve_app.cli.terminal import CONSOLE

_MOST_ROWS_SHOWN = 20
# Of an interpretation that is not the nearest.
_FIRST_ROWS = 3
_SQL_WIDTH = 60
_MOST_NAMES_SHOWN = 10
_NUMERIC = re.compile(
    r"(?:u?(?:big|small|tiny|huge|medium)?int(?!erval)|num|dec|float|double|real|serial)",
    re.IGNORECASE,
)
"""Databases' names of the types of numbers."""


def print_answer(answer: QueryResponse, *, seconds: float) -> None:
    """Prints an answer with its reasons: question, SQL, rows, candidates, stages."""
    CONSOLE.print()
    CONSOLE.print(Panel(Text(answer.question), title="Question", title_align="left"))
    _print_outcome(answer)
    if isinstance(answer, AnsweredResponse):
        _print_result(answer)
    if answer.trace:
        print_reasons(answer)
    CONSOLE.print(f"[dim]{seconds:.1f} s in all[/]")


def print_brief_answer(answer: QueryResponse, *, seconds: float) -> None:
    """Prints an answer without its question and reasons, for a conversation."""
    _print_outcome(answer)
    more = ""
    if isinstance(answer, AnsweredResponse):
        _print_result(answer)
        hidden = len(answer.rows) > _MOST_ROWS_SHOWN
        more = f" · {_describe_confidence(answer)} · /why"
        more += " · /rows shows all rows" if hidden else ""
    CONSOLE.print(f"[dim]{seconds:.1f} s{more}[/]")


def print_reasons(answer: QueryResponse) -> None:
    """Prints why the answer is what it is, as far as the service tells it."""
    trace = answer.trace
    if trace is None:
        say("The service told no reasons.")
        return
    if trace.candidates:
        _print_candidates(trace)
    if isinstance(answer, AnsweredResponse):
        _print_verdict(answer, trace)
    for title, records, columns in (
        ("Values", trace.values, ("phrase", "table", "column", "value")),
        ("Definitions", trace.definitions, ("phrase", "expression", "condition", "source")),
        ("Stages", trace.stages, ("stage", "ms", "prompt_tokens", "completion_tokens")),
    ):
        if records:
            print_table(build_json(records), columns, title=title)
    if left_out := trace.left_out:
        more = ", …" * (len(left_out) > _MOST_NAMES_SHOWN)
        names = ", ".join(left_out[:_MOST_NAMES_SHOWN])
        say(f"Left out because the prompt was full: {names}{more}")


def _print_outcome(answer: QueryResponse) -> None:
    if answer.rewritten:
        CONSOLE.print(Text(f"Understood as: {answer.rewritten}", style="bold"))
    for note in answer.notes:
        CONSOLE.print(Text(f"! {note}", style="yellow"))
    if isinstance(answer, AnsweredResponse):
        if _find_origin(answer) == "catalog":
            # Its query may list hundreds of names, which are shown as rows.
            return
        if answer.sql:
            CONSOLE.print(Panel(_build_query(answer.sql), title="SQL", title_align="left"))
        if answer.description:
            CONSOLE.print(Text(f"In words: {answer.description}", style="dim"))
    else:
        reason = escape(answer.reason)
        heading = "Not sure" if isinstance(answer, ClarifyResponse) else answer.outcome
        CONSOLE.print(f"[bold yellow]{heading}[/]: {reason}")
        if isinstance(answer, ClarifyResponse):
            _print_interpretations(answer.interpretations, in_session=answer.session is not None)


def _build_query(sql: str) -> Syntax:
    return Syntax(sql, "sql", word_wrap=True, background_color="default")


def _print_result(answer: AnsweredResponse) -> None:
    if answer.text:
        CONSOLE.print(Text(answer.text, style="bold green"))
    CONSOLE.print(build_rows(answer, most=_MOST_ROWS_SHOWN))


def _print_interpretations(
    interpretations: Sequence[InterpretationResponse], *, in_session: bool
) -> None:
    """Prints the nearest interpretation with its rows, the others with their first rows."""
    for number, interpretation in enumerate(interpretations, start=1):
        parts: list[RenderableType] = [Text(interpretation.description)]
        if interpretation.columns:
            rows = build_rows(interpretation, most=None if number == 1 else _FIRST_ROWS)
            # A title would be as narrow as the table.
            parts.append(Text(f"{rows.title}"))
            rows.title = None
            parts.append(rows)
        if interpretation.sql:
            parts.append(_build_query(interpretation.sql))
        title = f"{number}: {interpretation.share:.0%} of the samples"
        CONSOLE.print(Panel(Group(*parts), title=title, title_align="left"))
    if interpretations:
        way = "type its number" if in_session else "ask again with --pick and its query"
        CONSOLE.print(f"To choose: {way}")


def _print_verdict(answer: AnsweredResponse, trace: TraceResponse) -> None:
    winner = trace.candidates[0]
    if winner.origin == "catalog":
        reason = "the question is about the database itself; the model was not asked"
    elif answer.verified or winner.origin == "chosen":
        reason = _describe_confidence(answer) if answer.verified else "you chose it"
    else:
        agreed = f"{winner.votes} of {trace.samples} samples agree on this result"
        quorum = "a quorum" if answer.quorum else "[yellow]no quorum[/]"
        reason = f"{agreed} ({quorum}); confidence {answer.confidence:.2f}"
    CONSOLE.print(f"Why {winner.id}: {reason}.")


def _find_origin(answer: AnsweredResponse) -> str:
    """The origin of the query; empty if the service told no reasons."""
    return answer.trace.candidates[0].origin if answer.trace and answer.trace.candidates else ""


def _describe_confidence(answer: AnsweredResponse) -> str:
    """How sure an answer is, or who gave its query.

    >>> _describe_confidence(AnsweredResponse.model_construct(confidence=0.5, quorum=True))
    'confidence 0.50, a quorum'
    """
    if answer.verified:
        return escape(answer.verified.label)
    return f"confidence {answer.confidence:.2f}, {'a quorum' if answer.quorum else 'no quorum'}"


def _print_candidates(trace: TraceResponse) -> None:
    rows = []
    for candidate in trace.candidates:
        terms = ", ".join(f"{name} {value:+.0f}" for name, value in candidate.score.terms.items())
        rows.append(
            {
                "": candidate.id,
                "votes": f"{candidate.votes}/{trace.samples}",
                "guard": candidate.violation.code if candidate.violation else "passed",
                "score": round(candidate.score.total),
                "terms": f"{terms} [{candidate.error.sqlstate}]" if candidate.error else terms,
                "rows": candidate.rows,
                "query": " ".join(candidate.sql.split())[:_SQL_WIDTH],
            }
        )
    print_table(rows, title="Candidates, best first")


def build_rows(
    answer: AnsweredResponse | InterpretationResponse, *, most: int | None = None
) -> Table:
    """The rows as a table, at most so many of them."""
    more = " (there are more)" if answer.truncated else ""
    more += f" ({len(answer.cut)} cells cut short)" if answer.cut else ""
    table = Table(
        title=f"Rows: {len(answer.rows)}{more}", box=box.SIMPLE_HEAD, title_justify="left"
    )
    for column in answer.columns:
        justify: JustifyMethod = "right" if _NUMERIC.match(column.type) else "left"
        table.add_column(Text(column.heading or column.name), justify=justify)
    shown = answer.rows if most is None else answer.rows[:most]
    for row in shown:
        cells = ("NULL" if cell is None else make_safe(str(round_shown(cell))) for cell in row)
        table.add_row(*map(Text, cells))
    hidden = len(answer.rows) - len(shown)
    if hidden > 0:
        table.caption = f"and {hidden} more"
    return table
