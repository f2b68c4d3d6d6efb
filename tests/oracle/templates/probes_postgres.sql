-- Queries made for a table, for PostgreSQL only. Slots: see probes.py.

-- name: table
TABLE {t}

-- name: table_qualified
TABLE {qualified}

-- name: table_in_cte
WITH w AS (TABLE {t}) TABLE w

-- name: table_union
TABLE {t} UNION ALL TABLE {qualified}

-- name: qualified_column
SELECT {qualified}.{k} FROM {qualified}

-- name: qualified_star
SELECT {qualified}.* FROM {qualified}

-- name: upper_case
SELECT {upper_k} FROM {upper_t}

-- name: quoted
SELECT "{bare_k}" FROM "{schema}"."{bare_name}"

-- name: whole_row
SELECT {name} FROM {t}

-- name: whole_row_alias
SELECT a FROM {t} AS a

-- name: whole_row_json
SELECT row_to_json(a) AS j FROM {t} AS a

-- name: whole_row_jsonb
SELECT to_jsonb(a) AS j FROM {t} AS a

-- name: whole_row_count
SELECT count(a) AS n, count(DISTINCT a) AS d FROM {t} AS a

-- name: whole_row_not_null
SELECT count(*) AS n FROM {t} AS a WHERE a IS NOT NULL

-- name: whole_row_null
SELECT count(*) AS n FROM {t} AS a WHERE a IS NULL

-- name: whole_row_equal
SELECT count(*) AS n FROM {t} AS a JOIN {t} AS b ON a = b

-- name: whole_row_text
SELECT a::text AS s FROM {t} AS a

-- name: whole_row_agg
SELECT json_agg(a ORDER BY a.{k}) AS j FROM {t} AS a

-- name: whole_row_coalesce
SELECT coalesce(a, b) AS r FROM {t} AS a JOIN {t} AS b ON a.{k} = b.{k}

-- name: row_of_star
SELECT ROW(a.*) AS r FROM {t} AS a

-- name: column_list
SELECT x.p, x.q FROM {t} AS x(p, q)

-- name: column_list_rest
SELECT x.* FROM {t} AS x(p)

-- name: natural_self
SELECT count(*) AS n FROM {t} AS a NATURAL JOIN {t} AS b

-- name: using_self
SELECT {k}, count(*) AS n FROM {t} AS a JOIN {t} AS b USING ({k}) GROUP BY {k}

-- name: using_star
SELECT * FROM {t} AS a FULL JOIN {t} AS b USING ({k})

-- name: join_alias
SELECT j.* FROM ({t} AS a JOIN {t} AS b USING ({k})) AS j(p)

-- name: lateral
SELECT a.{k}, d.n FROM {t} AS a CROSS JOIN LATERAL (SELECT count(*) AS n FROM {t} AS b WHERE b.{k} = a.{k}) AS d

-- name: lateral_child
SELECT b.{uk}, d.n FROM {u} AS b, LATERAL (SELECT count(*) AS n FROM {t} AS a WHERE a.{tk} = b.{uk}) AS d

-- name: lateral_left
SELECT b.{uk}, d.{k} FROM {u} AS b LEFT JOIN LATERAL (SELECT a.{k} FROM {t} AS a WHERE a.{tk} = b.{uk}) AS d ON true

-- name: any
SELECT {k} FROM {t} WHERE {tk} = ANY (SELECT {uk} FROM {u})

-- name: all
SELECT {k} FROM {t} WHERE {tk} <> ALL (SELECT {uk} FROM {u} WHERE {uk} IS NOT NULL)

-- name: some
SELECT count(*) AS n FROM {t} WHERE {tk} > SOME (SELECT {uk} FROM {u})

-- name: row_in
SELECT {k} FROM {t} AS a WHERE (a.{k}, a.{c}) IN (SELECT b.{k}, b.{c} FROM {t} AS b)

-- name: natural_parent
SELECT count(*) AS n FROM {t} NATURAL JOIN {u}

-- name: natural_full
SELECT count(*) AS n FROM {t} NATURAL FULL JOIN {u}

-- name: full_join_null
SELECT count(*) AS n FROM {t} AS a FULL JOIN {u} AS b ON a.{tk} = b.{uk} WHERE a.{tk} IS NULL OR b.{uk} IS NULL

-- name: intersect_parent
SELECT {tk} FROM {t} INTERSECT SELECT {uk} FROM {u}

-- name: except_parent
SELECT {uk} FROM {u} EXCEPT ALL SELECT {tk} FROM {t}

-- name: distinct_on
SELECT DISTINCT ON ({c}) {c}, {k} FROM {t} ORDER BY {c}, {k}

-- name: grouping_sets
SELECT {c}, {tk}, count(*) AS n, grouping({c}) AS g FROM {t} GROUP BY GROUPING SETS (({c}), ({tk}), ())

-- name: cube
SELECT {c}, {tk}, count(*) AS n FROM {t} GROUP BY CUBE ({c}, {tk})

-- name: array
SELECT b.{uk}, ARRAY(SELECT a.{k} FROM {t} AS a WHERE a.{tk} = b.{uk} ORDER BY a.{k}) AS r FROM {u} AS b

-- name: array_agg
SELECT array_agg({c} ORDER BY {k}) AS r FROM {t}

-- name: string_agg
SELECT string_agg({c}::text, ',' ORDER BY {k}) AS r FROM {t}

