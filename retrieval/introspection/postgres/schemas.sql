SELECT n.nspname AS name,
       EXISTS (SELECT FROM unnest(%(readers)s::oid[]) AS r
                WHERE has_schema_privilege(r, n.oid, 'USAGE')) AS is_open,
       count(c.oid) > 0 AS is_used,
       coalesce(bool_or((SELECT bool_or(has_any_column_privilege(r, c.oid, 'SELECT'))
                           FROM unnest(%(readers)s::oid[]) AS r)), false) AS is_granted
  FROM pg_namespace n
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 WHERE n.nspname <> ALL (%(system)s)
   AND n.nspname NOT LIKE 'pg\_%%'
   AND (cardinality(%(schemas)s::text[]) = 0 OR n.nspname = ANY (%(schemas)s))
 GROUP BY n.oid, n.nspname
 ORDER BY n.nspname
