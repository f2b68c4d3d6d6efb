"""Prints progress of long steps, answers, and why a candidate won."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich import box
from rich.console import Group
from rich.markup import escape
from rich.panel import Panel
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from nl2sql.progress import describe_stage
from nl2sql.types import Progress as Asked
from quorumsql.contract.answers import (
    AnsweredResponse,
    ClarifyResponse,
    InterpretationResponse,
    QueryResponse,
)
from quorumsql.contract.events import ProgressEvent, StageEvent
from quorumsql.contract.trace import DefinitionResponse, TraceResponse, ValueResponse
from serve_app.cli.safe_text import SafeConsole, safe_cell

CONSOLE = SafeConsole()
ERRORS = SafeConsole(stderr=True)
_MOST_ROWS_SHOWN = 20
_SQL_WIDTH = 60
_MOST_NAMES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FinishedStep:
    """A step that has ended: what it did, its outcome in words, and how long it took."""

    step: str
    outcome: str
    seconds: float


class TerminalReporter:
    """Prints one line for each step: a bar while it runs, then its outcome and seconds.

    ``steps`` and ``warnings`` are what has been reported, for the documents of ``--json``.
    """

    def __init__(self) -> None:
        self.steps: list[FinishedStep] = []
        self.warnings: list[str] = []

    @contextmanager
    def step(self, text: str) -> Iterator[TerminalStep]:
        """Shows ``text`` and a bar until the block ends."""
        start = time.perf_counter()
        progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TextColumn("[dim]{task.fields[phase]}"),
            BarColumn(bar_width=30),
            _CountColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[so_far]}"),
            console=CONSOLE,
            transient=True,
        )
        step = TerminalStep(progress, text)
        with progress:
            yield step
        seconds = time.perf_counter() - start
        done = FinishedStep(text, step.outcome or "done", round(seconds, 1))
        self.steps.append(done)
        CONSOLE.print(
            f"[green]✓[/] {escape(f'{text}: {done.outcome}')} [dim]({seconds:.1f} s)[/]",
            highlight=False,
        )

    def warn(self, text: str) -> None:
        """Prints a warning about something that was left out or failed."""
        self.warnings.append(text)
        CONSOLE.print(f"[yellow]![/] {escape(text)}", highlight=False, soft_wrap=True)


Show = Callable[[ProgressEvent], None]


@contextmanager
def show_progress() -> Iterator[Show]:
    """Hands out what shows how far a question is, on a line of its own, until the block ends.

    Shows nothing if standard error is not a terminal.
    """
    if not ERRORS.is_terminal:
        yield lambda _: None
        return
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=ERRORS,
        transient=True,
        # It may wait for minutes while the model uses all cores.
        refresh_per_second=4,
    )
    task = progress.add_task("asking", total=None)
    with progress:

        def show(event: ProgressEvent) -> None:
            if isinstance(event, StageEvent):
                progress.update(
                    task, description=describe_stage(Asked(**event.model_dump(exclude={"event"})))
                )

        yield show


class _CountColumn(ProgressColumn):
    """Done, total and rate, such as ``10 of 80, 5/s``."""

    def render(self, task: Task) -> Text:
        count = f"{task.completed:,.0f}"
        if task.total:
            count += f" of {task.total:,.0f}"
        return Text(f"{count}, {task.speed:,.0f}/s" if task.speed else count)


class TerminalStep:
    """The bar of one step."""

    def __init__(self, progress: Progress, text: str) -> None:
        self._progress = progress
        self._task = progress.add_task(text, total=None, so_far="", phase="")
        self._phase = ""
        self.outcome = ""

    def update(self, done: int, total: int | None = None, phase: str = "") -> None:
        """Moves the bar to ``done`` of ``total``; a new phase restarts the bar and its clock."""
        if phase != self._phase:
            self._phase = phase
            self._progress.reset(self._task, phase=phase, so_far=self.outcome)
        self._progress.update(self._task, completed=done, total=total)

    def finish(self, text: str) -> None:
        """Sets the text beside the bar, which is also the outcome of the step."""
        self.outcome = text
        self._progress.update(self._task, so_far=text)


def print_answer(answer: QueryResponse, *, seconds: float) -> None:
    """Prints an answer: question, SQL, candidates, rows, stages."""
    CONSOLE.print()
    CONSOLE.print(Panel(Text(answer.question), title="Question", title_align="left"))
    if answer.rewritten:
        CONSOLE.print(Text(f"Understood as: {answer.rewritten}", style="bold"))
    for note in answer.notes:
        CONSOLE.print(Text(f"! {note}", style="yellow"))
    if isinstance(answer, AnsweredResponse):
        CONSOLE.print(
            Panel(
                Syntax(answer.sql, "sql", word_wrap=True, background_color="default"),
                title="SQL",
                title_align="left",
            )
        )
    else:
        reason = escape(answer.reason)
        CONSOLE.print(f"[bold yellow]{answer.outcome}[/]: {reason}", highlight=False)
        if isinstance(answer, ClarifyResponse):
            _print_interpretations(answer.interpretations, in_session=answer.session is not None)
    trace = answer.trace
    if trace and trace.candidates:
        CONSOLE.print(_build_candidates(trace))
    if isinstance(answer, AnsweredResponse):
        _print_verdict(answer, trace)
        if answer.text:
            CONSOLE.print(Text(answer.text, style="bold green"))
        CONSOLE.print(_build_rows(answer))
    if trace:
        _print_values(trace.values)
        _print_definitions(trace.definitions)
        CONSOLE.print(_build_stages(trace))
        _print_left_out(trace.left_out)
    CONSOLE.print(f"[dim]{seconds:.1f} s in all[/]", highlight=False)


def _print_interpretations(
    interpretations: Sequence[InterpretationResponse], *, in_session: bool
) -> None:
    """Prints the interpretations of a question, and how to choose one."""
    for number, interpretation in enumerate(interpretations, start=1):
        CONSOLE.print(
            Panel(
                Group(
                    Text(interpretation.description),
                    Syntax(interpretation.sql, "sql", word_wrap=True, background_color="default"),
                ),
                title=f"{number}: {interpretation.share:.0%} of the samples",
                title_align="left",
            )
        )
    if interpretations:
        way = "type its number" if in_session else "quorumsql ask --pick 1"
        CONSOLE.print(f"Choose one: {way}", highlight=False)


def _print_verdict(answer: AnsweredResponse, trace: TraceResponse | None) -> None:
    if not trace:
        return
    winner = trace.candidates[0]
    agreement = f"{winner.votes} of {trace.samples} samples agree on this result"
    quorum = "a quorum" if answer.quorum else "[yellow]no quorum[/]"
    CONSOLE.print(
        f"Why {winner.id}: {agreement} ({quorum}); confidence {answer.confidence:.2f}.",
        highlight=False,
    )


def _build_candidates(trace: TraceResponse) -> Table:
    table = Table(title="Candidates, best first", box=box.SIMPLE_HEAD, title_justify="left")
    for name in ("", "votes", "guard", "score", "terms", "rows", "query"):
        table.add_column(name, overflow="fold")
    for candidate in trace.candidates:
        terms = ", ".join(f"{name} {value:+.0f}" for name, value in candidate.score.terms.items())
        verdict = candidate.violation.code if candidate.violation else "passed"
        if candidate.error:
            terms = f"{terms} [{candidate.error.sqlstate}]"
        table.add_row(
            candidate.id,
            f"{candidate.votes}/{trace.samples}",
            Text(verdict, style="green" if verdict == "passed" else "red"),
            f"{candidate.score.total:.0f}",
            Text(terms),
            "-" if candidate.rows is None else str(candidate.rows),
            Text(" ".join(candidate.sql.split())[:_SQL_WIDTH]),
        )
    return table


def _build_rows(answer: AnsweredResponse) -> Table:
    more = " (there are more)" if answer.truncated else ""
    more += f" ({len(answer.cut)} cells cut short)" if answer.cut else ""
    table = Table(
        title=f"Rows: {len(answer.rows)}{more}", box=box.SIMPLE_HEAD, title_justify="left"
    )
    for column in answer.columns:
        table.add_column(Text(column.name))
    for row in answer.rows[:_MOST_ROWS_SHOWN]:
        table.add_row(*(Text(safe_cell(value)) for value in row))
    hidden = len(answer.rows) - _MOST_ROWS_SHOWN
    if hidden > 0:
        table.caption = f"and {hidden} more"
    return table


def _print_left_out(names: list[str]) -> None:
    if names:
        more = f" and {len(names) - _MOST_NAMES_SHOWN} more" * (len(names) > _MOST_NAMES_SHOWN)
        CONSOLE.print(
            f"Left out because the prompt was full: {', '.join(names[:_MOST_NAMES_SHOWN])}{more}.",
            highlight=False,
            markup=False,
        )


def _print_values(values: Sequence[ValueResponse]) -> None:
    for match in values:
        CONSOLE.print(
            Text(f"“{match.phrase}” is {match.table}.{match.column} = {match.value!r}"),
            style="dim",
        )


def _print_definitions(definitions: Sequence[DefinitionResponse]) -> None:
    for definition in definitions:
        condition = f"where {definition.condition}" if definition.condition else ""
        parts = (f"“{definition.phrase}” is", definition.expression, condition)
        text = " ".join(filter(None, parts))
        CONSOLE.print(Text(f"{text} ({definition.source})"), style="dim")


def _build_stages(trace: TraceResponse) -> Table:
    table = Table(title="Stages", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("stage")
    table.add_column("ms", justify="right")
    table.add_column("tokens in", justify="right")
    table.add_column("tokens out", justify="right")
    for stage in trace.stages:
        table.add_row(
            stage.stage,
            f"{stage.ms:,.1f}",
            str(stage.prompt_tokens or ""),
            str(stage.completion_tokens or ""),
        )
    return table
