"""The scratch database that is attacked: small, and the same under all three engines.

Everything lies in a schema named ``main``, which SQLite and DuckDB have anyway, so that one policy
file fits all. What an engine lacks (partitions, inheritance, materialised views) is a plain table
there.
"""

from __future__ import annotations

from pathlib import Path

from execution.policies.policy_file import Policy, load_policy
from nl2sql.types import Principal
from tests.attacks.attack import one_column

# Who attacks: all work in department 1. Roles are those of policy.yaml.
PRINCIPALS = {
    name: Principal(f"a {name}", roles, (("department_id", 1),))
    for name, roles in {
        "member": ("member",),
        "manager": ("manager",),
        "auditor": ("auditor",),
        "member and auditor": ("member", "auditor"),
    }.items()
}

# What stands in rows of other departments only: no answer to anybody but the auditor may hold it.
WITHHELD = ("Dora", "Emil", "Fay", "Gus", "7770", "6100", "9900", "gold", "theirs")

OURS = one_column("Ada", "Ben", "Cleo")
EVERYBODY = one_column("Ada", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus")

_TABLES = """
CREATE TABLE departments (id integer PRIMARY KEY, name text, budget integer);
INSERT INTO departments VALUES (1, 'Engineering', 100), (2, 'Finance', 200), (3, 'Board', 300);

CREATE TABLE employees (
    id integer PRIMARY KEY,
    name text,
    salary integer,
    department_id integer REFERENCES departments (id),
    manager_id integer,
    badge text
);
INSERT INTO employees VALUES
    (1, 'Ada', 5100, 1, NULL, 'badge-1'),
    (2, 'Ben', 4200, 1, 1, 'badge-2'),
    (3, 'Cleo', 3900, 1, 1, 'badge-3'),
    (4, 'Dora', 7770, 2, NULL, 'badge-4'),
    (5, 'Emil', 6100, 2, 4, 'badge-5'),
    (6, 'Fay', 9900, 3, NULL, 'badge-6'),
    (7, 'Gus', 3000, NULL, 4, 'badge-7');

CREATE TABLE orders (
    id integer PRIMARY KEY,
    seller_id integer REFERENCES employees (id),
    customer text,
    total integer
);
INSERT INTO orders VALUES
    (10, 1, 'Acme', 100), (11, 2, 'Byte', 250), (12, 4, 'Coda', 900), (13, 6, 'Dune', 50),
    (14, NULL, 'Echo', 5);

CREATE TABLE order_lines (
    id integer PRIMARY KEY,
    order_id integer REFERENCES orders (id),
    product text,
    amount integer
);
INSERT INTO order_lines VALUES
    (100, 10, 'bolt', 3), (101, 11, 'nut', 5), (102, 12, 'gold', 1), (103, 13, 'ruby', 2);

CREATE TABLE shipments (
    id integer PRIMARY KEY,
    line_id integer REFERENCES order_lines (id),
    carrier text
);
INSERT INTO shipments VALUES (1000, 100, 'post'), (1001, 102, 'armoured car'), (1002, 103, 'drone');

CREATE TABLE currencies (code text, rate integer);
INSERT INTO currencies VALUES ('EUR', 1), ('USD', 2);

CREATE TABLE payroll (id integer, note text);
INSERT INTO payroll VALUES (1, 'payroll-secret');

CREATE TABLE tickets (id integer, topic text, department_id integer);
INSERT INTO tickets VALUES (1, 'ours', 1), (2, 'theirs', 2);

CREATE TABLE "Odd Table" ("Secret Word" text, "Depart Ment" integer);
INSERT INTO "Odd Table" VALUES ('ours', 1), ('theirs', 2);
CREATE TABLE "select" ("where" text, "from" integer);
INSERT INTO "select" VALUES ('ours', 1), ('theirs', 2);
CREATE TABLE "tricky.name" ("x.y" text, "a.b" integer);
INSERT INTO "tricky.name" VALUES ('ours', 1), ('theirs', 2);
CREATE TABLE "quo""te" ("say ""hi"" to" text, "it""s" integer);
INSERT INTO "quo""te" VALUES ('ours', 1), ('theirs', 2);
CREATE TABLE "naïve🙂" ("mot🤫" text, "où" integer);
INSERT INTO "naïve🙂" VALUES ('ours', 1), ('theirs', 2);

-- The first letter is Cyrillic; the K is the sign for Kelvin, whose lower case is an ASCII k; a
-- space of no width stands in one name, a letter of full width in another.
CREATE TABLE "\u0435mployees" (name text);
INSERT INTO "\u0435mployees" VALUES ('homoglyph-secret');
CREATE TABLE "tic\u212aets" (topic text);
INSERT INTO "tic\u212aets" VALUES ('kelvin-secret');
CREATE TABLE "tick\u200bets" (topic text);
INSERT INTO "tick\u200bets" VALUES ('zero-width-secret');
CREATE TABLE "\uff54ickets" (topic text);
INSERT INTO "\uff54ickets" VALUES ('full-width-secret');

CREATE VIEW directory AS SELECT id, name, department_id FROM employees;
CREATE VIEW directory_of_directory AS SELECT name, department_id FROM directory WHERE id > 0;
CREATE VIEW pay_by_department AS
    SELECT department_id, count(*) AS heads, sum(salary) AS pay
      FROM employees GROUP BY department_id;
"""

# PostgreSQL has partitions, inheritance, snapshots of views, and code that runs as its owner.
_POSTGRES = """
CREATE SCHEMA main;
SET search_path = main;
{tables}
CREATE TABLE old_tickets () INHERITS (tickets);
INSERT INTO old_tickets VALUES (3, 'ours, old', 1), (4, 'theirs, old', 2);

CREATE TABLE events (id integer, department_id integer, note text) PARTITION BY RANGE (id);
CREATE TABLE events_low PARTITION OF events FOR VALUES FROM (0) TO (10);
CREATE TABLE events_high PARTITION OF events FOR VALUES FROM (10) TO (20);
INSERT INTO events VALUES (1, 1, 'ours'), (11, 2, 'theirs');

CREATE MATERIALIZED VIEW pay_snapshot AS SELECT name, salary FROM employees;

COMMENT ON TABLE payroll IS 'pays everybody';
SELECT lo_from_bytea(4712, 'a large object');
CREATE SEQUENCE order_number START 4711;
CREATE FUNCTION total_pay() RETURNS bigint LANGUAGE sql SECURITY DEFINER
    AS 'SELECT sum(salary) FROM main.employees';
CREATE FUNCTION pay_of(main.employees) RETURNS integer LANGUAGE sql AS 'SELECT $1.salary';
CREATE PROCEDURE double_pay() LANGUAGE sql AS 'UPDATE main.employees SET salary = salary * 2';
CREATE OPERATOR ~~~~ (FUNCTION = pg_catalog.int4pl, LEFTARG = integer, RIGHTARG = integer);
"""

_LACKING = """
CREATE TABLE old_tickets (id integer, topic text, department_id integer);
INSERT INTO old_tickets VALUES (3, 'ours, old', 1), (4, 'theirs, old', 2);
CREATE TABLE events (id integer, department_id integer, note text);
INSERT INTO events VALUES (1, 1, 'ours'), (11, 2, 'theirs');
CREATE TABLE pay_snapshot AS SELECT name, salary FROM employees;
"""

POSTGRES_SCRIPT = _POSTGRES.replace("{tables}", _TABLES)
SQLITE_SCRIPT = _TABLES + _LACKING
DUCKDB_SCRIPT = SQLITE_SCRIPT + "CREATE SEQUENCE order_number START 4711;"


def load_scratch_policy() -> Policy:
    """The policy that all attackers are under."""
    return load_policy(Path(__file__).parent / "policy.yaml")
