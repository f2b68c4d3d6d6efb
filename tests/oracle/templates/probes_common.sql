-- Queries made for a table, for PostgreSQL and SQLite. Slots: see probes.py.

-- name: star
SELECT * FROM {t}

-- name: star_of_table
SELECT {name}.* FROM {t}

-- name: star_twice
SELECT a.*, b.* FROM {t} AS a JOIN {t} AS b ON a.{k} = b.{k}

-- name: columns
SELECT {columns} FROM {t}

-- name: columns_of_table
SELECT {name}.{k}, {name}.{c} FROM {t}

-- name: qualified
SELECT {k} FROM {qualified}

-- name: count
SELECT count(*) AS n, count({c}) AS c, count(DISTINCT {c}) AS d FROM {t}

-- name: true
SELECT {k} FROM {t} WHERE {c} IS NULL OR 1 = 1

-- name: or_true
SELECT count(*) AS n FROM {t} WHERE 1 = 0 OR NOT (1 = 0)

-- name: is_null
SELECT {k}, {c} FROM {t} WHERE {c} IS NULL

-- name: not_null
SELECT {k}, {c} FROM {t} WHERE {c} IS NOT NULL

-- name: order
SELECT {k} FROM {t} ORDER BY {c}, {k}

-- name: order_limit
SELECT max({k}) AS m FROM (SELECT {k} FROM {t} ORDER BY {k} LIMIT 3) AS d

-- name: min_max
SELECT min({k}) AS a, max({k}) AS b, min({c}) AS c, max({c}) AS d FROM {t}

-- name: group
SELECT {c}, count(*) AS n FROM {t} GROUP BY {c}

-- name: group_alias
SELECT {c} AS x, count(*) AS n FROM {t} GROUP BY x HAVING count(*) > 1

-- name: case
SELECT CASE WHEN {c} IS NULL THEN 0 ELSE 1 END AS x, count(*) AS n FROM {t} GROUP BY 1

