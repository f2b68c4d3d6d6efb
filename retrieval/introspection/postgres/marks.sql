-- A query of a table also reads its partitions, and the tables that inherit from it.
WITH RECURSIVE leaves (oid, leaf) AS (
    SELECT c.oid, c.oid
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname = ANY (%(schemas)s)
    UNION
    SELECT l.oid, i.inhrelid FROM leaves l JOIN pg_inherits i ON i.inhparent = l.leaf
)
SELECT n.nspname, t.relname, sum(greatest(c.reltuples, 0))::float8,
       CASE WHEN bool_and(c.relkind <> 'f' AND current_setting('track_counts')::bool
                          AND NOT pg_is_in_recovery())
         THEN md5(string_agg(concat_ws(' ', l.leaf, pg_relation_filenode(l.leaf),
           pg_stat_get_tuples_inserted(l.leaf), pg_stat_get_tuples_updated(l.leaf),
           pg_stat_get_tuples_deleted(l.leaf)), ',' ORDER BY l.leaf))
         ELSE '' END
  FROM leaves l
  JOIN pg_class t ON t.oid = l.oid
  JOIN pg_namespace n ON n.oid = t.relnamespace
  JOIN pg_class c ON c.oid = l.leaf AND c.relkind <> 'p'
 GROUP BY n.nspname, t.relname
