"""Follow-ups: completes a question such as "and last year?" from the earlier turns.

An independent question needs no call of the model and is never rewritten. The model's rewriting is
used only if it keeps the words of the follow-up and adds only words of earlier turns; otherwise the
question stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nl2sql.errors import PromptTooLong, Unavailable
from nl2sql.languages import load_lexicon
from nl2sql.languages.context import NO_SPACES, PRONOUNS, continues_another, list_phrases
from nl2sql.languages.detection import find_language, list_stop_words
from nl2sql.languages.english import list_english
from nl2sql.prompts import render_text
from nl2sql.protocols import Engine
from nl2sql.settings import StageSettings
from nl2sql.sql.literals import mask_texts
from nl2sql.types import Contents, Message, Prompt, Question, Rewriting, SamplingRequest, Turn
from nl2sql.words import fold_text, split_words

_MOST_SQL_CHARS = 600
_MOST_QUESTION_CHARS = 600
_ANSWER_TOKENS = 96
_FRAGMENT_WORDS = 3
_FRAGMENT_SIGNS = 8
# Words that a rewriting may add.
_FILLING = list_english("filling")
_ANSWER_START = "Whole question:"
# Lines of the prompt; an answer that begins like one is not used.
_ECHOES = ("Before:", "Its query:", "Follow-up:")
_PLACES = {
    fold_text(word.strip()): place
    for place, section, key in (
        (1, "ordinals", "1"),
        (1, "numbers", "1"),
        (2, "ordinals", "2"),
        (2, "numbers", "2"),
        (-1, "which", "last"),
    )
    for words in load_lexicon()[section][key].values()
    for word in words.split(",")
} | {"former": 1, "latter": -1}
_DIGITS = re.compile(r"(\d{1,2})(?:st|nd)?")
_PICKING = frozenset(" ".join(load_lexicon()["picking"].values()).split())


class FollowUps:
    """Completes follow-ups, by the model or by the interpretation that they choose."""

    def __init__(self, engine: Engine, settings: StageSettings) -> None:
        self._engine = engine
        self._settings = settings

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """The complete question. A missing model is not an error."""
        if not turns:
            return Rewriting()
        if chosen_sql := pick_interpretation(question.text, turns[-1].interpretations):
            return Rewriting(turns[-1].question, "chosen", chosen_sql)
        if not depends_on_context(question.text):
            return Rewriting()
        if not self._settings.flags.follow_ups:
            return Rewriting(method="kept")
        database = self._settings.by_name.get(question.database)
        dialect = database.dialect if database else "postgres"
        request = SamplingRequest(
            prompt=build_prompt(question, turns, self._settings.model.sends, dialect),
            k=1,
            seed=question.seed,
            temperature=0.0,
            max_tokens=_ANSWER_TOKENS,
            # Otherwise small models repeat the whole prompt.
            answer_start=_ANSWER_START,
            stop=("\n",),
        )
        try:
            completions = await self._engine.sample(request)
        except (Unavailable, PromptTooLong):
            return Rewriting(method="kept")
        text = read_rewriting(completions.texts[0], question.text, turns)
        return Rewriting(
            text,
            "model" if text else "kept",
            prompt_tokens=completions.prompt_tokens,
            completion_tokens=completions.completion_tokens,
        )


def depends_on_context(text: str) -> bool:
    """True for a connecting beginning, a fragment, or a pronoun without an antecedent.

    >>> [depends_on_context(text) for text in ("And last year?", "in Germany", "Who are they?")]
    [True, True, True]
    >>> [depends_on_context(text) for text in ("How many singers?", "Customers and their city")]
    [False, False]
    """
    plain, language = fold_text(text), find_language(text)
    asking = list_phrases("questioning", language)
    if language in NO_SPACES:
        is_short = 0 < len(plain.replace(" ", "")) <= _FRAGMENT_SIGNS
        is_part = is_short and not any(word in plain for word in asking)
    else:
        words = plain.split()
        is_part = 0 < len(words) <= _FRAGMENT_WORDS and not set(asking).intersection(words)
    return is_part or continues_another(text)


def build_prompt(
    question: Question, turns: Sequence[Turn], sends: Contents = "rows", dialect: str = "postgres"
) -> Prompt:
    """One message: the earlier questions, the query of the last one, the follow-up.

    Where no cell values may be sent (``sends``), the query shows only texts that the user wrote.
    """
    lines = [f"Before: {_flatten(turn.question)[:_MOST_QUESTION_CHARS]}" for turn in turns]
    sql = turns[-1].sql if turns else ""
    if sql and sends == "schema":
        said = "\n".join((question.search_text, *(turn.question for turn in turns)))
        sql = mask_texts(sql, dialect, said)
    if sql:
        lines.append(f"Its query: {_flatten(sql)[:_MOST_SQL_CHARS]}")
    text = render_text(
        "generation.prompts",
        "follow_up",
        earlier="\n".join(lines),
        question=_flatten(question.text)[:_MOST_QUESTION_CHARS],
    )
    contains: Contents = "values" if sql and sends != "schema" else "schema"
    return Prompt("follow_up", (Message("user", text),), contains)


def read_rewriting(text: str, asked: str, turns: Iterable[Turn]) -> str:
    """The complete question in the model's answer; empty if it fails the checks.

    >>> before = [Turn("How many orders came in 2023?", "answered")]
    >>> read_rewriting('"How many orders came in 2024?"', "And in 2024?", before)
    'How many orders came in 2024?'
    >>> read_rewriting("How many orders came in 2025?", "And in 2024?", before)
    ''
    """
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if first.startswith(_ECHOES):
        return ""
    whole = first.removeprefix(_ANSWER_START).strip().strip("\"'“”` ").strip()
    if not whole or len(whole) > _MOST_QUESTION_CHARS or whole.casefold() == asked.casefold():
        return ""
    if not whole.isprintable() or re.match(r"(?:select|with)\b.*\bfrom\b", whole, re.IGNORECASE):
        return ""
    words = set(split_words(whole))
    # Words that only connect it with earlier turns may come and go, and so may function words,
    # which are no words of business in any language.
    connecting = (list_phrases(part, find_language(asked)) for part in ("following", "referring"))
    free = (
        list_stop_words(asked)
        | PRONOUNS
        | {word for phrases in connecting for phrase in phrases for word in split_words(phrase)}
    )
    required = set(split_words(asked)) - free
    if not all(_is_among(word, words) for word in required):
        return ""
    known = set(split_words(asked)) | free | _FILLING
    for turn in turns:
        known.update(split_words(f"{turn.question} {turn.sql}"))
    return whole if all(_is_among(word, known) for word in words) else ""


def pick_interpretation(text: str, interpretations: Sequence[str]) -> str:
    """The query of the interpretation that the text chooses; empty if it chooses none.

    >>> texts = ("the second one", "2", "3", "Second-hand?", "die zweite", "第二个")
    >>> [pick_interpretation(text, ["A", "B"]) for text in texts]
    ['B', 'B', '', '', 'B', 'B']
    """
    words = fold_text(text).split()
    if len(words) > 1 and words[-1] == "one":
        words.pop()
    places = [place for word in words if (place := _read_place(word)) is not None]
    if len(places) != 1 or not all(_read_place(word) or word in _PICKING for word in words):
        return ""
    (place,) = places
    if place < 0:
        return interpretations[-1] if interpretations else ""
    return interpretations[place - 1] if 1 <= place <= len(interpretations) else ""


def _read_place(word: str) -> int | None:
    found = _DIGITS.fullmatch(word)
    return int(found[1]) if found else _PLACES.get(word)


def _is_among(word: str, words: Iterable[str]) -> bool:
    """Whether one of the words is equal or begins with the same four letters: sort, sorted."""
    return any(
        word == other or (word.isalpha() and len(other) >= 4 and word[:4] == other[:4])
        for other in words
    )


def _flatten(text: str) -> str:
    return " ".join(text.split())