-- name: window_rows
SELECT {k}, count(*) OVER (ORDER BY {k} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS n FROM {t}

-- name: window_partition
SELECT {k}, count(*) OVER (PARTITION BY {c}) AS n FROM {t}

-- name: window_lag
SELECT {k}, lag({k}) OVER (ORDER BY {k}) AS p, lead({c}) OVER (ORDER BY {k}) AS q FROM {t}

-- name: filter
SELECT count(*) FILTER (WHERE {c} IS NOT NULL) AS n FROM {t}

-- name: self_join
SELECT count(*) AS n FROM {t} AS a JOIN {t} AS b ON a.{k} = b.{k} AND a.{c} = b.{c}

-- name: self_left_join
SELECT a.{k}, b.{k} AS o FROM {t} AS a LEFT JOIN {t} AS b ON b.{k} > a.{k} AND b.{k} IS NULL

-- name: correlated_count
SELECT a.{k}, (SELECT count(*) FROM {t} AS b WHERE b.{k} = a.{k}) AS n FROM {t} AS a

-- name: not_in
SELECT {k} FROM {t} WHERE {k} NOT IN (SELECT {k} FROM {t} AS b WHERE b.{c} IS NULL)

-- name: except
SELECT {k} FROM {t} EXCEPT SELECT {k} FROM {t} AS b WHERE b.{c} IS NULL

-- name: union
SELECT {k} FROM {t} UNION ALL SELECT {k} FROM {t} AS b

-- name: intersect
SELECT {k} FROM {t} INTERSECT SELECT {k} FROM {t} AS b

-- name: cte_shadows
WITH {name} AS (SELECT 1 AS one) SELECT * FROM {name}

-- name: cte_over_its_name
WITH {name} AS (SELECT * FROM {qualified}) SELECT count(*) AS n FROM {name}

-- name: cte_inner_shadow
SELECT count(*) AS n, (WITH {name} AS (SELECT 1 AS one) SELECT count(*) FROM {name}) AS m FROM {t}

-- name: cte_shadow_beside
WITH {name} AS (SELECT 1 AS one) SELECT (SELECT count(*) FROM {name}) AS m, count(*) AS n FROM {qualified}

-- name: cte_in_branch
SELECT * FROM (WITH {name} AS (SELECT 1 AS one) SELECT one FROM {name}) AS d UNION ALL SELECT count(*) FROM {t}

-- name: alias_shadows
SELECT {shadow}.{k} FROM {t} AS {shadow}

-- name: alias_is_cte
WITH w AS (SELECT 1 AS one) SELECT w.{k} FROM {t} AS w

-- name: alias_is_column
SELECT {k}.{k} FROM {t} AS {k}

-- name: comma_join
SELECT count(*) AS n FROM {t} AS a, {t} AS b WHERE a.{k} = b.{k}

-- name: comments
SELECT /* a */ {k} -- b
 FROM /* {shadow} */ {t} /* ; */ -- SELECT 1

-- name: join
SELECT a.{k}, b.{uk} FROM {t} AS a JOIN {u} AS b ON a.{tk} = b.{uk}

-- name: left_join
SELECT a.{k}, b.{uk} FROM {t} AS a LEFT JOIN {u} AS b ON a.{tk} = b.{uk}

-- name: left_join_reverse
SELECT b.{uk}, a.{k} FROM {u} AS b LEFT JOIN {t} AS a ON a.{tk} = b.{uk}

-- name: anti_join
SELECT b.{uk} FROM {u} AS b LEFT JOIN {t} AS a ON a.{tk} = b.{uk} WHERE a.{tk} IS NULL

-- name: right_join
SELECT a.{k}, b.* FROM {t} AS a RIGHT JOIN {u} AS b ON a.{tk} = b.{uk}

-- name: full_join
SELECT a.{k}, b.{uk} FROM {t} AS a FULL JOIN {u} AS b ON a.{tk} = b.{uk}

-- name: join_where_left
SELECT count(*) AS n FROM {t} AS a LEFT JOIN {u} AS b ON a.{tk} = b.{uk} WHERE b.{uk} IS NULL

-- name: in
SELECT {k} FROM {t} WHERE {tk} IN (SELECT {uk} FROM {u})

-- name: not_in_parent
SELECT count(*) AS n FROM {t} WHERE {tk} NOT IN (SELECT {uk} FROM {u} WHERE {uk} IS NOT NULL)

-- name: exists_parent
SELECT {k} FROM {t} AS a WHERE EXISTS (SELECT 1 FROM {u} AS b WHERE b.{uk} = a.{tk})

-- name: not_exists_child
SELECT {uk} FROM {u} AS b WHERE NOT EXISTS (SELECT * FROM {t} AS a WHERE a.{tk} = b.{uk})

-- name: child_count
SELECT b.{uk}, (SELECT count(*) FROM {t} AS a WHERE a.{tk} = b.{uk}) AS n FROM {u} AS b

-- name: order_by_child
SELECT b.{uk} FROM {u} AS b ORDER BY (SELECT count(*) FROM {t} AS a WHERE a.{tk} = b.{uk}), b.{uk}

-- name: having_parent
SELECT {tk}, count(*) AS n FROM {t} GROUP BY {tk} HAVING count(*) > (SELECT count(*) FROM {u}) / 100

-- name: derived_join
SELECT d.n, b.{uk} FROM {u} AS b LEFT JOIN (SELECT {tk}, count(*) AS n FROM {t} GROUP BY {tk}) AS d ON d.{tk} = b.{uk}

-- name: parent_of_parent
SELECT a.{k} FROM {t} AS a JOIN ({u} AS b JOIN {u} AS c ON b.{uk} = c.{uk}) ON a.{tk} = b.{uk}

-- name: key_alone
SELECT DISTINCT {tk} FROM {t}
