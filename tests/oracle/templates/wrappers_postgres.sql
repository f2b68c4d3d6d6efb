-- Queries put inside other queries, for PostgreSQL only. Slots: see wrappers.py.

-- name: union_all
(
{q}
) UNION ALL (
{q}
)

-- name: union
(
{q}
) UNION (
{q}
)

-- name: intersect
(
{q}
) INTERSECT ALL (
{q}
)

-- name: except
(
{q}
) EXCEPT ALL (SELECT * FROM (
{q}
) AS d LIMIT 0)

-- name: set_of_sets
((
{q}
) EXCEPT (
{q}
)) UNION ALL (
{q}
)

-- name: derived_bare
SELECT * FROM (
{q}
)

-- name: derived_aliases
SELECT x.a FROM (SELECT {first} FROM (
{q}
) AS d) AS x(a)

-- name: lateral
SELECT o.n, d.* FROM (VALUES (1), (2)) AS o(n) CROSS JOIN LATERAL (
{q}
) AS d

-- name: lateral_left
SELECT o.n, d.* FROM (VALUES (1), (2)) AS o(n) LEFT JOIN LATERAL (
{q}
) AS d ON o.n = 1

-- name: full_join
SELECT count(*) AS n FROM (
{q}
) AS a FULL JOIN (
{q}
) AS d ON false

-- name: right_join
SELECT d.* FROM (SELECT 1 AS one WHERE false) AS a RIGHT JOIN (
{q}
) AS d ON true

-- name: whole_row
SELECT d FROM (
{q}
) AS d

-- name: whole_row_count
SELECT count(d) AS n FROM (
{q}
) AS d

-- name: whole_row_not_null
SELECT count(*) AS n FROM (
{q}
) AS d WHERE d IS NOT NULL

-- name: whole_row_json
SELECT row_to_json(d) AS j FROM (
{q}
) AS d

-- name: json_agg
SELECT jsonb_agg(d ORDER BY d) AS j FROM (
{q}
) AS d

-- name: distinct_on
SELECT DISTINCT ON ({first}) {first} FROM (
{q}
) AS d ORDER BY {first}

-- name: grouping_sets
SELECT {first}, count(*) AS n FROM (
{q}
) AS d GROUP BY GROUPING SETS (({first}), ())

-- name: rollup
SELECT {first}, count(*) AS n FROM (
{q}
) AS d GROUP BY ROLLUP ({first})

-- name: window_named
SELECT {first}, rank() OVER w AS r FROM (
{q}
) AS d WINDOW w AS (ORDER BY {first})

-- name: any
SELECT count(*) AS n FROM (
{q}
) AS e WHERE 1 = ANY (SELECT 1 FROM (
{q}
) AS d)

-- name: all
SELECT count(*) AS n FROM {table} WHERE 1 <> ALL (SELECT 2 FROM (
{q}
) AS d)

-- name: array
SELECT cardinality(ARRAY(SELECT 1 FROM (
{q}
) AS d)) AS n

-- name: materialized
WITH w AS MATERIALIZED (
{q}
), x AS NOT MATERIALIZED (SELECT * FROM w) SELECT * FROM x

-- name: offset_subquery
SELECT count(*) AS n FROM (SELECT * FROM {table} OFFSET (SELECT least(count(*), 2) FROM (
{q}
) AS d)) AS e

-- name: in_join_condition
SELECT count(*) AS n FROM (VALUES (1)) AS v(i) JOIN (
{q}
) AS d ON EXISTS (
{q}
)

-- name: parenthesised
((
{q}
))

-- name: fetch_first
SELECT count(*) AS n FROM (SELECT * FROM (
{q}
) AS d FETCH FIRST 5 ROWS ONLY) AS e

-- name: recursive_over
WITH RECURSIVE r AS (SELECT 1 AS n, count(*) AS m FROM (
{q}
) AS d UNION ALL SELECT r.n + 1, (SELECT count(*) FROM {table}) FROM r WHERE r.n < 3) SELECT n, m FROM r

-- name: cte_unused
WITH w AS (
{q}
) SELECT count(*) AS n FROM {table}
