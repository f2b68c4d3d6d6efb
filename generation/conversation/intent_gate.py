"""The intent gate: checks whether a question is about this database at all.

Commands to change data are refused by rule; greetings, thanks and "what can I ask?" get a reply by
rule, and so do requests for poems. Clear cases are decided by the results of retrieval, without the
model: a question near to some table passes; a question that is far from all tables, has few words
of the schema and names no cell value is refused. Doubtful questions pass, because the gate only
saves work; protection is the task of the guard. Questions about the tables themselves do not come
here: retrieval, which knows them all, answers them. For the thresholds see docs/lab/retrieval.md.
"""

from __future__ import annotations

from collections.abc import Set

from rapidfuzz import process
from rapidfuzz.distance import OSA

from generation.conversation.remarks import (
    Remark,
    asks_to_change,
    asks_to_write,
    read_remark,
    reply,
)
from generation.conversation.suggestions import describe_subjects, suggest_questions
from nl2sql.languages.english import MONTH_WORDS
from nl2sql.settings import FlagSettings
from nl2sql.types import Intent, Question, SchemaContext
from nl2sql.words import content_words, split_words

# The embedder knows English: the distance of a text without any of these words is unreliable.
_ENGLISH = frozenset(
    "how what which who whose where when why the are were does did do have has many there with "
    "from and your you my it this that please for to of tell write".split()
)
# Shorter words are parts of others by chance: "date" in "candidate".
_GLUED_LETTERS = 5
# Cosine of the nearest table from which on a question passes at once, and below which it is far.
_NEAR_COSINE, _FAR_COSINE = 0.3, 0.18
# The least similarity of a word with a typing error, as linking measures it: "memebrs", "members".
_MISSPELLED = 0.8
# Words of so many letters have the same stem if these begin them: "survive", "survived".
_STEM_LETTERS = 5
# What a question compares with and counts, people and months tell nothing of its subject: the table
# of those who "joined in January" is called ``employee``, its column ``hire_date``.
_COMPARES = "most least more less fewer many few over under above below not never ever"
_ANY_SUBJECT = frozenset(f"{_COMPARES} {' '.join(MONTH_WORDS).lower()} people person".split())
# Fewer words do not show that a question is about something else: "Who earned the most ever?"
_FEWEST_WORDS = 2


def check_intent(question: Question, context: SchemaContext, flags: FlagSettings) -> Intent:
    """The verdict on a question, from its words and the results of retrieval."""
    if not flags.intent_gate:
        return Intent()
    if asks_to_change(question.text):
        return refuse_change(context)
    if context.tables and (remark := read_remark(question.text)):
        return answer_remark(remark, context)
    if not context.tables:
        return Intent("off_topic", "This database has no table that may be asked about.")
    if asks_to_write(question.text):
        reason = "Questions about the data are answered here; stories and poems are not written."
        return _refuse("off_topic", reason, context, "rule")
    if all(hit.cosine is None for hit in context.tables):
        # Without embeddings, only keywords can decide.
        is_found = context.has_keyword_hit or context.definitions
        return Intent(method="doubt") if is_found else refuse_topic(context)
    if context.best_cosine >= _NEAR_COSINE:
        return Intent(method="score")
    is_named = bool(context.values or context.definitions)
    is_near = is_named or names_glued(question, context)
    is_far = context.best_cosine < _FAR_COSINE and not is_near
    if is_far and not _ENGLISH.isdisjoint(question.text.lower().split()):
        asked = {word for word in content_words(question.search_text) if not word.isdecimal()}
        asked -= _ANY_SUBJECT
        if len(asked) >= _FEWEST_WORDS and not names_schema(asked, context):
            return refuse_topic(context)
    return Intent(method="doubt")


def names_schema(asked: Set[str], context: SchemaContext) -> bool:
    """Whether names and comments of the retrieved tables have a word of these, or one like it."""
    known: set[str] = set()
    for hit in context.tables:
        known.update(split_words(f"{hit.table.name} {hit.table.comment}"))
        for column in hit.table.columns:
            known.update(split_words(f"{column.name} {column.comment}"))
    stems = {word[:_STEM_LETTERS] for word in known}
    return any(
        word[:_STEM_LETTERS] in stems
        or (
            len(word) >= _GLUED_LETTERS
            and process.extractOne(
                word, known, scorer=OSA.normalized_similarity, score_cutoff=_MISSPELLED
            )
        )
        for word in asked
    )


def names_glued(question: Question, context: SchemaContext) -> bool:
    """Whether a word of the question is a part of a longer word in a table's name.

    The embedder does not understand names without separators, such as ``sbcustomer``, and nobody
    uses them in a question.
    """
    asked = {word for word in content_words(question.search_text) if len(word) >= _GLUED_LETTERS}
    names = {word for hit in context.tables for word in split_words(hit.table.name)}
    return any(word in name and word != name for word in asked for name in names)


def refuse_topic(context: SchemaContext) -> Intent:
    """The refusal that says what the database is about, with suggestions."""
    return _refuse(
        "off_topic",
        "The question does not seem to be about this database, which holds data about "
        f"{describe_subjects(context)}.",
        context,
        "score",
    )


def answer_remark(remark: Remark, context: SchemaContext) -> Intent:
    """The reply to a greeting or the like, with suggestions."""
    suggestions = suggest_questions(context)
    reason = reply(remark, describe_subjects(context), suggestions)
    return Intent("small_talk", reason, suggestions, "rule")


def refuse_change(context: SchemaContext) -> Intent:
    """The refusal that says that data cannot be changed."""
    return _refuse(
        "read_only",
        "Data can only be read here: nothing is added, changed or deleted. Ask what you want to "
        "know.",
        context,
        "rule",
    )


def _refuse(code: str, reason: str, context: SchemaContext, method: str) -> Intent:
    suggestions = suggest_questions(context)
    if suggestions:
        quoted = " or ".join(f"“{suggestion}”" for suggestion in suggestions)
        reason = f"{reason} You could ask, for example: {quoted}"
    return Intent(code, reason, suggestions, method)
