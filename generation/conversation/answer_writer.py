"""Describes the rows of an answer in words.

If one sentence can name every cell, a rule writes it, which costs nothing and cannot be wrong. For
larger results the model writes the text, if the caller wants that and rows may be sent to it. That
text is checked against the rows, and replaced by the rule's sentence if the check fails. Empty
results get no text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from generation.conversation.answer_check import check_text, clean_text
from generation.conversation.answer_sentence import is_small, render_sentence
from generation.conversation.headings import name_columns
from nl2sql.errors import PromptTooLong, Unavailable
from nl2sql.languages.detection import find_language
from nl2sql.prompts import render_text
from nl2sql.protocols import Engine
from nl2sql.results.json_values import to_json_value
from nl2sql.settings import StageSettings
from nl2sql.sql.threads import run_in_results_thread
from nl2sql.types import AnswerText, Message, Prompt, Question, ResultSet, SamplingRequest

_MOST_COLUMNS = 20
_LONGEST_CELL = 80
_LONGEST_TEXT = 600
_MOST_TOKENS = 96
# Removed from cells, so that they cannot look like markers of the model's chat template.
_MARKS = str.maketrans(dict.fromkeys("<>|`=", " "))


class AnswerWriter:
    """Writes the text of answers."""

    def __init__(self, engine: Engine, settings: StageSettings) -> None:
        self._engine = engine
        self._settings = settings

    async def write(self, question: Question, sql: str, result: ResultSet) -> AnswerText:
        """The text and who wrote it. A missing model is not an error."""
        sentence = render_sentence(result, find_language(question.text))
        by_rule = AnswerText(sentence, "rule" if sentence else "")
        asks_model = question.answer_text == "model" and self._settings.model.sends == "rows"
        if not sentence or is_small(result) or not asks_model:
            return by_rule
        request = SamplingRequest(
            prompt=build_prompt(question, sql, result),
            k=1,
            seed=question.seed,
            temperature=0.0,
            max_tokens=_MOST_TOKENS,
        )
        try:
            completions = await self._engine.sample(request)
        except (Unavailable, PromptTooLong):
            return by_rule
        said = clean_text(completions.texts[0])
        text = await run_in_results_thread(check_text, said, question.text, result)
        return AnswerText(
            text or sentence,
            "model" if text else "rule",
            completions.prompt_tokens,
            completions.completion_tokens,
        )


def build_prompt(
    question: Question, sql: str, result: ResultSet, *, most_rows: int = 20, most_chars: int = 4000
) -> Prompt:
    """One message: the question, its query, and as many rows as fit, as lines of JSON."""
    lines = [_render_row(name_columns(result.columns))]
    room = most_chars
    for row in result.rows[:most_rows]:
        line = _render_row([to_json_value(cell) for cell in row])
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    is_part = result.truncated or len(lines) - 1 < len(result.rows)
    text = render_text(
        "generation.prompts",
        "answer",
        question=" ".join(question.text.split())[:_LONGEST_TEXT],
        sql=" ".join(sql.split())[:_LONGEST_TEXT],
        rows="\n".join(lines),
        more="There are more rows than these.\n" if is_part else "",
    )
    return Prompt("answer", (Message("user", text),), "rows")


def _render_row(cells: Sequence[object]) -> str:
    return json.dumps([_bound(cell) for cell in cells[:_MOST_COLUMNS]], ensure_ascii=False)


def _bound(cell: object) -> object:
    """A number unchanged, anything else as a short text without markers."""
    if cell is None or isinstance(cell, bool | int | float):
        return cell
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    plain = "".join(sign if sign.isprintable() else " " for sign in text[:_LONGEST_CELL])
    return plain.translate(_MARKS)
