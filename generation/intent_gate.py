"""Stage 0: is the question about this database at all?

By the retrieval's own evidence, so that it costs no model call: a question that shares no word with
any table and is near to none is refused, with what can be asked instead. Doubt lets it pass.
"""

from __future__ import annotations

from nl2sql.types import SchemaContext

_TABLES_TO_NAME = 5


def check_intent(context: SchemaContext, min_similarity: float) -> str:
    """The reason to refuse, or an empty string to go on."""
    if not context.tables:
        return "This database has no table that may be asked about."
    if context.has_keyword_hit or context.best_cosine >= min_similarity:
        return ""
    examples = ", ".join(name.replace("_", " ") for name in context.names[:_TABLES_TO_NAME])
    return (
        f"The question does not seem to be about this database. It knows, for example: {examples}."
    )
