"""Rules on the text of a query that may not parse, one after the other."""

from __future__ import annotations

from nl2sql.sql.names import enquote
from repair.normalize.facts import Facts
from repair.normalize.tokens import (
    CLAUSES,
    KEYWORDS,
    Token,
    find_opening,
    join_tokens,
    split_tokens,
)

# Phrases and signs that no target reads, and what is meant; longer ones first.
_SPELLED = (
    ("IS NOT IN", "NOT IN"),
    ("IS NOT LIKE", "NOT LIKE"),
    ("IS NOT BETWEEN", "NOT BETWEEN"),
    ("IS IN", "IN"),
    ("IS LIKE", "LIKE"),
    ("IS BETWEEN", "BETWEEN"),
    ("= IN", "IN"),
    ("= LIKE", "LIKE"),
    ("NOT REGEXP", "!~"),
    ("REGEXP", "~"),
    ("==", "="),
    ("=<", "<="),
    ("=>", ">="),
    ("&&", "AND"),
)
_WORDS = tuple((phrase.split(), meant) for phrase, meant in _SPELLED)


def operators(sql: str, facts: Facts) -> str:
    """``==``, ``&&`` and ``IS NOT IN`` become ``=``, ``AND`` and ``NOT IN``.

    Also ``LIMIT 5, 10`` and, on PostgreSQL, ``REGEXP``.

    >>> operators("SELECT a FROM t WHERE b == 1 && c IS NOT IN (1, 2)", Facts("postgres"))
    'SELECT a FROM t WHERE b = 1 AND c NOT IN (1, 2)'
    >>> operators("SELECT a FROM t LIMIT 5, 10", Facts("postgres"))
    'SELECT a FROM t LIMIT 10 OFFSET 5'
    """
    tokens = split_tokens(sql)
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        words = [token.upper for token in tokens[index : index + 4]]
        if words[0] == "LIMIT" and words[2:3] == [","] and len(words) == 4:
            limit = f"LIMIT {words[3]} OFFSET {words[1]}"
            result.append(tokens[index].spell(limit))
            index += 4
            continue
        for phrase, meant in _WORDS:
            is_own = "REGEXP" in phrase and facts.target != "postgres"
            if words[: len(phrase)] == phrase and not is_own:
                result.append(Token(tokens[index].space or " ", meant))
                index += len(phrase)
                break
        else:
            result.append(tokens[index])
            index += 1
    return join_tokens(result)


_ENDS = frozenset({",", "FROM", ")"})
_ODD = frozenset("%#$@!?-/&.+")
_TAKES_AS = frozenset({"CAST", "TRY_CAST", "SAFE_CAST", "STRUCT", "ROW", "CONVERT"})


def aliases(sql: str, facts: Facts) -> str:
    """Corrects aliases of several words, with odd signs or in single quotes.

    Removes them inside a call, and after an expression of ORDER BY or GROUP BY.

    >>> aliases("SELECT count(*) AS total orders, max(a) AS share % FROM t", Facts("postgres"))
    'SELECT count(*) AS total_orders, max(a) AS share FROM t'
    >>> aliases("SELECT round(sum(a) AS s, 1) AS 'All s' FROM t ORDER BY b AS c", Facts("sqlite"))
    'SELECT round(sum(a), 1) AS "All s" FROM t ORDER BY b'
    """
    tokens = split_tokens(sql)
    for index in range(len(tokens) - 2, -1, -1):
        if tokens[index].upper != "AS":
            continue
        is_name = tokens[index + 1].is_name
        if is_name and (_is_in_call(tokens, index) or _is_in_order(tokens, index)):
            del tokens[index : index + 2]
            continue
        opening = find_opening(tokens, index)
        is_cast = opening > 0 and "CAST" in tokens[opening - 1].upper
        end = index + 1
        while end < len(tokens) and tokens[end].upper not in _ENDS and end - index <= 6:
            end += 1
        if not is_cast and end < len(tokens) and (name := _spell(tokens[index + 1 : end])):
            tokens[index + 1 : end] = [Token(" ", name)]
    return join_tokens(tokens)


