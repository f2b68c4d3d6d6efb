"""Measures the search for tables in generated schemas: CPU time of a page of 50, and of building.

``python -m tests.benchmarks.table_search [--sizes 2377,100000]`` prints a row for each search: the
best of five, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import time

from retrieval.glosses.glossary import describe_table
from retrieval.search.table_search import TableSearch
from retrieval.vocabulary.synonyms import NO_SYNONYMS
from tests.benchmarks.catalogs import generate_catalog

SEARCHES = (
    *("", "e", "_", "id", "order", "customer order", "customer name address city"),
    *("order line item amount", "finance", "posting date", "no table has this"),
)
_PAGE = 50
_REPETITIONS = 5


def main() -> None:
    """Measures each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2377,100000")
    for size in map(int, parser.parse_args().sizes.split(",")):
        _measure(size)


def _measure(size: int) -> None:
    tables = generate_catalog(size).catalog.tables
    glosses = [describe_table(table, NO_SYNONYMS) for table in tables]
    start = time.process_time()
    search = TableSearch(tables, glosses)
    columns = sum(len(table.columns) for table in tables)
    print(f"{size:,} tables, {columns:,} columns: built in {time.process_time() - start:.1f} s")
    for text in SEARCHES:
        times = []
        for _ in range(_REPETITIONS):
            start = time.process_time()
            found = search.find(text, "", _PAGE)
            times.append((time.process_time() - start) * 1000)
        print(f"{text!r:30} {found.total:8,} found {min(times):8.1f} ms", flush=True)


if __name__ == "__main__":
    main()
