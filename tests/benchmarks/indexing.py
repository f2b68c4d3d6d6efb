"""Measures indexing for growing schemas: time by phase, disk space, and loading the index.

``python -m tests.benchmarks.indexing [SIZE…] [--fake-above N]`` generates a schema of each size (of
86, 2,377 and 100,000 tables by default), indexes it in a separate PostgreSQL, and prints a line
for: the first run, by phase; a run without changes; a run after one table changed; the store's
size; loading catalog and cards in a separate process, with its memory; and one vector search with
all tables visible, half, a tenth, and a hundredth of them.

Schemas above ``--fake-above`` tables are embedded by hashing, as the output says: the model would
take hours. "embedding" then means hashing and storing the vectors. On a busy machine, wall times
are upper bounds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, EmbeddedServer
from nl2sql.catalog import Catalog
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.masks import build_mask
from retrieval.index_store.store import IndexStore
from retrieval.indexing import IndexReport, index_database
from tests.benchmarks.catalogs import DATABASE, generate_catalog
from tests.benchmarks.hashing_embedder import HashingEmbedder

_SIZES = [86, 2377, 100_000]
_SHARES = (1.0, 0.5, 0.1, 0.01)
_LIMIT = 48
_SEARCHES = 30


def main() -> None:
    """Measures every size; or, as a child process, loads an existing index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=_SIZES)
    parser.add_argument("--fake-above", type=int, default=10_000)
    parser.add_argument("--load", default="", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.load:
        asyncio.run(_load(asked.load))
        return
    with tempfile.TemporaryDirectory(prefix="quorumsql-") as home:
        server = EmbeddedServer(Path(home) / "postgres")
        server.start()
        try:
            url = server.url(INDEX_DATABASE, INDEXER)
            for size in asked.sizes:
                asyncio.run(_measure(url, size, is_fake=size > asked.fake_above))
        finally:
            server.stop()


async def _measure(url: str, size: int, *, is_fake: bool) -> None:
    catalog = generate_catalog(size).catalog
    embedder = HashingEmbedder() if is_fake else Embedder()
    embedder.embed(["warm-up"])
    columns = sum(len(table.columns) for table in catalog.tables)
    kind = "embedded by hashing" if is_fake else embedder.name
    print(f"\n{size:,} tables, {columns:,} columns ({kind})")
    store = IndexStore(url)
    try:
        first = await _index(catalog, store, embedder, "first run")
        print(f"  cards: {size:,} of tables, {first.column_cards:,} of columns")
        await _index(replace(catalog), store, embedder, "nothing changed")
        table = replace(catalog.tables[0], comment="Another wording")
        changed = replace(catalog, tables=(table, *catalog.tables[1:]))
        await _index(changed, store, embedder, "one table changed")
        head = await store.head(DATABASE)
        assert head is not None
        print(f"  on disk: {await store.measure(head) / 2**20:,.1f} MiB")
        command = [sys.executable, "-m", __spec__.name, "--load", url]
        await asyncio.to_thread(subprocess.run, command, check=True)
        await _search(store, embedder, size)
        await store.drop(DATABASE)
    finally:
        await store.close()


async def _index(
    catalog: Catalog, store: IndexStore, embedder: Embedder, label: str
) -> IndexReport:
    start = time.perf_counter()
    report = await index_database(catalog, store, embedder)
    seconds = time.perf_counter() - start
    phases = ", ".join(f"{name} {taken:.2f}" for name, taken in report.seconds)
    print(
        f"  {label}: {seconds:.2f} s ({phases}), {report.embedded:,} cards embedded, "
        f"{1000 * seconds / max(report.tables, 1):.2f} s a 1,000 tables",
        flush=True,
    )
    return report


async def _load(url: str) -> None:
    store = IndexStore(url)
    await store.head(DATABASE)
    before = psutil.Process().memory_info().rss
    head = await store.head(DATABASE)
    assert head is not None
    start = time.perf_counter()
    catalog = await store.load_catalog(head)
    catalog_s = time.perf_counter() - start
    catalog_mib = (psutil.Process().memory_info().rss - before) / 2**20
    index = await store.load(DATABASE)
    assert index is not None
    assert index.catalog is catalog
    seconds = time.perf_counter() - start
    mib = (psutil.Process().memory_info().rss - before) / 2**20
    print(
        f"  loading: catalog {catalog_s:.2f} s, {catalog_mib:,.0f} MiB; "
        f"with the cards {seconds:.2f} s, {mib:,.0f} MiB"
    )
    await store.close()


async def _search(store: IndexStore, embedder: Embedder, size: int) -> None:
    head = await store.head(DATABASE)
    assert head is not None
    vectors = embedder.embed([f"invoice lines of supplier {number}" for number in range(_SEARCHES)])
    for share in _SHARES:
        # Every n-th table, so that visible tables are spread over the vectors.
        seen = range(0, size, round(1 / share))
        mask = None if share == 1 else build_mask(seen, size)
        times = []
        for vector in vectors:
            start = time.perf_counter()
            found = await store.nearest_tables(head, vector, _LIMIT, mask)
            times.append((time.perf_counter() - start) * 1000)
            assert len(found) == min(_LIMIT, len(seen))
        print(
            f"  search among {len(seen):,} tables: median {statistics.median(times):.1f} ms, "
            f"slowest {max(times):.1f} ms"
        )


if __name__ == "__main__":
    main()
