"""The generated schemas of the benchmarks."""

from __future__ import annotations

import pytest

from tests.benchmarks.catalogs import generate_catalog


@pytest.mark.parametrize("tables", [1, 86, 2377])
def test_as_many_tables_as_asked_for_and_keys_that_lead_somewhere(tables: int) -> None:
    catalog = generate_catalog(tables).catalog
    assert len({table.qualified for table in catalog.tables}) == tables
    for table in catalog.tables:
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names) >= 6
        assert set(table.primary_key) <= set(names)
    for key in catalog.foreign_keys:
        source, target = catalog.table(key.table), catalog.table(key.target)
        assert source is not None
        assert target is not None
        assert all(source.column(name) for name in key.columns)
        assert key.target_columns == target.primary_key


def test_the_same_seed_gives_the_same() -> None:
    assert generate_catalog(50, seed=1) == generate_catalog(50, seed=1)
    assert generate_catalog(50, seed=1) != generate_catalog(50, seed=2)


def test_questions_name_tables_that_exist() -> None:
    generated = generate_catalog(300)
    questions = generated.draw_questions(40, seed=3)
    assert questions == generated.draw_questions(40, seed=3)
    assert {len(question.tables) for question in questions} == {1, 2}
    for question in questions:
        assert all(generated.catalog.table(name) for name in question.tables)