-- name: percentile
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY {k}) AS p FROM {t}

-- name: window_range
SELECT {k}, first_value({c}) OVER w AS f FROM {t} WINDOW w AS (PARTITION BY {c} ORDER BY {k})

-- name: window_exclude
SELECT {k}, count(*) OVER (ORDER BY {k} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS n FROM {t}

-- name: filter_subquery
SELECT count(*) FILTER (WHERE {tk} IN (SELECT {uk} FROM {u})) AS n FROM {t}

-- name: recursive
WITH RECURSIVE r AS (SELECT min({k}) AS k FROM {t} UNION ALL SELECT (SELECT min(a.{k}) FROM {t} AS a WHERE a.{k} > r.k) FROM r WHERE r.k IS NOT NULL) SELECT count(*) AS n FROM r

-- name: recursive_name
WITH RECURSIVE {name} AS (SELECT 1 AS one UNION ALL SELECT one + 1 FROM {name} WHERE one < 3) SELECT * FROM {name}

-- name: primary_key_group
SELECT {columns} FROM {t} GROUP BY {key_columns}

-- name: primary_key_join_group
SELECT a.*, count(b.{uk}) AS n FROM {t} AS a LEFT JOIN {u} AS b ON a.{tk} = b.{uk} GROUP BY {key_columns_a}

-- name: order_by_position
SELECT {c}, {k} FROM {t} ORDER BY 1 NULLS FIRST, 2 DESC

-- name: nested_values
SELECT v.i, (SELECT count(*) FROM {t} AS a WHERE a.{k} IS NOT NULL) AS n FROM (VALUES (1), (2)) AS v(i)

-- name: fetch
SELECT count(*) AS n FROM (SELECT {k} FROM {t} FETCH FIRST 2 ROWS ONLY) AS d

-- name: column_function
SELECT {k} FROM {t} AS a WHERE coalesce(length({c}::text), 0) >= 0

-- name: is_distinct
SELECT count(*) AS n FROM {t} AS a JOIN {t} AS b ON a.{k} = b.{k} AND a.{c} IS NOT DISTINCT FROM b.{c}

-- name: row_of_star_null
SELECT count(*) AS n FROM {t} AS a WHERE ROW(a.*) IS NOT NULL

-- name: star_in_function
SELECT concat_ws('|', a.*) AS s FROM {t} AS a

-- name: star_count
SELECT count(a.*) AS n, count(DISTINCT a.*) AS d FROM {t} AS a

-- name: star_text
SELECT (a.*)::text AS s FROM {t} AS a

-- name: star_distinct
SELECT DISTINCT a.* FROM {t} AS a

-- name: star_in_exists
SELECT a.{k} FROM {t} AS a WHERE EXISTS (SELECT b.* FROM {t} AS b WHERE b.{k} = a.{k})

-- name: star_from_outside
SELECT d.* FROM {t} AS a CROSS JOIN LATERAL (SELECT a.*) AS d

-- name: row_from_outside
SELECT (SELECT a::text) AS s FROM {t} AS a

-- name: row_from_two_outside
SELECT (SELECT (SELECT max(a::text)) FROM (VALUES (1)) AS v) AS s FROM {t} AS a

-- name: row_group
SELECT count(*) AS n FROM (SELECT a FROM {t} AS a GROUP BY a) AS d

-- name: row_order
SELECT a.{k} FROM {t} AS a ORDER BY a, a.{k}

-- name: row_in_rows
SELECT count(*) AS n FROM {t} AS a WHERE a IN (SELECT b FROM {t} AS b)

-- name: row_of_join
SELECT j::text AS s FROM ({t} AS a JOIN {t} AS b USING ({key_columns})) AS j

-- name: star_of_join
SELECT * FROM ({t} AS a CROSS JOIN (VALUES (1)) AS v(i)) AS j

-- name: star_of_join_parts
SELECT b.*, a.{k} FROM {t} AS a JOIN {t} AS b USING ({key_columns})

-- name: column_named_like_the_table
SELECT {name} FROM (SELECT {k} AS {name} FROM {t}) AS {name}

-- name: column_list_second
SELECT x.q FROM {t} AS x(p, q)

-- name: column_list_named_like_the_table
SELECT {name}.q FROM {t} AS {name}(p, q) WHERE {name}.p IS NOT NULL

-- name: column_list_in_join
SELECT x.p FROM {t} AS x(p) JOIN {t} AS y ON x.p = y.{k}

-- name: cte_column_list
WITH w(p, q) AS (SELECT * FROM {t}) SELECT q FROM w

-- name: union_of_stars
SELECT count(*) AS n FROM (SELECT * FROM {t} UNION SELECT a.* FROM {t} AS a) AS d

-- name: natural_join_of_derived
SELECT count(*) AS n FROM (SELECT {k}, {c} FROM {t}) AS a NATURAL JOIN (SELECT * FROM {t}) AS b

-- name: natural_join_one_column
SELECT a.{k} FROM {t} AS a NATURAL LEFT JOIN {t} AS b WHERE b.{k} IS NULL

-- name: order_by_position_of_star
SELECT * FROM {t} ORDER BY 2, 1

-- name: values_of_columns
SELECT v.x FROM {t} AS a CROSS JOIN LATERAL (VALUES (a.{k})) AS v(x)
