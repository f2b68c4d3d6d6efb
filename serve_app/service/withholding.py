"""What is left of answers for people who see neither SQL nor how an answer came about.

The only place that decides it. ``QueryService`` and ``ToolService`` pass every answer, event and
refusal through here, so no interface has a query to show. Whatever is not named here is left out:
a field that answers get later, too. Who these people are, ``rights.py`` says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nl2sql.answers import Answer, Answered, Clarify, Failed, Refused, Trace
from nl2sql.types import (
    NOT_PERMITTED,
    FewShot,
    Interpretation,
    Progress,
    Question,
    QuestionEvent,
    ResultSet,
    RowsFetched,
    SchemaContext,
    TableDescriptions,
)
from serve_app.service.operations import Refusal

FAILED = "No query worked for this question."
REFUSED = "The query was refused."
DOUBTFUL = "The attempts disagree. Choose a reading, or ask more precisely."

_NOT_KEPT = (
    "The service could not keep this answer's query, so the answer cannot be rated, shared or "
    "read again here. Ask again later."
)
_NOT_PICKED = (
    "The service could not keep the queries of these readings, so none can be chosen. Ask more "
    "precisely, or again later."
)
_MAY_NOT = "You may not see what this needs."
# Codes of the gate, whose reasons say nothing of queries.
_IN_PLAIN_WORDS = frozenset({"off_topic", "read_only", "small_talk", NOT_PERMITTED})
# Queries as people quote them, and keywords, calls and operators as sqlglot writes them. Prose that
# looks the same is withheld too, which costs little.
_SQL = re.compile(
    r"(?is:\bselect\b.*\bfrom\b)|```"
    r"|\b(?:SELECT|FROM|WHERE|JOIN|HAVING|UNION|INTERSECT|EXCEPT|CASE|WHEN|THEN|CAST|OVER|EXISTS|"
    r"GROUP BY|ORDER BY|LIMIT|OFFSET|INTERVAL|DISTINCT|IS NULL|NOT IN|LIKE|BETWEEN)\b"
    r"|\b[A-Za-z_]\w*\(|::|<>|!=|<=|>=|\|\|"
)

# Around names in SQL; a name of one word tells nothing; these signs are in no stored column's name
# but in expressions.
_QUOTES = (('"', '"'), ("`", "`"), ("[", "]"))
_WORD = re.compile(r"[\w?]+")
_SIGNS = re.compile(r"[-+*/<>=|'\"()\[\]{}:]")


def withhold(answer: Answer, references: Sequence[str] | None = None) -> Answer:
    """The answer with sentence, rows and confidence, without queries and trace.

    ``references`` stand for the queries of ``list_queries``; None: nobody needs them. If there are
    none though they are needed, a note says what cannot be done.
    """
    trace = _withhold_trace(answer.trace)
    match answer:
        case Answered():
            if references == ():
                trace = replace(trace, notes=(*trace.notes, _NOT_KEPT))
            return Answered(
                sql="",
                result=withhold_headings(answer.result, answer.sql),
                confidence=answer.confidence,
                quorum=answer.quorum,
                trace=trace,
                text=keep_prose(answer.text),
                text_source=answer.text_source,
                description=keep_prose(answer.description),
                verified=replace(answer.verified, sql="") if answer.verified else None,
                reference=references[0] if references else "",
            )
        case Clarify():
            if references == ():
                trace = replace(trace, notes=(*trace.notes, _NOT_PICKED))
            numbered = enumerate(answer.interpretations)
            known = tuple(references or ())
            return Clarify(
                reason=DOUBTFUL,
                confidence=answer.confidence,
                interpretations=tuple(
                    Interpretation(
                        sql="",
                        description=keep_prose(each.description) or f"Reading {at + 1}.",
                        share=each.share,
                        reference=known[at] if at < len(known) else "",
                        result=withhold_headings(each.result, each.sql) if each.result else None,
                    )
                    for at, each in numbered
                ),
                trace=trace,
            )
        case Refused():
            refusal = withhold_refusal(Refusal(answer.code, answer.reason))
            suggestions = tuple(each for each in answer.suggestions if keep_prose(each))
            return Refused(refusal.code, refusal.reason, trace, suggestions)
        case Failed():
            return Failed(FAILED, trace)


def show_policy(answer: Answer) -> Answer:
    """The answer with a trace that shows what the policy added to its queries."""
    return replace(answer, trace=replace(answer.trace, shows_policy=True))


def list_queries(answer: Answer) -> tuple[str, ...]:
    """The queries that references must stand for, once they are withheld."""
    match answer:
        case Answered():
            return (answer.sql,)
        case Clarify():
            return tuple(each.sql for each in answer.interpretations)
    return ()


def withhold_event(event: QuestionEvent) -> QuestionEvent | None:
    """The event without a query; None for what consists of queries."""
    match event:
        case Progress():
            return event
        case RowsFetched():
            return RowsFetched("", withhold_headings(event.result, event.sql))
    return None


def withhold_headings(result: ResultSet, sql: str) -> ResultSet:
    """The result with a neutral name for each column that has none but its part of the query.

    Names that the query gives, and names of stored columns, stay.
    """
    words = " ".join(sql.lower().split())

    def name(at: int, heading: str) -> str:
        is_given = any(f"{quote}{heading}{end}" in sql for quote, end in _QUOTES)
        is_word = _WORD.fullmatch(heading) is not None
        is_text = " ".join(heading.lower().split()) in words or _SIGNS.search(heading) is not None
        return f"column {at}" if is_text and not (is_given or is_word) else heading

    columns = tuple(name(at + 1, heading) for at, heading in enumerate(result.columns))
    return replace(result, columns=columns)


def withhold_refusal(refusal: Refusal) -> Refusal:
    """The refusal with a reason that quotes nothing of a query or of an error.

    >>> withhold_refusal(Refusal("unknown_column", "There is no x in SELECT x.")).reason
    'The query was refused.'
    """
    if refusal.code in _IN_PLAIN_WORDS:
        reason = keep_prose(refusal.reason)
        return Refusal(refusal.code, reason or _MAY_NOT)
    return Refusal(refusal.code, REFUSED)


def withhold_context(context: SchemaContext) -> SchemaContext:
    """What was found for a text, without the queries of examples, definitions and row filters."""
    return SchemaContext(
        tables=context.tables,
        foreign_keys=context.foreign_keys,
        names=context.names,
        version=context.version,
        dialect=context.dialect,
        refusal=keep_prose(context.refusal),
        glosses=context.glosses,
        values=context.values,
        catalog_tables=context.catalog_tables,
        modules=context.modules,
        row_rules=withhold_rules(context.row_rules),
        shared=context.shared,
        required=context.required,
    )


def withhold_tables(found: TableDescriptions) -> TableDescriptions:
    """The tables without the conditions of row filters."""
    return replace(found, row_rules=withhold_rules(found.row_rules))


def withhold_rules(rules: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Which tables show only some rows, without the conditions."""
    return tuple((table, "") for table, _ in rules)


def withhold_examples(examples: Sequence[FewShot]) -> tuple[FewShot, ...]:
    """The questions of examples, without their queries."""
    return tuple(FewShot(example.question, "") for example in examples)


def keep_prose(text: str) -> str:
    """The text; empty if it may hold SQL.

    >>> keep_prose("where status is 'ACT'"), keep_prose("where SUM(pay) is more than 3")
    ("where status is 'ACT'", '')
    """
    return "" if _SQL.search(text) else text


def _withhold_trace(trace: Trace) -> Trace:
    question = trace.question
    # What somebody asked is theirs; a completed question is written by a model that saw queries.
    completed = keep_prose(question.text) if trace.asked else ""
    return Trace(
        question=Question(
            text=completed or trace.asked or question.text,
            database=question.database,
            principal=question.principal,
            k=question.k,
            seed=question.seed,
            max_rows=question.max_rows,
            session=question.session,
        ),
        asked=trace.asked if completed else "",
        # How many tokens it cost, which OpenAI's interface tells.
        timings=trace.timings,
        notes=tuple(note for note in trace.notes if keep_prose(note)),
        is_withheld=True,
    )
