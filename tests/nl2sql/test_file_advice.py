"""What is said of a file that cannot be read, by queries and by the index alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nl2sql.file_advice import advise_duckdb

OLD = (
    "Trying to read a database file with storage version number 51, but we can only read storage "
    "versions between 64 and 69."
)


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (
            'Could not set lock on file "x": Conflicting lock is held in python (PID 7)',
            "one writer",
        ),
        (OLD, "DuckDB 0.8 wrote .*EXPORT DATABASE.*IMPORT DATABASE"),
        (OLD.replace("51", "17"), "DuckDB of that time wrote .*EXPORT DATABASE"),
        (OLD.replace("51", "99"), "A newer DuckDB wrote .*install that one"),
        ("Corrupt database file: computed checksum 1 does not match", "damaged.*backup"),
        ("The file exists, but it is not a valid DuckDB database file!", "a DuckDB database"),
    ],
)
def test_a_duckdb_file(reason: str, advice: str) -> None:
    said = advise_duckdb(Path("/data/sales.duckdb"), reason)
    assert re.search(advice, said), said
    assert "/data/sales.duckdb" in said
