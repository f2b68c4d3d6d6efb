from __future__ import annotations

from dataclasses import replace

import pytest

from generation.tuning.variation import (
    Names,
    Variation,
    choose_variation,
    list_words,
    vary_context,
    vary_query,
)
from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.types import RetrievedTable, SchemaContext, ValueMatch

SINGER = Table(
    "main",
    "Singer",
    (Column("Singer_ID", "INT"), Column("Name", "varchar(20)"), Column("Group", "TEXT")),
    ("Singer_ID",),
    comment="Who sings",
)
SONG = Table("main", "Song List", (Column("Singer_ID", "INT"), Column("Title", "TEXT")))
KEY = ForeignKey("fk", "main.Song List", ("Singer_ID",), "main.Singer", ("Singer_ID",))
CONTEXT = SchemaContext(
    (RetrievedTable(SINGER, 1.0, columns=("Name",)), RetrievedTable(SONG, 0.5)),
    (KEY,),
    ("Singer", '"Song List"'),
    dialect="sqlite",
    glosses=(("main.Singer", "people"),),
    values=(ValueMatch("ann", "main.Singer", "Name", "Ann", 1.0),),
    catalog_tables=2,
    shared=("main.Singer", "main.Song List"),
)
POSTGRES = Variation("postgres", "snake", {"singer": "vocalist", "title": "ttl"})


def vary(sql: str, variation: Variation = POSTGRES) -> str | None:
    return vary_query(sql, "sqlite", Names.build([SINGER, SONG], variation))


def test_the_context_has_the_new_names_everywhere() -> None:
    found = vary_context(CONTEXT, POSTGRES)
    assert found is not None
    varied, _ = found
    assert varied.dialect == "postgres"
    assert varied.names == ("vocalist", "song_list")
    vocalist, songs = (hit.table for hit in varied.tables)
    assert vocalist.qualified == "public.vocalist"
    assert [(each.name, each.type) for each in vocalist.columns] == [
        ("vocalist_id", "integer"),
        ("name", "text"),
        ("group", "text"),
    ]
    assert vocalist.primary_key == ("vocalist_id",)
    assert not vocalist.comment
    assert [each.name for each in songs.columns] == ["vocalist_id", "ttl"]
    assert varied.tables[0].columns == ("name",)
    (key,) = varied.foreign_keys
    assert (key.table, key.columns) == ("public.song_list", ("vocalist_id",))
    assert (key.target, key.target_columns) == ("public.vocalist", ("vocalist_id",))
    assert varied.values[0].table == "public.vocalist"
    assert varied.values[0].column == "name"
    assert varied.shared == ("public.vocalist", "public.song_list")
    assert varied.is_whole
    assert not varied.glosses


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            'SELECT T1.Name FROM Singer AS T1 JOIN "Song List" AS T2 ON T1.Singer_ID = '
            "T2.Singer_ID WHERE T1.\"Group\" = 'Name' ORDER BY T2.Title DESC LIMIT 1",
            "SELECT T1.name FROM vocalist AS T1 JOIN song_list AS T2 ON T1.vocalist_id = "
            "T2.vocalist_id WHERE T1.\"group\" = 'Name' ORDER BY T2.ttl DESC LIMIT 1",
        ),
        (
            "SELECT COUNT(*) FROM Singer WHERE Singer.Singer_ID NOT IN (SELECT Singer_ID FROM "
            '"Song List")',
            "SELECT COUNT(*) FROM vocalist WHERE vocalist.vocalist_id NOT IN (SELECT vocalist_id "
            "FROM song_list)",
        ),
        (
            "SELECT n FROM (SELECT COUNT(*) AS n FROM Singer) AS t",
            "SELECT n FROM (SELECT COUNT(*) AS n FROM vocalist) AS t",
        ),
    ],
)
def test_the_query_has_them_too(sql: str, expected: str) -> None:
    assert vary(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS Name FROM Singer ORDER BY Name",
        "SELECT singer.Name FROM Singer AS singer",
        "SELECT vocalist.Name FROM Singer AS vocalist",
        'SELECT COUNT(*) AS ttl FROM "Song List" GROUP BY Title HAVING COUNT(*) > 2',
        "WITH vocalist AS (SELECT Name FROM Singer) SELECT Name FROM vocalist",
        'WITH x(Title) AS (SELECT Title FROM "Song List") SELECT Title FROM x',
        'SELECT Name FROM Singer JOIN "Song List" USING (Singer_ID)',
    ],
)
def test_a_query_whose_names_are_not_clear_is_left_out(sql: str) -> None:
    assert vary(sql) is None


def test_tables_that_are_shown_with_their_schemas_are_not_varied() -> None:
    assert vary_context(replace(CONTEXT, names=("main.Singer", '"Song List"')), POSTGRES) is None


def test_names_that_would_be_equal_are_kept() -> None:
    table = Table("main", "t", (Column("a_b", "INT"), Column("aB", "INT"), Column("c_d", "INT")))
    names = Names.build([table], Variation("sqlite", "camel", {}))
    assert [each.name for each in names.new["main.t"].columns] == ["a_b", "aB", "cD"]
    table = Table("main", "t", (Column("a_b", "INT"), Column("x", "INT"), Column("y", "INT")))
    names = Names.build([table], Variation("sqlite", "snake", {"x": "z", "y": "z"}))
    assert [each.name for each in names.new["main.t"].columns] == ["a_b", "x", "y"]


def test_a_database_has_one_variation_and_databases_differ() -> None:
    words = {word: (f"{word}2",) for word in list_words([SINGER, SONG])}
    chosen = [choose_variation(f"db{at}", "sqlite", words, seed=1) for at in range(200)]
    assert chosen == [choose_variation(f"db{at}", "sqlite", words, seed=1) for at in range(200)]
    dialects = [each.dialect for each in chosen]
    assert {*dialects} == {"sqlite", "postgres", "duckdb"}
    assert 60 < dialects.count("postgres") < 120
    assert 30 < sum(bool(each.words) for each in chosen) < 90
    assert any(each == Variation("sqlite", "same", {}) for each in chosen)
    # What a word becomes does not depend on the tables that retrieval found beside it.
    at = next(at for at, each in enumerate(chosen) if "name" in each.words)
    few = choose_variation(f"db{at}", "sqlite", {"name": ("name2",)}, seed=1)
    assert few.words == {"name": "name2"}


def test_other_dialects_than_sqlite_are_kept() -> None:
    assert {choose_variation(f"db{at}", "postgres", {}, seed=0).dialect for at in range(50)} == {
        "postgres"
    }
