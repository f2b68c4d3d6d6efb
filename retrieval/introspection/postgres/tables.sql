SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
       concat(CASE WHEN NOT c.relispopulated THEN 'Never filled, so a query on it fails. ' END,
              obj_description(c.oid, 'pg_class')) AS comment,
       coalesce(CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END, '') AS definition,
       (SELECT array_agg(a.attname ORDER BY k.ord)
          FROM pg_constraint p
          CROSS JOIN LATERAL unnest(p.conkey) WITH ORDINALITY AS k(attnum, ord)
          JOIN pg_attribute a ON a.attrelid = p.conrelid AND a.attnum = k.attnum
         WHERE p.conrelid = c.oid AND p.contype = 'p')::text[] AS primary_key,
       (SELECT jsonb_agg(jsonb_build_object(
                 'name', a.attname,
                 'type', CASE WHEN d.typtype = 'd' THEN (
                   WITH RECURSIVE base (type, modifier) AS (
                     SELECT d.typbasetype, d.typtypmod
                     UNION ALL
                     SELECT b.typbasetype, b.typtypmod FROM base
                       JOIN pg_type b ON b.oid = base.type AND b.typtype = 'd')
                   SELECT format_type(type, modifier)
                     FROM base JOIN pg_type b ON b.oid = type AND b.typtype <> 'd'
                 ) ELSE format_type(a.atttypid, a.atttypmod) END,
                 'nullable', NOT a.attnotnull,
                 -- Partitions may compute a column otherwise.
                 'reads', CASE WHEN a.attgenerated <> '' OR c.relkind = 'p' THEN (
                   SELECT string_agg(pg_get_expr(e.adbin, e.adrelid), ' ')
                     FROM pg_attribute g
                     JOIN pg_attrdef e ON e.adrelid = g.attrelid AND e.adnum = g.attnum
                    WHERE g.attname = a.attname AND g.attgenerated <> ''
                      AND (g.attrelid = c.oid
                           OR g.attrelid IN (SELECT relid FROM pg_partition_tree(c.oid)))
                 ) END,
                 'comment', concat_ws('; ', col_description(c.oid, a.attnum), (
                   SELECT 'one of ' || string_agg(quote_literal(enumlabel), ', ' ORDER BY place)
                     FROM (SELECT enumlabel, enumsortorder AS place FROM pg_enum
                            WHERE enumtypid = d.oid ORDER BY place LIMIT 30) AS labels
                 ))) ORDER BY a.attnum)
          FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND EXISTS (SELECT FROM unnest(%(readers)s::oid[]) AS r
                        WHERE has_column_privilege(r, c.oid, a.attnum, 'SELECT'))) AS columns,
       (SELECT array_agg(a.attname ORDER BY a.attnum)
          FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND NOT EXISTS (SELECT FROM unnest(%(readers)s::oid[]) AS r
                            WHERE has_column_privilege(r, c.oid, a.attnum, 'SELECT'))
       )::text[] AS hidden,
       (WITH RECURSIVE above (oid) AS (
          SELECT inhparent FROM pg_inherits WHERE inhrelid = c.oid
          UNION
          SELECT i.inhparent FROM pg_inherits i JOIN above ON i.inhrelid = above.oid)
        SELECT array_agg(pn.nspname || '.' || p.relname ORDER BY p.oid)
          FROM above JOIN pg_class p ON p.oid = above.oid
          JOIN pg_namespace pn ON pn.oid = p.relnamespace)::text[] AS ancestors
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND n.nspname <> ALL (%(system)s)
   AND n.nspname NOT LIKE 'pg\_%%'
   AND (cardinality(%(schemas)s::text[]) = 0 OR n.nspname = ANY (%(schemas)s))
   AND EXISTS (SELECT FROM unnest(%(readers)s::oid[]) AS r
                WHERE has_schema_privilege(r, n.oid, 'USAGE'))
 ORDER BY n.nspname, c.relname
