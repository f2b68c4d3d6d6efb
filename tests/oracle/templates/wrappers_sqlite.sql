-- Queries put inside other queries, for SQLite only. Slots: see wrappers.py.

-- name: union_all
SELECT * FROM (
{q}
) AS c UNION ALL SELECT * FROM (
{q}
) AS d

-- name: intersect
SELECT * FROM (
{q}
) AS c INTERSECT SELECT * FROM (
{q}
) AS d

-- name: except
SELECT * FROM (
{q}
) AS c EXCEPT SELECT * FROM (
{q}
) AS d WHERE 1 = 0

-- name: materialized
WITH w AS MATERIALIZED (
{q}
) SELECT * FROM w
