"""An answer as the Markdown of a chat message.

Whatever a user must see is here: chat clients and LangChain drop other fields of a response. Texts
of a model, of data and of people stand in fences that they cannot close, or are escaped: a chat
client fetches an image as soon as it is shown, and so sends what the image's address contains.
"""

from __future__ import annotations

import re
from dataclasses import replace

from execution.results.exports import escape_markdown, render_markdown
from generation.conversation.headings import name_columns
from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused
from nl2sql.types import ResultSet

# A chat shows some rows; whoever wants all asks POST /query.
_MOST_ROWS = 50
# Of an interpretation that is not the nearest.
_FIRST_ROWS = 3
_MOST_CHARS = 20_000
_TICKS = re.compile(r"`+")


def render_answer(answer: Answer) -> str:
    """The message for an answer of any kind."""
    lines = []
    if answer.trace.asked:
        lines.append(f"Understood as: {escape_markdown(answer.trace.question.text)}")
    match answer:
        case Answered():
            lines += _render_answered(answer)
        case Clarify():
            lines += _render_doubtful(answer)
        case Refused():
            lines.append(escape_markdown(answer.reason))
            lines.append("\n".join(f"- {escape_markdown(each)}" for each in answer.suggestions))
        case Failed():
            lines.append(escape_markdown(answer.reason))
    lines += (f"Note: {escape_markdown(note)}" for note in answer.trace.notes)
    return "\n\n".join(line for line in lines if line)


def render_sql(sql: str) -> str:
    """The query in a fence that it cannot close.

    >>> render_sql("SELECT 1")
    '```sql\\nSELECT 1\\n```'
    """
    longest = max((len(ticks) for ticks in _TICKS.findall(sql)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sql\n{sql}\n{fence}"


def _render_doubtful(answer: Clarify) -> list[str]:
    """The nearest interpretation with its rows, and the other one with its first rows."""
    lines = [f"**Not sure.** {escape_markdown(answer.reason)} To choose, answer with a number:"]
    for number, choice in enumerate(answer.interpretations, 1):
        lines.append(f"{number}. {escape_markdown(choice.description)}")
        if choice.result is not None:
            lines += _render_rows(choice.result, _MOST_ROWS if number == 1 else _FIRST_ROWS)
        lines.append(render_sql(choice.sql))
    return lines


def _render_rows(result: ResultSet, most: int) -> list[str]:
    """The first rows as a table, and how many there are."""
    table, shown = "", min(len(result.rows), most)
    while shown:
        part = replace(
            result,
            columns=name_columns(result.columns, result.units),
            rows=result.rows[:shown],
            truncated=False,
        )
        table = render_markdown(part)
        if len(table) <= _MOST_CHARS:
            break
        table, shown = "", shown // 2
    lines = [table.rstrip()]
    if not result.rows:
        lines.append("No rows.")
    elif shown < len(result.rows) or result.truncated:
        of = f"more than {len(result.rows)}" if result.truncated else str(len(result.rows))
        lines.append(
            f"These are {shown} of {of} rows." if shown else f"The {of} rows are too long."
        )
    return lines


def _render_answered(answer: Answered) -> list[str]:
    lines = [escape_markdown(answer.text), *_render_rows(answer.result, _MOST_ROWS)]
    if answer.origin == "catalog":
        return [*lines, "Read from the catalog, without the model."]
    described = escape_markdown(answer.description)
    lines += [render_sql(answer.sql), f"In words: {described}" if described else ""]
    if answer.verified:
        return [*lines, f"{escape_markdown(answer.verified.label)}."]
    quorum = "with a quorum" if answer.quorum else "without a quorum: check the query"
    lines.append(f"Confidence {answer.confidence:.2f}, {quorum}.")
    return lines