def _spell(words: list[Token]) -> str:
    """The words after AS as one name; empty if they are one already, or cannot be one."""
    texts = [word.text for word in words]
    if len(texts) == 1:
        text = texts[0]
        return enquote(text[1:-1].replace("''", "'")) if text[0] == "'" and len(text) > 2 else ""
    kept = [text.strip("_") for text in texts if text not in _ODD]
    is_word = [word.is_name and word.text[0] != '"' for word in words if word.text not in _ODD]
    if not any(is_word) or not all(
        good or text.isdigit() for good, text in zip(is_word, kept, strict=True)
    ):
        return ""
    name = "_".join(kept)
    return enquote(name) if name[0].isdigit() else name


def _is_in_call(tokens: list[Token], index: int) -> bool:
    opening = find_opening(tokens, index)
    if opening < 1 or tokens[opening + 1].upper in ("SELECT", "WITH", "VALUES"):
        return False
    name = tokens[opening - 1]
    return name.is_word and name.upper not in KEYWORDS | _TAKES_AS


def _is_in_order(tokens: list[Token], index: int) -> bool:
    """Whether the enclosing clause, at the same depth, is ORDER BY or GROUP BY."""
    depth = 0
    for token in reversed(tokens[:index]):
        depth += {")": 1, "(": -1}.get(token.text, 0)
        if depth < 0:
            return False
        if depth == 0 and token.upper in CLAUSES:
            return token.upper in ("ORDER", "GROUP")
    return False


_JOIN_ENDS = frozenset(
    "WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH WINDOW QUALIFY UNION EXCEPT INTERSECT ;".split()
)
_CONDITIONS = frozenset({"ON", "USING"})
# Joins that need no condition, or whose meaning would change.
_OTHERS = frozenset({"CROSS", "NATURAL", "LEFT", "RIGHT", "FULL", "OUTER", "LATERAL"})


def bare_joins(sql: str, facts: Facts) -> str:
    """SQLite's ``a JOIN b JOIN c ON …`` becomes ``a CROSS JOIN b JOIN c ON …``.

    The last condition may name all tables before it. Joins that are followed by all their
    conditions stay.

    >>> bare_joins("SELECT 1 FROM a JOIN b JOIN c ON a.x = b.x AND c.y = b.y", Facts("postgres"))
    'SELECT 1 FROM a CROSS JOIN b JOIN c ON a.x = b.x AND c.y = b.y'
    """
    if facts.target == "sqlite":
        return sql  # the target reads them
    tokens = split_tokens(sql)
    for start in range(len(tokens) - 1, -1, -1):
        if tokens[start].upper != "FROM":
            continue
        joins, conditions = _find_joins(tokens, start + 1)
        if len(conditions) >= len(joins):
            continue
        for place, following in zip(joins[::-1], [len(tokens), *joins[:0:-1]], strict=True):
            if not any(place < condition < following for condition in conditions):
                is_inner = tokens[place - 1].upper == "INNER"
                at = place - is_inner
                tokens[at] = tokens[at].spell("CROSS" if is_inner else "CROSS JOIN")
    return join_tokens(tokens)


def _find_joins(tokens: list[Token], start: int) -> tuple[list[int], list[int]]:
    """The indices of the joins of one FROM that need a condition, and of the conditions."""
    depth, joins, conditions = 0, [], []
    for index in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[index].text, 0)
        word = tokens[index].upper
        if depth < 0 or (depth == 0 and word in _JOIN_ENDS):
            break
        if depth == 0 and word == "JOIN" and tokens[index - 1].upper not in _OTHERS:
            joins.append(index)
        elif depth == 0 and word in _CONDITIONS:
            conditions.append(index)
    return joins, conditions
