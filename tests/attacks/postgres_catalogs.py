"""PostgreSQL: what its catalogs and statistics tell of tables, rows, people and the server."""

from __future__ import annotations

from tests.attacks.attack import Answers, Attack, Carries, Evidence, Shows, one_column, spread

_GROUP = "catalogs"


def _attack(name: str, sql: str, works: Evidence, refused_as: str = "unknown_table") -> Attack:
    return Attack("postgres", _GROUP, name, sql, works, refused_as)


ATTACKS: list[Attack] = [
    _attack(
        "pg_stats_of_the_salary",
        "SELECT histogram_bounds::text FROM pg_stats WHERE tablename = 'employees' "
        "AND attname = 'salary'",
        Carries("9900"),
    ),
    _attack(
        "pg_statistic",
        "SELECT stavalues1::text FROM pg_catalog.pg_statistic WHERE starelid IN "
        "(SELECT oid FROM pg_class WHERE relname = 'employees')",
        Carries("Dora"),
    ),
    _attack(
        "row_count_of_the_planner",
        "SELECT reltuples FROM pg_class WHERE relname = 'employees'",
        Shows(((7,),)),
    ),
    *spread(
        _attack,
        {
            "row_count_in_a_subquery": (
                "SELECT code FROM currencies WHERE rate < "
                "(SELECT reltuples FROM pg_class WHERE relname = 'employees')"
            ),
            "pg_user_in_exists": (
                "SELECT code FROM currencies WHERE EXISTS (SELECT 1 FROM pg_user WHERE usesuper)"
            ),
        },
        Shows(one_column("EUR", "USD")),
    ),
    *spread(
        _attack,
        {
            "pg_stat_user_tables": "SELECT relname FROM pg_stat_user_tables",
            "pg_tables": "SELECT tablename FROM pg_tables",
            "information_schema_tables": "SELECT table_name::text FROM information_schema.tables",
            "information_schema_quoted": (
                'SELECT table_name::text FROM "information_schema"."tables"'
            ),
        },
        Carries("payroll"),
    ),
    _attack("pg_stat_activity", "SELECT query FROM pg_stat_activity", Carries("pg_stat_activity")),
    *spread(
        _attack,
        {
            "pg_authid": "SELECT rolname FROM pg_authid",
            "pg_roles": "SELECT rolname FROM pg_roles",
            "pg_user_in_a_union": "SELECT code FROM currencies UNION SELECT usename FROM pg_user",
        },
        Carries("quorumsql_reader"),
    ),
    _attack("pg_shadow", "SELECT usename, passwd FROM pg_catalog.pg_shadow", Carries("postgres")),
    *spread(
        _attack,
        {
            "pg_settings": "SELECT setting FROM pg_settings WHERE name = 'port'",
            "pg_hba_file_rules": "SELECT auth_method FROM pg_hba_file_rules",
            "pg_file_settings": "SELECT sourcefile FROM pg_file_settings",
            "pg_config": "SELECT setting FROM pg_config",
            "pg_inherits": "SELECT inhrelid::text FROM pg_inherits",
            "pg_sequences": "SELECT sequencename::text FROM pg_sequences",
            "pg_locks": "SELECT locktype FROM pg_locks",
        },
        Answers(),
    ),
    _attack("pg_database", "SELECT datname FROM pg_database", Carries("pristine")),
    _attack("pg_views", "SELECT definition FROM pg_views", Carries("pay")),
    _attack("pg_matviews", "SELECT definition FROM pg_matviews", Carries("salary")),
    _attack("pg_proc", "SELECT prosrc FROM pg_proc WHERE prosecdef", Carries("sum(salary)")),
    *spread(
        _attack,
        {
            "pg_attribute": "SELECT attname FROM pg_attribute",
            "information_schema_columns": (
                "SELECT column_name::text FROM information_schema.columns WHERE table_name = "
                "'employees'"
            ),
        },
        Carries("badge"),
    ),
    _attack("pg_constraint", "SELECT conname FROM pg_constraint", Carries("order_lines")),
    _attack("pg_description", "SELECT description FROM pg_description", Carries("pays everybody")),
    _attack(
        "pg_largeobject",
        "SELECT convert_from(data, 'UTF8') FROM pg_largeobject",
        Carries("a large object"),
    ),
    _attack("pg_toast", "SELECT relname FROM pg_class WHERE relkind = 't'", Carries("pg_toast")),
    _attack("sequence_as_a_table", "SELECT last_value FROM main.order_number", Shows(((4711,),))),
    _attack("partition", "SELECT note FROM events_high", Shows(one_column("theirs"))),
    _attack(
        "child_of_a_table",
        "SELECT topic FROM old_tickets",
        Shows(one_column("ours, old", "theirs, old")),
        "not_permitted",
    ),
    _attack(
        "temporary_schema", "SELECT nspname::text FROM pg_catalog.pg_namespace", Carries("main")
    ),
]
