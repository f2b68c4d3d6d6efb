"""The vector search: the cards of one generation that are nearest to a question.

Many cards are searched with HNSW. Under a mask, the scan continues until enough cards pass it
(pgvector's iterative scan, in strict order). Few visible cards are read and sorted instead, which
is exact and as fast, and so are those under a mask that hides most cards or all near ones, because
a search would then visit most of the graph.

A mask is built once for the tables that a principal may see, and used for all of their questions:
100,000 tables take 12.5 kB in a query. The database tests the bit inside the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, LiteralString

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import AsyncConnection, errors, sql

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.generations import IndexHead, build_replaced, name_part


@dataclass(frozen=True, slots=True)
class Mask:
    """Position n is bit n % 8 (lowest first) of byte n // 8 of ``bits``, as in ``get_bit``.

    ``count`` bits are set.
    """

    bits: bytes
    count: int


def build_mask(positions: Iterable[int], size: int) -> Mask:
    """The mask of ``positions``, which are below ``size``.

    >>> mask = build_mask([0, 9], 12)
    >>> mask.bits.hex(), mask.count
    ('0102', 2)
    """
    flags: NDArray[Any] = np.zeros(size, dtype=np.bool_)
    flags[np.fromiter(positions, dtype=np.int64)] = True
    return Mask(np.packbits(flags, bitorder="little").tobytes(), int(flags.sum()))


Part = Literal["table_vectors", "column_vectors"]

# Sorting this many cards takes as long as searching the graph (384 dimensions: 4 ms).
_MOST_TO_SORT = 5000
# If a smaller share of the cards is visible, the graph search finds too few of them.
_LEAST_SHARE_FOR_HNSW = 0.2

# The session's settings. ef_search: of the true first 48 of 100,000 cards, 0.98 are found with 400,
# 0.90 with 100. A search that reaches max_scan_tuples is replaced by a sort.
SEARCH_SETTINGS = (
    "SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 400;"
    " SET hnsw.max_scan_tuples = 20000"
)

_LIVE: LiteralString = """
       (SELECT generation FROM quorumsql.generations WHERE database = %(database)s AND live)
"""
# "<> 0" instead of "= 1": for an equality the planner expects so few rows that it does not use
# HNSW.
_IS_VISIBLE: LiteralString = "%(bits)s::bytea IS NULL OR get_bit(%(bits)s::bytea, position) <> 0"
_HNSW: LiteralString = """
SELECT position, 1 - (embedding <=> %(vector)s) AS cosine, {live}
  FROM {vectors} WHERE {is_visible} ORDER BY embedding <=> %(vector)s LIMIT %(limit)s
"""
_SORT: LiteralString = """
WITH seen AS MATERIALIZED (
    SELECT position, embedding <=> %(vector)s AS distance FROM {vectors} WHERE {is_visible}
)
SELECT position, 1 - distance, {live} FROM seen ORDER BY distance LIMIT %(limit)s
"""


async def find_nearest(
    connection: AsyncConnection[Any],
    head: IndexHead,
    part: Part,
    vector: NDArray[np.float32],
    limit: int,
    among: Mask | None,
) -> list[tuple[int, float]]:
    """At most ``limit`` (position, cosine similarity) of ``part``, nearest first.

    Raises IndexReplaced if ``head`` is no longer live, and IndexUnavailable if the vector and the
    index differ in their dimensions.
    """
    if head.dimensions not in (0, len(vector)):
        raise IndexUnavailable(
            f"The index of {head.database!r} has vectors of {head.dimensions} dimensions, "
            f"the question has {len(vector)}.",
            hint=f"Run `quorumsql index build {head.database}`.",
        )
    size = head.tables if part == "table_vectors" else head.column_cards
    count = among.count if among is not None else size
    parameters: dict[str, Any] = {
        "vector": HalfVector(vector),
        "database": head.database,
        "limit": limit,
        "bits": among.bits if among is not None else None,
    }
    if _MOST_TO_SORT < count >= _LEAST_SHARE_FOR_HNSW * size:
        found = await _search(connection, head, part, _HNSW, parameters)
        if len(found) >= min(limit, count):
            return found
    return await _search(connection, head, part, _SORT, parameters)


async def _search(
    connection: AsyncConnection[Any],
    head: IndexHead,
    part: Part,
    statement: LiteralString,
    parameters: dict[str, Any],
) -> list[tuple[int, float]]:
    live = sql.SQL(_LIVE)
    query = sql.SQL(statement).format(
        vectors=name_part(part, head.generation), live=live, is_visible=sql.SQL(_IS_VISIBLE)
    )
    try:
        rows = await (await connection.execute(query, parameters)).fetchall()
    except errors.UndefinedTable as error:
        raise build_replaced(head) from error
    if rows:
        generation = rows[0][2]
    else:
        cursor = await connection.execute(sql.SQL("SELECT {}").format(live), parameters)
        (generation,) = await cursor.fetchone() or (None,)
    if generation != head.generation:
        raise build_replaced(head)
    return [(position, float(cosine)) for position, cosine, _ in rows]
