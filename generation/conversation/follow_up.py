"""Follow-ups: completes a question such as "and last year?" from the earlier turns.

A question's words show whether it depends on earlier ones, in nine languages; measured on 7,447
independent questions and on follow-ups: docs/lab/retrieval.md. An independent question needs no
call of the model and is never rewritten. The model's rewriting is used only if it keeps the words
of the follow-up and adds only words of earlier turns; otherwise the question stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nl2sql.errors import PromptTooLong, Unavailable
from nl2sql.languages import Language, list_words, load_lexicon
from nl2sql.languages.detection import find_language, list_stop_words
from nl2sql.languages.english import list_english
from nl2sql.prompts import render_text
from nl2sql.protocols import Engine
from nl2sql.settings import Settings
from nl2sql.sql.literals import mask_texts
from nl2sql.types import Contents, Message, Prompt, Question, Rewriting, SamplingRequest, Turn
from nl2sql.words import STOP_WORDS, fold_text, split_words

_MOST_SQL_CHARS = 600
_MOST_QUESTION_CHARS = 600
_ANSWER_TOKENS = 96
# Words that a rewriting may drop, since they only connect the follow-up with earlier turns.
_CONNECTING = list_english("connecting")
# Words that a rewriting may add.
_FILLING = list_english("filling")
_ANSWER_START = "Whole question:"
# Lines of the prompt; an answer that begins like one is not used.
_ECHOES = ("Before:", "Its query:", "Follow-up:")
_PLACES = {
    fold_text(word): place
    for place, section, key in (
        (1, "ordinals", "1"),
        (1, "numbers", "1"),
        (2, "ordinals", "2"),
        (2, "numbers", "2"),
        (-1, "which", "last"),
    )
    for word in list_words(section, key)
} | {"former": 1, "latter": -1}
_DIGITS = re.compile(r"(\d{1,2})(?:st|nd)?")
_PICKING = frozenset(" ".join(load_lexicon()["picking"].values()).split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Beginnings of follow-ups.
_START = re.compile(
    r"(?:and|but|or|so|then|also|now|instead|only|just|without|except|exclud\w+|includ\w+|same|"
    r"(?:what|how) about|what if|(?:what|who|anything) else|(?:the )?(?:others?|rest|remaining|"
    r"next|previous)|again|more|no,|not|ok(?:ay)?|yes|(?:sort|order|group|rank|filter|limit|break)"
    r"(?:ed)? (?:by|it|them|those|these|this|that|to)|how (?:many|much) (?:in|for|from|at|on|by|"
    r"with|after|before|are|were)|(?:show|give|list)(?: me)? (?:more|all|everything|the rest)\W*$)"
    r"\b|why\W*$",
    re.IGNORECASE,
)
# References to an earlier question anywhere in a short one.
_BACKWARD = re.compile(
    r"\b(?:the same (?:but|for|in|with|by|as|question|query|thing)|as (?:before|above)|"
    r"of (?:those|these|them)|(?:those|these|that|first|last|second|third|which) ones?|instead|"
    r"too|as well)\b",
    re.IGNORECASE,
)
_PRONOUNS = list_english("pronouns")
# "this year", "those who" and "those employees whose" do not refer to an earlier question.
_TIMES = frozenset((*load_lexicon()["unit"], "morning", "decade", "century"))
_RELATIVE = list_english("relative")
_PREPOSITIONS = list_english("prepositions")
_QUESTION_WORDS = list_english("questioning")
_FRAGMENT_WORDS = 3
_SHORT_WORDS = 8
# Chinese and Japanese, where a word is a sign or two.
_FRAGMENT_SIGNS = 8
_NO_SPACES: frozenset[Language] = frozenset({"zh", "ja"})


class FollowUps:
    """Completes follow-ups, by the model or by the interpretation that they choose."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings

    def _find_dialect(self, database: str) -> str:
        found = self._settings.databases.get(database)
        return found.dialect if found else "postgres"

    async def rewrite(self, question: Question, turns: tuple[Turn, ...]) -> Rewriting:
        """The complete question. A missing model is not an error."""
        if not turns:
            return Rewriting()
        if chosen_sql := pick_interpretation(question.text, turns[-1].interpretations):
            return Rewriting(turns[-1].question, "chosen", chosen_sql)
        if not self._settings.flags.follow_ups or not depends_on_context(question.text):
            return Rewriting()
        request = SamplingRequest(
            prompt=build_prompt(
                question, turns, self._settings.model.sends, self._find_dialect(question.database)
            ),
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
    # Its own function words, which are no words of business in any language, may come and go.
    free = _CONNECTING | list_stop_words(asked) | _list_beginnings(asked)
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


def depends_on_context(text: str) -> bool:
    """True for a fragment, a connecting beginning, or a pronoun without an antecedent.

    >>> [depends_on_context(text) for text in ("And last year?", "in Germany", "Who are they?")]
    [True, True, True]
    >>> [depends_on_context(text) for text in ("How many singers?", "Customers and their city")]
    [False, False]
    """
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return False
    if (language := find_language(text)) != "en":
        return _follows(text, language)
    is_short = len(words) <= _SHORT_WORDS
    return bool(
        _START.match(text.strip())
        or (is_short and _BACKWARD.search(text))
        or _is_fragment(words)
        or (is_short and _has_loose_pronoun(words))
    )


def _list_beginnings(text: str) -> frozenset[str]:
    """The words with which a question in the language of ``text`` says that it follows another."""
    return frozenset(
        load_lexicon()["following"].get(find_language(text), "").replace(",", "").split()
    )


def _follows(text: str, language: Language) -> bool:
    """By its beginning, or as a few words that ask nothing."""
    plain = fold_text(text)
    starts, asking = (
        tuple(fold_text(word) for word in load_lexicon()[section][language].split(","))
        for section in ("following", "questioning")
    )
    if language in _NO_SPACES:
        is_short = len(plain.replace(" ", "")) <= _FRAGMENT_SIGNS
        return plain.startswith(starts) or (is_short and not any(word in plain for word in asking))
    words = plain.split()
    if any(f"{plain} ".startswith(f"{start} ") for start in starts):
        return True
    if language == "ar" and plain.startswith(starts[0]) and words[0] not in asking:
        return True
    return len(words) <= _FRAGMENT_WORDS and not set(asking).intersection(words)


def _is_fragment(words: list[str]) -> bool:
    """A few words without a question word or verb: "last year", "in Germany", "by month"."""
    if words[0] in _PREPOSITIONS:
        return len(words) <= _SHORT_WORDS and _QUESTION_WORDS.isdisjoint(words)
    return len(words) <= _FRAGMENT_WORDS and words[0] not in _QUESTION_WORDS


def _has_loose_pronoun(words: list[str]) -> bool:
    """Whether a pronoun comes before any word of the question that it could refer to."""
    for at, word in enumerate(words):
        following = words[at + 1 : at + 4]
        if word in _PRONOUNS:
            is_independent = (
                (word in ("this", "that") and following[:1] and following[0] in _TIMES)
                or not _RELATIVE.isdisjoint(following)
                or (word == "that" and at > 0)
            )
            if not is_independent:
                return True
        elif word not in STOP_WORDS and word not in _QUESTION_WORDS:
            return False
    return False
