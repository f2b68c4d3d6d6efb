-- Queries put inside other queries, for PostgreSQL and SQLite. Slots: see wrappers.py.

-- name: cte
WITH w AS (
{q}
) SELECT * FROM w

-- name: cte_twice
WITH w AS (
{q}
) SELECT (SELECT count(*) FROM w) AS n, a.* FROM w AS a

-- name: cte_nested
WITH a AS (WITH b AS (
{q}
) SELECT * FROM b) SELECT * FROM a

-- name: cte_chain
WITH a AS (
{q}
), b AS (SELECT * FROM a), c AS (SELECT * FROM b) SELECT * FROM c

-- name: cte_in_subquery
SELECT (WITH w AS (
{q}
) SELECT count(*) FROM w) AS n

-- name: derived
SELECT * FROM (
{q}
) AS d

-- name: derived_twice
SELECT * FROM (SELECT * FROM (
{q}
) AS c) AS d

-- name: derived_join
SELECT a.* FROM (
{q}
) AS a CROSS JOIN (SELECT count(*) AS n FROM {table}) AS b

-- name: exists
SELECT 1 AS one WHERE EXISTS (
{q}
)

-- name: not_exists
SELECT 1 AS one WHERE NOT EXISTS (
{q}
)

-- name: scalar_count
SELECT (SELECT count(*) FROM (
{q}
) AS d) AS n

-- name: scalar_in_case
SELECT CASE WHEN (SELECT count(*) FROM (
{q}
) AS d) > 0 THEN 'some' END AS s

-- name: in_table
SELECT count(*) AS n FROM {table} AS t WHERE t.{key} IN (SELECT t.{key} FROM (
{q}
) AS d)

-- name: window
SELECT d.*, count(*) OVER () AS n FROM (
{q}
) AS d

-- name: filter
SELECT count(*) FILTER (WHERE {first} IS NOT NULL) AS n FROM (
{q}
) AS d

-- name: order_by_subquery
SELECT * FROM (
{q}
) AS d ORDER BY (SELECT count(*) FROM {table}), {first}

-- name: group
SELECT {first}, count(*) AS n FROM (
{q}
) AS d GROUP BY {first}

-- name: having
SELECT count(*) AS n FROM (
{q}
) AS d HAVING count(*) >= (SELECT min(1) FROM {table})

-- name: distinct
SELECT DISTINCT * FROM (
{q}
) AS d

-- name: values_join
WITH v(i, s) AS (VALUES (1, 'a'), (2, 'b')) SELECT d.*, v.i, v.s FROM (
{q}
) AS d CROSS JOIN v

-- name: self_left_join
WITH w AS (
{q}
) SELECT count(*) AS n FROM w AS a LEFT JOIN w AS d ON {first} IS NULL

-- name: recursive
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT r.n, (SELECT count(*) FROM (
{q}
) AS d) AS m FROM r

-- name: limit_subquery
SELECT count(*) AS n FROM (SELECT * FROM (
{q}
) AS d LIMIT (SELECT count(*) FROM {table})) AS e
