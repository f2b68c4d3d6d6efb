-- Queries for a foreign key of a table onto itself. Slots: see probes.py.

-- name: tree
WITH RECURSIVE r AS (SELECT {uk}, 1 AS depth FROM {t} WHERE {tk} IS NULL UNION ALL SELECT a.{uk}, r.depth + 1 FROM {t} AS a JOIN r ON a.{tk} = r.{uk}) SELECT depth, count(*) AS n FROM r GROUP BY depth

-- name: tree_up
WITH RECURSIVE r({uk}, {tk}) AS (SELECT {uk}, {tk} FROM {t} UNION SELECT a.{uk}, a.{tk} FROM {t} AS a, r WHERE a.{uk} = r.{tk}) SELECT * FROM r

-- name: tree_left_join
SELECT a.{uk}, b.{uk} AS parent FROM {t} AS a LEFT JOIN {t} AS b ON a.{tk} = b.{uk}
