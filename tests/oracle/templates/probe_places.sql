-- The places of a query in which a condition {p} over the row a of {t} can stand. {k} is the first
-- column of its key, {c} the column of the condition; {u}, {tk} and {uk} as in probes.py.

-- name: where
SELECT count(*) AS n FROM {t} AS a WHERE {p}

-- name: not
SELECT a.{k} FROM {t} AS a WHERE NOT ({p})

-- name: or
SELECT count(*) AS n FROM {t} AS a WHERE a.{k} IS NULL OR {p}

-- name: and
SELECT count(*) AS n FROM {t} AS a WHERE a.{k} IS NOT NULL AND {p}

-- name: case
SELECT CASE WHEN {p} THEN 1 ELSE 0 END AS n FROM {t} AS a

-- name: case_in_where
SELECT count(*) AS n FROM {t} AS a WHERE CASE WHEN {p} THEN 1 = 1 ELSE 1 = 0 END

-- name: filter
SELECT count(*) FILTER (WHERE {p}) AS n FROM {t} AS a

-- name: sum
SELECT sum(CASE WHEN {p} THEN 1 ELSE 0 END) AS n FROM {t} AS a

-- name: having
SELECT a.{c}, count(*) AS n FROM {t} AS a GROUP BY a.{c} HAVING {p}

-- name: having_max
SELECT a.{k} FROM {t} AS a GROUP BY a.{k} HAVING max(CASE WHEN {p} THEN 1 ELSE 0 END) = 1

-- name: order
SELECT a.{k} FROM {t} AS a ORDER BY CASE WHEN {p} THEN 1 ELSE 0 END, a.{k}

-- name: window
SELECT count(*) OVER (PARTITION BY CASE WHEN {p} THEN 1 ELSE 0 END) AS n FROM {t} AS a

-- name: window_under
SELECT count(*) AS n FROM (SELECT *, row_number() OVER (ORDER BY {k}) AS place FROM {t}) AS a WHERE {p}

-- name: self_join
SELECT count(*) AS n FROM {t} AS b JOIN {t} AS a ON a.{k} = b.{k} AND {p}

-- name: left_join
SELECT count(a.{k}) AS n FROM {t} AS b LEFT JOIN {t} AS a ON a.{k} = b.{k} AND {p}

-- name: join_parent
SELECT count(*) AS n FROM {u} AS b JOIN {t} AS a ON a.{tk} = b.{uk} WHERE {p}

-- name: left_join_parent
SELECT b.{uk}, count(a.{k}) AS n FROM {u} AS b LEFT JOIN {t} AS a ON a.{tk} = b.{uk} AND {p} GROUP BY b.{uk}

-- name: in
SELECT count(*) AS n FROM {t} AS b WHERE b.{k} IN (SELECT a.{k} FROM {t} AS a WHERE {p})

-- name: not_in
SELECT count(*) AS n FROM {t} AS b WHERE b.{k} NOT IN (SELECT a.{k} FROM {t} AS a WHERE {p})

-- name: in_parent
SELECT count(*) AS n FROM {u} AS b WHERE b.{uk} IN (SELECT a.{tk} FROM {t} AS a WHERE {p})

-- name: exists
SELECT count(*) AS n FROM {t} AS b WHERE EXISTS (SELECT 1 FROM {t} AS a WHERE a.{k} = b.{k} AND {p})

-- name: not_exists
SELECT count(*) AS n FROM {t} AS b WHERE NOT EXISTS (SELECT 1 FROM {t} AS a WHERE a.{k} = b.{k} AND {p})

-- name: scalar
SELECT (SELECT max(a.{k}) FROM {t} AS a WHERE {p}) AS n

-- name: cte
WITH w AS (SELECT * FROM {t}) SELECT count(*) AS n FROM w AS a WHERE {p}

-- name: cte_twice
WITH w AS (SELECT * FROM {t}) SELECT count(*) AS n FROM w AS b JOIN w AS a ON a.{k} = b.{k} WHERE {p}

-- name: page
SELECT count(*) AS n FROM (SELECT * FROM {t} LIMIT 100000) AS a WHERE {p}

-- name: distinct
SELECT count(*) AS n FROM (SELECT DISTINCT {c} FROM {t}) AS a WHERE {p}

-- name: grouped
SELECT count(*) AS n FROM (SELECT {c}, count(*) AS m FROM {t} GROUP BY {c}) AS a WHERE {p}

-- name: union
SELECT count(*) AS n FROM (SELECT * FROM {t} UNION ALL SELECT * FROM {t}) AS a WHERE {p}

-- name: limit
SELECT b.{k} FROM {t} AS b ORDER BY b.{k} LIMIT (SELECT count(*) FROM {t} AS a WHERE {p})

-- name: pages
SELECT a.{k} FROM {t} AS a WHERE {p} ORDER BY a.{k} LIMIT 3
